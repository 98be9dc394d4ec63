"""Whole pipelines on raw text, CoNLL 2018 metrics and speed: models of ours beside UDPipe 1, trained on the same files.

    python run/bench/pipelines.py TREEBANK_FOLDER [--udpipe FILE] [--model MODEL] [--beam N] [--rounds N]

TREEBANK_FOLDER has train.conllu, dev.conllu and test.conllu. UDPipe 1 (`ufal.udpipe`) is trained on them with its
default options (tokenizer, tagger and parser) and written to FILE, unless FILE exists. Then UDPipe and MODEL read the
raw text of test.conllu: sentences with a space between them, unless the last token says SpaceAfter=No, and a blank line
where a paragraph or document opens. Speed is of whole pipelines from raw text to CoNLL-U, in interleaved rounds. UDPipe
has no threads: with several (--threads), as many processes of it also read equal parts of the text.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from itertools import pairwise
from pathlib import Path

import common
import torch

from transition_parser import Parser
from transition_parser.base.files import replacing
from transition_parser.graphs.conllu import parse_conllu, raw_text, read_conllu
from transition_parser.graphs.dependency_score import Comparison, conll18


def train_udpipe(treebank: Path, path: Path) -> None:
    """Train UDPipe 1 with its default options, and write the model."""
    from ufal import udpipe

    error = udpipe.ProcessingError()

    def read(split: str) -> udpipe.Sentences:
        reader = udpipe.InputFormat.newConlluInputFormat()
        reader.setText((treebank / f"{split}.conllu").read_text(encoding="utf-8"))
        sentences, sentence = udpipe.Sentences(), udpipe.Sentence()
        while reader.nextSentence(sentence, error):
            sentences.append(sentence)
            sentence = udpipe.Sentence()
        return sentences

    model = udpipe.Trainer.train("morphodita_parsito", read("train"), read("dev"), "", "", "", error)
    if error.occurred():
        raise SystemExit(f"UDPipe: {error.message}")
    with replacing(path) as temporary:
        temporary.write_bytes(model)


def udpipe_pipeline(path: Path) -> Callable[[str], str]:
    """Return a function that makes CoNLL-U of raw text with a model of UDPipe."""
    from ufal import udpipe

    model = udpipe.Model.load(str(path))
    if model is None:
        raise SystemExit(f"{path}: UDPipe can't read the model")
    pipeline = udpipe.Pipeline(model, "tokenize", udpipe.Pipeline.DEFAULT, udpipe.Pipeline.DEFAULT, "conllu")

    def parse(text: str) -> str:
        assert model  # keeps the model alive, which the pipeline does not
        return pipeline.process(text)

    return parse


loaded_pipeline = cache(udpipe_pipeline)


def parsed(path: Path, text: str) -> str:
    """Return CoNLL-U of raw text by a model that each process loads once."""
    return loaded_pipeline(path)(text)


def udpipe_processes(path: Path, count: int) -> Callable[[str], str]:
    """Return a function that divides raw text, at blanks, among `count` processes of UDPipe."""
    context = multiprocessing.get_context("spawn")
    pools = [ProcessPoolExecutor(1, context) for _ in range(count)]  # so that each process gets a part

    def parse(text: str) -> str:
        cuts = [0, *(text.find(" ", len(text) * i // count) for i in range(1, count)), len(text)]
        parts = [text[start:end] for start, end in pairwise(cuts)]
        found = [pool.submit(parsed, path, part) for pool, part in zip(pools, parts, strict=True)]
        return "".join(one.result() for one in found)

    return parse


def main() -> None:
    options = common.parser(__doc__)
    options.add_argument("treebank", type=Path, help="folder with train.conllu, dev.conllu and test.conllu")
    options.add_argument("--udpipe", type=Path, metavar="FILE", help="model of UDPipe 1")
    options.add_argument("--model", help="model of ours")
    options.add_argument("--beam", type=int, default=1, help="beam of our model")
    arguments = options.parse_args()
    torch.set_num_threads(arguments.threads)
    pipelines: dict[str, Callable[[str], str]] = {}
    if arguments.udpipe:
        if not arguments.udpipe.exists():
            train_udpipe(arguments.treebank, arguments.udpipe)
        pipelines["udpipe"] = udpipe_pipeline(arguments.udpipe)
        if arguments.threads > 1:
            pipelines[f"udpipe, {arguments.threads} processes"] = udpipe_processes(arguments.udpipe, arguments.threads)
    if arguments.model:
        parser = Parser.load(arguments.model, beam=arguments.beam)
        pipelines["ours"] = lambda text: "".join(str(parse.annotated()) for parse in parser.parse(text))
    if not pipelines:
        options.error("give --udpipe FILE, --model MODEL or both")
    gold = list(read_conllu(arguments.treebank / "test.conllu"))
    text = raw_text(gold)
    for pipeline in pipelines.values():
        pipeline(text[:2000])  # what is made once is not measured
    rates: dict[str, list[float]] = {name: [] for name in pipelines}
    scores: dict[str, dict[str, float]] = {}
    for _ in range(arguments.rounds):
        for name, pipeline in pipelines.items():
            start = time.perf_counter()
            found = pipeline(text)
            rates[name].append(len(gold) / (time.perf_counter() - start))
            if name not in scores:
                metrics = conll18(Comparison(gold, parse_conllu(found.encode().splitlines(), name)))
                scores[name] = {metric: round(score.f1, 2) for metric, score in metrics.items()}
    common.report("pipelines", arguments, rates, scores=scores)


if __name__ == "__main__":
    main()

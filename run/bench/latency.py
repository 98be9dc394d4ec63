"""The time that one sentence takes: models × beams × precisions, side by side, with spaCy's model where it is there.

    python run/bench/latency.py TREEBANK.conllu [--models NAME ...] [--beams 1 10] [--precisions fp32 bf16]

Each sentence is parsed alone, from its words to the finished parse. Sentences of 15 to 25 words are taken. In each
round each row parses all sentences, so that its weights are in the processor's cache as in a program with one model;
the first five sentences of a round do not count. The report has the median and the 95th percentile in milliseconds, and
the ratio of medians to the first row.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import common
import torch

from transition_parser import Parser
from transition_parser.base.errors import InputError
from transition_parser.graphs.conllu import read_conllu

SPACY = "en_core_web_sm"
WARM_UP = 5  # sentences of each round and row that do not count
WORDS = (15, 25)  # the bounds of the number of words of a sentence

Row = Callable[[list[str]], object]


def rows(arguments: argparse.Namespace) -> dict[str, Row]:
    """Return a function from the words of a sentence to its parse for each model, beam and precision."""
    found: dict[str, Row] = {}
    for model in arguments.models:
        for precision in arguments.precisions:
            for beam in arguments.beams:
                parser = Parser.load(model, beam, precision=precision)
                found[f"{Path(model).name} beam {beam} {precision}"] = lambda words, parser=parser: parser.parse(
                    [words]
                )
    if arguments.spacy:
        found[SPACY] = _spacy()
    return found


def _spacy() -> Row:
    import spacy
    from spacy.tokens import Doc

    model = spacy.load(SPACY, disable=["ner"])
    return lambda words: model(Doc(model.vocab, words))


def measure(found: dict[str, Row], sentences: list[list[str]], rounds: int) -> dict[str, list[float]]:
    """Return the milliseconds of each row for all sentences and rounds, after one round that does not count."""
    times: dict[str, list[float]] = {name: [] for name in found}
    for number in range(rounds + 1):
        for name, parse in found.items():
            for words in sentences[:WARM_UP]:
                parse(words)
            for words in sentences:
                began = time.perf_counter()
                parse(words)
                if number:
                    times[name].append(1000 * (time.perf_counter() - began))
    return times


def main() -> None:
    """Print the report as JSON. The exit status is 2 for bad input."""
    options = common.parser(__doc__)
    options.formatter_class = argparse.RawDescriptionHelpFormatter
    options.add_argument("treebank", type=Path, help="CoNLL-U")
    options.add_argument("--models", nargs="+", default=["en-ewt", "en-ewt-minilm", "en-amr", "en-amr-minilm"])
    options.add_argument("--beams", nargs="+", type=int, default=[1])
    options.add_argument("--precisions", nargs="+", default=["bf16"], choices=["fp32", "bf16", "int8", "auto"])
    options.add_argument("--sentences", type=int, default=40)
    options.add_argument("--spacy", action="store_true", help=f"also time {SPACY} without names, on the same words")
    arguments = options.parse_args()
    torch.set_num_threads(arguments.threads)
    try:
        some = [one.forms for one in read_conllu(arguments.treebank) if WORDS[0] <= len(one.forms) <= WORDS[1]]
        some = some[: arguments.sentences]
        if not some:
            raise InputError(f"{arguments.treebank}: no sentence of {WORDS[0]} to {WORDS[1]} words")
        found = rows(arguments)
    except (InputError, OSError) as error:
        sys.stderr.write(f"latency.py: error: {error}\n")
        sys.exit(2)
    times = measure(found, some, arguments.rounds)
    first = statistics.median(next(iter(times.values())))
    figures = {
        name: {
            "median ms": round(statistics.median(values), 2),
            "p95 ms": round(sorted(values)[int(0.95 * (len(values) - 1))], 2),
            "ratio": round(statistics.median(values) / first, 2),
        }
        for name, values in times.items()
    }
    text = json.dumps({**common.setting("latency", arguments), "rows": figures}, indent=1)
    print(text)
    if arguments.output:
        Path(arguments.output).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

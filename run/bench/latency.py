"""The time of parsing one sentence, for models × beams × precisions, and on request for other parsers.

    python run/bench/latency.py TREEBANK.conllu [--models NAME ...] [--beams 1 10] [--precisions fp32 bf16]
        [--peers TRAIN.conllu] [--spacy]

Each sentence is parsed alone, from its words to the finished parse. Sentences of 15 to 25 words are taken. In each
round each row of the report parses five sentences that do not count, and then all sentences. Its model's weights are
then in the processor's cache, as in a program with one model. The report has the median and the 95th percentile in
milliseconds, and the ratio of medians to the first row. `--peers` measures spaCy's parser and the others of
run/bench/peers.py, set up from a CoNLL-U file; `--spacy` measures spaCy's own model of English, where it is installed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import common
import torch
from peers import LABELS, peers

from transition_parser import Parser
from transition_parser.base.errors import InputError
from transition_parser.graphs.conllu import Sentence, read_conllu

SPACY = "en_core_web_sm"
WARM_UP = 5  # sentences that each row parses in each round before the time starts
WORDS = (15, 25)  # the bounds of the number of words of a sentence

Row = Callable[[Sentence], object]


def rows(arguments: argparse.Namespace) -> dict[str, Row]:
    """Return a function from a sentence to its parse for each model, beam and precision, and for each other parser."""
    found: dict[str, Row] = {}
    for model in arguments.models:
        for precision in arguments.precisions:
            for beam in arguments.beams:
                parser = Parser.load(model, beam, precision=precision)
                found[f"{Path(model).name} beam {beam} {precision}"] = lambda one, parser=parser: parser.parse(
                    [one.forms]
                )
    if arguments.peers:
        others, status = peers([*islice(read_conllu(arguments.peers), LABELS)], "cpu")
        found |= {name: lambda one, other=other: other.parse([one]) for name, other in others.items()}
        for package, result in status.items():
            print(f"peer {package}: {result}", file=sys.stderr)
    if arguments.spacy:
        found[SPACY] = _spacy()
    return found


def _spacy() -> Row:
    import spacy
    from spacy.tokens import Doc

    try:
        model = spacy.load(SPACY, disable=["ner"])
    except OSError:
        raise InputError(f"spaCy's model {SPACY} is not installed: install it, or give --peers TRAIN.conllu") from None
    return lambda one: model(Doc(model.vocab, one.forms))


def measure(found: dict[str, Row], sentences: list[Sentence], rounds: int) -> dict[str, list[float]]:
    """Return row → the milliseconds of every sentence in every round; a first, extra round is not measured."""
    times: dict[str, list[float]] = {name: [] for name in found}
    for number in range(rounds + 1):
        for name, parse in found.items():
            for sentence in sentences[:WARM_UP]:
                parse(sentence)
            for sentence in sentences:
                began = time.perf_counter()
                parse(sentence)
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
    options.add_argument("--peers", metavar="TRAIN", help="also time other parsers, set up from this CoNLL-U file")
    options.add_argument("--spacy", action="store_true", help=f"also time {SPACY} without names, on the same words")
    arguments = options.parse_args()
    torch.set_num_threads(arguments.threads)
    try:
        some = [one for one in read_conllu(arguments.treebank) if WORDS[0] <= len(one.forms) <= WORDS[1]]
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

"""The time of parsing one sentence, for models × beams × precisions, from its words to the finished parse.

    python run/bench/latency.py TREEBANK.conllu [--models NAME ...] [--beams 1 10] [--precisions fp32 bf16]
        [--spacy TRAIN.conllu]

Sentences of 15 to 25 words are parsed one by one. In each round each row of the report parses five sentences that do
not count, and then all sentences, with the model's weights in the processor's cache. The report has the median and the
95th percentile in milliseconds. --spacy measures spaCy's parser, too, set up from this treebank.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path

import torch
from common import parser, spacy_parser, write

from transition_parser import Parser
from transition_parser.base.errors import InputError
from transition_parser.graphs.conllu import Sentence, read_conllu

WARM_UP = 5  # sentences that each row parses in each round before the time starts
WORDS = (15, 25)  # the bounds of the number of words of a sentence


def main() -> None:
    options = parser(__doc__)
    options.add_argument("treebank", type=Path, help="CoNLL-U")
    options.add_argument("--models", nargs="+", default=["en-ewt", "en-ewt-minilm", "en-amr", "en-amr-minilm"])
    options.add_argument("--beams", nargs="+", type=int, default=[1])
    options.add_argument("--precisions", nargs="+", default=["bf16"], choices=["fp32", "bf16", "int8", "auto"])
    options.add_argument("--sentences", type=int, default=40)
    options.add_argument("--spacy", type=Path, metavar="TRAIN", help="also time spaCy's parser")
    arguments = options.parse_args()
    torch.set_num_threads(arguments.threads)
    rows: dict[str, Callable[[Sequence[Sentence]], object]] = {}
    try:
        some = [one for one in read_conllu(arguments.treebank) if WORDS[0] <= len(one.forms) <= WORDS[1]]
        some = [Sentence.from_words(one.forms) for one in some[: arguments.sentences]]
        if not some:
            raise InputError(f"{arguments.treebank}: no sentence of {WORDS[0]} to {WORDS[1]} words")
        for model, precision, beam in product(arguments.models, arguments.precisions, arguments.beams):
            loaded = Parser.load(model, beam, precision=precision)
            rows[f"{Path(model).name} beam {beam} {precision}"] = lambda one, loaded=loaded: loaded.parse(
                [one[0].forms]
            )
        if arguments.spacy:
            rows["spaCy"] = spacy_parser(arguments.spacy)
    except (InputError, OSError) as error:
        options.error(str(error))
    times: dict[str, list[float]] = {name: [] for name in rows}
    for _ in range(arguments.rounds):
        for name, parse in rows.items():
            for sentence in some[:WARM_UP]:
                parse([sentence])
            for sentence in some:
                began = time.perf_counter()
                parse([sentence])
                times[name].append(1000 * (time.perf_counter() - began))
    figures = {
        name: {
            "median ms": round(statistics.median(values), 2),
            "p95 ms": round(sorted(values)[int(0.95 * (len(values) - 1))], 2),
        }
        for name, values in times.items()
    }
    write("latency", arguments, {"rows": figures})


if __name__ == "__main__":
    main()

"""Speed, sentences/s from words in Python to graphs in Python, and scores, in interleaved rounds without loading.

    python run/bench/parsing.py MODEL GOLD [--others MODEL ...] [--beams 1 10] [--precisions fp32 bf16 int8] [--scores]
        [--spacy TRAIN.conllu] [--device cuda] [--one-by-one] [--lengths 15 25] [--beside 1]
        [--without-network]

GOLD: CoNLL-U file or AMR bank. --scores: UAS and LAS of trees, Smatch of AMRs in percent, of the first round. --spacy:
also the speed of spaCy's parser on one core, set up from this treebank. --one-by-one parses each sentence by itself,
and also reports the median and the 95th percentile of the times, in milliseconds. --beside N also measures each
contender beside N processes that compute without rest. --without-network (with --threads 1) also measures all but the
network, up to CoNLL-U or PENMAN: the encoder's output and the derivations are those of an earlier parse.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice, product
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from common import parser, report, rounds, spacy_parser

from transition_parser import Parser
from transition_parser.base.errors import InputError
from transition_parser.parsing import parser as parser_module
from transition_parser.parsing import preparation
from transition_parser.parsing.formalisms import Formalism

WARM_UP = 20  # sentences parsed before the time starts


def scores(formalism: Formalism, gold: Sequence, parses: Sequence) -> dict[str, float]:
    """Return the scores of parses, in percent."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, f"{side}{formalism.suffix}") for side in ("gold", "system")]
        for path, sentences in zip(paths, (gold, [parse.annotated() for parse in parses]), strict=True):
            path.write_text("".join(map(str, sentences)), encoding="utf-8")
        figures = formalism.score(*map(str, paths)).figures
    found = {name: figures[name] for name in formalism.figures}
    return {name: round(100 * of["f1"] if isinstance(of, dict) else of, 2) for name, of in found.items()}


@contextmanager
def busy_processes(number: int) -> Iterator[None]:
    """Keep so many other processes computing."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(number)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def without_network(loaded: Parser, sentences: Sequence) -> Callable[[list], list]:
    """Return a function that parses these sentences, with what the network computed before, and writes the parses."""
    kept: dict[str, list] = {"encode": [], "search": []}

    def keeping(name: str, function: Callable) -> Callable:
        def call(*arguments: Any, **options: Any) -> Any:
            kept[name].append(function(*arguments, **options))
            return kept[name][-1]

        return call

    @contextmanager
    def patched(encode: Callable, search: Callable) -> Iterator[None]:
        with mock.patch.object(loaded.model, "encode", encode), mock.patch.object(parser_module, "search", search):
            yield

    with patched(keeping("encode", loaded.model.encode), keeping("search", parser_module.search)):
        loaded.parse(sentences)

    def parse(given: list) -> list:
        encoded, found = iter(kept["encode"]), iter(kept["search"])
        with patched(lambda _: next(encoded), lambda *_, **__: next(found)):
            return [str(parsed.annotated()) for parsed in loaded.parse(given)]

    return parse


def main() -> None:
    options = parser(__doc__)
    options.add_argument("model", help="checkpoint, exported folder, or name")
    options.add_argument("gold", help="CoNLL-U file or AMR bank")
    options.add_argument("--others", metavar="MODEL", nargs="+", default=[], help="measure these models, too")
    options.add_argument("--sentences", type=int, help="how many of the file, from the start (default: all)")
    options.add_argument("--beams", type=int, nargs="+", default=[1])
    options.add_argument("--precisions", nargs="+", choices=("auto", *preparation.PRECISIONS), default=["fp32", "bf16"])
    options.add_argument("--scores", action="store_true", help="score the parses, too")
    options.add_argument("--spacy", metavar="TRAIN", type=Path, help="measure spaCy's parser, set up from this file")
    options.add_argument("--device", default="cpu")
    options.add_argument("--one-by-one", action="store_true", help="parse each sentence by itself")
    options.add_argument("--without-network", action="store_true", help="measure all but the network, too")
    options.add_argument("--beside", type=int, default=0, metavar="N", help="measure beside N busy processes, too")
    options.add_argument("--lengths", type=int, nargs=2, default=(0, 10**6), help="only sentences of so many words")
    arguments = options.parse_args()
    torch.set_num_threads(arguments.threads)
    models: dict[str, Parser] = {}
    contenders: dict[str, Callable[[list], list]] = {}
    try:
        for name, beam, precision in product(
            [arguments.model, *arguments.others], arguments.beams, arguments.precisions
        ):
            loaded = Parser.load(name, beam, device=arguments.device, precision=precision, threads=arguments.threads)
            models[f"{name}, beam {beam}, {precision}"] = loaded
        ours = next(iter(models.values()))
        pairs = zip(ours.read(arguments.gold), ours.formalism.read_graphs(arguments.gold), strict=True)
        fit = (pair for pair in pairs if arguments.lengths[0] <= len(pair[0].forms) <= arguments.lengths[1])
        sentences, gold = map(list, zip(*islice(fit, arguments.sentences), strict=True))
        contenders = {name: loaded.parse for name, loaded in models.items()}
        if arguments.spacy:
            contenders["spaCy"] = spacy_parser(arguments.spacy)
    except (InputError, OSError) as error:
        options.error(str(error))
    for parse in contenders.values():
        parse(sentences[:WARM_UP])
    if arguments.without_network:
        contenders |= {
            f"{name}, but the network": without_network(loaded, sentences) for name, loaded in models.items()
        }
    beside = {f"{name}, beside {arguments.beside}": parse for name, parse in contenders.items() if arguments.beside}
    found: dict[str, dict[str, float]] = {}
    times: dict[str, list[float]] = defaultdict(list)
    batches = [[sentence] for sentence in sentences] if arguments.one_by_one else [sentences]

    def rate(name: str, parse: Callable[[list], list]) -> float:
        parses: list = []
        with busy_processes(arguments.beside if name in beside else 0):
            start = time.perf_counter()
            for batch in batches:
                began = time.perf_counter()
                parses += parse(batch)
                times[name].append(1000 * (time.perf_counter() - began))
            speed = len(parses) / (time.perf_counter() - start)
        if arguments.scores and name in models and name not in found:
            found[name] = scores(ours.formalism, gold, parses)
        return speed

    turns = {name: partial(rate, name, parse) for name, parse in (contenders | beside).items()}
    rates = rounds(turns, arguments.rounds)
    more: dict[str, object] = {"sentences_measured": len(sentences), "scores": found}
    more["words"] = sum(len(sentence.forms) for sentence in sentences)
    if arguments.one_by_one:
        more["ms, median and 95th percentile"] = {
            name: (round(statistics.median(of), 2), round(sorted(of)[int(0.95 * (len(of) - 1))], 2))
            for name, of in times.items()
        }
    report("parsing, sentences/s", arguments, rates, **more)


if __name__ == "__main__":
    main()

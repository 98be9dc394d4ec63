"""Scores and speed of one model in each precision: UAS and LAS of trees, Smatch of AMRs, as `score` computes them.

The precisions take turns, round by round; the scores come from the first round.

    python run/bench/precision.py MODEL GOLD [--beam 1 10] [--precisions fp32 bf16] [--sentences N]
        [--without-bf16]

--without-bf16 computes as a processor without native bf16 does: bf16 is emulated, and with int8 everything but the
linear layers is in fp32.
"""

from __future__ import annotations

import tempfile
import time
from itertools import islice
from pathlib import Path

import torch
from common import parser, report

from transition_parser import Parser
from transition_parser.parsing import preparation
from transition_parser.parsing.preparation import PRECISIONS

BASE = "fp32"


def scores(model: Parser, gold: list, parses: list) -> dict[str, float]:
    """Return the scores of the parses, in percent."""
    formalism = model.formalism
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, f"{side}{formalism.suffix}") for side in ("gold", "system")]
        for path, sentences in zip(paths, (gold, [parse.annotated() for parse in parses]), strict=True):
            path.write_text("".join(map(str, sentences)), encoding="utf-8")
        figures = formalism.score(*map(str, paths)).figures
    found = {name: figures[name] for name in formalism.figures}
    return {name: 100 * value["f1"] if isinstance(value, dict) else value for name, value in found.items()}


def parse(model: Parser, arguments) -> tuple[list, float]:
    """Return the parses, and the sentences per second."""
    sentences = list(islice(model.read(arguments.gold), arguments.sentences))
    start = time.perf_counter()
    parses = list(model.parse_stream(sentences))
    return parses, len(parses) / (time.perf_counter() - start)


def main() -> None:
    """Measure every precision in turn, round by round."""
    options = parser(__doc__)
    options.add_argument("model", help="checkpoint, exported folder, or name")
    options.add_argument("gold", help="CoNLL-U file or AMR bank")
    options.add_argument("--beam", type=int, nargs="+", default=[1, 10])
    options.add_argument("--precisions", nargs="+", default=list(PRECISIONS), choices=list(PRECISIONS))
    options.add_argument("--sentences", type=int, help="how many of GOLD, from the start (default: all)")
    options.add_argument("--device", default="cpu")
    options.add_argument("--without-bf16", action="store_true", help="compute as a processor without native bf16 does")
    arguments = options.parse_args()
    if arguments.without_bf16:
        preparation.has_fast_bf16 = lambda device: False
    torch.set_num_threads(arguments.threads)
    contenders = [(p, beam) for beam in arguments.beam for p in dict.fromkeys([BASE, *arguments.precisions])]
    models = {
        (precision, beam): Parser.load(
            arguments.model, beam, device=arguments.device, precision=precision, threads=arguments.threads
        )
        for precision, beam in contenders
    }
    some = models[contenders[0]]
    gold = list(islice(some.formalism.read_graphs(arguments.gold), arguments.sentences))
    rates: dict[str, list[float]] = {_name(*contender): [] for contender in contenders}
    result: dict[str, dict[str, float]] = {}
    for model in models.values():
        list(model.parse_stream(islice(model.read(arguments.gold), 20)))
    for _ in range(arguments.rounds):
        for contender, model in models.items():
            parses, rate = parse(model, arguments)
            rates[_name(*contender)].append(rate)
            if _name(*contender) not in result:
                result[_name(*contender)] = scores(model, gold, parses)
    more = {
        "sentences_parsed": len(gold),
        "scores": {name: {key: round(value, 2) for key, value in figures.items()} for name, figures in result.items()},
        f"differences_to_{BASE}": {
            _name(precision, beam): {
                key: round(value - result[_name(BASE, beam)][key], 2)
                for key, value in result[_name(precision, beam)].items()
            }
            for precision, beam in contenders
            if precision != BASE
        },
    }
    report("precisions, sentences/s", arguments, rates, _name(BASE, arguments.beam[0]), **more)


def _name(precision: str, beam: int) -> str:
    return f"{precision}, beam {beam}"


if __name__ == "__main__":
    main()

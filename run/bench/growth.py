"""Growth of the time of parsing: time per action against sentence length, sentences/s against batch size and beam.

    python run/bench/growth.py en-ewt dev.conllu -o growth.json --plot growth.svg

For each length, sentences of exactly this many words are made from the words of the file, one after the other. A
batch of `--batch` such sentences is parsed with each beam of `--length-beams`; the actions of the parses are counted.
The report has the slope of log time per action against log length over the longer half of the lengths: 0 if the time
per sentence is linear in its length, 1 if quadratic. Batch size and beam vary over the first `--sentences` of the file.
"""

from __future__ import annotations

import logging
import math
import statistics
import time
from collections.abc import Callable, Iterable
from itertools import cycle, islice

import torch
from common import parser, report
from matplotlib.figure import Figure

from transition_parser import Parser
from transition_parser.parsing.preparation import usual_batch

LENGTHS = [5, 10, 20, 40, 80, 150]
BATCH_TOKENS = [250, 1000, 4000, 16000, 64000]
BEAMS = [1, 2, 4, 8, 16]


def made(words: Iterable[str], length: int, count: int) -> list[list[str]]:
    """Return `count` sentences: successive chunks of `length` words from `words`, which start again at their end."""
    stream = cycle(words)
    return [list(islice(stream, length)) for _ in range(count)]


def slope(lengths: list[int], times: list[float]) -> float:
    """Return the slope of the least-squares line through log time against log length, over the longer half."""
    points = sorted(zip(lengths, times, strict=True))[len(lengths) // 2 :]
    line = statistics.linear_regression(
        [math.log(length) for length, _ in points], [math.log(seconds) for _, seconds in points]
    )
    return line.slope


def seconds_of(parse: Callable[[], list]) -> tuple[float, list]:
    """Return the seconds that a call takes, and its result."""
    start = time.perf_counter()
    result = parse()
    return time.perf_counter() - start, result


def plot(path: str, model: str, medians: dict[str, dict[str, float]]) -> None:
    """Draw three pictures side by side; the suffix of `path` chooses the format (.svg, .png, .pdf)."""
    # importing fairseq sets the level of all loggers to DEBUG
    logging.getLogger("matplotlib").setLevel(logging.WARNING)
    figure = Figure(figsize=(13, 4), layout="constrained")
    lengths, batches, beams = figure.subplots(1, 3)
    for axes, key, scale, labels in (
        (lengths, "length", 1e6, ("words of a sentence", "microseconds an action")),
        (batches, "batch_tokens", 1, ("words × beam at once", "sentences/s")),
        (beams, "beam", 1, ("beam", "sentences/s")),
    ):
        for name, points in medians[key].items():
            axes.plot([int(x) for x in points], [scale * y for y in points.values()], marker="o", label=name)
        axes.set(xlabel=labels[0], ylabel=labels[1], xscale="log", ylim=(0, None))
        ticks = sorted({int(x) for points in medians[key].values() for x in points})
        axes.set_xticks(ticks, map(str, ticks))
        axes.minorticks_off()
        axes.legend()
    figure.suptitle(model)
    figure.savefig(path)


def main() -> None:
    """Measure every point in turn, round by round."""
    options = parser(__doc__)
    options.add_argument("model", help="checkpoint, exported folder, or model of the package")
    options.add_argument("file", help="CoNLL-U file, or AMR bank")
    options.add_argument("--sentences", type=int, default=200, help="how many of the file, from the start")
    options.add_argument("--batch", type=int, default=16, help="how many sentences of each length are parsed at once")
    options.add_argument("--lengths", type=int, nargs="+", default=LENGTHS)
    options.add_argument("--length-beams", type=int, nargs="+", default=[1, 10])
    options.add_argument("--batch-tokens", type=int, nargs="+", default=BATCH_TOKENS)
    options.add_argument("--batch-beams", type=int, nargs="+", default=[1, 10])
    options.add_argument("--beams", type=int, nargs="+", default=BEAMS)
    options.add_argument("--device", default="cpu")
    options.add_argument("--precision", default="auto", choices=["auto", "fp32", "bf16"])
    options.add_argument("--plot", metavar="FILE", help="draw the figures there (.svg, .png)")
    arguments = options.parse_args()
    if len(arguments.lengths) < 4:
        options.error("--lengths: give four or more, because the slope is over the longer half of them")
    torch.set_num_threads(arguments.threads)
    ours = Parser.load(
        arguments.model, device=arguments.device, precision=arguments.precision, threads=arguments.threads
    )
    usual = {beam: usual_batch(ours.model, ours.device, beam) for beam in (1, *arguments.beams)}
    sentences = list(islice(ours.read(arguments.file), arguments.sentences))
    words = [form for sentence in sentences for form in sentence.forms]
    by_length = {length: made(words, length, arguments.batch) for length in arguments.lengths}

    def time_an_action(beam: int, length: int) -> float:
        ours.beam, ours.batch_tokens = beam, length * beam * arguments.batch
        seconds, parses = seconds_of(lambda: ours.parse(by_length[length]))
        return seconds / sum(len(parse.actions) for parse in parses)

    def sentence_rate(beam: int, batch_tokens: int) -> float:
        ours.beam, ours.batch_tokens = beam, batch_tokens
        seconds, parses = seconds_of(lambda: ours.parse(sentences))
        return len(parses) / seconds

    points: dict[tuple[str, str, int], Callable[[], float]] = {}
    for beam in arguments.length_beams:
        for length in arguments.lengths:
            points["length", f"beam {beam}", length] = lambda b=beam, n=length: time_an_action(b, n)
    for beam in arguments.batch_beams:
        for tokens in arguments.batch_tokens:
            points["batch_tokens", f"beam {beam}", tokens] = lambda b=beam, n=tokens: sentence_rate(b, n)
    for beam in arguments.beams:
        points["beam", "usual number of words at once", beam] = lambda b=beam: sentence_rate(b, usual[b])
    times: dict[tuple[str, str, int], list[float]] = {point: [] for point in points}
    sentence_rate(1, usual[1])  # warms up
    for _ in range(arguments.rounds):
        for point, measure in points.items():
            times[point].append(measure())

    curves: dict[str, dict[str, dict[str, float]]] = {"length": {}, "batch_tokens": {}, "beam": {}}
    for (kind, name, x), values in times.items():
        curves[kind].setdefault(name, {})[str(x)] = statistics.median(values)
    slopes = {
        name: round(slope([int(x) for x in curve], list(curve.values())), 3) for name, curve in curves["length"].items()
    }
    rates = {
        f"{name}, {x} words": [1 / seconds for seconds in values]
        for (kind, name, x), values in times.items()
        if kind == "length"
    }
    if arguments.plot:
        plot(arguments.plot, arguments.model, curves)
    report(
        "growth, actions/s", arguments, rates, next(iter(rates)), slope_of_time_an_action=slopes,
        seconds_an_action=curves["length"],
        sentences_per_second={kind: curves[kind] for kind in ("batch_tokens", "beam")},
        sentences_measured=len(sentences), longer_half=sorted(arguments.lengths)[len(arguments.lengths) // 2 :],
    )  # fmt: skip


if __name__ == "__main__":
    main()

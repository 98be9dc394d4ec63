"""fairseq's programs, run in this process, and the figures in their logs, one line an epoch for people."""

from __future__ import annotations

import json
import logging
import math
import re
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from datetime import timedelta
from pathlib import Path
from typing import Any, TextIO

from transition_parser.base.errors import InputError, input_error
from transition_parser.base.process import redirected, signals_as_exits

TASK = ("--task", "transition_parsing")
_FORMAT = logging.Formatter("%(asctime)s | %(levelname)s | %(name)s | %(message)s", "%Y-%m-%d %H:%M:%S")


def run_fairseq(
    program: str,
    arguments: Sequence[str],
    log: Path,
    user_dir: str | None = None,
    line: Callable[[str], None] = lambda text: None,
) -> None:
    """Run `fairseq_cli.PROGRAM`, `preprocess` or `train`, with the task of this package."""
    user = str(Path(user_dir).resolve()) if user_dir else str(Path(__file__).parents[1])
    with signals_as_exits() as check, _logged(log, lambda text: (line(text), check())) as file:
        try:
            {"preprocess": _preprocess, "train": _train}[program]([*arguments, "--user-dir", user, *TASK])
        except Exception as error:
            if isinstance(error, InputError) or (isinstance(error, OSError) and error.errno is not None):
                raise
            traceback.print_exc(file=file)
            words = str(error).strip().splitlines() or ["it said nothing"]
            raise input_error(f"fairseq-{program} failed: {type(error).__name__}: {words[-1]}", log) from error


def _preprocess(arguments: Sequence[str]) -> None:
    from fairseq import options
    from fairseq_cli import preprocess

    preprocess.main(options.get_preprocessing_parser().parse_args(arguments))
    preprocess.logger.handlers.clear()  # a file in the folder of the data


def _train(arguments: Sequence[str]) -> None:
    from fairseq import checkpoint_utils, options
    from fairseq.dataclass.utils import convert_namespace_to_omegaconf
    from fairseq.distributed.utils import call_main
    from fairseq_cli import train

    import transition_parser.tasks.transition_parsing  # noqa: F401  (registers the task, and with it all else)

    for function in (checkpoint_utils.save_checkpoint, train.should_stop_early):
        vars(function).clear()  # the best score of an earlier training
    call_main(
        convert_namespace_to_omegaconf(options.parse_args_and_arch(options.get_training_parser(), arguments)),
        train.main,
    )


class _Lines(logging.Handler):
    """Writes each message to a file as one line, and gives it to a function. Errors of writing are raised."""

    def __init__(self, file: TextIO, line: Callable[[str], Any]) -> None:
        super().__init__(logging.INFO)
        self.setFormatter(_FORMAT)
        self._file, self._line = file, line

    def emit(self, record: logging.LogRecord) -> None:
        text = self.format(record)
        print(text, file=self._file, flush=True)
        self._line(text)


@contextmanager
def _logged(log: Path, line: Callable[[str], Any]) -> Iterator[TextIO]:
    """Append to a file what the block, and processes that it starts, log, print and warn of."""
    root, fairseq = logging.getLogger(), logging.getLogger("fairseq")
    handlers, levels = root.handlers, (root.level, fairseq.level)
    # fairseq starts a process for each GPU, which prints to descriptor 1
    with open(log, "a", encoding="utf-8") as file, redirect_stdout(file), redirected(1, file.fileno()):
        try:
            root.handlers = [_Lines(file, line)]
            root.setLevel(logging.INFO)
            fairseq.setLevel(logging.INFO)
            logging.captureWarnings(True)
            yield file
        finally:
            logging.captureWarnings(False)
            root.handlers = handlers
            root.setLevel(levels[0])
            fairseq.setLevel(levels[1])


_ENTRY = re.compile(r"\| INFO \| (train_inner|train|valid) \| (\{.*\})$")


def entry_of(line: str) -> tuple[str, Mapping[str, Any]] | None:
    """Return the kind and the figures of a line of fairseq's log (`--log-format json`); None for any other line.

    The kind is `train_inner` within an epoch, `train` and `valid` at its end.
    """
    found = _ENTRY.search(line)
    try:
        return (found[1], json.loads(found[2])) if found else None
    except ValueError:  # a full disk cut the line
        return None


def name_of(metric: str) -> str:
    """Return the name of a score on dev in the result of `epochs_of`, where `loss` is the training loss."""
    return "dev_loss" if metric == "loss" else metric


def epochs_of(lines: Iterable[str], metric: str) -> list[dict[str, float]]:
    """Return for each epoch of a log its number, its training loss (`loss`), its score on dev (see `name_of`)."""
    epochs: dict[int, dict[str, float]] = {}
    for kind, figures in filter(None, map(entry_of, lines)):
        if kind == "train_inner":
            continue
        epoch = epochs.setdefault(int(figures["epoch"]), {"epoch": int(figures["epoch"])})
        for name, key in ((f"valid_{metric}", name_of(metric)), ("train_loss", "loss")):
            if name in figures:
                epoch[key] = float(figures[name])
    return [epochs[number] for number in sorted(epochs)]


def best_of(epochs: Iterable[Mapping[str, float]], metric: str, maximizes: bool) -> tuple[float, int] | None:
    """Return the best score on dev in the result of `epochs_of`, and its first epoch; None where nothing was scored."""
    name = name_of(metric)
    scored = [(epoch[name], int(epoch["epoch"])) for epoch in epochs if name in epoch]
    return min(scored, key=lambda one: (-one[0] if maximizes else one[0], one[1]), default=None)


class Display:
    """Prints a line for each epoch of a training that ends after `epochs` or `updates` (0: not limited)."""

    def __init__(
        self, epochs: float, updates: float, metric: str, earlier: Iterable[str] = (), maximizes: bool = True
    ) -> None:
        self._epochs, self._updates = epochs or math.inf, updates or math.inf
        self._metric, self._maximizes, self._lines = metric, maximizes, list(earlier)
        self._began: tuple[float, float] | None = None  # start time, and the share of training done by then

    def line(self, text: str) -> None:
        """Read a line of fairseq's log; print the epoch that it ends."""
        kind, figures = entry_of(text) or ("", {})
        if kind == "train_inner":
            self._began = self._began or (time.monotonic(), self._done(figures, "num_updates", "update"))
        elif kind:
            self._lines.append(text)
        if kind == "train":
            print(self._epoch_line(figures), file=sys.stderr, flush=True)

    def _epoch_line(self, figures: Mapping[str, Any]) -> str:
        epochs = epochs_of(self._lines, self._metric)
        of = "" if math.isinf(self._epochs) else f"/{self._epochs:.0f}"
        parts = [f"epoch {figures['epoch']}{of}", f"loss {float(figures['train_loss']):.3f}"]
        if name_of(self._metric) in epochs[-1]:
            parts.append(f"dev {self._metric.upper()} {epochs[-1][name_of(self._metric)]:g}")
        if best := best_of(epochs, self._metric, self._maximizes):
            parts.append(f"best {best[0]:g} (epoch {best[1]})")
        now, done = time.monotonic(), self._done(figures, "train_num_updates", "epoch")
        began, before = self._began or (now, done)
        if done > before:
            parts.append(f"{timedelta(seconds=round((now - began) / (done - before) * (1 - done)))} left")
        return "  ".join(parts)

    def _done(self, figures: Mapping[str, Any], updates: str, epochs: str) -> float:
        """Return the share of the training that is done, from 0 to 1, by the figures of these names."""
        parts = ((epochs, self._epochs), (updates, self._updates))
        return min(max(float(figures.get(name, 0)) / most for name, most in parts), 1.0)

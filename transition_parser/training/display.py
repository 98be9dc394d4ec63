"""The log of a training by fairseq: the figures in it, and one line an epoch for people."""

from __future__ import annotations

import json
import math
import re
import sys
import time
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any, NamedTuple

_ENTRY = re.compile(r"\| INFO \| (train_inner|train|valid) \| (\{.*\})$")


class Entry(NamedTuple):
    """Figures that fairseq logged: `train_inner` within an epoch, `train` and `valid` at its end."""

    kind: str
    figures: Mapping[str, Any]

    def number(self, name: str) -> float | None:
        """Return a figure, or None where it is missing."""
        value = self.figures.get(name)
        return None if value is None else float(value)


def entry_of(line: str) -> Entry | None:
    """Return the figures in a line of fairseq's log (`--log-format json`); None for other lines, and damaged ones."""
    found = _ENTRY.search(line)
    try:
        return Entry(found[1], json.loads(found[2])) if found else None
    except ValueError:  # a full disk cut the line
        return None


def name_of(metric: str) -> str:
    """Return the name of a score on dev in the result of `epochs_of`, where `loss` is the training loss."""
    return "dev_loss" if metric == "loss" else metric


def epochs_of(lines: Iterable[str], metric: str) -> list[dict[str, float]]:
    """Return for each epoch of a log its number, its training loss (`loss`), its score on dev (see `name_of`)."""
    epochs: dict[int, dict[str, float]] = {}
    for entry in filter(None, map(entry_of, lines)):
        if entry.kind == "train_inner":
            continue
        epoch = epochs.setdefault(int(entry.figures["epoch"]), {"epoch": int(entry.figures["epoch"])})
        for name, key in ((f"valid_{metric}", name_of(metric)), ("train_loss", "loss")):
            value = entry.number(name)
            if value is not None:
                epoch[key] = value
    return [epochs[number] for number in sorted(epochs)]


def best_of(epochs: Iterable[Mapping[str, float]], metric: str, maximizes: bool) -> tuple[float, int] | None:
    """Return the best score on dev in the result of `epochs_of`, and its first epoch; None where nothing was scored."""
    name = name_of(metric)
    scored = [(epoch[name], int(epoch["epoch"])) for epoch in epochs if name in epoch]
    return min(scored, key=lambda one: (-one[0] if maximizes else one[0], one[1]), default=None)


class Display:
    """Prints a line for each epoch of a training that ends after `epochs` or `updates` (0: not limited).

    metric: the score that chooses checkpoints, such as `las`; higher scores are better if `maximizes`
    earlier: the lines that are already in the log of a training that is continued
    """

    def __init__(
        self, epochs: float, updates: float, metric: str, earlier: Iterable[str] = (), maximizes: bool = True
    ) -> None:
        self._epochs, self._updates = epochs or math.inf, updates or math.inf
        self._metric, self._maximizes, self._lines = metric, maximizes, list(earlier)
        self._began: tuple[float, float] | None = None  # start time, and the share of training done by then

    def line(self, text: str) -> None:
        """Read a line of fairseq's log; print the epoch that it ends."""
        entry = entry_of(text)
        if entry is None:
            return
        if entry.kind == "train_inner":
            self._began = self._began or (time.monotonic(), self._done(entry, "num_updates", "update"))
            return
        self._lines.append(text)
        if entry.kind == "train":
            print(self._epoch_line(entry), file=sys.stderr, flush=True)

    def _epoch_line(self, entry: Entry) -> str:
        epochs = epochs_of(self._lines, self._metric)
        of = "" if math.isinf(self._epochs) else f"/{self._epochs:.0f}"
        parts = [f"epoch {entry.figures['epoch']}{of}", f"loss {entry.number('train_loss'):.3f}"]
        if name_of(self._metric) in epochs[-1]:
            parts.append(f"dev {self._metric.upper()} {epochs[-1][name_of(self._metric)]:g}")
        if best := best_of(epochs, self._metric, self._maximizes):
            parts.append(f"best {best[0]:g} (epoch {best[1]})")
        now, done = time.monotonic(), self._done(entry, "train_num_updates", "epoch")
        began, before = self._began or (now, done)
        if done > before:
            parts.append(f"{timedelta(seconds=round((now - began) / (done - before) * (1 - done)))} left")
        return "  ".join(parts)

    def _done(self, entry: Entry, updates: str, epochs: str) -> float:
        """Return the share of the training that is done, from 0 to 1, by the figures of these names."""
        return min(max((entry.number(epochs) or 0) / self._epochs, (entry.number(updates) or 0) / self._updates), 1.0)

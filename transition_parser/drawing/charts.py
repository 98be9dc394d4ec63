"""Learning curves."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from transition_parser.drawing.derivations import save

_COLOUR, _BEST = "#1b6ca8", "#a4343a"


def draw_history(
    history: Sequence[Mapping[str, float]], metric: str, path: str | os.PathLike, maximizes: bool = True
) -> None:
    """Draw training loss and score on dev by epoch, one panel above the other."""
    names = [name for name in dict.fromkeys(("loss", metric)) if any(name in epoch for epoch in history)]
    figure = Figure(figsize=(6.4, 2.4 * len(names)), layout="constrained")
    panels = figure.subplots(len(names), sharex=True, squeeze=False)[:, 0]
    for axes, name in zip(panels, names, strict=True):
        points = [(epoch["epoch"], epoch[name]) for epoch in history if name in epoch]
        axes.plot(*zip(*points, strict=True), color=_COLOUR, marker=".")
        axes.set_ylabel("training loss" if name == "loss" else f"dev {name.removeprefix('dev_').upper()}")
        axes.grid(alpha=0.3)
        if name != "loss":
            at, best = (max if maximizes else min)(points, key=lambda point: point[1])
            axes.plot([at], [best], color=_BEST, marker="o")
            axes.set_title(f"best: {best:g} (epoch {at:g})", fontsize="medium", color=_BEST)
    panels[-1].set_xlabel("epoch")
    panels[-1].xaxis.set_major_locator(MaxNLocator(integer=True))
    save(figure, path)

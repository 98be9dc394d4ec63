"""Charts of figures: learning curves, and how much a model relies on each part of the parser state."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from transition_parser.drawing.derivations import save

_COLOUR, _BEST = "#1b6ca8", "#a4343a"
_INCH = 0.4  # height of a bar


def draw_history(
    history: Sequence[Mapping[str, float]], metric: str, path: str | os.PathLike, maximizes: bool = True
) -> None:
    """Draw training loss and score on dev by epoch, one panel above the other.

    history: the figures of each epoch, see `training.display.epochs_of`
    metric: the name of the score on dev, such as `las`; its best value is marked
    path: the picture; its suffix chooses the format (.svg, .png, .pdf)
    maximizes: True where a higher score is better
    """
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


def draw_ablation(
    scores: Mapping[str, float], without: Mapping[str, Mapping[str, float]], path: str | os.PathLike
) -> None:
    """Draw one bar for each hidden part of the state: how much the last of the scores drops without this part.

    scores: name → score of the model that sees all parts
    without: hidden part → name → score of the model that does not see this part
    path: the picture; its suffix determines the format
    """
    name = list(scores)[-1]
    losses = {field: scores[name] - others[name] for field, others in without.items()}
    figure = Figure(figsize=(6.0, _INCH * (len(losses) + 3)), layout="constrained")
    axes = figure.subplots()
    bars = axes.barh([field.replace("_", " ") for field in losses], list(losses.values()), color=_COLOUR)
    axes.bar_label(bars, fmt="%.4g", padding=3)
    axes.invert_yaxis()
    axes.margins(x=0.15)
    axes.set_xlabel(
        f"loss of {name.upper() if len(name) == 3 else name} where it is hidden ({scores[name]:g} with all)"
    )
    axes.spines[["top", "right"]].set_visible(False)
    save(figure, path)


def draw_deltas(delta: Mapping[str, Mapping[str, Mapping[str, float]]], path: str | os.PathLike) -> None:
    """Draw the Δ scores, side by side for each kind of action: one bar for each part of each structure.

    delta: kind of action → structure → part → mean Δ; parts that are 0 for all kinds are left out
    path: the picture; its suffix determines the format
    """
    bars = {
        kind: {f"{name}, {part}": score for name, parts in of_kind.items() for part, score in parts.items()}
        for kind, of_kind in delta.items()
    }
    names = [name for name in next(iter(bars.values())) if any(of_kind[name] for of_kind in bars.values())]
    figure = Figure(figsize=(2.0 + 1.8 * len(bars), _INCH * (len(names) + 3)), layout="constrained")
    panels = figure.subplots(1, len(bars), sharey=True, squeeze=False)[0]
    for axes, (kind, of_kind) in zip(panels, bars.items(), strict=True):
        axes.barh(names, [of_kind[name] for name in names], color=_COLOUR)
        axes.set_title(kind, fontsize="medium")
        axes.axvline(0, color="black", linewidth=0.8)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].invert_yaxis()
    figure.supxlabel("mean Δ of a decision (nats); above 0 it supports the action")
    save(figure, path)

"""Pictures of how much a model relies on each part of the parser state."""

from __future__ import annotations

import os
from collections.abc import Mapping

from matplotlib.figure import Figure

from transition_parser.drawing.derivations import save

_BAR, _INCH = "#1b6ca8", 0.4  # height of a bar


def draw_ablation(
    scores: Mapping[str, float], without: Mapping[str, Mapping[str, float]], path: str | os.PathLike
) -> None:
    """Draw one bar for each hidden part: the loss of the last score without it.

    scores: name → score of the whole model
    without: hidden part → the scores without it
    path: the picture; its suffix determines the format
    """
    name = list(scores)[-1]
    losses = {field: scores[name] - others[name] for field, others in without.items()}
    figure = Figure(figsize=(6.0, _INCH * (len(losses) + 3)), layout="constrained")
    axes = figure.subplots()
    bars = axes.barh([field.replace("_", " ") for field in losses], list(losses.values()), color=_BAR)
    axes.bar_label(bars, fmt="%.4g", padding=3)
    axes.invert_yaxis()
    axes.margins(x=0.15)
    axes.set_xlabel(
        f"loss of {name.upper() if len(name) == 3 else name} where it is hidden ({scores[name]:g} with all)"
    )
    axes.spines[["top", "right"]].set_visible(False)
    save(figure, path)

"""Pictures of how much a model relies on each part of the parser state."""

from __future__ import annotations

import os

from matplotlib.figure import Figure

from transition_parser.drawing import save
from transition_parser.importance import Importance

_BAR, _INCH = "#1b6ca8", 0.4  # height of a bar


def draw_importance(found: Importance, path: str | os.PathLike) -> None:
    """Draws one bar for each field: what the last score loses without it. The suffix of `path` says the format."""
    name = list(found.scores)[-1]
    losses = {field: found.scores[name] - scores[name] for field, scores in found.without.items()}
    figure = Figure(figsize=(6.0, _INCH * (len(losses) + 3)), layout="constrained")
    axes = figure.subplots()
    bars = axes.barh([field.replace("_", " ") for field in losses], list(losses.values()), color=_BAR)
    axes.bar_label(bars, fmt="%.4g", padding=3)
    axes.invert_yaxis()
    axes.margins(x=0.15)
    axes.set_xlabel(
        f"loss of {name.upper() if len(name) == 3 else name} where it is hidden ({found.scores[name]:g} with all)"
    )
    axes.spines[["top", "right"]].set_visible(False)
    save(figure, path)

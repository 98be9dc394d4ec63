"""Floor 3: gold graph to action sequence, and the check that replaying it gives the graph back."""

from oracles.static import oracle

__all__ = ["oracle"]

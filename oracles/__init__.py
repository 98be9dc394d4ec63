"""Floor 3: gold graph to action sequence, the check that replaying it gives the graph back, and what actions cost."""

from oracles.dynamic import costs
from oracles.static import oracle

__all__ = ["costs", "oracle"]

"""Floor 3: the oracles (gold graphs to action sequences), the check by replay, and the costs of actions."""

from oracles.dynamic import costs
from oracles.static import oracle

__all__ = ["costs", "oracle"]

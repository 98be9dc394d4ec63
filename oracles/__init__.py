"""Floor 3 (see CONTRIBUTING.md): oracles (gold graphs to action sequences), their check, and the costs of actions."""

from oracles.dynamic import costs
from oracles.static import oracle

__all__ = ["costs", "oracle"]

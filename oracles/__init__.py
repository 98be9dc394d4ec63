"""Floor 3 (see CONTRIBUTING.md): oracles (gold graphs to action sequences), their check, and the costs of actions."""

from transition_parser.oracles.dynamic import costs
from transition_parser.oracles.static import oracle

__all__ = ["costs", "oracle"]

"""Floor 3 (see CONTRIBUTING.md): static oracles (gold graphs to action sequences), and their check."""

from transition_parser.oracles.static import oracle

__all__ = ["oracle"]

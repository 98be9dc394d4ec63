"""Floor 3 (see CONTRIBUTING.md): static oracles (gold graphs to action sequences), and their check."""

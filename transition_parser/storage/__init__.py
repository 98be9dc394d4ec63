"""Floor 6 (see CONTRIBUTING.md): saved models, their weights and their cards."""

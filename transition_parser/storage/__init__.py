"""Floor 6: saved models, their weights and their cards."""

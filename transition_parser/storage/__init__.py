"""Floor 7: saved models, their weights and their cards."""

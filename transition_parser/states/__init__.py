"""Floor 3 (see CONTRIBUTING.md): parser states of a batch as tensors, their legal actions, and costs."""

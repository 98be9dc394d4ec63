"""Floor 3 of the package (CONTRIBUTING.md): parser states of a batch as tensors, their legal actions, and costs."""

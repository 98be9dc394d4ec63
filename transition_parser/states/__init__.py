"""Floor 3: parser states of a whole batch as tensors, the legal actions in these states, and the costs of actions."""

"""Floor 3: the parser state as numbers, for a whole derivation (numpy) and for a batch (torch)."""

"""Floor 7: the parser inside other programs."""

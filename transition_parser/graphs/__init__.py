"""Floor 1: the graphs of sentences, and their file formats."""

"""Floor 1: the graphs that sentences are turned into, and their file formats."""

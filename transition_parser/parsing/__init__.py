"""Floor 6: the Python API, which searches for the graphs of sentences and returns parses."""

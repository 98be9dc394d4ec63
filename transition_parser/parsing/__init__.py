"""Floor 7: sentences in, search, parses out; the Python API."""

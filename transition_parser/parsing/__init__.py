"""Floor 6: sentences in, search, parses out; the Python API."""

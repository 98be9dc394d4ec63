"""Floor 6 (see CONTRIBUTING.md): the Python API, which searches for the graphs of sentences and returns parses."""

"""Floor 7 (see CONTRIBUTING.md): the parser inside spaCy and a web server."""

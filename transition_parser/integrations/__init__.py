"""Floor 7 (see CONTRIBUTING.md): the parser inside spaCy, Ray and a web server."""

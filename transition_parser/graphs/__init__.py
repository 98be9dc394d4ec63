"""The graphs of sentences, and their file formats (floor 1, see CONTRIBUTING.md)."""

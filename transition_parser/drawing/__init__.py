"""Floor 6 (see CONTRIBUTING.md): pictures and error reports."""

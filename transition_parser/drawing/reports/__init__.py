"""Floor 6 (see CONTRIBUTING.md): error reports, each one HTML file that loads nothing else. Jinja escapes all texts."""

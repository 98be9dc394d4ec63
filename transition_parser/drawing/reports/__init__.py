"""Floor 6: error reports, each one HTML file that loads nothing else. Jinja escapes all texts."""

"""Floor 6: error reports, each one HTML file that needs nothing else. All texts are escaped by Jinja."""

"""Floor 5 (see CONTRIBUTING.md): network parts, from which `models/` builds models."""

"""Floor 5 of the import order: network parts, from which `models/` builds models."""

"""Floor 5: network parts, from which `models/` builds models."""

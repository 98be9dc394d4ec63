"""Floor 5: network parts. What a part does is here; how parts make a model is in `models/`."""

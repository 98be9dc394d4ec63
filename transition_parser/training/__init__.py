"""Floor 6: whole experiments: the flags of a config, and the stages prepare, train, average, evaluate and export."""

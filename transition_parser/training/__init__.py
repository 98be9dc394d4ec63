"""Floor 6: experiments as a whole: the flags of a config, and all of prepare, train, average, evaluate and export."""

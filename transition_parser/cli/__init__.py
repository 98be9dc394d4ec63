"""Floor 7: the command line, one file for each subcommand."""

"""Floor 7 (see CONTRIBUTING.md): the command line, one file for each subcommand."""

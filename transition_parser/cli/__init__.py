"""Floor 7 (see CONTRIBUTING.md): the command line; `main` knows the module of each subcommand."""

"""Floor 6 (see CONTRIBUTING.md): sentences to parse, from files, pipes (`streams`) and Python objects (`texts`)."""

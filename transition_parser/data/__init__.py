"""Floor 4 (see CONTRIBUTING.md): batches of sentences, derivations and parser states."""

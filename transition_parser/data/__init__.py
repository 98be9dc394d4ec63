"""Floor 4: batches of sentences, derivations and parser states."""

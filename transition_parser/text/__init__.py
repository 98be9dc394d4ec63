"""Floor 1 (see CONTRIBUTING.md): texts as sentences and tokens, words as pieces and lemmas."""

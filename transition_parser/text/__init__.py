"""Floor 1 of the package (CONTRIBUTING.md): texts as sentences and tokens, words as pieces and lemmas."""

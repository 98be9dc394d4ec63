"""Floor 1: sentences as words, words as pieces and lemmas."""

"""Floor 1: texts as sentences and tokens, words as pieces and lemmas."""

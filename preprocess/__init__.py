"""Floor 4: corpora to the text files that `fairseq-preprocess` reads."""

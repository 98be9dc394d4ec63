"""Floor 4: the preparation of corpora as text files that `fairseq-preprocess` reads."""

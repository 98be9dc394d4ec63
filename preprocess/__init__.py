"""Floor 4 (see CONTRIBUTING.md): the preparation of corpora as text files that `fairseq-preprocess` reads."""

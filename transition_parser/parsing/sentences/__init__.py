"""Floor 6 (see CONTRIBUTING.md): sentences to parse, from files, pipes (`streams`) and Python objects (`objects`)."""

from transition_parser.parsing.sentences.files import read_amr_sentences, read_sentences

__all__ = ["read_amr_sentences", "read_sentences"]

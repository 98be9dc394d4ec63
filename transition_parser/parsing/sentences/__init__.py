"""Floor 6: sentences to parse, from files and pipes (`files`, `streams`) and from Python objects (`objects`)."""

from transition_parser.parsing.sentences.files import read_amr_sentences, read_sentences

__all__ = ["read_amr_sentences", "read_sentences"]

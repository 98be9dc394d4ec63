"""Alignment of AMR nodes to tokens by rules, by word–concept probabilities from EM, and by neighbours in the graph.

Every node of every graph, constants included, gets at least one token.
"""

from transition_parser.preprocess.aligner.aligner import (
    WordConceptTable,
    align_corpus,
    align_entry,
    aligned,
    entry_tokens,
    train_table,
    with_sentences,
)

__all__ = [
    "WordConceptTable",
    "align_corpus",
    "align_entry",
    "aligned",
    "entry_tokens",
    "train_table",
    "with_sentences",
]

"""Alignment of all AMR nodes to tokens by rules, by probabilities from EM, and by neighbors in the graph."""

"""Alignment of all AMR nodes to tokens by rules, by probabilities from EM, and by neighbours in the graph."""

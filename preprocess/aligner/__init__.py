"""Alignment of AMR nodes to tokens by rules, by word–concept probabilities from EM, and by neighbours in the graph.

Every node of every graph, constants included, gets at least one token.
"""

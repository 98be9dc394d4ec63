"""The construction of both parsers of SPA-DP from their options."""

from __future__ import annotations

from transition_parser.data.resources import Resources
from transition_parser.models.spa_dp.encoder import SpaEncoder
from transition_parser.models.spa_dp.head_scores import RelationScores, head_scores
from transition_parser.models.spa_dp.options import SpaDpGraphOptions, SpaDpOptions
from transition_parser.models.spa_dp.transition_decoder import SpaDecoder
from transition_parser.modules.contract import ParserModel
from transition_parser.modules.tagging import tag_heads
from transition_parser.modules.tree_decoder import TreeDecoder


def build(options: SpaDpOptions, resources: Resources) -> ParserModel:
    """Return the transition-based parser over the dictionaries of `resources`."""
    encoder = SpaEncoder(resources, options)
    decoder = SpaDecoder(resources.table, encoder.output_width, options.mlp_width)
    return ParserModel(encoder, decoder, tag_heads(options, encoder.output_width, resources.columns))


def build_graph(options: SpaDpGraphOptions, resources: Resources) -> ParserModel:
    """Return the graph-based parser over the dictionaries of `resources`.

    Heads follow eqs 8 and 9, but here a word does not compete as its own head; in the paper it does. The loss is eq. 10
    for heads, and the same for relations. Raises `InputError` for a system that does not build every tree.
    """
    encoder = SpaEncoder(resources, options)
    dim, table = encoder.output_width, resources.table
    relations = RelationScores(dim, options.mlp_width, len(table.relations))
    decoder = TreeDecoder(table, head_scores(options, dim), relations)
    return ParserModel(encoder, decoder, tag_heads(options, dim, resources.columns))

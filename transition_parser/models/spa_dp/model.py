"""How both parsers of SPA-DP are built from their options."""

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
    """The transition-based parser over the dictionaries of `resources`."""
    encoder = SpaEncoder(resources, options)
    decoder = SpaDecoder(resources.table, encoder.output_width, options.mlp_width)
    return ParserModel(encoder, decoder, tag_heads(options, encoder.output_width, resources.columns))


def build_graph(options: SpaDpGraphOptions, resources: Resources) -> ParserModel:
    """The graph-based parser: heads by eqs 8 and 9, where in the paper a word competes as its own head, too; the loss
    is eq. 10 and the same of relations. Raises `InputError` where the system of `resources` does not build every tree.
    """
    encoder = SpaEncoder(resources, options)
    dim, table = encoder.output_width, resources.table
    relations = RelationScores(dim, options.mlp_width, len(table.relations))
    decoder = TreeDecoder(table, head_scores(options, dim), relations)
    return ParserModel(encoder, decoder, tag_heads(options, dim, resources.columns))

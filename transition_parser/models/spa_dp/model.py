"""How both parsers of SPA-DP are built from their options."""

from __future__ import annotations

from transition_parser.data.resources import Resources
from transition_parser.errors import InputError
from transition_parser.models.spa_dp.encoder import SpaEncoder
from transition_parser.models.spa_dp.graph_decoder import SpaGraphDecoder
from transition_parser.models.spa_dp.options import SpaDpGraphOptions, SpaDpOptions
from transition_parser.models.spa_dp.transition_decoder import SpaDecoder
from transition_parser.modules.contract import ParserModel
from transition_parser.modules.tagging import tag_heads
from transition_parser.transitions import TREE_SYSTEMS


def build(options: SpaDpOptions, resources: Resources) -> ParserModel:
    """The transition-based parser over the dictionaries of `resources`."""
    encoder = SpaEncoder(resources, options)
    decoder = SpaDecoder(resources.table, encoder.output_width, options.mlp_width)
    return ParserModel(encoder, decoder, tag_heads(options, encoder.output_width, resources.columns))


def build_graph(options: SpaDpGraphOptions, resources: Resources) -> ParserModel:
    """The graph-based parser. Raises `InputError` where the system of `resources` does not build every tree."""
    system = resources.table.system
    fit = [name for name, kind in TREE_SYSTEMS.items() if not kind.projective_only]
    if system.name not in fit:
        raise InputError(
            f"spa_dp_graph finds trees of any shape, which {system.name} can't build: preprocess with --system "
            f"{' or '.join(fit)}"
        )
    encoder = SpaEncoder(resources, options)
    decoder = SpaGraphDecoder(resources.table, encoder.output_width, options)
    return ParserModel(encoder, decoder, tag_heads(options, encoder.output_width, resources.columns))

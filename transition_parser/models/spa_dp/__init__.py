"""SPA-DP: a transition-based and a graph-based parser over words with sequence-preserved attention.

Sequence-preserved attention rescans the sentence once for each word, and the result is a part of the word's vector.

Source: the paper of SPA-DP, the "Sequence-Preserved Attention Dependency Parser" (github.com/dugu9sword/spa-dp).
"""

from transition_parser.data.resources import Resources
from transition_parser.models.registry import register
from transition_parser.models.spa_dp.decoders import RelationScores, SpaDecoder, head_scores
from transition_parser.models.spa_dp.encoder import SpaEncoder
from transition_parser.models.spa_dp.options import SpaDpGraphOptions, SpaDpOptions
from transition_parser.modules.contract import ParserModel
from transition_parser.modules.tagging import tag_heads
from transition_parser.modules.tree_decoder import TreeDecoder

SMALL = {"word_width": 256, "scan_width": 128, "scan_layers": 2, "spa_width": 128, "mlp_width": 256}


def build(options: SpaDpOptions, resources: Resources) -> ParserModel:
    """Return the transition-based parser over the dictionaries of `resources`."""
    encoder = SpaEncoder(resources, options)
    decoder = SpaDecoder(resources.table, encoder.output_width, options.mlp_width)
    return ParserModel(encoder, decoder, tag_heads(options, encoder.tagged_width, resources.columns))


def build_graph(options: SpaDpGraphOptions, resources: Resources) -> ParserModel:
    """Return the graph-based parser over the dictionaries of `resources`.

    The scores of heads follow eqs 8 and 9. Unlike in the paper, a word cannot be its own head. The loss is eq. 10 for
    heads plus eq. 10 for relations. Raises `InputError` for a transition system that builds projective trees only.
    """
    encoder = SpaEncoder(resources, options)
    dim, table = encoder.output_width, resources.table
    relations = RelationScores(dim, options.mlp_width, len(table.relations))
    decoder = TreeDecoder(table, head_scores(options, dim), relations)
    return ParserModel(encoder, decoder, tag_heads(options, encoder.tagged_width, resources.columns))


register("spa_dp", SpaDpOptions, build, {"spa_dp": {}, "spa_dp_small": SMALL})
register(
    "spa_dp_graph",
    SpaDpGraphOptions,
    build_graph,
    {
        "spa_dp_graph": {"scan_width": 400, "spa_width": 100, "mlp_width": 100},
        "spa_dp_graph_small": SMALL | {"spa_width": 64, "mlp_width": 128},
    },
)

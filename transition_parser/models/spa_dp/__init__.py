"""SPA-DP: a transition-based and a graph-based parser over words with sequence-preserved attention.

Sequence-preserved attention rescans the sentence once for each word, and the result is a part of the word's vector.

Source: the paper of SPA-DP, the "Sequence-Preserved Attention Dependency Parser" (github.com/dugu9sword/spa-dp).
"""

from transition_parser.models.registry import register
from transition_parser.models.spa_dp.model import build, build_graph
from transition_parser.models.spa_dp.options import SpaDpGraphOptions, SpaDpOptions

SMALL = {"word_width": 256, "scan_width": 128, "scan_layers": 2, "spa_width": 128, "mlp_width": 256}

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

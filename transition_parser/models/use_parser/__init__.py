"""The Unified Structure Encoder: each structure of a configuration has attention heads of its own.

The structures are the stack, the buffer, the actions so far, the arcs and the relations. Indicators tell the heads of a
structure which part of it a word is.

Source: Ji et al. 2021
"""

from transition_parser.models.registry import register
from transition_parser.models.use_parser.model import build
from transition_parser.models.use_parser.options import UseOptions

SMALL = {
    "encoder_layers": 2,
    "encoder_embed_dim": 256,
    "encoder_ffn_embed_dim": 512,
    "encoder_attention_heads": 4,
    "encoder_dropout": 0.3,
    "use_layers": 2,
    "mlp_width": 512,
    "action_width": 64,
    "marker_width": 64,
    "relation_width": 64,
    "dropout": 0.3,
}

register("use_parser", UseOptions, build, {"use_parser": {}, "use_parser_small": SMALL})

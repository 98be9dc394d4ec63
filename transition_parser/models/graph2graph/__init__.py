"""The Graph2Graph Transformer in five models.

The Sentence Transformer and the State Transformer come in two forms each: plain, or with attention to the partial tree
as a graph. The fifth model finds whole trees and refines them.

Source: Mohammadshahi and Henderson 2020 and 2021
"""

from transition_parser.models.graph2graph.model import (
    build_recursive_g2g,
    build_sentence_g2g,
    build_sentence_transformer,
    build_state_g2g,
    build_state_transformer,
)
from transition_parser.models.graph2graph.options import (
    RefiningOptions,
    SentenceG2gOptions,
    SentenceTransformerOptions,
    StateTransformerOptions,
)
from transition_parser.models.registry import register

SMALL = {
    "encoder_layers": 2,
    "encoder_embed_dim": 256,
    "encoder_ffn_embed_dim": 512,
    "encoder_attention_heads": 4,
    "dropout": 0.2,
    "classifier_dropout": 0.2,
}
ACTION_SMALL = SMALL | {"exist_width": 256}
STATE_SMALL = ACTION_SMALL | {"composition_width": 64, "history_layers": 1, "history_width": 128}

for _name, _options, _build, _small in (
    ("sentence_transformer", SentenceTransformerOptions, build_sentence_transformer, ACTION_SMALL),
    ("sentence_transformer_g2g", SentenceG2gOptions, build_sentence_g2g, ACTION_SMALL),
    ("state_transformer", StateTransformerOptions, build_state_transformer, STATE_SMALL),
    ("state_transformer_g2g", StateTransformerOptions, build_state_g2g, STATE_SMALL),
    ("recursive_g2g", RefiningOptions, build_recursive_g2g, SMALL | {"arc_width": 256}),
):
    register(_name, _options, _build, {_name: {}, f"{_name}_small": _small})

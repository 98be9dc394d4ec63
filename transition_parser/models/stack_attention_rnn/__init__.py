"""A sequence-to-sequence parser with stack-based multi-layer attention.

Two binary vectors tell the attention which words have been pushed, and which words are gone.

Source: Zhang et al. 2017
"""

from transition_parser.models.registry import register
from transition_parser.models.stack_attention_rnn.model import build
from transition_parser.models.stack_attention_rnn.options import StackAttentionOptions

SMALL = {
    "encoder_embed_dim": 256,
    "encoder_layers": 2,
    "encoder_hidden": 128,
    "decoder_embed_dim": 64,
    "decoder_layers": 1,
    "decoder_hidden": 256,
    "attention_width": 128,
}

register(
    "stack_attention_rnn",
    StackAttentionOptions,
    build,
    {"stack_attention_rnn": {}, "stack_attention_rnn_small": SMALL},
)

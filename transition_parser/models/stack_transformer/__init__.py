"""The Stack-Transformer: an encoder-decoder Transformer whose cross-attention heads see the parser state.

Source: Fernandez Astudillo et al. 2020
"""

from transition_parser.models.registry import register
from transition_parser.models.stack_transformer.model import build
from transition_parser.models.stack_transformer.options import StackTransformerOptions

NO_STATE = {"stack_heads": 0, "buffer_heads": 0}  # the vanilla Transformer, variant a of the paper's table 1
SMALL = {"encoder_layers": 2, "decoder_layers": 2}

register(
    "stack_transformer",
    StackTransformerOptions,
    build,
    {
        "stack_transformer": {},  # variant c
        "stack_transformer_small": SMALL,
        "transition_transformer": NO_STATE,
        "transition_transformer_small": NO_STATE | SMALL,
    },
)

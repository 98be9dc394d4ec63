"""A sequence-to-sequence parser with stack-based multi-layer attention.

Two binary vectors tell the attention which words have been on the stack, and which have left both stack and buffer.

Source: Zhang et al. 2017
"""

from torch import nn

from transition_parser.data.resources import Resources
from transition_parser.models.registry import register
from transition_parser.models.stack_attention_rnn.decoder import StackAttentionDecoder
from transition_parser.models.stack_attention_rnn.options import StackAttentionOptions
from transition_parser.modules.contract import ParserModel
from transition_parser.modules.encoder import ReadingSettings, RecurrentEncoder
from transition_parser.modules.tagging import tag_heads

SMALL = {
    "encoder_embed_dim": 256,
    "encoder_layers": 2,
    "encoder_hidden": 128,
    "decoder_embed_dim": 64,
    "decoder_layers": 1,
    "decoder_hidden": 256,
    "attention_width": 128,
}


def build(options: StackAttentionOptions, resources: Resources) -> ParserModel:
    """Return the model over the dictionaries of `resources`."""
    encoder = RecurrentEncoder(
        ReadingSettings.from_resources(resources, options, options.encoder_embed_dim),
        dim=options.encoder_embed_dim,
        hidden=options.encoder_hidden,
        layers=options.encoder_layers,
        dropout=options.dropout,
        word_dropout=options.word_dropout,
    )
    decoder = StackAttentionDecoder(resources.table, resources.target_dictionary.pad(), options)
    for part in (encoder.ahead, encoder.back, decoder):
        _initialise(part)
    width = 2 * options.encoder_hidden
    return ParserModel(encoder, decoder, tag_heads(options, width, resources.columns))


def _initialise(part: nn.Module) -> None:
    """Draw weights from Glorot and Bengio's normal distribution (as in Zhang et al., sec. 4.1), for each gate of a GRU.

    Biases are 0. Embeddings, which the paper takes from GloVe, stay as they are.
    """
    embeddings = {id(module.weight) for module in part.modules() if isinstance(module, nn.Embedding)}
    for name, weight in part.named_parameters():
        if weight.dim() == 1:
            nn.init.zeros_(weight)
        elif id(weight) not in embeddings:
            for gate in weight.data.chunk(3 if "weight_ih" in name or "weight_hh" in name else 1):
                nn.init.xavier_normal_(gate)


register(
    "stack_attention_rnn",
    StackAttentionOptions,
    build,
    {"stack_attention_rnn": {}, "stack_attention_rnn_small": SMALL},
)

"""How a model with stack-based multi-layer attention is built from its options."""

from __future__ import annotations

from transition_parser.data.resources import Resources
from transition_parser.models.stack_attention_rnn.decoder import StackAttentionDecoder
from transition_parser.models.stack_attention_rnn.options import StackAttentionOptions
from transition_parser.modules.contract import ParserModel
from transition_parser.modules.encoder import Reading
from transition_parser.modules.recurrent import RecurrentEncoder
from transition_parser.modules.tagging import tag_heads


def build(options: StackAttentionOptions, resources: Resources) -> ParserModel:
    """The model over the dictionaries of `resources`."""
    encoder = RecurrentEncoder(
        Reading.of(resources, options, options.encoder_embed_dim),
        dim=options.encoder_embed_dim,
        hidden=options.encoder_hidden,
        layers=options.encoder_layers,
        dropout=options.dropout,
        word_dropout=options.word_dropout,
    )
    decoder = StackAttentionDecoder(resources.table, resources.target_dictionary.pad(), options)
    return ParserModel(encoder, decoder, tag_heads(options, 2 * options.encoder_hidden, resources.columns))

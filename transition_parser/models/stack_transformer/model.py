"""The construction of a Stack-Transformer from its options."""

from __future__ import annotations

from transition_parser.data.resources import Resources
from transition_parser.models.stack_transformer.decoder import StackTransformerDecoder
from transition_parser.models.stack_transformer.options import StackTransformerOptions
from transition_parser.modules.contract import ParserModel
from transition_parser.modules.encoder import Reading, WordEncoder
from transition_parser.modules.tagging import tag_heads


def build(options: StackTransformerOptions, resources: Resources) -> ParserModel:
    """Return the model over the dictionaries of `resources`."""
    encoder = WordEncoder(
        Reading.of(resources, options, options.encoder_embed_dim),
        dim=options.encoder_embed_dim,
        heads=options.encoder_attention_heads,
        inner=options.encoder_ffn_embed_dim,
        layers=options.encoder_layers,
        local_layers=options.encoder_local_layers,
        dropout=options.dropout,
        attention_dropout=options.attention_dropout,
        activation_dropout=options.activation_dropout,
        word_dropout=options.word_dropout,
    )
    decoder = StackTransformerDecoder(resources.table, resources.target_dictionary.pad(), options)
    return ParserModel(encoder, decoder, tag_heads(options, options.encoder_embed_dim, resources.columns))

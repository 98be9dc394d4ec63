"""The Unified Structure Encoder: stack, buffer, actions, arcs and relations have attention heads of their own.

Learned vectors, the indicators, tell heads the place of each word in the structure. Source: Ji et al. 2021
"""

from transition_parser.data.resources import Resources
from transition_parser.models.registry import register
from transition_parser.models.use_parser.decoder import UseDecoder
from transition_parser.models.use_parser.layer import LSTM, UseOptions
from transition_parser.modules.contract import ParserModel
from transition_parser.modules.encoder import ReadingSettings, RecurrentEncoder, WordEncoder, WordReader
from transition_parser.modules.layers import Dropout
from transition_parser.modules.tagging import tag_heads

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


def build(options: UseOptions, resources: Resources) -> ParserModel:
    dim = options.encoder_embed_dim
    settings = ReadingSettings.from_resources(resources, options, dim)
    encoder: WordReader
    if options.lexical_encoder == LSTM:
        encoder = RecurrentEncoder(
            settings, dim=dim, hidden=dim // 2, layers=options.encoder_layers, cell="lstm",
            dropout=options.dropout, word_dropout=options.word_dropout,
        )  # fmt: skip
    else:
        encoder = WordEncoder(
            settings, dim=dim, heads=options.encoder_attention_heads, inner=options.encoder_ffn_embed_dim,
            layers=options.encoder_layers, local_layers=options.encoder_local_layers,
            dropout=options.encoder_dropout, word_dropout=options.word_dropout,
        )  # fmt: skip
        encoder.dropout = Dropout(options.dropout)  # dropout of the Transformer's input
    decoder = UseDecoder(resources.table, resources.target_dictionary.pad(), dim, options)
    return ParserModel(encoder, decoder, tag_heads(options, dim, resources.columns))


register("use_parser", UseOptions, build, {"use_parser": {}, "use_parser_small": SMALL})

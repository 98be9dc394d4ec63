"""The Stack-Transformer: cross-attention heads see the parser state (Fernandez Astudillo et al. 2020)."""

from transition_parser.data.resources import Resources
from transition_parser.models.registry import register
from transition_parser.models.stack_transformer.decoder import StackTransformerDecoder, StackTransformerOptions
from transition_parser.modules.contract import ParserModel
from transition_parser.modules.encoder import ReadingSettings, WordEncoder
from transition_parser.modules.tagging import tag_heads

NO_STATE = {"stack_heads": 0, "buffer_heads": 0}  # the vanilla Transformer, variant a of the paper's table 1
SMALL = {"encoder_layers": 2, "decoder_layers": 2}


def build(options: StackTransformerOptions, resources: Resources) -> ParserModel:
    dim = options.encoder_embed_dim
    encoder = WordEncoder(
        ReadingSettings.from_resources(resources, options, dim),
        dim=dim,
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
    return ParserModel(encoder, decoder, tag_heads(options, dim, resources.columns))


register(
    "stack_transformer",
    StackTransformerOptions,
    build,
    {
        "stack_transformer": {},  # variant c of the paper's table 1
        "stack_transformer_small": SMALL,
        "transition_transformer": NO_STATE,
        "transition_transformer_small": NO_STATE | SMALL,
    },
)

"""The Graph2Graph Transformer: Sentence and State Transformer, plain or with the partial tree in attention, and RNGTr.

Source: Mohammadshahi and Henderson 2020 and 2021
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import torch

from transition_parser.base.errors import InputError
from transition_parser.data.resources import Resources
from transition_parser.models.graph2graph.decoders import (
    SEGMENTS,
    FeedbackDecoder,
    History,
    RefiningDecoder,
    SentenceDecoder,
    StateTransformerDecoder,
)
from transition_parser.models.graph2graph.encoder import (
    PIECES,
    SIZES,
    ActionOptions,
    FeedbackOptions,
    Graph2GraphOptions,
    PieceInput,
    PretrainedLayers,
    RefiningOptions,
    SentenceEncoder,
    SlotEncoder,
    StateTransformerOptions,
    Transformer,
    learn_at,
)
from transition_parser.models.registry import register
from transition_parser.modules.action_scores import Kinds
from transition_parser.modules.bert import BertConfig
from transition_parser.modules.contract import ParserModel
from transition_parser.modules.encoder import ReadingSettings
from transition_parser.modules.layers import sinusoids
from transition_parser.modules.pretrained import LR_SCALE
from transition_parser.modules.tagging import tag_heads
from transition_parser.transitions.tree_system import TreeSystem


class _Parts:
    """The inputs of words and the Transformer of each model; with `further` all pieces of a word are read."""

    def __init__(self, options: Graph2GraphOptions, resources: Resources, graph: bool, further: bool) -> None:
        if not isinstance(resources.table.system, TreeSystem):
            raise InputError(
                f"the Graph2Graph Transformer reads and writes dependency trees, not {resources.table.system.name}"
            )
        self.options, source = options, None
        config = BertConfig(
            vocab_size=0,
            hidden_size=options.encoder_embed_dim,
            num_hidden_layers=options.encoder_layers + options.fresh_layers,
            num_attention_heads=options.encoder_attention_heads,
            intermediate_size=options.encoder_ffn_embed_dim,
            max_position_embeddings=options.longest,
            type_vocab_size=len(SEGMENTS),
            hidden_dropout_prob=options.dropout,
            attention_probs_dropout_prob=0.0,
            pad_token_id=None,
        )
        if options.pretrained:
            source = PretrainedLayers(options.pretrained, options.pretrained_sha256, options.encoder_layers)
            config = config._replace(**{name: getattr(source.config, name) for name in (*SIZES, "layer_norm_eps")})
        self.dim = config.hidden_size
        self.transformer = Transformer(config, graph)
        reading = ReadingSettings.from_resources(resources, replace(options, pretrained=""), self.dim)
        if source is None:
            place = sinusoids(0, options.longest, self.dim, torch.device("cpu"))
            self.transformer.embeddings["position_embeddings"].weight.data.copy_(place)
        else:
            pieces = PieceInput(options, self.dim, resources, source, further)
            source.give_to(self.transformer)
            inputs = reading.inputs
            assert inputs is not None
            for other in inputs.values():  # so that the pretrained layers at first read their own pieces alone
                other.start_at_zero()
            inputs[PIECES] = pieces
            reading = reading._replace(pieces=False)
            known = self.transformer.layers[: options.encoder_layers]
            learn_at((self.transformer.embeddings, *known, pieces), options.pretrained_lr_scale)
        self.source, self.reading = source, reading

    def encoder(self, kind: type[Any] = SlotEncoder) -> Any:
        """Return an encoder of the class `kind`; a `SentenceEncoder` reads the sentence before the first action."""
        reads = (self.transformer,) if issubclass(kind, SentenceEncoder) else ()
        encoder = kind(self.reading, *reads, dim=self.dim, word_dropout=self.options.word_dropout)
        if self.source is not None:
            encoder.marks.data.copy_(self.source.special_tokens())
            setattr(encoder.marks, LR_SCALE, self.options.pretrained_lr_scale)
            if encoder.root is not None:
                encoder.root.data.copy_(self.source.mean())
        return encoder


def build_sentence_transformer(options: ActionOptions, resources: Resources) -> ParserModel:
    parts = _Parts(options, resources, graph=False, further=True)
    decoder, encoder = SentenceDecoder(resources.table, parts.dim, options), parts.encoder(SentenceEncoder)
    return ParserModel(encoder, decoder, tag_heads(options, parts.dim, resources.columns))


def build_sentence_g2g(options: FeedbackOptions, resources: Resources) -> ParserModel:
    parts = _Parts(options, resources, graph=True, further=True)
    padding = resources.target_dictionary.pad()
    decoder = FeedbackDecoder(resources.table, parts.transformer, options, padding, graph=True)
    return ParserModel(parts.encoder(), decoder)


def build_recursive_g2g(options: RefiningOptions, resources: Resources) -> ParserModel:
    parts = _Parts(options, resources, graph=options.refine > 0, further=True)
    encoder = parts.encoder(SentenceEncoder)
    encoder.keeps_read = options.tags_read_words
    tags = tag_heads(options, parts.dim * (1 + options.tags_read_words), resources.columns)
    if tags is not None and options.tag_lr_scale != 1.0:
        others = [other for name, other in encoder.inputs.items() if name != PIECES]
        learn_at([*others, tags], options.tag_lr_scale)
    return ParserModel(encoder, RefiningDecoder(resources.table, encoder, options), tags)


def build_state_transformer(options: StateTransformerOptions, resources: Resources, graph: bool) -> ParserModel:
    parts = _Parts(options, resources, graph=graph, further=False)
    padding = resources.target_dictionary.pad()
    history = History(resources.table, Kinds(resources.table), options)
    decoder = StateTransformerDecoder(resources.table, parts.transformer, options, padding, graph, history)
    return ParserModel(parts.encoder(), decoder)


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
    ("sentence_transformer", ActionOptions, build_sentence_transformer, ACTION_SMALL),
    ("sentence_transformer_g2g", FeedbackOptions, build_sentence_g2g, ACTION_SMALL),
    ("state_transformer", StateTransformerOptions, partial(build_state_transformer, graph=False), STATE_SMALL),
    ("state_transformer_g2g", StateTransformerOptions, partial(build_state_transformer, graph=True), STATE_SMALL),
    ("recursive_g2g", RefiningOptions, build_recursive_g2g, SMALL | {"arc_width": 256}),
):
    register(_name, _options, _build, {_name: {}, f"{_name}_small": _small})

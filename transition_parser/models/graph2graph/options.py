"""The options of the Graph2Graph models, with sizes as in Mohammadshahi and Henderson 2020, table 7."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from transition_parser.modules.options import FARTHEST, dropout_option, layers_option, option, size_option
from transition_parser.modules.pretrained import LAYERS, WHOLE, EncoderFiles
from transition_parser.modules.word_inputs import CONCAT
from transition_parser.modules.words import TaggedWordOptions, WordOptions

_MOST_READINGS = 20  # a larger number is taken for a typing error
# a size in the config.json of an encoder → its option
SIZES = {
    "hidden_size": "encoder_embed_dim",
    "intermediate_size": "encoder_ffn_embed_dim",
    "num_attention_heads": "encoder_attention_heads",
    "max_position_embeddings": "longest",
}


@dataclass(frozen=True)
class Graph2GraphOptions(WordOptions):
    """The options of all models; `pretrained` gives the sizes, and the first layers below `fresh_layers`."""

    pretrained_training: str = option(
        WHOLE,
        "training of the pretrained encoder; whole: all weights; layers: all but the embeddings of pieces",
        choices=(LAYERS, WHOLE),
    )
    encoder_layers: int = layers_option(6, "layers of the Transformer")
    fresh_layers: int = layers_option(
        0, "with --pretrained: layers that start at random, above the layers of the encoder", least=0
    )
    encoder_embed_dim: int = size_option(768, "width of the Transformer, without --pretrained", least=2)
    encoder_ffn_embed_dim: int = size_option(3072, "feed-forward width of the Transformer, without --pretrained")
    encoder_attention_heads: int = size_option(12, "attention heads of the Transformer, without --pretrained")
    longest: int = size_option(
        512, "positions that have embeddings of their own, without --pretrained", least=4, most=FARTHEST
    )
    relation_width: int = size_option(100, "width of the hidden layer that scores relations")
    dropout: float = dropout_option(0.1, "dropout of words and in the Transformer")
    classifier_dropout: float = dropout_option(0.05, "dropout of the hidden layers of the classifiers")

    def contradictions(self) -> str | None:
        if not self.pretrained and (problem := self.indivisible("encoder")):
            return problem
        if self.pretrained_layers != "last4":
            return "--pretrained-layers is for other models: these read the first --encoder-layers of the encoder"
        if self.fresh_layers and not self.pretrained:
            return "--fresh-layers is for --pretrained: without it all layers start at random, see --encoder-layers"
        if self.join_inputs == CONCAT and self.pretrained:
            return (
                "--join-inputs concat: the layers of --pretrained read vectors as wide as the encoder's own pieces, "
                "which other inputs are added to: leave out one of the two"
            )
        if self.no_pieces and self.pretrained:
            return "--no-pieces: with --pretrained words are read by the pieces of the encoder: leave out one of both"
        return super().contradictions()

    def completed(self) -> Self:
        options = super().completed()
        if not self.pretrained:
            return options
        config = EncoderFiles(self.pretrained).config()
        sizes = {ours: config[theirs] for theirs, ours in SIZES.items() if isinstance(config.get(theirs), int)}
        return replace(options, **sizes)


@dataclass(frozen=True)
class ActionOptions(Graph2GraphOptions):
    exist_width: int = size_option(500, "width of the hidden layer that scores kinds of actions")


@dataclass(frozen=True)
class RefiningOptions(Graph2GraphOptions, TaggedWordOptions):
    """The options of the model that finds whole trees; widths are as in Mohammadshahi and Henderson 2021."""

    arc_width: int = size_option(500, "width of the vectors that stand for a word as head and as dependent")
    refine: int = option(
        1, "how many times the model reads again, with the tree that it has predicted", least=0, most=_MOST_READINGS
    )
    tag_lr_scale: float = option(
        1.0,
        "what predicts columns, and inputs of words besides pieces, learn at this multiple of the learning rate "
        "(--optimizer adam_by_part)",
        least=0.0,
    )


@dataclass(frozen=True)
class FeedbackOptions(ActionOptions):
    """The options of models whose decoders read the sentence after each action; their encoders only embed it."""

    sampled_states: int = size_option(
        0, "random states of each derivation that an update learns from; 0: all", least=0, most=FARTHEST
    )

    def contradictions(self) -> str | None:
        if self.tag_loss:
            return "there is no encoder before the decoder to predict tags from: no --tag-loss here"
        return super().contradictions()


@dataclass(frozen=True)
class StateTransformerOptions(FeedbackOptions):
    composition: bool = option(False, "compose words with their dependents (state_transformer always does)")
    composition_width: int = size_option(768, "width of the hidden layer of composition")
    history_layers: int = layers_option(2, "layers of the LSTM over the actions so far")
    history_width: int = size_option(768, "width of the LSTM over the actions so far")
    no_composition_skip: bool = option(
        False, "the vectors of composition replace the vectors of words (appendix A of the paper)"
    )
    segment_positions: bool = option(
        False, "positions begin anew in each segment: stack, buffer, deleted list (appendix A of the paper)"
    )
    no_graph_output: bool = option(
        False, "choose actions by the vector of CLS, not by the vectors of their words (StateCLSTr, G2CLSTr)"
    )

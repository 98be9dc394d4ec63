"""The options of the Unified Structure Encoder (Ji et al. 2021, sec. 7 and table 7)."""

from __future__ import annotations

from dataclasses import dataclass

from transition_parser.modules.options import FARTHEST, dropout_option, layers_option, option, size_option
from transition_parser.modules.words import WordOptions

TRANSFORMER, LSTM = "transformer", "lstm"
_WIDEST_PAIR = 1 << 10  # upper limit of `relation_width`, whose square is about the number of weights of a relation


@dataclass(frozen=True)
class UseOptions(WordOptions):
    """The options, with sizes as in the paper; the bound of indicators and widths of markers and actions are ours."""

    lexical_encoder: str = option(
        TRANSFORMER,
        "encoder of words: transformer, or a bidirectional lstm, each direction half as wide (table 2 of the paper)",
        choices=(TRANSFORMER, LSTM),
    )
    encoder_layers: int = layers_option(6, "layers of the encoder of words", least=0)
    encoder_embed_dim: int = size_option(200, "width of the encoder of words", least=2)
    encoder_ffn_embed_dim: int = size_option(800, "feed-forward width of the encoder of words")
    encoder_attention_heads: int = size_option(8, "attention heads of the encoder of words")
    encoder_dropout: float = dropout_option(0.2, "dropout of the layers of the encoder of words")
    encoder_local_layers: int = layers_option(
        0, "convolutions over three words each, before the encoder's attention layers", least=0
    )
    use_layers: int = layers_option(6, "layers of the encoder of structures")
    use_width: int = size_option(256, "width of the vector of a configuration (a state of the parser)")
    mlp_width: int = size_option(800, "width of hidden layers, in the encoder of structures and in the scorer of kinds")
    action_width: int = size_option(100, "width of actions")
    marker_width: int = size_option(100, "width of the markers of time steps and structures")
    marker_steps: int = size_option(256, "time steps that have markers of their own", most=FARTHEST)
    indicator_bound: int = size_option(
        64, "largest position in a structure, and number of steps since, with an indicator of its own", most=FARTHEST
    )
    stack_heads: int = size_option(2, "heads that see the stack", least=0)
    buffer_heads: int = size_option(2, "heads that see the buffer", least=0)
    action_heads: int = size_option(2, "heads that see the actions so far", least=0)
    arc_heads: int = size_option(1, "heads that see the arcs of the partial tree (trees alone)", least=0)
    relation_heads: int = size_option(1, "heads that see the relations of the partial tree (trees alone)", least=0)
    relation_width: int = size_option(
        100, "width of the vectors of head and dependent that relations are scored by", most=_WIDEST_PAIR
    )
    dropout: float = dropout_option(0.33, "dropout of words, and in the encoder of structures")
    word_dropout: float = dropout_option(0.0, "dropout of whole words of the sentence")
    action_dropout: float = dropout_option(0.0, "dropout of whole actions of the history")

    @property
    def heads(self) -> int:
        return self.stack_heads + self.buffer_heads + self.action_heads + self.arc_heads + self.relation_heads

    def contradictions(self) -> str | None:
        if self.lexical_encoder == LSTM:
            if not self.encoder_layers or self.encoder_embed_dim % 2:
                return "--lexical-encoder lstm needs --encoder-layers 1 or more, and an even --encoder-embed-dim"
            if self.encoder_local_layers:
                return "--encoder-local-layers is for --lexical-encoder transformer"
        elif problem := self.indivisible("encoder"):
            return problem
        if not self.stack_heads + self.buffer_heads + self.action_heads:
            return "--stack-heads, --buffer-heads and --action-heads are all 0: give at least one of them a head"
        if self.use_width % self.heads:
            return f"the {self.heads} heads of structures do not divide --use-width {self.use_width}"
        return super().contradictions()

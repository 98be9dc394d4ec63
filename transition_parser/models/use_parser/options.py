"""The options of the Unified Structure Encoder.

Source: Ji et al. 2021, sec. 7 and table 7
"""

from __future__ import annotations

from dataclasses import dataclass

from transition_parser.modules.options import option
from transition_parser.modules.words import WordOptions

_MOST_LAYERS, _WIDEST = 100, 1 << 16  # a larger number is a typing error: no network has as many
_FARTHEST = 1 << 14
_WIDEST_PAIR = 1 << 10  # a relation has about as many weights as its square


@dataclass(frozen=True)
class UseOptions(WordOptions):
    """The options of the Unified Structure Encoder, with sizes as in the paper.

    The paper does not give the bound of indicators, the width of markers, the width of actions, and the width of the
    words that a relation is scored by.
    """

    encoder_layers: int = option(6, "layers of the Transformer over words", least=0, most=_MOST_LAYERS)
    encoder_embed_dim: int = option(200, "its width", least=2, most=_WIDEST)
    encoder_ffn_embed_dim: int = option(800, "its feed-forward width", least=1, most=_WIDEST)
    encoder_attention_heads: int = option(8, "its heads", least=1, most=_WIDEST)
    encoder_dropout: float = option(0.2, "dropout of its layers", least=0.0, below=1.0)
    encoder_local_layers: int = option(
        0, "convolutions over three words each, before the encoder's attention layers", least=0, most=_MOST_LAYERS
    )
    use_layers: int = option(6, "layers of the encoder of structures", least=1, most=_MOST_LAYERS)
    use_width: int = option(256, "width of the vector of a configuration", least=1, most=_WIDEST)
    mlp_width: int = option(
        800, "width of hidden layers, of the encoder of structures and over kinds", least=1, most=_WIDEST
    )
    action_width: int = option(100, "width of actions", least=1, most=_WIDEST)
    marker_width: int = option(100, "width of the markers of time steps and structures", least=1, most=_WIDEST)
    marker_steps: int = option(256, "time steps that have markers of their own", least=1, most=_FARTHEST)
    indicator_bound: int = option(
        64,
        "positions inside a structure, and steps since it was left, have indicators of their own up to this",
        least=1,
        most=_FARTHEST,
    )
    stack_heads: int = option(2, "heads that see the stack", least=0, most=_WIDEST)
    buffer_heads: int = option(2, "heads that see the buffer", least=0, most=_WIDEST)
    action_heads: int = option(2, "heads that see the actions so far", least=0, most=_WIDEST)
    arc_heads: int = option(1, "heads that see the arcs of the partial tree (trees alone)", least=0, most=_WIDEST)
    relation_heads: int = option(1, "heads that see its relations (trees alone)", least=0, most=_WIDEST)
    relation_width: int = option(
        100, "width of the head and of the dependent whose relation is scored", least=1, most=_WIDEST_PAIR
    )
    dropout: float = option(0.33, "dropout of words, and in the encoder of structures", least=0.0, below=1.0)
    word_dropout: float = option(0.0, "dropout of whole words of the sentence", least=0.0, below=1.0)
    action_dropout: float = option(0.0, "dropout of whole actions of the history", least=0.0, below=1.0)

    @property
    def heads(self) -> int:
        """The number of heads that a layer has for all structures of a tree."""
        return self.stack_heads + self.buffer_heads + self.action_heads + self.arc_heads + self.relation_heads

    def contradictions(self) -> str | None:
        if self.encoder_embed_dim % self.encoder_attention_heads:
            return (
                f"--encoder-attention-heads {self.encoder_attention_heads} does not divide --encoder-embed-dim "
                f"{self.encoder_embed_dim}"
            )
        if not self.stack_heads + self.buffer_heads + self.action_heads:
            return "--stack-heads, --buffer-heads and --action-heads leave nothing to see"
        if self.use_width % self.heads:
            return f"the {self.heads} heads of structures do not divide --use-width {self.use_width}"
        return super().contradictions()

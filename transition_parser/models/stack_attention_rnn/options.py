"""The options of stack-based multi-layer attention."""

from __future__ import annotations

from dataclasses import dataclass

from transition_parser.modules.options import option
from transition_parser.modules.words import WordOptions

_MOST_LAYERS, _WIDEST = 100, 1 << 16  # a larger number is a typing error: no network has as many


@dataclass(frozen=True)
class StackAttentionOptions(WordOptions):
    """The options of stack-based multi-layer attention, with widths and sizes as in Zhang et al. 2017, sec. 4.1.

    The paper does not give the width of attention. In the paper, tags are 32 wide and stand beside the word. Here tags,
    like all inputs of words, are as wide as the word and are added to it.
    """

    encoder_embed_dim: int = option(300, "width of words", least=1, most=_WIDEST)
    encoder_layers: int = option(3, "layers of the bidirectional GRU over words", least=1, most=_MOST_LAYERS)
    encoder_hidden: int = option(500, "its width in each direction", least=1, most=_WIDEST)
    decoder_embed_dim: int = option(32, "width of actions", least=1, most=_WIDEST)
    decoder_layers: int = option(3, "layers of the GRU over actions", least=1, most=_MOST_LAYERS)
    decoder_hidden: int = option(500, "its width", least=1, most=_WIDEST)
    attention_layers: int = option(3, "layers of attention", least=1, most=_MOST_LAYERS)
    attention_width: int = option(500, "width of attention", least=1, most=_WIDEST)
    no_pushed: bool = option(False, "attention does not see which words have been pushed")
    no_removed: bool = option(False, "words that are gone keep their attention")
    dropout: float = option(0.2, "dropout between layers, not steps (Zaremba et al. 2014)", least=0.0, below=1.0)
    word_dropout: float = option(0.0, "dropout of whole words of the sentence", least=0.0, below=1.0)
    action_dropout: float = option(0.0, "dropout of whole actions of the history", least=0.0, below=1.0)

"""The options of stack-based multi-layer attention."""

from __future__ import annotations

from dataclasses import dataclass

from transition_parser.modules.options import dropout_option, layers_option, option, size_option
from transition_parser.modules.words import WordOptions


@dataclass(frozen=True)
class StackAttentionOptions(WordOptions):
    """The options of stack-based multi-layer attention, with widths and sizes as in Zhang et al. 2017, sec. 4.1.

    The paper does not give the width of attention. In the paper, words are 300 wide, and tags, 32 wide, stand beside
    them, as with `--no-pieces --word-table 20000 --read-tags --tag-width 32 --join-inputs concat`. By default all
    inputs of words are as wide as the word and are added up.
    """

    encoder_embed_dim: int = size_option(300, "width of words")
    encoder_layers: int = layers_option(3, "layers of the bidirectional GRU over words")
    encoder_hidden: int = size_option(500, "width of the GRU over words, in each direction")
    decoder_embed_dim: int = size_option(32, "width of actions")
    decoder_layers: int = layers_option(3, "layers of the GRU over actions")
    decoder_hidden: int = size_option(500, "width of the GRU over actions")
    attention_layers: int = layers_option(3, "layers of attention")
    attention_width: int = size_option(500, "width of attention")
    no_pushed: bool = option(False, "attention does not see which words have been pushed")
    no_removed: bool = option(False, "attention also sees the words that have left stack and buffer")
    dropout: float = dropout_option(0.2, "dropout between layers, not steps (Zaremba et al. 2014)")
    word_dropout: float = dropout_option(0.0, "dropout of whole words of the sentence")
    action_dropout: float = dropout_option(0.0, "dropout of whole actions of the history")

"""The options of SPA-DP.

Source: SPA-DP, sec. Implementations and Hyper-Parameters Choice.

The paper does not give the number of layers of the scan; eqs 2 and 3 show one. The paper does not give the width of
hidden layers either. Here it is the width of the scan (transition-based parser) or of the rescan (graph-based parser).
"""

from __future__ import annotations

from dataclasses import dataclass

from transition_parser.modules.options import dropout_option, layers_option, option, size_option
from transition_parser.modules.words import WordOptions

NONE, VANILLA = "none", "vanilla"
TO_TARGET, TO_BOUNDARY = "bot", "tob"  # rescan from the boundaries to the word; from the word to the boundaries
BILINEAR, CONCAT = "bilinear", "concat"


@dataclass(frozen=True)
class SpaDpOptions(WordOptions):
    """The options of both parsers, with the defaults of the transition-based parser."""

    word_width: int = size_option(300, "width of the words that the scan reads", least=2)
    scan_width: int = size_option(700, "width of each direction of the scan")
    scan_layers: int = layers_option(1, "layers of the scan, a bidirectional LSTM")
    spa: str = option(
        TO_TARGET,
        "how to rescan the sentence for each word; bot: from its boundaries to the word; tob: from the word "
        "to its boundaries; vanilla: attention without order; none: only the scan",
        choices=(TO_TARGET, TO_BOUNDARY, VANILLA, NONE),
    )
    spa_width: int = size_option(700, "width of each direction of the rescan (see --spa)")
    mlp_width: int = size_option(700, "width of the hidden layer that scores")
    dropout: float = dropout_option(0.3, "dropout of words, of layers of the scan and of rescans")
    word_dropout: float = dropout_option(0.0, "dropout of whole words of the sentence")
    tags_read_words: bool = option(
        False,
        "predict tags, lemmas and features from the input vectors of words, too, not only from scan and rescan: more "
        "accurate with few training sentences",
    )

    def contradictions(self) -> str | None:
        if self.tags_read_words and not self.tag_loss:
            return "--tags-read-words is for models that predict tags: give --tag-loss, too"
        return super().contradictions()


@dataclass(frozen=True)
class SpaDpGraphOptions(SpaDpOptions):
    """The options of the graph-based parser."""

    head_score: str = option(
        BILINEAR,
        "scorer of a word and its head: bilinear product, or hidden layer over their concatenation",
        choices=(BILINEAR, CONCAT),
    )

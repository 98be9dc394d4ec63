"""BPE-dropout with random numbers that the caller gives.

sentencepiece can draw such segmentations too, but it mixes the entropy of the operating system into its seed, so that
no two processes draw the same segmentation.

Source: Provilkov et al. 2020
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator

from sentencepiece import SentencePieceProcessor

_Merge = tuple[float, int, int, str]  # rank, position of the left symbol, position of the right symbol, merged piece


class BpeDropout:
    """A splitter of words that applies the merges of a byte-pair model, with dropout.

    model: a sentencepiece model of the type `bpe`
    """

    def __init__(self, model: SentencePieceProcessor) -> None:
        ids = range(model.get_piece_size())
        special = (model.is_control, model.is_unknown, model.is_unused, model.is_byte)
        merged = (i for i in ids if not any(is_special(i) for is_special in special))
        self._ranks = {model.id_to_piece(i): -model.get_score(i) for i in merged}
        self._has_bytes = any(map(model.is_byte, ids))

    def split(self, text: str, p: float, draws: Iterator[float]) -> list[str]:
        """Return the pieces of a text after byte-pair merges, each of which is left out at random.

        text: one word with `▁` in front of it, without white space
        p: the probability that a merge is left out
        draws: uniform random numbers in [0, 1); one is taken for each possible merge
        """
        merged = self._merged(list(text), p, draws)
        return [piece for symbol in merged if symbol for piece in self._known(symbol)]

    def _merged(self, symbols: list[str], p: float, draws: Iterator[float]) -> list[str]:
        """Merge neighbouring symbols in place, the merge with the lowest rank first, and return the list.

        A symbol that is merged into the symbol before it becomes the empty string.
        """
        count = len(symbols)
        following, preceding = [*range(1, count + 1)], [*range(-1, count - 1)]
        agenda = [merge for i in range(count - 1) for merge in self._merges(symbols, i, i + 1)]
        heapq.heapify(agenda)
        while agenda:
            _rank, left, right, piece = heapq.heappop(agenda)
            if not symbols[left] or not symbols[right] or len(symbols[left]) + len(symbols[right]) != len(piece):
                continue  # another merge has changed these symbols
            if next(draws) < p:
                continue
            symbols[left], symbols[right] = piece, ""
            before, after = preceding[left], following[right]
            following[left] = after
            if after < count:
                preceding[after] = left
            for pair in ((before, left), (left, after)):
                for merge in self._merges(symbols, *pair):
                    heapq.heappush(agenda, merge)
        return symbols

    def _merges(self, symbols: list[str], left: int, right: int) -> list[_Merge]:
        """Return a list with the merge of two neighbouring symbols.

        The list is empty at the edges of the text and where the model does not have the merged piece.
        """
        if left < 0 or right == len(symbols):
            return []
        piece = symbols[left] + symbols[right]
        rank = self._ranks.get(piece)
        return [] if rank is None else [(rank, left, right, piece)]

    def _known(self, symbol: str) -> list[str]:
        """Return the symbol, or the pieces of its UTF-8 bytes if the model lacks the symbol and has pieces of bytes."""
        if symbol in self._ranks or not self._has_bytes:
            return [symbol]
        return [f"<0x{byte:02X}>" for byte in symbol.encode()]

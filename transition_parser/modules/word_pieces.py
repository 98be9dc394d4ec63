"""Words as the pieces of a pretrained encoder's tokenizer."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from transition_parser.text.pieces import KeptWords


class WordPieces:
    """A tokenizer of single words that keeps its results.

    tokenizer: a tokenizer of `transformers`
    most: the largest number of pieces of a word; further pieces are left out
    """

    def __init__(self, tokenizer: Any, most: int) -> None:
        self.tokenizer, self.most = tokenizer, most
        self._kept = KeptWords[list[int]]()
        if tokenizer.is_fast:  # files of encoders, such as MiniLM, may ask for truncation and padding
            tokenizer.backend_tokenizer.no_truncation()
            tokenizer.backend_tokenizer.no_padding()

    def of(self, words: Collection[str]) -> dict[str, list[int]]:
        """Return the piece ids of each word. A word without pieces gets the unknown piece."""
        return self._kept.values(words, self._encode)

    def _encode(self, words: list[str]) -> list[list[int]]:
        """Return the piece ids of each word, encoded by itself without special tokens."""
        if self.tokenizer.is_fast:  # `tokenizer(…)` takes several times as long: it also copies masks and offsets
            found = self.tokenizer.backend_tokenizer.encode_batch_fast(words, add_special_tokens=False)
            encoded = [encoding.ids for encoding in found]
        else:
            encoded = self.tokenizer(words, add_special_tokens=False, verbose=False)["input_ids"]
        return [(ids or [self.tokenizer.unk_token_id])[: self.most] for ids in encoded]

"""The words of plain English text."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spacy.language import Language


def tokenise(text: str) -> list[str]:
    """The words of an English sentence by spaCy's rules (no model, no download).

    >>> tokenise("She didn't go.")
    ['She', 'did', "n't", 'go', '.']
    """
    return [token.text for token in _english()(text) if not token.is_space]


@lru_cache(maxsize=1)
def _english() -> Language:
    import spacy  # slow to import, and needed for text that is not tokenised only

    return spacy.blank("en")

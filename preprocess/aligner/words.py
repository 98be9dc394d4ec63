"""The tokens of one sentence, in the forms that the rules compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from transition_parser.preprocess.aligner.tables import FUNCTION_WORDS, PUNCTUATION
from transition_parser.text.lemmas import lemmatise

Span = tuple[int, ...]  # the positions of tokens, ascending and without a gap


@dataclass(frozen=True)
class Words:
    """The tokens of a sentence with their forms and lemmas.

    tokens: the tokens as written
    forms: the tokens in lower case
    lemmas: the lemma of each token
    function: True for a word or mark of `FUNCTION_WORDS`
    """

    tokens: tuple[str, ...]
    forms: tuple[str, ...]
    lemmas: tuple[str, ...]
    function: tuple[bool, ...]

    @classmethod
    def from_tokens(cls, tokens: Sequence[str]) -> Words:
        """Return the `Words` of a list of tokens."""
        forms = tuple(token.lower() for token in tokens)
        return cls(tuple(tokens), forms, tuple(lemmatise(tokens)), tuple(form in FUNCTION_WORDS for form in forms))

    def __len__(self) -> int:
        return len(self.tokens)

    def is_punctuation(self, token: int) -> bool:
        """Return True for a punctuation mark."""
        return self.forms[token] in PUNCTUATION


def span(first: int, last: int) -> Span:
    """Return the positions first … last."""
    return tuple(range(first, last + 1))


def gap(one: Span, other: Span) -> int:
    """Return the distance in positions between the nearest ends of two spans; 0 if the spans overlap."""
    return max(one[0] - other[-1], other[0] - one[-1], 0)

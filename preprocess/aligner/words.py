"""The tokens of one sentence, in the forms that the rules compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from preprocess.aligner.tables import FUNCTION_WORDS, PUNCTUATION
from transition_parser.text.lemmas import lemmatise

Span = tuple[int, ...]  # positions of tokens, ascending and without a gap


@dataclass(frozen=True)
class Words:
    """forms: lower-cased. lemmas: of the forms. function: whether a token is a function word or punctuation."""

    tokens: tuple[str, ...]
    forms: tuple[str, ...]
    lemmas: tuple[str, ...]
    function: tuple[bool, ...]

    @classmethod
    def of(cls, tokens: Sequence[str]) -> Words:
        """The view of a list of tokens."""
        forms = tuple(token.lower() for token in tokens)
        return cls(tuple(tokens), forms, tuple(lemmatise(tokens)), tuple(form in FUNCTION_WORDS for form in forms))

    def __len__(self) -> int:
        return len(self.tokens)

    def is_punctuation(self, token: int) -> bool:
        """True for a punctuation mark."""
        return self.forms[token] in PUNCTUATION


def span(first: int, last: int) -> Span:
    """The positions first … last."""
    return tuple(range(first, last + 1))


def gap(one: Span, other: Span) -> int:
    """How many positions lie between two spans at their nearest ends; 0 if they overlap."""
    return max(one[0] - other[-1], other[0] - one[-1], 0)

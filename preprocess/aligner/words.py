"""The tokens of one sentence, in the forms that the rules compare."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from transition_parser.preprocess.aligner import (
    FUNCTION_WORDS,
    IRREGULAR_DERIVATIONS,
    NEGATIVE_PREFIXES,
    PUNCTUATION,
    SUFFIXES,
)
from transition_parser.text.lemmas import lemmatize, shared_start

Span = tuple[int, ...]  # the positions of tokens, ascending and without a gap


@dataclass(frozen=True)
class Words:
    """The tokens of a sentence, with their forms in lower case and lemmas."""

    tokens: tuple[str, ...]
    forms: tuple[str, ...]
    lemmas: tuple[str, ...]
    function: tuple[bool, ...]  # True for a word or mark of `FUNCTION_WORDS`

    @classmethod
    def from_tokens(cls, tokens: Sequence[str]) -> Words:
        """Return the `Words` of a list of tokens."""
        forms = tuple(token.lower() for token in tokens)
        return cls(tuple(tokens), forms, tuple(lemmatize(tokens)), tuple(form in FUNCTION_WORDS for form in forms))

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


SAME, IRREGULAR, DERIVED, NEGATED = 1.0, 0.85, 0.8, 0.75
_SHORTEST_STEM = 3
_IRREGULAR = {concept: frozenset(words.split()) for concept, words in IRREGULAR_DERIVATIONS.items()}


@lru_cache(maxsize=1 << 18)
def similarity(concept: str, form: str, lemma: str) -> float:
    """Return the similarity, 0 … 1, of a concept without its sense and a lower-cased word with its lemma."""
    if concept in (lemma, form):
        return SAME
    if related(concept, form) or related(concept, lemma):
        return IRREGULAR
    if len(concept) < _SHORTEST_STEM or len(lemma) < _SHORTEST_STEM or not concept[0].isalpha():
        return 0.0
    if not stems(concept).isdisjoint(stems(form)) or not stems(concept).isdisjoint(stems(lemma)):
        return DERIVED
    guess = _letters(concept, form) if form == lemma else max(_letters(concept, form), _letters(concept, lemma))
    return max(_without_prefix(concept, form, lemma), guess)


@lru_cache(maxsize=1 << 16)
def stems(word: str) -> frozenset[str]:
    """Return the stems of a word: what remains without up to two suffixes of derivation, `gest` for `gestation`."""
    bare = {_bare(word)}
    layer = {word}
    for _ in range(2):
        layer = {
            stem[: -len(suffix)]
            for stem in layer
            for suffix in SUFFIXES
            if stem.endswith(suffix) and len(stem) - len(suffix) >= _SHORTEST_STEM
        }
        bare |= {_bare(stem) for stem in layer}
    return frozenset(stem for stem in bare if len(stem) >= _SHORTEST_STEM)


def negated(concept: str, form: str) -> bool:
    """Return True if a word is the negation of a concept: unhappy, impossible, useless."""
    if form.endswith("less") and similarity(concept, form[:-4], form[:-4]) >= DERIVED:
        return True
    return _without_prefix(concept, form, form) > 0


def related(concept: str, form: str) -> bool:
    """Return True for a pair of the table of irregular derivations."""
    return form in _IRREGULAR.get(concept, ())


def _bare(stem: str) -> str:
    stem = stem.rstrip("eyi") if len(stem) > _SHORTEST_STEM else stem
    return stem[:-1] if len(stem) > 3 and stem[-1] == stem[-2] else stem


def _without_prefix(concept: str, form: str, lemma: str) -> float:
    if not form.startswith(NEGATIVE_PREFIXES):
        return 0.0
    for prefix in NEGATIVE_PREFIXES:
        rest, rest_lemma = form.removeprefix(prefix), lemma.removeprefix(prefix)
        if rest != form and len(rest) >= _SHORTEST_STEM and not concept.startswith(prefix):
            if concept in (rest, rest_lemma) or related(concept, rest):
                return NEGATED
            if len(rest) > 3 and not stems(concept).isdisjoint(stems(rest)):
                return NEGATED
    return 0.0


def _letters(concept: str, word: str) -> float:
    """Return a guess of the similarity from the letters alone."""
    longer = max(len(concept), len(word))
    common = shared_start(concept, word)
    if common >= 4 and common >= 0.6 * longer:
        return 0.4 + 0.3 * common / longer
    if common == len(concept) >= 4 or (len(concept) >= 4 and word.endswith(concept)):
        return 0.55  # compounds
    if common >= 5 and common >= 0.5 * longer:
        return 0.4
    if len(concept) >= 5 and concept in word:
        return 0.4
    if common >= 4 and common >= 0.5 * longer:
        return 0.35
    return 0.0


_SENSE = re.compile(r"-\d+$")


def without_sense(label: str) -> str:
    """Return the concept without the number of its sense, in lower case."""
    return _SENSE.sub("", label).lower()

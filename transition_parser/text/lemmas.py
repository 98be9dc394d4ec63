"""English lemmas without a trained tagger: spaCy's tables (package `spacy-lookups-data`), read once from disk.

A form that spaCy's lookup table lacks goes through the exceptions and suffix rules of spaCy's rule lemmatizer, first
for nouns, then for verbs, adjectives and adverbs. A suffix rule must give a lemma in spaCy's index of lemmas.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib import resources
from typing import Any

from transition_parser.text.clusters import without_hidden

# Lemmas for forms to which the lookup table gives the lemma of a rare reading, or a lemma that is no AMR concept
OVERRIDES: Mapping[str, str] = {
    "n't": "not", "n’t": "not", "ca": "can", "wo": "will", "sha": "shall", "cannot": "can",
    "'s": "'s", "’s": "'s", "'d": "'d", "’d": "'d", "'re": "be", "’re": "be", "’m": "be", "’ve": "have", "’ll": "will",
    "does": "do", "doing": "do", "as": "as", "us": "us", "his": "his", "more": "more", "most": "most", "less": "less",
    "least": "least", "better": "good", "best": "good", "worse": "bad", "worst": "bad", "further": "further",
    "evening": "evening", "evenings": "evening", "morning": "morning", "during": "during", "something": "something",
    "anything": "anything", "nothing": "nothing", "everything": "everything", "data": "data", "media": "media",
    "well": "well", "bring": "bring", "being": "be", "felt": "feel", "found": "find", "left": "leave", "lay": "lie",
    "axes": "axis", "bases": "base", "shot": "shoot", "shoes": "shoe",
}  # fmt: skip
_KINDS = ("noun", "verb", "adj", "adv")


def lemmatise(words: Sequence[str]) -> list[str]:
    """Return the lemma of each word, in lower case. A word without an entry or a rule is its own lemma.

    >>> lemmatise(["She", "did", "n't", "see", "42", "Roses"])
    ['she', 'do', 'not', 'see', '42', 'rose']
    """
    return [_lemma(word) for word in words]


@lru_cache(maxsize=1 << 17)
def _lemma(word: str) -> str:
    word = without_hidden(word) or "_"
    form = word.lower()
    if form in OVERRIDES:
        return OVERRIDES[form]
    lookup = _table("lookup")
    lemma = lookup.get(form) or lookup.get(word)
    return lemma.lower() if lemma else _by_rule(form)


def _by_rule(form: str) -> str:
    index = _index()
    if not form.isalpha() or any(form in index[kind] for kind in _KINDS):
        return form
    for kind in _KINDS:
        exceptions = _table("exc")[kind].get(form)
        if exceptions:
            return exceptions[0]
        for suffix, ending in _table("rules").get(kind, ()):
            stem = form[: len(form) - len(suffix)] + ending
            if form.endswith(suffix) and stem in index[kind]:
                return stem
    return form


@cache
def _index() -> dict[str, frozenset[str]]:
    return {kind: frozenset(lemmas) for kind, lemmas in _table("index").items()}


@cache
def _table(name: str) -> dict[str, Any]:
    file = resources.files("spacy_lookups_data") / "data" / f"en_lemma_{name}.json.gz"
    return json.loads(gzip.decompress(file.read_bytes()))

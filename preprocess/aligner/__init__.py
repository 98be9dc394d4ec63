"""Alignment of all AMR nodes to tokens by rules, by probabilities from EM, and by neighbors in the graph.

Here are closed-class words of English and of the AMR guidelines, in lower case, from `words.tsv`.

Source: Banarescu et al., Abstract Meaning Representation (AMR) Specification 1.2.6.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from importlib import resources


def _read() -> dict[str, dict[str, str]]:
    """Return the name of each table of words.tsv → its rows."""
    tables: dict[str, dict[str, str]] = {}
    for line in resources.files(__package__).joinpath("words.tsv").read_text(encoding="utf-8").splitlines():
        if not line.startswith("# "):
            table, key, words = line.split("\t")
            tables.setdefault(table, {})[key] = words
    return tables


_TABLES = _read()
CONCEPT_WORDS, CONSTANT_WORDS, QUESTION_WORDS = (_TABLES[name] for name in ("concept", "constant", "question"))
NEIGHBORS, IRREGULAR_DERIVATIONS, DEMONYMS = (_TABLES[name] for name in ("neighbors", "derived", "demonym"))

_WORDS = {name: words.split() for name, words in _TABLES["words"].items()}
FUNCTION_WORDS, PUNCTUATION, SENTENCE_END, SHARING, NOMINALS, FIRST_MENTIONED = (
    frozenset(_WORDS[name])
    for name in ("function", "punctuation", "sentence end", "sharing", "nominals", "first mentioned")
)
MONTHS = _WORDS["months"], _WORDS["short months"]
NUMBER_WORDS: Mapping[str, float] = {
    word: float(Fraction(number)) for number, words in _TABLES["number"].items() for word in words.split()
}
ORDINALS: Mapping[str, int] = {
    **{word: value for value, word in enumerate(_WORDS["ordinals"])},
    **{word: 10 * value for value, word in enumerate(_WORDS["tens"], 2)},
}
NEGATIVE_PREFIXES, AGENT_SUFFIXES = tuple(_WORDS["negative prefixes"]), tuple(_WORDS["agent suffixes"])
SUFFIXES = tuple(sorted(_WORDS["suffixes"], key=lambda suffix: (-len(suffix), suffix)))  # the longest first

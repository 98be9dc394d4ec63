"""English lemmas by a table of a treebank, spaCy's tables and rules (`spacy-lookups-data`); rules of lemmas; numbers.

`lemmas.tsv` has forms of UD English-EWT (CC BY-SA 4.0) whose lemma differs from spaCy's (`crew`, there a form of
`crow`), and other mistakes of spaCy's tables. `run/recipes/lemmas.py` makes it.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from difflib import SequenceMatcher
from functools import cache, lru_cache
from importlib import resources
from typing import Any

from transition_parser.text import text_of, word_list
from transition_parser.text.characters import shared_start, without_hidden

OVERRIDES: Mapping[str, str] = dict(one.split("=") for one in word_list("lemmas"))
_KINDS = ("noun", "verb", "adj", "adv")
_PLURAL = re.compile(r"[a-z]{3,}[^\W\dsui]s")
_PLURALS = (("ies", "y"), ("shes", "sh"), ("ches", "ch"), ("xes", "x"), ("s", ""))  # ending → that of the singular
_LONG = re.compile(r"([a-z])\1{2,}")


def lemmatize(words: Sequence[str]) -> list[str]:
    """Return the lemma of each word, in lower case. A word without an entry or a rule is its own lemma."""
    pairs = zip(("", *words), words)
    return ["a.m." if word == "AM" and before[:1].isdigit() else _lemma(word) for before, word in pairs]


@lru_cache(maxsize=1 << 17)
def _lemma(word: str) -> str:
    word = without_hidden(word) or "_"
    form = word.lower()
    return OVERRIDES.get(form) or _learned().get(form) or table_lemma(word)


def table_lemma(word: str) -> str:
    """Return the lemma that spaCy's tables and rules give a word, in lower case, or a guess for a word they lack."""
    form, lookup = word.lower(), table("lookup")
    lemma = lookup.get(form) or lookup.get(word)
    return lemma.lower() if lemma else (form.isalpha() and _by_rule(form)) or _of_unknown(word)


def _by_rule(form: str) -> str | None:
    """Return the lemma of the tables that rules make of a form, None if there is none."""
    index = lemma_index()
    if _is_lemma(form):
        return form
    for kind in _KINDS:
        exceptions = table("exc")[kind].get(form)
        if exceptions:
            return exceptions[0]
        for suffix, ending in table("rules").get(kind, ()):
            stem = form[: len(form) - len(suffix)] + ending
            if form.endswith(suffix) and stem in index[kind]:
                return stem
    return None


def _is_lemma(form: str) -> bool:
    return any(form in lemmas for lemmas in lemma_index().values())


def _of_unknown(word: str) -> str:
    """Return the word that a long form means (`so` for `sooo`), or the singular of a plural, in lower case."""
    form = word.lower()
    if form.isalpha() and _LONG.search(form):
        short = (_LONG.sub(r"\1" * times, form) for times in (1, 2))
        return next((_lemma(one) for one in short if _is_lemma(one)), form)
    if form[-2:] in ("'s", "’s") and form[:-2].isalpha():
        return form[:-2]
    before, hyphen, last = word.rpartition("-")
    if not _PLURAL.fullmatch(last) or not word.islower():  # other words are often names, such as Starbucks
        return form
    if hyphen:
        return before + hyphen + _lemma(last)
    return next(form[: -len(ending)] + singular for ending, singular in _PLURALS if form.endswith(ending))


@cache
def lemma_index() -> dict[str, frozenset[str]]:
    """Return the lemmas of spaCy's tables by part of speech."""
    return {kind: frozenset(lemmas) for kind, lemmas in table("index").items()}


@cache
def _learned() -> dict[str, str]:
    return dict(line.split("\t") for line in text_of("lemmas.tsv").splitlines())


@cache
def table(name: str) -> dict[str, Any]:
    """Return one of spaCy's tables of English lemmas: lookup, index, rules, exc."""
    file = resources.files("spacy_lookups_data") / "data" / f"en_lemma_{name}.json.gz"
    return json.loads(gzip.decompress(file.read_bytes()))


NO_LEMMA = "_"
_CASES: Mapping[str, Callable[[str], str]] = {"l": str.lower, "k": str, "t": str.capitalize}
_RULE = re.compile(r"([lkt])(\d{1,4})\+([^|]*)\|(\d{1,4})\+(.*)")


@lru_cache(maxsize=1 << 17)  # because each corpus is read twice and most words come often
def rule_of(form: str, lemma: str) -> str:
    """Return the rule that makes the lemma from the form, without characters that do not show.

    The rule `l1+ab|2+c` replaces the first letter by `ab` and the last 2 letters by `c`. Its `l` puts the other letters
    in lower case (`t`: capitalized, `k`: unchanged). If form and lemma share nothing, the rule is `=` and the lemma.
    The rule is `_` if the lemma is unknown (`_`), is empty or has white space in it.

    >>> rule_of("Dogs", "dog"), rule_of("is", "be"), rule_of("Paris", "Paris")
    ('l0+|1+', '=be', 'k0+|0+')
    """
    form, lemma = without_hidden(form), without_hidden(lemma)
    if lemma == NO_LEMMA != form or len(lemma.split()) != 1:
        return NO_LEMMA
    match = SequenceMatcher(None, form.lower(), lemma.lower(), autojunk=False).find_longest_match()
    if match.size and "|" not in lemma[: match.b]:
        before, after = match.a, len(form) - match.a - match.size
        for case in _CASES:
            rule = f"{case}{before}+{lemma[: match.b]}|{after}+{lemma[match.b + match.size :]}"
            if apply_rule(form, rule) == lemma:
                return rule
    return f"={lemma}"


def apply_rule(form: str, rule: str) -> str:
    """Return the lemma that the rule makes of a form, without characters that do not show (`_` if none is left)."""
    form = without_hidden(form) or NO_LEMMA
    if rule.startswith("=") and len(rule) > 1:
        return without_hidden(rule[1:]) or NO_LEMMA
    parsed = _parsed(rule)
    if parsed is None:
        return form
    case, before, prefix, after, suffix = parsed
    kept = form[before : len(form) - after] if before + after < len(form) else ""
    return without_hidden(prefix + case(kept) + suffix) if kept else form


def replaced(form: str, rule: str) -> tuple[str, str]:
    """Return the letters at the beginning and at the end of a form that a rule replaces, in lower case.

    They are the whole form if the rule keeps fewer letters than it adds, or adds some and keeps less than half as many
    as it takes away. Letters that it takes away and adds again are kept, and signs do not count, as in Korean lemmas
    of several morphemes. Where it adds letters but takes none away, they are the two letters beside the new ones.

    >>> replaced("Carried", "l0+|3+y"), replaced("was", "=be"), replaced("wan", "l0+|0+t"), replaced("Oslo", "k0+|3+m")
    (('', 'ied'), ('was', ''), ('', 'an'), ('oslo', ''))
    >>> replaced("들고", "l0+|1++고"), replaced("결정했다", "l0+|2++하+았+다")
    (('', '고'), ('', '했다'))
    """
    form, parsed = without_hidden(form).lower(), _parsed(rule)
    if parsed is None:
        return form, ""
    _, before, prefix, after, suffix = parsed
    same = shared_start(form[:before], prefix) + shared_start(form[: -after - 1 : -1], suffix[::-1])
    letters = sum(map(str.isalnum, prefix + suffix))
    kept, added, taken = len(form) - before - after + same, letters - same, before + after - same
    if kept < added or (added and 2 * kept < taken):
        return form, ""
    before, after = before or 2 * bool(prefix), after or 2 * bool(suffix)
    return form[:before], form[len(form) - after :]


@lru_cache(maxsize=1 << 12)  # because a model has some hundreds of rules, and one of them is applied to each word
def _parsed(rule: str) -> tuple[Callable[[str], str], int, str, int, str] | None:
    """Return case function, letters cut at the beginning, prefix, letters cut at the end, suffix; None if invalid."""
    match = _RULE.fullmatch(rule)
    return match and (_CASES[match[1]], int(match[2]), match[3], int(match[4]), match[5])


UNITS: Mapping[str, int] = {word: value for value, word in enumerate(word_list("numbers"))} | {
    word: 10 * value for value, word in enumerate(word_list("tens"), 2)
}
SCALES: Mapping[str, int] = {
    "hundred": 10**2, "thousand": 10**3, "k": 10**3, "million": 10**6, "mn": 10**6, "m": 10**6, "billion": 10**9,
    "bn": 10**9, "b": 10**9, "trillion": 10**12, "dozen": 12, "crore": 10**7, "lakh": 10**5,
}  # fmt: skip

_DIGITS = re.compile(r"(\d{1,3}(?:,\d{3})+|\d{1,15})(\.\d{1,9})?")
HYPHENS = ("-", "@-@")
_SHORTEST_SCALE = 3  # in letters; shorter scale words such as `m` are ambiguous

Part = tuple[Decimal | int | None, int | None]  # (value, scale) of a word, at least one of them None


def totals(parts: Iterable[Part]) -> Iterator[Decimal | int]:
    """Yield after each word the number that the words so far denote. Stop at a word that can't continue the number."""
    total: Decimal | int = 0
    group: Decimal | int | None = None
    for value, scale in parts:
        if scale is not None:
            group = (1 if group is None else group) * scale
            if scale >= 10**3:
                total, group = total + group, 0
        elif value is None:
            return
        else:
            # `twenty` + `five`, `hundred` + `twenty`
            after_hundreds = value < 100 and (group or 0) % 100 == 0
            after_tens = value < 10 and (group or 0) % 10 == 0 and (group or 0) % 100 >= 20
            if group and not (after_hundreds or after_tens):
                return
            group = (group or 0) + value
        yield total + (group or 0)


def number_of(forms: Sequence[str]) -> str | None:
    """Return the number that the words denote, in digits (`40000000` for 40 million); None if they denote none."""
    if not forms or forms[0] in HYPHENS or forms[-1] in HYPHENS:
        return None
    parts = [part for form in forms if form not in HYPHENS for part in _parts(form.lower())]
    numbers = [*totals(parts)]
    if len(numbers) < len(parts):
        return None
    digits = format(Decimal(numbers[-1]), "f")
    return digits.rstrip("0").rstrip(".") if "." in digits else digits


def _parts(form: str) -> Iterator[Part]:
    """Yield the value or scale of each part of a word; `eighty-six` has two parts."""
    if match := _DIGITS.fullmatch(form):
        yield Decimal(match[0].replace(",", "")), None
        return
    for part in form.split("-"):
        yield UNITS.get(part), SCALES.get(part) if len(part) >= _SHORTEST_SCALE else None

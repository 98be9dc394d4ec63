"""Lemmas as a small set of classes. A class is a rule that makes a lemma from a form by cutting and adding letters.

Source: the edit scripts of UDPipe 2 (Straka 2018, sec. 3.3), simplified.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from difflib import SequenceMatcher
from functools import lru_cache

from transition_parser.text.clusters import without_hidden

NO_LEMMA = "_"
_CASES: Mapping[str, Callable[[str], str]] = {"l": str.lower, "k": str, "t": str.capitalize}
_RULE = re.compile(r"([lkt])(\d{1,4})\+([^|]*)\|(\d{1,4})\+(.*)")


@lru_cache(maxsize=1 << 17)  # because each corpus is read twice and most words come often
def rule_of(form: str, lemma: str) -> str:
    """Return the rule that makes the lemma from the form.

    The rule `l1+ab|2+c` replaces the first letter by `ab` and the last 2 letters by `c`. Its `l` puts the other letters
    in lower case (`t`: capitalised, `k`: unchanged). If form and lemma share nothing, the rule is `=` and the lemma.
    The rule is `_` if the lemma is unknown (`_`), is empty or has white space in it. Characters that do not show count
    neither in the form nor in the lemma.

    >>> rule_of("Dogs", "dog"), rule_of("is", "be"), rule_of("Paris", "Paris")
    ('l0+|1+', '=be', 'k0+|0+')
    """
    form, lemma = without_hidden(form), without_hidden(lemma)
    if lemma == NO_LEMMA != form or len(lemma.split()) != 1:
        return NO_LEMMA
    match = SequenceMatcher(None, form.lower(), lemma.lower(), autojunk=False).find_longest_match()
    if match.size and "|" not in lemma[: match.b]:
        before, behind = match.a, len(form) - match.a - match.size
        for case in _CASES:
            rule = f"{case}{before}+{lemma[: match.b]}|{behind}+{lemma[match.b + match.size :]}"
            if lemma_of(form, rule) == lemma:
                return rule
    return f"={lemma}"


def lemma_of(form: str, rule: str) -> str:
    """Return the lemma that the rule makes of a form, without characters that do not show (`_` if none is left).

    Return the form itself where the form is too short, or the rule is not valid.
    """
    form = without_hidden(form) or NO_LEMMA
    if rule.startswith("=") and len(rule) > 1:
        return without_hidden(rule[1:]) or NO_LEMMA
    parsed = _parsed(rule)
    if parsed is None:
        return form
    case, before, prefix, behind, suffix = parsed
    kept = form[before : len(form) - behind] if before + behind < len(form) else ""
    return without_hidden(prefix + case(kept) + suffix) if kept else form


@lru_cache(maxsize=1 << 12)  # because a model has some hundreds of rules, and one of them is applied to each word
def _parsed(rule: str) -> tuple[Callable[[str], str], int, str, int, str] | None:
    """Return the case function, number cut in front, prefix, number cut behind and suffix; None for an invalid rule."""
    match = _RULE.fullmatch(rule)
    return match and (_CASES[match[1]], int(match[2]), match[3], int(match[4]), match[5])

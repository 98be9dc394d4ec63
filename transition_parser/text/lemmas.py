"""English lemmas by a table of a treebank, spaCy's tables and rules (`spacy-lookups-data`); rules of lemmas; numbers.

`lemmas.tsv` has forms of UD English-EWT (CC BY-SA 4.0) whose lemma differs from spaCy's (`crew`, there a form of
`crow`), and other mistakes of spaCy's tables. `run/recipes/lemmas.py` makes it.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from difflib import SequenceMatcher
from functools import cache, lru_cache
from importlib import resources
from typing import Any, NamedTuple

from transition_parser.text import text_of, word_list
from transition_parser.text.characters import without_hidden

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
    form = (form if form.isascii() else without_hidden(form)) or NO_LEMMA
    if rule.startswith("=") and len(rule) > 1:
        return (rule[1:] if rule.isascii() else without_hidden(rule[1:])) or NO_LEMMA
    parsed = _parsed(rule)
    if parsed is None:
        return form
    case, before, prefix, after, suffix = parsed
    kept = form[before : len(form) - after] if before + after < len(form) else ""
    return prefix + case(kept) + suffix if kept else form


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
    form, parsed = (form if form.isascii() else without_hidden(form)).lower(), _parsed(rule)
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


def shared_start(a: str, b: str) -> int:
    """Return the number of characters at the beginning that two strings share."""
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


@lru_cache(maxsize=1 << 12)  # because a model has some hundreds of rules, and one of them is applied to each word
def _parsed(rule: str) -> tuple[Callable[[str], str], int, str, int, str] | None:
    """Return case function, letters cut at the beginning, prefix, letters cut at the end, suffix; None if invalid."""
    match = _RULE.fullmatch(rule)
    return match and (_CASES[match[1]], int(match[2]), match[3], int(match[4]), match[5])


Forms = Mapping[tuple[str, str], str]  # (form, UPOS tag) → value
_ENDING = 3  # letters of a form by which a rule of its lemma is looked up, if it gives a known lemma
_ENDINGS = (5, 4)  # the same, if no rule gives a known lemma
_LEAST_SHARE = 0.03  # of the forms with an ending that have a rule for this ending, if the rule fits new forms
_THOUSANDS = re.compile(r"\d{1,3}([,.'’\u00a0\u202f])\d{3}(?:\1\d{3})*")  # numbers such as 7,100,000
_SAME = "k0+|0+"  # the rule of a form that is its own lemma


class _KnownLemmas(NamedTuple):
    """The lemmas of a tag in the training data, and the rules that made them."""

    lemmas: set[str]
    replaced: dict[str, Counter[tuple[str, str]]]  # rule but for its case → letters that it replaces → number of forms
    usual_case: dict[str, str]  # rule that lowers, or keeps, the capitals of few forms → the one that does the other
    of_endings: dict[str, list[str]]  # ending of forms → the rules that two forms or more have, the most frequent first
    usual: dict[str, str]  # ending of four or five letters → the rule that most of its forms have
    endings: dict[str, int]  # ending of one to five letters → the number of its forms
    dropped: set[str]  # the separators of thousands that lemmas leave out

    @classmethod
    def of_tag(cls, forms: Forms, tag: str) -> _KnownLemmas:
        found = cls(set(), defaultdict(Counter), {}, {}, {}, {}, set())
        by_ending: dict[str, Counter[str]] = defaultdict(Counter)
        of_tag = ((form, rule) for (form, its), rules in forms.items() if its == tag for rule in rules.split())
        # rule but for its case → rules of forms with capitals
        by_change: dict[str, Counter[str]] = defaultdict(Counter)
        separators: Counter[str] = Counter()  # positive for those that most lemmas leave out
        for form, rule in of_tag:
            found.lemmas.add(lemma := apply_rule(form, rule))
            found.replaced[rule[1:]][replaced(form, rule)] += 1
            if form != form.lower() and rule[0] in "lk":
                by_change[rule[1:]][rule] += 1
            if number := _THOUSANDS.fullmatch(form):
                separators[number[1]] += -1 if number[1] in lemma else 1
            for length in range(1, min(len(form), max(_ENDINGS) + 1)):
                by_ending[form[-length:].lower()][rule] += 1
        for ending, rules in by_ending.items():
            (rule, count), *_ = ranked = rules.most_common()
            most = [one for one, times in ranked if times > 1]
            if len(ending) != _ENDING:  # rules that replace just this ending, and not seldom
                often = (one for one in most if 10 * rules[one] >= rules.total())
                most = [one for one in often if ("", ending) in found.replaced[one[1:]]]
            found.of_endings[ending] = most
            if len(ending) in _ENDINGS and count > 2 and 5 * count >= 4 * rules.total():
                found.usual[ending] = rule
            found.endings[ending] = rules.total()
        for change, rules in by_change.items():
            rare, usual = sorted((f"l{change}", f"k{change}"), key=rules.__getitem__)
            if rules[rare] < _LEAST_SHARE * rules.total():
                found.usual_case[rare] = usual
        found.dropped.update(separator for separator, balance in separators.items() if balance > 0)
        if not any(" " in rules for rules in forms.values()):  # written when forms with several rules were left out
            found.replaced.clear()
        return found

    def fits(self, form: str, rule: str) -> bool:
        """Return True if rules of training replace the same letters in the same way, or if that is not known.

        Not too few of the forms with that ending must have the rule, and two forms if it adds letters, because one may
        be misspelled. Rules that change the digits of a number do not fit.
        """
        letters, lemma = replaced(form, rule), apply_rule(form, rule)
        if [*filter(str.isdigit, form)] != [*filter(str.isdigit, lemma)]:
            return False
        if letters == ("", "") or not self.replaced:
            return True
        count = self.replaced[rule[1:]][letters] if rule[1:] in self.replaced else 0
        adds = "+|" not in rule or not rule.endswith("+")
        return count > adds and count >= _LEAST_SHARE * self.endings.get(letters[1], 0)


class Lemmatizer:
    """Lemmas of words by the forms of training data, and for other forms by rules that a model predicts.

    forms: (form, UPOS tag) → the rules of its lemmas, the most frequent first
    past: the rules of forms in the past tense that are also a base form: *lay* of *lie* and of *lay*
    """

    def __init__(self, forms: Forms, past: Forms) -> None:
        self._forms, self._past = forms, past
        self._known: dict[str, _KnownLemmas] = {}  # by tag, made when first needed

    def are_known(self, forms: Sequence[str], tags: Sequence[str]) -> list[bool]:
        """Return True for each form that has one lemma with its tag in training, so that it needs no predicted rule."""
        found = (self._forms.get(word, " ") for word in zip(forms, tags, strict=True))
        return [" " not in rules for rules in found]

    def lemmas(
        self, forms: Sequence[str], tags: Sequence[str], rules: Iterable[str], features: Iterable[str]
    ) -> list[str]:
        """Return the lemma of each word of a sentence, see `lemma`."""
        return [self.lemma(*word) for word in zip(forms, tags, rules, features)]

    def lemma(self, form: str, tag: str, rules: str, features: str = "") -> str:
        """Return the lemma by the first rule that gives a known lemma of the tag, or else by the first rule that fits.

        A form of training has one of its rules there, or its rule of the past tense if the features have that. Rules
        fit other forms in which they replace the same letters as in training. If the lemma is a new word, rules for the
        end of the form come first: `implied` is `imply`, not `implie`. Numbers lose their separators of thousands if
        the numbers of training do.
        """
        forms, ranked, ending = self._forms, rules.split() or [rules], form.lower()
        if "Tense=Past" in features and (ending, tag) in self._past:
            return apply_rule(form, self._past[ending, tag])
        if (form, tag) in forms:
            of_form = forms[form, tag].split()
            return apply_rule(form, next((rule for rule in ranked if rule in of_form), of_form[0]))
        if (ending, tag) in forms:  # known in lower case: only the case of the letters is predicted
            lemmas = [apply_rule(form, rule) for rule in forms[ending, tag].split()]
            lower = {*map(str.lower, lemmas)}
            return next((one for rule in ranked if (one := apply_rule(form, rule)).lower() in lower), lemmas[0])
        if tag not in self._known:
            self._known[tag] = _KnownLemmas.of_tag(forms, tag)
        known = self._known[tag]
        number = _THOUSANDS.fullmatch(form)
        if number and number[1] in known.dropped:
            return form.replace(number[1], "")
        ranked = [known.usual_case.get(rule, rule) for rule in ranked]
        fit = [rule for rule in ranked if known.fits(form, rule)] or [_SAME]
        is_changed = apply_rule(form, ranked[0]).lower() != ending
        some = [rule for rule in ranked if rule in fit or (form.isalpha() and replaced(form, rule)[0] != ending)]
        if is_changed:
            more = (rule for i in (-_ENDING, *range(1, len(form))) for rule in known.of_endings.get(ending[i:], ()))
            some += [rule for rule in more if known.fits(form, rule) or (form.isalpha() and not rule.startswith("="))]
        found = next((lemma for rule in some if (lemma := apply_rule(form, rule)) in known.lemmas), None)
        usual = (known.usual[end] for k in _ENDINGS if is_changed and (end := ending[-k:]) in known.usual)
        return found or apply_rule(form, next(usual, fit[0]))


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

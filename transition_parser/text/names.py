"""What the words of an English sentence say about its names: which words are in names, and the types of names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from itertools import chain, count

from transition_parser.text.known_names import known_spans

_GREEK = {0x391 + place: letter for place, letter in enumerate("ABGDEZ")} | {0x39A: "K"}
_ENZYME = re.compile(
    r"(kin|transfer|phosphat|synth|synthet|prote|polymer|reduct|gen|oxid|hydrol|lig|isomer|nucle|ester|lip|casp|id"
    r"|cycl|tp)ase$",
    re.IGNORECASE,
)


def names_inside(forms: Sequence[str]) -> dict[int, bool]:
    """Return the words that begin with a capital where only names do, and *of* between two; True if the name is sure.

    Sure names are known, have a head word, or a noun before them that says their type. Words after other nouns (*the
    poet Ovid*) are left out, and unknown words of titles: most have capitals, and none in lower case has more than five
    letters.
    """
    known = dict.fromkeys(chain.from_iterable(known_spans(forms)), True)
    capitals = [place for place, form in enumerate(forms) if place and form[:1].isupper()]
    most = 2 * len(capitals) > sum(form[:1].isalpha() for form in forms[1:])
    if most and not any(form.islower() and len(form) > 5 for form in forms):
        return known
    inside = [i for i in capitals if not forms[i].isupper() and re.search(r"^,$|\w", forms[i - 1])]
    inside += [i + 1 for i in inside if i + 2 in inside and forms[i + 1] == "of"]
    found = dict.fromkeys(inside, False)
    for first in inside:
        run = range(first, next(end for end in count(first) if end not in found))
        if first - 1 not in found and (type_of(forms[first : run.stop]) or noun_before(forms, run) is not None):
            found.update(dict.fromkeys(run, True))
    open_ones = {i for i in inside if forms[i - 1].islower() and forms[i - 2].lower() in tables()["determiner"]} - {1}
    return {place: sure for place, sure in found.items() if sure or place not in open_ones} | known


def noun_before(forms: Sequence[str], places: Sequence[int]) -> int | None:
    """Return the place of the noun that says the type of the name at `places` (*the film Ran*), None for none."""
    noun = places[0] - 1 if places and forms[places[0]][:1].isupper() else -1
    if noun > 1 and forms[noun] == "of":
        is_said = forms[noun - 1] in tables()["noun of"] and forms[noun - 2].lower() == "the"
        return noun - 1 if is_said and forms[places[-1] + 1 : places[-1] + 2] != ["'s"] else None
    before = {form.lower() for form in forms[max(noun - 2, 0) : max(noun, 0)]}
    return noun if noun > 0 and forms[noun] in tables()["noun"] and before & tables()["determiner"].keys() else None


def type_of(name: Sequence[str], as_person: bool = False) -> str | None:
    """Return the type of a name of two words or more by its head word (of persons not by surnames), None for others."""
    words, heads = [word.lower() for word in name if not re.fullmatch(r"[IVX]+|\d+", word)], tables()["head"]
    head = words[words.index("of", 1) - 1 if "of" in words[1:] else -1] if len(words) > 1 else ""
    if head not in heads and words[1:] and words[0] in tables()["first head"]:
        head = words[0]
    return None if as_person and head in tables()["surname"] else heads.get(head)


def type_in_context(lemmas: Sequence[str], first: int, end: int, as_person: bool = False) -> str | None:
    """Return the type that the words around a name say, `end` being the word after it; None where they say none.

    They are up to four words before (*the banks of the*) or three after (*flows*), and nouns (*Ran is a long film*).
    """
    found, article = tables(), [*lemmas[first - 1 : first]] == ["the"]
    starts = [(start, stop) for stop in (first, first - article) for start in range(max(stop - 4, 0), stop)]
    before = sorted((" ".join(lemmas[start:stop]) for start, stop in starts), key=len, reverse=True)
    after = [" ".join(lemmas[end:stop]) for stop in (end + 3, end + 2, end + 1)]
    after = [f"the {phrase}" for phrase in after if article] + after
    for table, phrases in (("before", before), ("after", after)):
        for phrase in phrases:
            if phrase in found[table] and not (as_person and phrase in found["weak"]):
                return found[table][phrase]
    is_said = after[-2] in (", a", ", an", "be a", "be an")
    return next((lemma for lemma in lemmas[end + 2 : end + 5] if is_said and lemma in found["noun"]), None)


def gene_symbol(name: str) -> str:
    """Return a name as `genes.tsv` has symbols: letters and digits in capitals, A for *α* and *alpha*."""
    plain = re.sub(r"[\W_]", "", name).upper().translate(_GREEK)
    return re.sub("ALPHA|BETA|GAMMA|DELTA|EPSILON|ZETA|KAPPA", lambda letter: letter[0][0], plain)


def gene_product(name: Sequence[str], as_other: bool = False) -> str | None:
    """Return `enzyme` or `protein` for a name of a gene, of its product or of their family, None for others.

    as_other: the name is taken for another kind of thing, such as a person; then genes have a digit or a capital after
    a small letter
    """
    if as_other and not re.search(r"[a-z].*[A-Z]|\d", " ".join(name)):
        return None
    symbol = gene_symbol(re.sub(r"/-?\d+[A-Z]?$", "", " ".join(name)))  # `ERK1/2`, but not the pathway `MEK/ERK`
    return _gene_products().get(symbol) or ("enzyme" if _ENZYME.search(name[-1]) else None)


@cache
def _gene_products() -> Mapping[str, str]:
    """Return the table `genes.tsv`: symbol → `enzyme` or `protein`."""
    found = {}
    for line in (resources.files(__package__) / "genes.tsv").read_text(encoding="utf-8").splitlines():
        kind, symbols = line.split("\t")
        for stem, _, numbers in (symbol.partition(":") for symbol in symbols.split(" ")):
            found.update(dict.fromkeys([stem + number for number in numbers.split(",")], kind))
    return found


@cache
def tables() -> Mapping[str, Mapping[str, str]]:
    """Return the tables of `names.tsv`: name of the table → words → their type, which is empty in plain lists.

    head, first head, surname: heads of names, heads that begin names, heads that are also surnames
    noun, noun of: nouns that stand before names of their type, without and with *of*
    before, after, weak: lemmas that stand before or after names of their type; those that stand before persons, too
    work, closed: types that the context says better than heads; types of which `known_names.tsv` has all names
    unsure: types that models give names which they do not know
    gene: types that models give to unknown names of genes' products
    """
    found: dict[str, dict[str, str]] = {}
    for line in (resources.files(__package__) / "names.tsv").read_text(encoding="utf-8").splitlines():
        table, kind, words = line.split("\t")
        found.setdefault(table, {}).update(dict.fromkeys(words.split(", "), kind))
    return found

"""Names in English sentences: the types that their context gives, and a table of famous names (`known_names.tsv`)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, count
from typing import NamedTuple

from transition_parser.text import text_of, word_list
from transition_parser.text.frames import packaged

_GREEK = {0x391 + place: letter for place, letter in enumerate("ABGDEZ")} | {0x39A: "K"}
_ENZYME = re.compile(
    r"(kin|transfer|phosphat|synth|synthet|prote|polymer|reduct|gen|oxid|hydrol|lig|isomer|nucle|ester|lip|casp|id"
    r"|cycl|tp)ase$",
    re.IGNORECASE,
)
_LONGEST = 8  # words of a name
_WITH_ARTICLE = frozenset(word_list("names: with article"))
_PLACES = frozenset(word_list("names: places"))
_BEFORE_PLACES = frozenset(word_list("names: before places"))
_BEGINNINGS = frozenset(('"', "``", "“", "(", ":", ".", "!", "?", "-", "--", "–", "—", ";"))
_VERBS = frozenset(word_list("names: verbs"))


def names_inside(forms: Sequence[str]) -> dict[int, bool]:
    """Return the words with a capital that only names have there, and *of* between two; True if the name is sure.

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


def gene_product(name: Sequence[str]) -> str | None:
    """Return `enzyme` or `protein` for a name of a gene, of its product or of their family, None for others."""
    plain = re.sub(r"/-?\d+[A-Z]?$", "", " ".join(name))  # `ERK1/2`, but not the pathway `MEK/ERK`
    plain = re.sub(r"[\W_]", "", plain).upper().translate(_GREEK)
    symbol = re.sub("ALPHA|BETA|GAMMA|DELTA|EPSILON|ZETA|KAPPA", lambda letter: letter[0][0], plain)
    return _gene_products().get(symbol) or ("enzyme" if _ENZYME.search(name[-1]) else None)


@cache
def _gene_products() -> Mapping[str, str]:
    """Return the table `genes.tsv`: symbol → `enzyme` or `protein`."""
    found = {}
    for line in text_of("genes.tsv").splitlines():
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
    unsure: types that models give names which they do not know
    gene: types that models give to unknown names of genes' products
    """
    found: dict[str, dict[str, str]] = {}
    for line in text_of("names.tsv").splitlines():
        table, kind, words = line.split("\t")
        found.setdefault(table, {}).update(dict.fromkeys(words.split(", "), kind))
    return found


# --- known names ------------------------------------------------------------------------------


class KnownName(NamedTuple):
    """One of the things that have a name."""

    kind: str  # its type in AMRs
    title: str  # of its article, empty for first names
    mark: str  # `^` if the name is also a word, `~` if it is more often a word, else empty


def normal(name: str) -> str:
    """Return a name without accents, and without blanks before `'s` and commas, and around hyphens.

    >>> normal("Citroën 's")
    "Citroen's"
    """
    if not name.isascii():
        decomposed = unicodedata.normalize("NFKD", name.replace("’", "'"))
        name = "".join(letter for letter in decomposed if not unicodedata.combining(letter))
    return re.sub(" (?='s( |$)|,)| ?(-) ?", r"\1", name) if re.search("[-',]", name) else name


def known(name: str) -> Sequence[KnownName]:
    """Return the things with a name, with or without *The*, the best known first."""
    return _found(name) or _found(name.removeprefix("The "))


def known_spans(forms: Sequence[str]) -> Iterator[range]:
    """Yield the words of a sentence that are surely known names, the longest first where names overlap.

    A name that is also a word is none in titles, where most words have capitals. At the beginning of a sentence it must
    be before a verb (*Apple sells*, but *Apple pies*), and one that is more often a word is none there.
    """
    letters = [form for form in forms if form[:1].isalpha()]
    if letters[1:] and all(form.isupper() for form in letters):
        return
    is_title, place = 2 * sum(form[:1].isupper() for form in letters) > len(letters), 0
    while place < len(forms):
        ends = range(min(place + _LONGEST, len(forms)), place, -1) if forms[place][:1].isupper() else ()
        names = ((end, _found(" ".join(forms[place:end]))) for end in ends)
        end, found = next((one for one in names if one[1]), (place + 1, ()))
        if found and _is_sure(forms, place, end, found, is_title):
            yield range(place, end)
        place = end


def _is_sure(forms: Sequence[str], first: int, end: int, found: Sequence[KnownName], is_title: bool) -> bool:
    mark = max(name.mark for name in found)
    if forms[first].isupper() and end == first + 1:  # in `HELP US NOW`
        beside = [form for form in (*forms[max(first - 1, 0) : first], *forms[end : end + 1]) if len(form) > 1]
        return not any(form.isupper() and form.isalpha() for form in beside)
    if not mark:
        return True
    is_beginning = not first or forms[first - 1] in _BEGINNINGS
    return (mark == "^" and _is_verb(forms[end : end + 2])) if is_beginning else not is_title


def _is_verb(forms: Sequence[str]) -> bool:
    """Return True if the first of two words is the finite form of a verb."""
    form, following = (*forms, "", "")[:2]
    if form in _VERBS or (len(form) > 4 and form.endswith("ed")):
        return True
    bases = (
        (form.removesuffix("s"), form.removesuffix("es"), form.removesuffix("ies") + "y") if form[-1:] == "s" else ()
    )
    is_verb = any(f"{base}/v" in packaged().rolesets.get(base, "") for base in bases)
    return is_verb and not (following in _VERBS or following.endswith("ed"))


def known_type(name: Sequence[str], label: str, before: str = "", said: str | None = None) -> str | None:
    """Return the type of a known name, None for an unknown one.

    name: its words
    label: the type that search gave it, which stays if it is possible; but a person only inside a sentence
    before: the word before it in lower case, empty at the beginning of a sentence
    said: the type that its context gives
    """
    has_article = before == "the" or "The" in name[:1]
    found = [one.kind for one in known(" ".join(name)) if has_article or one.title or one.kind == "person"]
    if has_article or before in ("", *_BEFORE_PLACES):  # else an article may stand farther before it
        found = [kind for kind in found if (kind in _WITH_ARTICLE) == has_article] or found
    if not found:
        return None
    if said in found:
        return said
    is_place = before in _BEFORE_PLACES
    if label in found and (label != "person" or (before and not is_place)):  # what begins a sentence is often a person
        return label
    places = [kind for kind in (*found, label) if is_place and kind in _PLACES]  # *sails from Dover*, a company
    return places[0] if places else found[0]


def title(name: Sequence[str], kind: str) -> str | None:
    """Return the title of the article about a name of a type, None for an unknown one."""
    return next((one.title or None for one in known(" ".join(name)) if one.kind == kind), None)


def _found(name: str) -> Sequence[KnownName]:
    return [_read(*row) for row in _known_names().get(normal(name), ())]


def _read(kind: str, entry: str) -> KnownName:
    name, _, title = entry.partition("=")
    mark = name[: name[0] in "^~"]
    is_person = kind == "first-name"
    return KnownName(
        "person" if is_person else kind, "" if is_person or title == "-" else title or name[len(mark) :], mark
    )


@cache
def _known_names() -> Mapping[str, Sequence[tuple[str, str]]]:
    """Return the table: normal name → the lines' types and entries that have it."""
    found: dict[str, tuple[tuple[str, str], ...]] = {}
    for line in text_of("known_names.tsv").splitlines():
        kind, entries = line.split("\t")
        for entry in entries.split(";"):
            name = normal(entry.partition("=")[0].lstrip("^~"))
            found[name] = (*found.get(name, ()), (kind, entry))
    return found

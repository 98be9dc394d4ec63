"""Names that everybody knows, with their types and the titles of their articles: `known_names.tsv`."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import NamedTuple

from transition_parser.text.frames import packaged

_LONGEST = 8  # words of a name
_WITH_ARTICLE = frozenset(  # types of names after *the*
    "canal channel desert government-organization local-region magazine mountain museum newspaper ocean organization "
    "river sea ship strait world-region".split()
)
_PLACES = frozenset("city continent country county island lake local-region province state world-region".split())
_BEFORE_PLACES = frozenset("across around at from in into near outside through to".split())
_BEGINNINGS = frozenset(('"', "``", "“", "(", ":", ".", "!", "?", "-", "--", "–", "—", ";"))
_VERBS = frozenset(  # forms of verbs that are no nouns
    """
    's is was are were has had will would can could should might must does did ate began bought broke built came chose
    drove fell felt flew gave got grew held kept knew led lost made met paid ran said sang sat saw says sent sold spent
    spoke stood stole taught threw told took went won wore wrote
    """.split()
)


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
    said: the type that the words around it say
    """
    has_article = before == "the" or name[0] == "The"
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
    return next((kind for kind in found if is_place and kind in _PLACES), found[0])


def title(name: Sequence[str], kind: str) -> str | None:
    """Return the title of the article about a name of a type, None for an unknown one."""
    return next((one.title or None for one in known(" ".join(name)) if one.kind == kind), None)


def _found(name: str) -> Sequence[KnownName]:
    return [_read(*row) for row in _table().get(normal(name), ())]


def _read(kind: str, entry: str) -> KnownName:
    name, _, title = entry.partition("=")
    mark = name[: name[0] in "^~"]
    is_person = kind == "first-name"
    return KnownName(
        "person" if is_person else kind, "" if is_person or title == "-" else title or name[len(mark) :], mark
    )


@cache
def _table() -> Mapping[str, Sequence[tuple[str, str]]]:
    """Return the table: normal name → the lines' types and entries that have it."""
    found: dict[str, tuple[tuple[str, str], ...]] = {}
    for line in (resources.files(__package__) / "known_names.tsv").read_text(encoding="utf-8").splitlines():
        kind, entries = line.split("\t")
        for entry in entries.split(";"):
            name = normal(entry.partition("=")[0].lstrip("^~"))
            found[name] = (*found.get(name, ()), (kind, entry))
    return found

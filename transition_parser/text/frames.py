"""PropBank's frames: the frames that a word evokes, the senses of a lemma, and the roles of a sense.

`frames.tsv` (CC BY-SA 4.0, see `frames.md`) has the rolesets that AMR uses, `role_functions.tsv` the functions of their
roles. `run/recipes/frames.py` makes both.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from itertools import islice
from typing import NamedTuple

from transition_parser.base.errors import InputError
from transition_parser.text import text_of, word_list

FILE_NAME, FUNCTIONS_FILE = "frames.tsv", "role_functions.tsv"
# The functions that at least ten roles of AMR's rolesets have. Models know them by number: new ones must come last.
FUNCTIONS = (
    *("PPT", "PAG", "GOL", "PRD", "DIR", "MNR", "VSP", "LOC", "CAU", "EXT"),
    *("COM", "PRP", "SE1", "TMP", "AXS", "SE2", "ADV", "SRC", "ANC"),
)
WINDOW = 6  # the particle is one of this many words after the verb: "take his coat off"
# pairs: ending of a word that the table lacks, ending of the word it is derived from
_DERIVED = [(ending, base) for ending, _, base in (one.partition("=") for one in word_list("frames: derived"))]
_ALIAS = re.compile(r"[^ |\t]+(?=/[^/ ]*(?:[ \t]|$))")  # an alias without its part of speech
_CLITICS = {"'s": "be", "’s": "be", "wan": "want"}  # forms of verbs that are no lemmas: "here's", "wan na"
_NOT = "un"  # AMR takes "unclear" apart: `clear-06 :polarity -`


class Evoked(NamedTuple):
    """The lemmas of the frames that a span of words evokes; None where there is no such frame."""

    lemma: str | None = None  # the span's own lemmas, joined by hyphens
    particle: str | None = None  # with a particle among the next words: `give-up`
    alias: str | None = None  # the first by PropBank's aliases: `sell` for "sale"
    alias2: str | None = None


class Frames:
    """A table of frames; its version is its name and the start of the SHA-256 of its text."""

    def __init__(self, lines: Iterable[str], version: str = "") -> None:
        """Read the lines of a table (`run/recipes/frames.py` describes them)."""
        self.version = version
        self.rolesets: dict[str, str] = {}  # lemma → its columns, which are read when they are first asked for
        self._roles: dict[str, dict[str, tuple[int, ...]]] = {}
        evoked: dict[str, set[str]] = {}
        self.particles: dict[str, set[str]] = {}  # lemma → particles that form another frame: `up` for `give`
        for line in lines:
            if line.startswith("#") or not line.strip():
                continue
            lemma, _, rolesets = line.rstrip("\n").partition("\t")
            self.rolesets[lemma] = rolesets
            for word in {lemma, lemma.replace("-", "_"), *_ALIAS.findall(rolesets)}:
                evoked.setdefault(word, set()).add(lemma)
            verb, _, particle = lemma.partition("-")
            if particle and "-" not in particle:
                self.particles.setdefault(verb, set()).add(particle)
        for word, verb in _CLITICS.items():
            if verb in self.rolesets:
                evoked.setdefault(word, set()).add(verb)
        # word → the lemmas of the frames that it evokes; `_` joins the parts of an entry of several words
        self.words: Mapping[str, tuple[str, ...]] = {word: (*sorted(lemmas),) for word, lemmas in evoked.items()}

    def __reduce__(self) -> str | tuple:
        """Pickle the package's table as a call of `packaged`: another process reads the file faster than a pickle."""
        return (packaged, ()) if self is packaged() else super().__reduce__()

    def evoked(self, lemmas: Sequence[str], forms: Sequence[str] = (), following: Sequence[str] = ()) -> Evoked:
        """Return the lemmas of the frames that a span evokes."""
        own: str | None = "-".join(lemmas)
        word, form = "_".join(lemmas), "_".join(forms).lower()
        after = self.particle_of(lemmas[0], following) if len(lemmas) == 1 else None
        particle = after and f"{lemmas[0]}-{after}"
        first, second = two_of(_evoked_by(self, word, form).difference((own, particle)))
        return Evoked(own if own in self.rolesets else None, particle, first, second)

    def particle_of(self, lemma: str, following: Iterable[str]) -> str | None:
        """Return the particle of a word (`up` of `give up`), one of the next `WINDOW` words; None if it has none."""
        particles = self.particles.get(lemma)
        if particles is None:
            return None
        return next((word for word in islice(following, WINDOW) if word in particles), None)

    def knows(self, forms: Sequence[str]) -> bool:
        """Return True for the forms of the words of an entry."""
        return "_".join(forms) in self.words and not any("_" in form for form in forms)

    def senses(self, lemma: str) -> tuple[str, ...]:
        """Return the numbers of a lemma's senses, as AMR writes them: `01`; none for a lemma that has no frame."""
        return tuple(self._roles_of(lemma))

    def sense_of(self, lemma: str, word: str) -> str:
        """Return the first sense of a lemma that has a word among its aliases, the first one where none has it."""
        with_alias = (one for one in self.rolesets[lemma].split("\t") if f" {word}/" in f" {one.rpartition('|')[2]}")
        return next((one.partition("|")[0] for one in with_alias), self.senses(lemma)[0])

    def roles(self, lemma: str, sense: str) -> tuple[int, ...]:
        """Return the numbers of the roles `ARGn` of a frame; none for an unknown frame."""
        return self._roles_of(lemma).get(sense, ())

    def _roles_of(self, lemma: str) -> Mapping[str, tuple[int, ...]]:
        if lemma not in self._roles and lemma in self.rolesets:
            rolesets = (column.split("|") for column in self.rolesets[lemma].split("\t"))
            self._roles[lemma] = {sense: tuple(map(int, roles)) for sense, roles, _aliases in rolesets}
        return self._roles.get(lemma, {})


@lru_cache(maxsize=1 << 14)  # words come again and again, and endings are tried one by one
def _evoked_by(frames: Frames, word: str, form: str) -> frozenset[str]:
    """Return the lemmas of the frames that a span evokes, by itself or else by the word that it is derived from."""
    words = frames.words
    if evoked := {*words.get(word, ()), *words.get(form, ())}:
        return frozenset(evoked)
    for ending, of_base in _DERIVED:
        if word.endswith(ending):
            stem = word.removesuffix(ending)
            single = stem[:-1] if stem[-1:] == stem[-2:-1] else stem  # "winner" comes from "win"
            if base := words.get(stem + of_base) or words.get(single + of_base):
                return frozenset(base)
    return frozenset(words.get(word.removeprefix(_NOT), ())) if word.startswith(_NOT) else frozenset()


def two_of(lemmas: Iterable[str]) -> tuple[str | None, str | None]:
    """Return the first two lemmas in alphabetical order, None where there are fewer."""
    first, second, *_ = (*sorted(lemmas), None, None)
    return first, second


@cache
def packaged() -> Frames:
    """Return the table of frames that is part of the package."""
    text = text_of(FILE_NAME)
    name = text.partition("\n")[0].removeprefix("# ")
    return Frames(text.splitlines(), f"{name}, {hashlib.sha256(text.encode()).hexdigest()[:12]}")


def frames_of(version: str) -> Frames:
    """Return the table of frames with the given version."""
    if version != packaged().version:
        raise InputError(
            f"made with the frames {version!r:.80}, but this version of transition-parser has those of "
            f"{packaged().version!r}: install the version that the model was made with, or train again"
        )
    return packaged()


class RoleFunctions(NamedTuple):
    """The functions of roles, such as PAG (agent). All frames of a class give the same functions to their roles."""

    classes: Mapping[str, int]  # concept (`give-01`) → its class, from 1 on; class 0 is for all other concepts
    functions: Sequence[Sequence[int]]  # class → number of a role, 0 to 9 → place in `FUNCTIONS` plus 1; 0 for none

    def function(self, concept: str, role: int) -> str:
        """Return the function of a role of a concept, an empty string for none."""
        number = self.functions[self.classes.get(concept, 0)][role]
        return FUNCTIONS[number - 1] if number else ""


@cache
def role_functions() -> RoleFunctions:
    """Return the functions of the roles of all frames in the package's table."""
    text = text_of(FUNCTIONS_FILE)
    classes: dict[str, int] = {}
    functions = [[0] * 10]
    numbers = {name: number for number, name in enumerate(FUNCTIONS, 1)}
    for line in text.splitlines()[1:]:
        of_roles, _, concepts = line.partition("\t")
        classes.update(dict.fromkeys(concepts.split(" "), len(functions)))
        functions.append([0] * 10)
        for role in of_roles.split(" "):
            functions[-1][int(role[0])] = numbers.get(role[1:], 0)
    return RoleFunctions(classes, functions)

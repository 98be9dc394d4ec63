"""The FRAME actions, which name a concept after a frame that the span evokes and choose the sense of this frame."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property, lru_cache
from itertools import chain

from transition_parser.text.frames import Evoked, Frames, two_of
from transition_parser.text.lemmas import lemmatize
from transition_parser.transitions.amr_state import AmrWord, key
from transition_parser.transitions.system import Action, Kind, joined

FIRST_SENSE = "01"
_OWN = Evoked._fields[0]  # the route that labels leave out: the frame has the span's own lemma
_DEFAULT = "thing"  # the lemma of a frame that must be named although nothing evokes one
NUMBERED = frozenset(f"ARG{number}" for number in range(10))
ROUTES = Evoked._fields
_CONCEPT = re.compile(r"(.+)-(\d+)")


class FrameActions:
    """The FRAME actions of a table of frames: a sense and, unless it is of the span's lemma, the route to the frame.

    A single word that is not in the table has a frame of its own lemma with the sense 01, as corpora have more frames.
    """

    def __init__(self, table: Frames) -> None:
        self.table = table
        self._of_senses: dict[tuple[tuple[str, ...], ...], frozenset[Action]] = {}

    @cached_property
    def sets(self) -> set[frozenset[Action]]:
        """The sets that can be the FRAME actions of a span. They take a while: a model has its table stored with it."""
        derived = {self._actions(Evoked(None, None, *two_of(lemmas))) for lemmas in {*self.table.words.values()}}
        unknown = {frozenset(), self._actions(Evoked(_OWN))}
        return derived.union(unknown, *map(self.sets_of, self.spans))

    @cached_property
    def all(self) -> tuple[Action, ...]:
        """The actions of all `sets`, sorted."""
        return tuple(sorted({action for actions in self.sets for action in actions}, key=str))

    def __reduce__(self) -> tuple:
        """Return a recipe for `pickle`, so that other processes make the actions anew from their table."""
        return frame_actions, (self.table,)

    @cached_property
    def known(self) -> frozenset[Action]:
        """The actions that name a frame of some span."""
        return frozenset(self.all)

    def evoked(self, span: Sequence[AmrWord], following: Sequence[AmrWord]) -> Evoked:
        """Return the lemmas of the frames that a span evokes."""
        particle = self.table.particle_of(span[0].lemma, (word.lemma for word in following)) if len(span) == 1 else None
        return _evoked_by(self, tuple(span), particle)

    def of_span(self, span: Sequence[AmrWord], following: Sequence[AmrWord]) -> frozenset[Action]:
        """Return the actions that name the frames of a span."""
        return self._actions(self.evoked(span, following))

    def concept(self, action: Action, span: Sequence[AmrWord], following: Sequence[AmrWord]) -> str:
        """Return the concept that an action makes of a span."""
        sense, route = parts_of(action)
        return f"{getattr(self.lemmas(span, following), route)}-{sense}"

    def lemmas(self, span: Sequence[AmrWord], following: Sequence[AmrWord]) -> Evoked:
        """Return the lemma that FRAME gives by each route; where nothing is evoked, the span's own, or `thing`."""
        symbols = all(word.lemma_is_symbol for word in span)
        otherwise = "-".join(word.lemma for word in span) if symbols else _DEFAULT
        return Evoked(*(lemma or otherwise for lemma in self.evoked(span, following)))

    def lacked(self, concept: str) -> frozenset[str]:
        """Return the roles `ARGn` that a concept's frame does not have; none for concepts that the table lacks."""
        match = _CONCEPT.fullmatch(concept)
        if match is None or match[2] not in self.table.senses(match[1]):
            return frozenset()
        return NUMBERED.difference(f"ARG{number}" for number in self.table.roles(*match.groups()))

    def naming(self, concept: str, span: Sequence[AmrWord], following: Sequence[AmrWord]) -> Action | None:
        """Return the FRAME action that makes `concept` of a span, or None. The first route that fits is used."""
        match = _CONCEPT.fullmatch(concept)
        if match:
            lemma, sense = match.groups()
            for route, evoked in self.evoked(span, following)._asdict().items():
                if evoked == lemma and sense in self._senses(lemma):
                    return _action(sense, route)
        return None

    def sets_of(self, lemmas: str) -> set[frozenset[Action]]:
        """Return the sets of FRAME actions that spans with these lemmas can have, for all forms and following words."""
        read = lemmas.split(" ")
        words = [AmrWord("", lemma) for lemma in read]
        following: list[list[str]] = [[]]
        if len(read) == 1:
            following += ([particle] for particle in self.table.particles.get(read[0], ()))
        return {
            self._actions(_with_unknown(self.table.evoked(read, forms, after), words))
            for forms in ([], *self.forms_of.get(lemmas, ()))
            for after in following
        }

    @cached_property
    def spans(self) -> frozenset[str]:
        """The keys of the spans that the table of frames knows. Other spans of several words evoke nothing."""
        words = (word.replace("_", " ") for word in self.table.words)
        return frozenset((*words, *self.table.particles, *self.forms_of))

    @cached_property
    def long_spans(self) -> frozenset[str]:
        """The keys of several words in `spans`."""
        forms = [word.split("_") for word in self.table.words if "_" in word]
        return frozenset(map(" ".join, chain(forms, map(lemmatize, forms))))

    @cached_property
    def forms_of(self) -> dict[str, list[list[str]]]:
        """The forms of the table's words, by the key (`amr_state.key`) of the lemmas that `lemmatize` gives them."""
        forms_of: dict[str, list[list[str]]] = {}
        for word in self.table.words:
            forms = word.split("_")
            forms_of.setdefault(" ".join(lemmatize(forms)), []).append(forms)
        return forms_of

    def _actions(self, evoked: Evoked) -> frozenset[Action]:
        senses = tuple(self._senses(lemma) if lemma else () for lemma in evoked)
        actions = self._of_senses.get(senses)
        if actions is None:
            routes = zip(Evoked._fields, senses, strict=True)
            actions = frozenset(_action(sense, route) for route, numbers in routes for sense in numbers)
            self._of_senses[senses] = actions
        return actions

    def _senses(self, lemma: str) -> tuple[str, ...]:
        return self.table.senses(lemma) or (FIRST_SENSE,)


@lru_cache(maxsize=4)
def frame_actions(table: Frames) -> FrameActions:
    """Return the FRAME actions of a table of frames. The result is cached, because making the actions takes a while."""
    return FrameActions(table)


@lru_cache(maxsize=1 << 14)  # words come again and again
def _evoked_by(actions: FrameActions, span: tuple[AmrWord, ...], particle: str | None) -> Evoked:
    """Return the lemmas of the frames that a span evokes, given the particle after it (`Frames.particle_of`)."""
    lemmas, forms = [word.lemma for word in span], [word.form.lower() for word in span]
    known = forms if actions.table.knows(forms) and " ".join(lemmatize(forms)) == key(span) else ()
    return _with_unknown(actions.table.evoked(lemmas, known, [particle] if particle else ()), span)


def _with_unknown(evoked: Evoked, span: Sequence[AmrWord]) -> Evoked:
    """Return `evoked`, or the span's own lemma where the span is a single word that the table does not know."""
    (word, *others) = span
    if evoked != Evoked() or others or not (word.lemma[:1].isalpha() and word.lemma_is_symbol):
        return evoked
    return Evoked(word.lemma)


def _action(sense: str, route: str) -> Action:
    return Action(Kind.FRAME, sense if route == _OWN else joined(sense, route))


def parts_of(action: Action) -> tuple[str, str]:
    """Return the sense of a FRAME action and its route, the name of a field of `Evoked`."""
    sense, *route = action.parts
    return sense, (*route, _OWN)[0]

"""The FRAME actions: the frames that a span evokes name its concepts, and the action chooses the sense."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property, lru_cache

from transition_parser.text.frames import Evoked, Frames, two_of
from transition_parser.text.lemmas import lemmatise
from transition_parser.transitions.action import Action, Kind, joined
from transition_parser.transitions.amr_naming import Word, key

FIRST_SENSE = "01"
_OWN = Evoked._fields[0]  # labels do not name this route
_DEFAULT = "thing"  # the lemma of a frame that must be named although nothing evokes one
NUMBERED = frozenset(f"ARG{number}" for number in range(10))
ROUTES = Evoked._fields
_CONCEPT = re.compile(r"(.+)-(\d+)")


class FrameActions:
    """The FRAME actions of a table of frames.

    The label of an action is the sense and, unless the frame has the span's own lemma, the route to the frame (a field
    of `Evoked`). A single word that the table does not know at all evokes a frame of its own lemma with the sense 01,
    because corpora have frames that the table lacks.

    sets: every set of actions that spans may have, and a few more
    all: the actions that name the frames of all spans, in sorted order
    """

    def __init__(self, table: Frames) -> None:
        self.table = table
        self._of_senses: dict[tuple[tuple[str, ...], ...], frozenset[Action]] = {}
        self.sets = self._sets()
        self.all = tuple(sorted({action for actions in self.sets for action in actions}, key=str))

    def __reduce__(self) -> tuple:
        """Let other processes make the actions from their table."""
        return frame_actions, (self.table,)

    def __contains__(self, action: object) -> bool:
        """Return True for an action that names a frame of some span."""
        return action in self._known

    def evoked(self, span: Sequence[Word], following: Sequence[Word]) -> Evoked:
        """Return the lemmas of the frames that a span evokes.

        following: the words after the span
        """
        particle = self.table.particle_of(span[0].lemma, (word.lemma for word in following)) if len(span) == 1 else None
        return _evoked_by(self, tuple(span), particle)

    def of_span(self, span: Sequence[Word], following: Sequence[Word]) -> frozenset[Action]:
        """Return the actions that name the frames of a span. The parameters are those of `evoked`."""
        return self._actions(self.evoked(span, following))

    def concept(self, action: Action, span: Sequence[Word], following: Sequence[Word]) -> str:
        """Return the concept that an action makes of a span.

        A sentence without any concept may need a frame that nothing evokes. Its lemma is that of the span, or `thing`.
        """
        sense, route = parts_of(action)
        return f"{getattr(self.lemmas(span, following), route)}-{sense}"

    def lemmas(self, span: Sequence[Word], following: Sequence[Word]) -> Evoked:
        """Return the lemma that an action of each route names for a span, also of routes by which nothing is evoked.

        The parameters are those of `evoked`.
        """
        symbols = all(word.lemma_is_symbol for word in span)
        otherwise = "-".join(word.lemma for word in span) if symbols else _DEFAULT
        return Evoked(*(lemma or otherwise for lemma in self.evoked(span, following)))

    def lacked(self, concept: str) -> frozenset[str]:
        """Return the roles `ARGn` that a concept's frame does not have; none for concepts that the table lacks.

        >>> from transition_parser.text.frames import packaged
        >>> sorted(frame_actions(packaged()).lacked("arrive-01"))[:2]
        ['ARG0', 'ARG5']
        """
        match = _CONCEPT.fullmatch(concept)
        if match is None or match[2] not in self.table.senses(match[1]):
            return frozenset()
        return NUMBERED.difference(f"ARG{number}" for number in self.table.roles(*match.groups()))

    def naming(self, concept: str, span: Sequence[Word], following: Sequence[Word]) -> Action | None:
        """Return the first action that makes the concept of a span, in the order of `Evoked`; None where none does."""
        match = _CONCEPT.fullmatch(concept)
        if match:
            lemma, sense = match.groups()
            for route, evoked in self.evoked(span, following)._asdict().items():
                if evoked == lemma and sense in self._senses(lemma):
                    return _action(sense, route)
        return None

    def _sets(self) -> set[frozenset[Action]]:
        """Return every set of actions that spans may have, and a few more."""
        derived = {self._actions(Evoked(None, None, *two_of(lemmas))) for lemmas in {*self.table.words().values()}}
        unknown = {frozenset(), self._actions(Evoked(_OWN))}
        return derived.union(unknown, *map(self.sets_of, self.spans))

    def sets_of(self, lemmas: str) -> set[frozenset[Action]]:
        """Return every set of actions that spans of the same lemmas may have, for all forms and words after the span.

        lemmas: the lemmas, which are the key of the spans in the lexicon
        """
        read = lemmas.split(" ")
        words = [Word("", lemma) for lemma in read]
        following: list[list[str]] = [[]]
        if len(read) == 1:
            following += ([particle] for particle in self.table.particles().get(read[0], ()))
        return {
            self._actions(_with_unknown(self.table.evoked(read, forms, after), words))
            for forms in ([], *self.forms_of.get(lemmas, ()))
            for after in following
        }

    @cached_property
    def spans(self) -> frozenset[str]:
        """The keys of the spans that may be words of the table: spans of several words evoke nothing otherwise."""
        words = (word.replace("_", " ") for word in self.table.words())
        return frozenset((*words, *self.table.particles(), *self.forms_of))

    @cached_property
    def _known(self) -> frozenset[Action]:
        return frozenset(self.all)

    @cached_property
    def forms_of(self) -> dict[str, list[list[str]]]:
        """The words of the table as forms, under the lemmas that they have in a sentence."""
        forms_of: dict[str, list[list[str]]] = {}
        for word in self.table.words():
            forms = word.split("_")
            forms_of.setdefault(" ".join(lemmatise(forms)), []).append(forms)
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
def _evoked_by(actions: FrameActions, span: tuple[Word, ...], particle: str | None) -> Evoked:
    """Return the lemmas of the frames that a span evokes with a particle behind it, see `Frames.particle_of`."""
    lemmas, forms = [word.lemma for word in span], [word.form.lower() for word in span]
    known = forms if forms in actions.forms_of.get(key(span), ()) else ()
    return _with_unknown(actions.table.evoked(lemmas, known, [particle] if particle else ()), span)


def _with_unknown(evoked: Evoked, span: Sequence[Word]) -> Evoked:
    """Return what a span evokes, with its own lemma where the span is a word that the table does not know."""
    (word, *others) = span
    if evoked != Evoked() or others or not (word.lemma[:1].isalpha() and word.lemma_is_symbol):
        return evoked
    return Evoked(word.lemma)


def _action(sense: str, route: str) -> Action:
    return Action(Kind.FRAME, sense if route == _OWN else joined(sense, route))


def parts_of(action: Action) -> tuple[str, str]:
    """Return the sense of a FRAME action and its route, a field of `Evoked`."""
    sense, *route = action.parts
    return sense, (*route, _OWN)[0]

"""The FRAME actions: the frames that a span evokes name its concepts, and the action chooses the sense."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from transition_parser.text.frames import Evoked, Frames, adverbs_of
from transition_parser.text.lemmas import lemmatise
from transition_parser.transitions.action import Action, Kind, joined
from transition_parser.transitions.amr_naming import Word

FIRST_SENSE = "01"
_OWN = Evoked._fields[0]  # labels do not name this route
_DEFAULT = "thing"  # the lemma of a frame that must be named although nothing evokes one
_CONCEPT = re.compile(r"(.+)-(\d+)")
_ACTIONS = frozenset[Action]


class FrameActions:
    """The FRAME actions of a table of frames.

    The label of an action is the sense and, unless the frame has the span's own lemma, the route to the frame (a field
    of `Evoked`). A single word that the table does not know at all evokes a frame of its own lemma with the sense 01,
    because corpora have frames that the table lacks.

    all: the actions that name the frames of all spans, in sorted order
    """

    def __init__(self, table: Frames) -> None:
        self.table = table
        self._of_evoked: dict[Evoked, _ACTIONS] = {}
        self.all = tuple(sorted({action for actions in self.sets() for action in actions}, key=str))

    def __reduce__(self) -> tuple:
        """Let other processes make the actions from their table."""
        return type(self), (self.table,)

    def __contains__(self, action: object) -> bool:
        """Return True for an action that names a frame of some span."""
        return action in self._known

    def evoked(self, span: Sequence[Word], following: Sequence[Word]) -> Evoked:
        """Return the lemmas of the frames that a span evokes.

        following: the words after the span
        """
        lemmas, forms = [word.lemma for word in span], [word.form for word in span]
        evoked = self.table.evoked(lemmas, forms, [word.lemma for word in following])
        return _with_unknown(evoked, span)

    def of_span(self, span: Sequence[Word], following: Sequence[Word]) -> _ACTIONS:
        """Return the actions that name the frames of a span. The parameters are those of `evoked`."""
        return self._actions(self.evoked(span, following))

    def concept(self, action: Action, span: Sequence[Word], following: Sequence[Word]) -> str:
        """Return the concept that an action makes of a span.

        A sentence without any concept may need a frame that nothing evokes. Its lemma is that of the span, or `thing`.
        """
        sense, route = _parts(action)
        lemma = getattr(self.evoked(span, following), route)
        if lemma is None:
            symbols = all(word.lemma_is_symbol for word in span)
            lemma = "-".join(word.lemma for word in span) if symbols else _DEFAULT
        return f"{lemma}-{sense}"

    def naming(self, concept: str, span: Sequence[Word], following: Sequence[Word]) -> Action | None:
        """Return the first action that makes the concept of a span, in the order of `Evoked`; None where none does."""
        match = _CONCEPT.fullmatch(concept)
        if match:
            lemma, sense = match.groups()
            for route, evoked in self.evoked(span, following)._asdict().items():
                if evoked == lemma and sense in self._senses(lemma):
                    return _action(sense, route)
        return None

    def sets(self) -> set[_ACTIONS]:
        """Return every set of actions that spans outside the lexicon may have."""
        words = {word.replace("_", " ") for word in self.table.words()}
        lemmas = {*words, *self._forms, *(adverb for word in words for adverb in adverbs_of(word))}
        unknown = [_ACTIONS(), self._actions(Evoked(_OWN))]
        return {*unknown, *(actions for key in lemmas for actions in self.sets_of(key))}

    def sets_of(self, key: str) -> set[_ACTIONS]:
        """Return every set of actions that spans of the same lemmas may have, for all forms and words after the span.

        key: the key of the spans in the lexicon
        """
        lemmas = key.split(" ")
        particles = sorted(self.table.particles(lemmas[0])) if len(lemmas) == 1 else []
        return {
            self._actions(_with_unknown(self.table.evoked(lemmas, forms, following), words))
            for words in [[Word("", lemma) for lemma in lemmas]]
            for forms in ([], *self._forms.get(key, ()))
            for following in ([], *([particle] for particle in particles))
        }

    @cached_property
    def _known(self) -> _ACTIONS:
        return _ACTIONS(self.all)

    @cached_property
    def _forms(self) -> dict[str, list[list[str]]]:
        """The words of the table as forms, under the lemmas that they have in a sentence."""
        forms_of: dict[str, list[list[str]]] = {}
        for word in self.table.words():
            forms = word.split("_")
            forms_of.setdefault(" ".join(lemmatise(forms)), []).append(forms)
        return forms_of

    def _actions(self, evoked: Evoked) -> _ACTIONS:
        actions = self._of_evoked.get(evoked)
        if actions is None:
            routes = evoked._asdict().items()
            actions = _ACTIONS(_action(s, route) for route, lemma in routes if lemma for s in self._senses(lemma))
            self._of_evoked[evoked] = actions
        return actions

    def _senses(self, lemma: str) -> tuple[str, ...]:
        return self.table.senses(lemma) or (FIRST_SENSE,)


def _with_unknown(evoked: Evoked, span: Sequence[Word]) -> Evoked:
    """Return what a span evokes, with its own lemma where the span is a word that the table does not know."""
    (word, *others) = span
    if evoked != Evoked() or others or not (word.lemma[:1].isalpha() and word.lemma_is_symbol):
        return evoked
    return Evoked(word.lemma)


def _action(sense: str, route: str) -> Action:
    return Action(Kind.FRAME, sense if route == _OWN else joined(sense, route))


def _parts(action: Action) -> tuple[str, str]:
    sense, *route = action.parts
    return sense, (*route, _OWN)[0]

"""The contract of a transition system."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import ClassVar, Generic, TypeVar

from transition_parser.transitions.action import Action, Kind

W = TypeVar("W")  # a word, as the system reads it
S = TypeVar("S")  # a configuration
G = TypeVar("G")  # the graph that is built


class TransitionSystem(ABC, Generic[W, S, G]):
    """What the actions are, when each is legal, and what it builds.

    Any walk of legal actions ends, after at most `max_actions(n)` steps, in a tree with one root or a connected graph,
    and there is no state without a legal action: by legality, not by repair.

    shift_words: the words that decorate their SHIFT (labelled SHIFT, Fernandez Astudillo et al.
        2020, sec. 3.2): SHIFT(w) for w in this set, plain SHIFT for all others.
    confidences: the fields of parses that hold confidences, such as one for each arc.
    has_lexicon: True where the training data limits what actions a span of words may take (`Lexicon`).
    """

    name: ClassVar[str]
    kinds: ClassVar[tuple[Kind, ...]]
    confidences: ClassVar[tuple[str, ...]]
    projective_only: ClassVar[bool] = True
    has_lexicon: ClassVar[bool] = False

    def __init__(self, shift_words: Sequence[str] = ()) -> None:
        self.shift_words = frozenset(shift_words)

    @abstractmethod
    def read(self, forms: Sequence[str]) -> Sequence[W]:
        """The words as `initial` takes them."""

    @abstractmethod
    def initial(self, sentence: Sequence[W]) -> S:
        """The configuration before the first action. `sentence`: at least one word."""

    @abstractmethod
    def why_illegal(self, state: S, action: Action) -> str | None:
        """None where `action` is legal; else the reason, in words."""

    @abstractmethod
    def apply(self, state: S, action: Action) -> S:
        """The configuration after a legal action; `state` stays as it is."""

    @abstractmethod
    def is_final(self, state: S) -> bool:
        """True where the derivation is complete. No action is legal then."""

    @abstractmethod
    def result(self, state: S) -> G:
        """The graph of a final state."""

    @abstractmethod
    def max_actions(self, n: int) -> int:
        """The most actions that a derivation over n words can take."""

    @abstractmethod
    def actions(self, relations: Sequence[str]) -> Iterator[Action]:
        """All actions of the system over the given relations, but for those that the training data alone gives."""

    def shift(self, word: str) -> Action:
        """The SHIFT of `word`, decorated where the word is one of `shift_words`."""
        return Action(Kind.SHIFT, word if word in self.shift_words else None)

    def replay(self, words: Sequence[W], actions: Sequence[Action]) -> G:
        """The graph that a whole derivation builds. Raises `ValueError` at the first illegal action."""
        state = self.initial(words)
        for step, action in enumerate(actions):
            problem = self.why_illegal(state, action)
            if problem:
                raise ValueError(f"step {step}: {action}: {problem}")
            state = self.apply(state, action)
        if not self.is_final(state):
            raise ValueError(f"the derivation stops after {len(actions)} actions, before its end")
        return self.result(state)

    def _unknown(self, action: Action) -> str:
        return f"{self.name} has no {action.kind.value}"

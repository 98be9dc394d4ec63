"""Actions, their names in the vocabulary, and the contract of a transition system."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import ClassVar, Generic, TypeVar
from urllib.parse import quote, unquote


class Kind(Enum):
    """The kinds of actions. The label of an action adds the relation, word or concept."""

    SHIFT = "SHIFT"
    REDUCE = "REDUCE"
    LEFT_ARC = "LEFT-ARC"
    RIGHT_ARC = "RIGHT-ARC"
    SWAP = "SWAP"
    # AMR
    MERGE = "MERGE"
    PRED = "PRED"
    VALUE = "VALUE"
    COPY_LEMMA = "COPY_LEMMA"
    FRAME = "FRAME"
    COPY_WORD = "COPY_WORD"
    ENTITY = "ENTITY"
    DEPENDENT = "DEPENDENT"
    LA = "LA"
    RA = "RA"
    ROOT = "ROOT"
    CLOSE = "CLOSE"


_UNSAFE = re.compile(r"[\s%()\x00-\x1f\x7f-\x9f]")
_TOKEN = re.compile(r"([A-Z0-9_-]+)(?:\((.*)\))?")


@dataclass(frozen=True, slots=True)
class Action:
    """One action. `str(action)` is its vocabulary token, and `Action.parse` turns the token back into the action.

    Labels may hold any text. White space, `%`, parentheses and control characters are percent-encoded, so that a token
    never breaks a line of the files that fairseq reads.

    >>> str(Action(Kind.LEFT_ARC, "nsubj:pass"))
    'LEFT-ARC(nsubj:pass)'
    >>> str(Action(Kind.SHIFT, "1 %"))
    'SHIFT(1%20%25)'
    >>> Action.parse("SHIFT(1%20%25)").label
    '1 %'
    """

    kind: Kind
    label: str | None = None

    def __str__(self) -> str:
        if self.label is None:
            return self.kind.value
        return f"{self.kind.value}({_UNSAFE.sub(lambda m: quote(m[0], safe=''), self.label)})"

    @staticmethod
    @lru_cache(maxsize=65536)
    def parse(token: str) -> Action:
        """Return the action that `token` names. Raises `ValueError` for a text that names no action."""
        match = _TOKEN.fullmatch(token)
        if not match:
            raise ValueError(f"{token!r} is not an action")
        kind, label = match.groups()
        return Action(Kind(kind), None if label is None else unquote(label, errors="strict"))

    @property
    def parts(self) -> tuple[str, ...]:
        """The strings that `joined` joined into the label."""
        return tuple(map(unquote, (self.label or "").split(",")))


@lru_cache(maxsize=65536)
def labeled(kind: Kind, label: str) -> Action:
    """Return the action with a label, the same object each time."""
    return Action(kind, label)


def joined(*parts: str) -> str:
    """Return one label made of several parts, which may hold any text."""
    return ",".join(part.replace("%", "%25").replace(",", "%2C") for part in parts)


W = TypeVar("W")  # a word in the form that `TransitionSystem.read` returns
S = TypeVar("S")  # a configuration
G = TypeVar("G")  # the graph that is built


class TransitionSystem(ABC, Generic[W, S, G]):
    """A transition system: its actions, when each is legal, and the graph that they build.

    Any sequence of legal actions ends, after at most `max_actions(n)` steps, in a tree with one root or a connected
    graph. Every state that is not final has a legal action. The legality rules guarantee this; no repair is needed.

    shift_words: the words that label their SHIFT (Fernandez Astudillo et al. 2020, sec. 3.2): the action is SHIFT(w)
        for a word w in this set, and plain SHIFT for all other words
    confidences: the names of the fields of a parse that hold confidences, such as one confidence for each arc
    """

    name: ClassVar[str]
    kinds: tuple[Kind, ...]
    confidences: ClassVar[tuple[str, ...]]
    projective_only: ClassVar[bool] = True

    def __init__(self, shift_words: Sequence[str] = ()) -> None:
        self.shift_words = frozenset(shift_words)

    @abstractmethod
    def read(self, forms: Sequence[str]) -> Sequence[W]:
        """Return the words in the form that `initial` takes."""

    @abstractmethod
    def initial(self, sentence: Sequence[W]) -> S:
        """Return the configuration before the first action.

        sentence: at least one word
        """

    @abstractmethod
    def why_illegal(self, state: S, action: Action) -> str | None:
        """Return None where `action` is legal, else the reason why it is not."""

    @abstractmethod
    def apply(self, state: S, action: Action) -> S:
        """Return the configuration after a legal action; `state` is not changed."""

    @abstractmethod
    def is_final(self, state: S) -> bool:
        """Return True where the derivation is complete; no action is legal in a final state."""

    @abstractmethod
    def result(self, state: S) -> G:
        """Return the graph of a final state."""

    @abstractmethod
    def max_actions(self, n: int) -> int:
        """Return the most actions that a derivation over n words can take."""

    @abstractmethod
    def actions(self, relations: Sequence[str]) -> Iterator[Action]:
        """Yield all actions of the system over the given relations.

        Actions that only the training data can list are left out.
        """

    def shift(self, word: str) -> Action:
        """Return the SHIFT of `word`, labeled with the word if it is in `shift_words`."""
        return Action(Kind.SHIFT, word if word in self.shift_words else None)

    def replay(self, words: Sequence[W], actions: Sequence[Action]) -> G:
        """Return the graph that a whole derivation builds.

        Raises `ValueError` at the first illegal action and for a derivation that stops before its end.
        """
        state = self.initial(words)
        for step, action in enumerate(actions):
            problem = self.why_illegal(state, action)
            if problem:
                raise ValueError(f"step {step}: {action}: {problem}")
            state = self.apply(state, action)
        if not self.is_final(state):
            raise ValueError(f"the derivation stops after {len(actions)} actions, before its end")
        return self.result(state)

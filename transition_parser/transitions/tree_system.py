"""The base class of the systems that build dependency trees, and their configuration."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import ClassVar, NamedTuple

from transition_parser.graphs.dependency import DependencyTree
from transition_parser.transitions.action import Action, Kind
from transition_parser.transitions.gold import GoldTree, Items
from transition_parser.transitions.roots import RootRelations
from transition_parser.transitions.spec import Spec
from transition_parser.transitions.system import TransitionSystem

NO_HEAD = -1


class State(NamedTuple):
    """A configuration.

    Words are numbered from 0. The artificial root follows the last word and has the next number (Ballesteros and Nivre
    2013, "Going to the Roots").

    words: the forms
    stack: words, bottom first
    buffer: words, front first
    heads: the head of each word, `NO_HEAD` where it has none yet
    relations: the relation of each word to its head, None where it has none yet
    """

    words: tuple[str, ...]
    stack: tuple[int, ...]
    buffer: tuple[int, ...]
    heads: tuple[int, ...]
    relations: tuple[str | None, ...]

    @property
    def root(self) -> int:
        """The number of the artificial root."""
        return len(self.words)


class TreeSystem(TransitionSystem[str, State, DependencyTree]):
    """A system that builds dependency trees with one root.

    A subclass defines a system completely, except for the batched form of `lost_arcs` (`states/costs.py`).

    roots: the relations that arcs from the root may carry, and which of them other arcs may carry; by default arcs from
        the root carry `root`, and no other arc does
    spec: the effects and the legality of the system's actions, for the batched machine
    """

    confidences = ("arc_scores",)
    spec: ClassVar[Spec]

    def __init__(self, shift_words: Sequence[str] = (), roots: RootRelations | None = None) -> None:
        super().__init__(shift_words)
        self.roots = roots or RootRelations()

    @abstractmethod
    def may_attach(self, state: State) -> Sequence[int]:
        """Return the words that could get a head from an arc in this state.

        The next action decides whether these words get their heads now. The confidence in a word's arc is the product
        of the probabilities of all actions that decided about the word.
        """

    @abstractmethod
    def oracle(self, gold: GoldTree) -> Iterator[Action]:
        """Yield the actions of the static oracle, which build `gold`.

        The system must be able to build `gold`; `oracles.oracle` checks this.
        """

    @abstractmethod
    def lost_arcs(self, c: Items) -> int:
        """Return the number of gold arcs that are missing in the best tree that `c` can still lead to.

        Gold arcs whose dependents already have wrong heads do not count. With SWAP the words of `c` stand in projective
        order. Proof: `tests/oracles/test_dynamic.py` compares with a search through all continuations.
        """

    def read(self, forms: Sequence[str]) -> Sequence[str]:
        """Return the forms themselves."""
        return forms

    def initial(self, sentence: Sequence[str]) -> State:
        if not sentence:
            raise ValueError("a sentence needs at least one word")
        n = len(sentence)
        return State(tuple(sentence), (), tuple(range(n + 1)), (NO_HEAD,) * n, (None,) * n)

    def result(self, state: State) -> DependencyTree:
        heads = tuple(0 if head == state.root else head + 1 for head in state.heads)
        return DependencyTree(heads, tuple(str(r) for r in state.relations))

    def actions(self, relations: Sequence[str]) -> Iterator[Action]:
        """Yield all actions of the system over the given relations."""
        for kind in self.kinds:
            if kind is Kind.SHIFT:
                yield Action(kind)
                yield from (Action(kind, word) for word in sorted(self.shift_words))
            elif kind is Kind.LEFT_ARC:  # the root is behind all words, so its arc is a left arc
                yield from (Action(kind, r) for r in relations)
            elif kind is Kind.RIGHT_ARC:
                yield from (Action(kind, r) for r in relations if self.roots.allow(r, from_root=False))
            else:
                yield Action(kind)

    def _why_wrong_shift_label(self, state: State, action: Action) -> str | None:
        word = state.words[state.buffer[0]]
        due = self.shift(word).label
        if action.label != due:
            return f"the word at the front of the buffer, {word!r}, asks for {Action(Kind.SHIFT, due)}"
        return None

    def _why_wrong_relation(self, from_root: bool, action: Action) -> str | None:
        if action.label is None:
            return "an arc needs a relation"
        if self.roots.allow(action.label, from_root):
            return None
        if not from_root:
            return f"only an arc from the root carries the relation {action.label!r}"
        return f"an arc from the root carries the relation {' or '.join(map(repr, sorted(self.roots.labels)))}"

    @staticmethod
    def _move(state: State, stack: tuple[int, ...], buffer: tuple[int, ...]) -> State:
        """Return `state` with another stack and buffer. `_replace` would take four times as long."""
        return State(state.words, stack, buffer, state.heads, state.relations)

    @staticmethod
    def _arc(
        state: State, dependent: int, head: int, label: str | None, stack: tuple[int, ...], buffer: tuple[int, ...]
    ) -> State:
        """Return `state` with one more arc, and another stack and buffer."""
        heads = (*state.heads[:dependent], head, *state.heads[dependent + 1 :])
        relations = (*state.relations[:dependent], label, *state.relations[dependent + 1 :])
        return State(state.words, stack, buffer, heads, relations)

"""The base class of the systems that build dependency trees, their configuration, and the form of their rules.

A system says its rules once, as a `Spec`, which the machine here interprets and `states/machine.py` makes tables of."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, TypeVar

from transition_parser.graphs.dependency import DependencyTree
from transition_parser.transitions.system import Action, Kind, TransitionSystem, labeled


class GoldTree:
    """A gold tree, as lists indexed by the numbers of words and of the root."""

    def __init__(
        self,
        tree: DependencyTree,
        words: Sequence[str] = (),
        shift: Callable[[str], Action] = lambda _: Action(Kind.SHIFT),
    ) -> None:
        self.tree = tree
        self.root = n = len(tree)
        self.heads = [*(head - 1 if head else n for head in tree.heads), -1]  # −1: the head of the root
        self.left = [labeled(Kind.LEFT_ARC, relation) for relation in tree.relations]
        self.right = [labeled(Kind.RIGHT_ARC, relation) for relation in tree.relations]
        self.shift = [*map(shift, words), Action(Kind.SHIFT)]  # see `TransitionSystem.shift`; only if words are given
        self.last_child = [-1] * (n + 1)  # the last dependent of each word, −1 for none
        self.children = [0] * (n + 1)  # the number of dependents
        for word, head in enumerate(self.heads[:-1]):
            self.last_child[head] = word
            self.children[head] += 1

    @cached_property
    def rank(self) -> list[int]:
        """The rank in the projective order."""
        rank = [self.root] * (self.root + 1)
        for place, word in enumerate(self.tree.projective_order()):
            rank[word - 1] = place
        return rank

    @cached_property
    def component(self) -> list[int]:
        """The head of the maximal projective component (`DependencyTree.projective_components`)."""
        return [*(top - 1 for top in self.tree.projective_components()), self.root]


NO_HEAD = -1
NONE, S0, S1, B0 = range(4)  # no word, the top of the stack, the word below it, and the front of the buffer


class State(NamedTuple):
    """A configuration. Words count from 0; the root follows them (Ballesteros and Nivre 2013, "Going to the Roots")."""

    words: Sequence[str]
    stack: Sequence[int]  # bottom first
    buffer: Sequence[int]  # front first
    heads: Sequence[int]  # `NO_HEAD` for words without a head
    relations: Sequence[str | None]

    @property
    def root(self) -> int:
        """The number of the artificial root."""
        return len(self.words)

    def as_data(self) -> dict[str, Any]:
        """Return the configuration as plain data; each arc is (head, dependent, relation)."""
        heads = enumerate(zip(self.heads, self.relations, strict=True))
        arcs = [(head, word, relation) for word, (head, relation) in heads if head != NO_HEAD]
        return {"stack": list(self.stack), "buffer": list(self.buffer), "arcs": arcs}


class Effect(NamedTuple):
    """The arc and the moves of an action. S0, S1 or B0 (or NONE) name words as they are before the action."""

    dependent: int = NONE
    head: int = NONE
    stack_pops: int = 0
    stack_push: int = NONE
    buffer_pops: int = 0
    swaps: int = 0
    buffer_pushes: tuple[int, int] = (NONE, NONE)  # the second word of the pair becomes the front


SHIFT_EFFECT = Effect(stack_push=B0, buffer_pops=1)
Facts = TypeVar("Facts", int, Any)  # the facts of one state, or an array of the facts of many states


class Fact(IntEnum):
    """The facts about a state that legality depends on, as bits of one number; kernels number them in the same way."""

    FRONT_IS_ROOT = 1 << 0
    SOME = 1 << 1  # the stack is not empty
    TWO = 1 << 2  # the stack holds two words or more
    HAS_BUFFER = 1 << 3  # the buffer is not empty
    TOP_IS_ROOT = 1 << 4
    TOP_BEFORE_FRONT = 1 << 5  # the top comes before the front in the sentence
    SECOND_BEFORE_TOP = 1 << 6  # the second word comes before the top in the sentence
    MAY_SWAP = 1 << 7  # the limit on SWAPs is not reached
    FRONT_IS_LAST = 1 << 8  # the last word of the sentence is at the front; from here on only with `Spec.reads_arcs`
    TOP_HAS_HEAD = 1 << 9
    NONE_HEADLESS = 1 << 10  # every word on the stack has a head
    ONE_HEADLESS = 1 << 11  # exactly one word on the stack has no head


FACTS_WITHOUT_ARCS = 8


class Condition(NamedTuple):
    """A condition of an action: some fact of `given` holds, or some fact of `lacking` does not."""

    otherwise: str  # the reason why the action is illegal where the condition does not hold
    given: int = 0
    lacking: int = 0

    def holds(self, facts: Facts) -> Facts:
        """Return a number other than 0 where the condition holds."""
        return facts & self.given | ~facts & self.lacking


class Rule(NamedTuple):
    """The effect of a kind of actions, and the conditions that must all hold so that they are legal."""

    effect: Effect
    conditions: Sequence[Condition]


@dataclass(frozen=True)
class Spec:
    """The rules of a system that builds dependency trees."""

    rules: Mapping[Kind, Rule]
    closes_on_stack: bool  # the last arc is between S1 and the root at S0; if False, between S0 and the root at B0
    reads_arcs: bool = False  # True where legality depends on the arcs built so far, and so on all facts

    @property
    def facts(self) -> int:
        """The number of facts that legality depends on."""
        return len(Fact) if self.reads_arcs else FACTS_WITHOUT_ARCS

    def why_illegal(self, kind: Kind, facts: int) -> str | None:
        """Return None where actions of a kind are legal with some label, else the reason why not."""
        return next((c.otherwise for c in self.rules[kind].conditions if not c.holds(facts)), None)

    def is_final(self, facts: Facts) -> Any:
        """Return True where the derivation is complete; an array for an array of facts."""
        if self.closes_on_stack:
            return facts & (Fact.SOME | Fact.TWO | Fact.TOP_IS_ROOT) == Fact.SOME | Fact.TOP_IS_ROOT
        return facts & (Fact.SOME | Fact.FRONT_IS_ROOT) == Fact.FRONT_IS_ROOT

    def left_arc_from_root(self, facts: Facts) -> Any:
        """Return True where the head of a left arc would be the root; an array for an array of facts."""
        return facts & (Fact.TOP_IS_ROOT if self.closes_on_stack else Fact.FRONT_IS_ROOT) != 0


@dataclass(frozen=True)
class RootRelations:
    """The relations that arcs from the artificial root may carry: `root` alone in UD, others in other treebanks."""

    labels: frozenset[str] = frozenset({"root"})
    shared: frozenset[str] = frozenset()  # the relations in `labels` that other arcs may carry, too

    @classmethod
    def from_trees(cls, trees: Iterable[DependencyTree]) -> RootRelations:
        """Return the relations of the arcs from the root in these trees."""
        labels: set[str] = set()
        others: set[str] = set()
        for tree in trees:
            for head, relation in zip(tree.heads, tree.relations, strict=True):
                (others if head else labels).add(relation)
        return cls(frozenset(labels), frozenset(labels & others))

    def allow(self, relation: str, from_root: bool) -> bool:
        """Return True where an arc may carry `relation`: from the root `labels`, else all others and `shared`."""
        if from_root:
            return relation in self.labels
        return relation not in self.labels or relation in self.shared


class TreeSystem(TransitionSystem[str, State, DependencyTree]):
    """A system that builds dependency trees with one root.

    A subclass defines a system completely, except for the costs of its actions (`states/costs.py`).

    roots: the relations that arcs from the root may carry, and which of them other arcs may carry; by default arcs from
        the root carry `root`, and no other arc does
    once: groups of relations; parsers of whole trees give a head at most one dependent of each group
    spec: the effects and the legality of the system's actions
    """

    confidences = ("arc_scores",)
    spec: ClassVar[Spec]

    def __init__(
        self,
        shift_words: Sequence[str] = (),
        roots: RootRelations | None = None,
        once: Sequence[Collection[str]] = (),
    ) -> None:
        super().__init__(shift_words)
        self.roots = roots or RootRelations()
        self.once = once

    def max_actions(self, n: int) -> int:
        # two words are swapped at most once, and SHIFT follows each SWAP
        return 2 * n + self.spec.closes_on_stack + (n * (n - 1) if Kind.SWAP in self.kinds else 0)

    def oracle(self, gold: GoldTree) -> Iterator[Action]:
        """Yield the actions of a lazy static oracle, which build `gold`, a tree that the system can build.

        A word gets its head as soon as it has all its dependents. Projective trees need no SWAP.

        Source: Nivre, Kuhlmann and Hall 2009, sec. 3.
        """
        heads, missing = gold.heads, gold.children.copy()
        rules = ((self.spec.rules[Kind.LEFT_ARC], gold.left), (self.spec.rules[Kind.RIGHT_ARC], gold.right))
        arcs = [(rule.effect.dependent, rule.effect.head, actions) for rule, actions in rules]
        stack: list[int] = []
        buffer = list(range(gold.root, -1, -1))  # the front is the last entry
        while len(stack) + len(buffer) > 1:
            named = _named_words(stack, buffer[-1:])
            for place, place_of_head, actions in arcs:
                dependent, head = named[place], named[place_of_head]
                if min(dependent, head) >= 0 and heads[dependent] == head and not missing[dependent]:
                    yield actions[dependent]
                    del stack[-place]
                    missing[head] -= 1
                    break
            else:
                if self.swap(gold, stack, buffer):
                    yield Action(Kind.SWAP)
                else:
                    stack.append(buffer.pop())
                    yield gold.shift[stack[-1]]

    def swap(self, gold: GoldTree, stack: list[int], buffer: list[int]) -> bool:
        """Take SWAP where the oracle's next action is SWAP, and return True; else return False."""
        return False

    def read(self, forms: Sequence[str]) -> Sequence[str]:
        """Return the forms themselves."""
        return forms

    def initial(self, sentence: Sequence[str]) -> State:
        if not sentence:
            raise ValueError("a sentence needs at least one word")
        n = len(sentence)
        return State(tuple(sentence), (), tuple(range(n + 1)), (NO_HEAD,) * n, (None,) * n)

    def why_illegal(self, state: State, action: Action) -> str | None:
        if action.kind not in self.spec.rules:
            return f"{self.name} has no {action.kind.value}"
        facts = self._facts(state)
        reason = self.spec.why_illegal(action.kind, facts)
        if reason:
            return reason
        if action.kind is Kind.SHIFT:
            if facts & Fact.FRONT_IS_ROOT:
                return None if action.label is None else "the root's SHIFT has no label"
            word = state.words[state.buffer[0]]
            due = self.shift(word)
            return None if action == due else f"the word at the front of the buffer, {word!r}, asks for {due}"
        if action.kind not in (Kind.LEFT_ARC, Kind.RIGHT_ARC):
            return None
        if action.label is None:
            return "an arc needs a relation"
        from_root = action.kind is Kind.LEFT_ARC and self.spec.left_arc_from_root(facts)
        if self.roots.allow(action.label, from_root):
            return None
        if not from_root:
            return f"only an arc from the root carries the relation {action.label!r}"
        return f"an arc from the root carries the relation {' or '.join(map(repr, sorted(self.roots.labels)))}"

    def apply(self, state: State, action: Action) -> State:
        effect = self.spec.rules[action.kind].effect
        stack, buffer = list(state.stack), list(state.buffer)
        heads, relations = list(state.heads), list(state.relations)
        named = _named_words(stack, buffer)
        if effect.dependent:
            heads[named[effect.dependent]] = named[effect.head]
            relations[named[effect.dependent]] = action.label
        if effect.stack_pops:
            del stack[-effect.stack_pops :]
        if effect.stack_push:
            stack.append(named[effect.stack_push])
        if effect.buffer_pops:
            del buffer[0]
        for word in effect.buffer_pushes:
            if word:
                buffer.insert(0, named[word])
        return State(state.words, tuple(stack), tuple(buffer), tuple(heads), tuple(relations))

    def may_attach(self, state: State) -> Sequence[int]:
        """Return the words that could get a head from an arc in this state.

        The next action decides whether these words get their heads now. The confidence in a word's arc is the product
        of the probabilities of all actions that decided about the word.
        """
        facts, named = self._facts(state), _named_words(state.stack, state.buffer)
        rules = self.spec.rules.items()
        legal = (effect for kind, (effect, _) in rules if self.spec.why_illegal(kind, facts) is None)
        return [named[word] for word in {effect.dependent for effect in legal} - {NONE}]

    def is_final(self, state: State) -> bool:
        return self.spec.is_final(self._facts(state))

    def result(self, state: State) -> DependencyTree:
        heads = tuple(0 if head == state.root else head + 1 for head in state.heads)
        return DependencyTree(heads, tuple(str(r) for r in state.relations))

    def actions(self, relations: Sequence[str]) -> Iterator[Action]:
        labels: dict[Kind, Sequence[str | None]] = {
            Kind.SHIFT: (None, *sorted(self.shift_words)),
            Kind.LEFT_ARC: relations,  # the root is after all words, so its arc is a left arc
            Kind.RIGHT_ARC: [r for r in relations if self.roots.allow(r, from_root=False)],
        }
        return iter([Action(kind, label) for kind in self.kinds for label in labels.get(kind, (None,))])

    def _facts(self, state: State) -> int:
        stack, size, root = state.stack, len(state.stack), state.root
        _, top, second, front = _named_words(stack, state.buffer)
        facts = [front == root, size > 0, size > 1, len(state.buffer) > 0, top == root, top < front, second < top, True]
        if self.spec.reads_arcs:
            headless = [state.heads[word] for word in stack].count(NO_HEAD)
            has_head = size > 0 and state.heads[top] != NO_HEAD
            facts += [front == root - 1, has_head, headless == 0, headless == 1]
        return sum(fact << bit for bit, fact in enumerate(facts))


def _named_words(stack: Sequence[int], buffer: Sequence[int]) -> tuple[int, int, int, int]:
    """Return the words NONE, S0, S1 and B0; −1 where there is no such word."""
    size = len(stack)
    return -1, stack[-1] if size else -1, stack[-2] if size > 1 else -1, buffer[0] if buffer else -1

"""The arc-hybrid systems, without and with SWAP.

Source: Kuhlmann, Gomez-Rodriguez and Satta 2011; de Lhoneux, Stymne and Nivre 2017 (SWAP).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from transition_parser.transitions.action import Action, Kind
from transition_parser.transitions.gold import GoldTree, Items, lost_in_buffer
from transition_parser.transitions.spec import (
    B0,
    S0,
    S1,
    SHIFT_EFFECT,
    ActionClass,
    ActionClasses,
    Effect,
    Situation,
    Spec,
)
from transition_parser.transitions.tree_system import State, TreeSystem

_SWAP = Action(Kind.SWAP)
_EFFECTS = {
    ActionClass.SHIFT: SHIFT_EFFECT,
    ActionClass.LEFT_ARC: Effect(S0, B0, stack_pops=1),
    ActionClass.LEFT_ARC_ROOT: Effect(S0, B0, stack_pops=1),
    ActionClass.RIGHT_ARC: Effect(S0, S1, stack_pops=1),
    ActionClass.SWAP: Effect(stack_pops=1, buffer_pops=1, swaps=1, buffer_pushes=(S0, B0)),
}


def _legal(s: Situation) -> ActionClasses:
    words = ~s.front_is_root
    return {
        ActionClass.END: s.front_is_root & ~s.some,
        ActionClass.SHIFT: words,
        ActionClass.LEFT_ARC: s.some & words,
        ActionClass.LEFT_ARC_ROOT: s.front_is_root & s.some & ~s.two,
        ActionClass.RIGHT_ARC: s.two,
    }


def _legal_with_swap(s: Situation) -> ActionClasses:
    return _legal(s) | {ActionClass.SWAP: s.some & ~s.front_is_root & s.top_before_front & s.may_swap}


class ArcHybrid(TreeSystem):
    """The arc-hybrid system for projective trees.

    The head of a left arc is the front of the buffer. The head of a right arc is the word below the top of the stack.

    SHIFT
      - Legal when: a word, not the root, is at the front of the buffer.
      - Effect: the front of the buffer becomes the top of the stack.
      - Builds: nothing.
    LEFT-ARC(r)
      - Legal when: the stack is not empty; if the front of the buffer is the root, the stack
        holds one word and r is a relation of the root; otherwise r is a relation of other arcs (`RootRelations`).
      - Effect: pops the stack.
      - Builds: an arc from the front of the buffer to the top of the stack.
    RIGHT-ARC(r)
      - Legal when: the stack holds at least two words and r is a relation of other arcs.
      - Effect: pops the stack.
      - Builds: an arc from the second word of the stack to its top.

    A derivation over n words takes 2n actions.
    """

    name = "arc-hybrid"
    kinds: tuple[Kind, ...] = (Kind.SHIFT, Kind.LEFT_ARC, Kind.RIGHT_ARC)
    spec = Spec(_EFFECTS, _legal, closes_on_stack=False)

    def why_illegal(self, state: State, action: Action) -> str | None:
        stack, front = state.stack, state.buffer[0]
        if action.kind is Kind.SHIFT:
            if front == state.root:
                return "only the root is left in the buffer"
            return self._why_wrong_shift_label(state, action)
        if action.kind is Kind.LEFT_ARC:
            if not stack:
                return "the stack is empty"
            if front == state.root and len(stack) > 1:
                return "the root takes one word, and the stack holds more"
            return self._why_wrong_relation(front == state.root, action)
        if action.kind is Kind.RIGHT_ARC:
            if len(stack) < 2:
                return "the stack holds fewer than two words"
            return self._why_wrong_relation(False, action)
        return self._unknown(action)

    def apply(self, state: State, action: Action) -> State:
        stack, buffer = state.stack, state.buffer
        if action.kind is Kind.SHIFT:
            return self._move(state, (*stack, buffer[0]), buffer[1:])
        head = buffer[0] if action.kind is Kind.LEFT_ARC else stack[-2]
        return self._arc(state, stack[-1], head, action.label, stack[:-1], buffer)

    def may_attach(self, state: State) -> Sequence[int]:
        return state.stack[-1:]

    def is_final(self, state: State) -> bool:
        return not state.stack and state.buffer[0] == state.root

    def max_actions(self, n: int) -> int:
        return 2 * n

    def oracle(self, gold: GoldTree) -> Iterator[Action]:
        heads, last_child = gold.heads, gold.last_child
        stack: list[int] = []
        for front in range(1, gold.root + 1):
            while stack:
                top = stack[-1]
                if heads[top] == front:
                    yield gold.left[top]
                elif len(stack) > 1 and heads[top] == stack[-2] and last_child[top] < front:
                    yield gold.right[top]
                else:
                    break
                stack.pop()
            if front <= gold.n:
                stack.append(front)
                yield gold.shift[front]

    def lost_arcs(self, c: Items) -> int:
        """Count the lost arcs word by word, as if the root were below the stack.

        A word of the stack can still become a dependent of a word in the buffer or of the next word down the stack.
        """
        below = dict(zip(c.stack, (c.root, *c.stack)))
        lost = sum(c.heads[word] != below[word] and c.heads[word] not in c.buffer for word in c.stack)
        return lost + lost_in_buffer(c)


class ArcHybridSwap(ArcHybrid):
    """The arc-hybrid system for all trees, in which SWAP re-orders the words.

    SWAP
      - Legal when: the top of the stack stands before the front of the buffer in the sentence,
        and the front of the buffer is not the root.
      - Effect: the top of the stack moves behind the front of the buffer.
      - Builds: nothing.

    Two words are swapped at most once, so a derivation takes at most 2n + n(n-1) actions.
    """

    name = "arc-hybrid-swap"
    kinds = (*ArcHybrid.kinds, Kind.SWAP)
    projective_only = False
    spec = Spec(_EFFECTS, _legal_with_swap, closes_on_stack=False)

    def why_illegal(self, state: State, action: Action) -> str | None:
        if action.kind is not Kind.SWAP:
            return super().why_illegal(state, action)
        if not state.stack:
            return "the stack is empty"
        if state.buffer[0] == state.root:
            return "the root stays at the end of the buffer"
        if state.stack[-1] > state.buffer[0]:
            return "these two words have been swapped before"
        return None

    def apply(self, state: State, action: Action) -> State:
        if action.kind is not Kind.SWAP:
            return super().apply(state, action)
        stack, buffer = state.stack, state.buffer
        return self._move(state, stack[:-1], (buffer[0], stack[-1], *buffer[1:]))

    def max_actions(self, n: int) -> int:
        return 2 * n + n * (n - 1)

    def oracle(self, gold: GoldTree) -> Iterator[Action]:
        """Yield the actions of a lazy oracle.

        A swap waits while the front of the buffer still has to become the left dependent of a word of its own
        projective component, because this takes the front out of the way.
        """
        heads, missing = gold.heads, gold.children.copy()
        rank, component = gold.projective_rank(), gold.projective_components()
        stack: list[int] = []
        buffer = list(range(gold.root, 0, -1))
        while len(buffer) > 1 or stack:
            front = buffer[-1]
            if stack:
                top = stack[-1]
                if heads[top] == front and not missing[top]:
                    yield gold.left[top]
                    stack.pop()
                    missing[front] -= 1
                    continue
                if len(stack) > 1 and heads[top] == stack[-2] and not missing[top]:
                    yield gold.right[top]
                    stack.pop()
                    missing[stack[-1]] -= 1
                    continue
                leaves = heads[front] > front and component[heads[front]] == component[front]
                if rank[top] > rank[front] and not leaves:
                    yield _SWAP
                    stack.pop()
                    buffer.insert(-1, top)
                    continue
            stack.append(buffer.pop())
            yield gold.shift[front]

"""Arc-hybrid, and arc-hybrid with SWAP.

Source: Kuhlmann, Gomez-Rodriguez and Satta 2011; de Lhoneux, Stymne and Nivre 2017 (SWAP).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from transition_parser.transitions.action import Action, Kind
from transition_parser.transitions.tree_system import State, TreeSystem


class ArcHybrid(TreeSystem):
    """Left arcs come from the front of the buffer, right arcs from the word below the top of the stack.

    SHIFT
      - Legal when: a word, not the root, is at the front of the buffer.
      - Effect: the front of the buffer becomes the top of the stack.
      - Builds: nothing.
    LEFT-ARC(r)
      - Legal when: the stack is not empty; if the front of the buffer is the root, the stack
        holds one word and r is a relation of the root, otherwise r is one of other arcs (`Roots`).
      - Effect: pops the stack.
      - Builds: an arc from the front of the buffer to the top of the stack.
    RIGHT-ARC(r)
      - Legal when: the stack holds two words and r is a relation of other arcs.
      - Effect: pops the stack.
      - Builds: an arc from the second word of the stack to its top.

    A derivation over n words takes 2n actions.
    """

    name = "arc-hybrid"
    kinds: ClassVar[tuple[Kind, ...]] = (Kind.SHIFT, Kind.LEFT_ARC, Kind.RIGHT_ARC)

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


class ArcHybridSwap(ArcHybrid):
    """Arc-hybrid for all trees: SWAP re-orders the words.

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

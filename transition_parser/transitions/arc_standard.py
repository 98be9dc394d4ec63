"""Arc-standard, and arc-standard with SWAP.

Source: Nivre 2004; Nivre 2009 (SWAP).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from transition_parser.transitions.action import Action, Kind
from transition_parser.transitions.tree_system import State, TreeSystem


class ArcStandard(TreeSystem):
    """Arcs join the two words on top of the stack; a word is popped with its head.

    SHIFT
      - Legal when: the buffer is not empty; the root only when the stack holds one word.
      - Effect: the front of the buffer becomes the top of the stack.
      - Builds: nothing.
    LEFT-ARC(r)
      - Legal when: the stack holds two words; r is a relation of the root if the top is the root, of other arcs
        if not (`Roots`).
      - Effect: removes the second word of the stack.
      - Builds: an arc from the top of the stack to the second.
    RIGHT-ARC(r)
      - Legal when: the stack holds two words, the top is not the root, and r is a relation of other arcs.
      - Effect: pops the stack.
      - Builds: an arc from the second word of the stack to its top.

    A derivation over n words takes 2n + 1 actions.
    """

    name = "arc-standard"
    kinds: ClassVar[tuple[Kind, ...]] = (Kind.SHIFT, Kind.LEFT_ARC, Kind.RIGHT_ARC)

    def why_illegal(self, state: State, action: Action) -> str | None:
        stack = state.stack
        if action.kind is Kind.SHIFT:
            return self._why_no_shift(state, action)
        if action.kind in (Kind.LEFT_ARC, Kind.RIGHT_ARC):
            if len(stack) < 2:
                return "the stack holds fewer than two words"
            top_is_root = stack[-1] == state.root
            if top_is_root and action.kind is Kind.RIGHT_ARC:
                return "the root has no head"
            return self._why_wrong_relation(top_is_root, action)
        return self._unknown(action)

    def _why_no_shift(self, state: State, action: Action) -> str | None:
        if not state.buffer:
            return "the buffer is empty"
        if state.buffer[0] != state.root:
            return self._why_wrong_shift_label(state, action)
        if len(state.stack) != 1:
            return "the root takes one word, and the stack holds more"
        return None if action.label is None else "the root's SHIFT has no label"

    def apply(self, state: State, action: Action) -> State:
        stack, buffer = state.stack, state.buffer
        if action.kind is Kind.SHIFT:
            return self._move(state, (*stack, buffer[0]), buffer[1:])
        second, top = stack[-2:]
        if action.kind is Kind.LEFT_ARC:
            return self._arc(state, second, top, action.label, (*stack[:-2], top), buffer)
        return self._arc(state, top, second, action.label, stack[:-1], buffer)

    def may_attach(self, state: State) -> Sequence[int]:
        return [word for word in state.stack[-2:] if word != state.root] if len(state.stack) > 1 else ()

    def is_final(self, state: State) -> bool:
        return state.stack == (state.root,)

    def max_actions(self, n: int) -> int:
        return 2 * n + 1


class ArcStandardSwap(ArcStandard):
    """Arc-standard for all trees: SWAP re-orders the words.

    SWAP
      - Legal when: the stack holds two words, and the second stands before the top in the
        sentence; the top is not the root.
      - Effect: the second word of the stack moves back to the front of the buffer.
      - Builds: nothing.

    Two words are swapped at most once, so a derivation takes at most 2n + 1 + n(n-1) actions.
    """

    name = "arc-standard-swap"
    kinds = (*ArcStandard.kinds, Kind.SWAP)
    projective_only = False

    def why_illegal(self, state: State, action: Action) -> str | None:
        if action.kind is not Kind.SWAP:
            return super().why_illegal(state, action)
        if len(state.stack) < 2:
            return "the stack holds fewer than two words"
        if state.stack[-1] == state.root:
            return "the root stays behind the last word"
        if state.stack[-2] > state.stack[-1]:
            return "these two words have been swapped before"
        return None

    def apply(self, state: State, action: Action) -> State:
        if action.kind is not Kind.SWAP:
            return super().apply(state, action)
        *below, second, top = state.stack
        return self._move(state, (*below, top), (second, *state.buffer))

    def max_actions(self, n: int) -> int:
        return 2 * n + 1 + n * (n - 1)

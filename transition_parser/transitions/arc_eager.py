"""Arc-eager, with a single root by legality.

Source: Nivre 2003; Nivre 2008 (sec. 4.2); the root at the end: Ballesteros and Nivre 2013.
"""

from __future__ import annotations

from collections.abc import Sequence

from transition_parser.transitions.action import Action, Kind
from transition_parser.transitions.tree_system import NO_HEAD, State, TreeSystem


class ArcEager(TreeSystem):
    """Arcs join the top of the stack and the front of the buffer; a right dependent stays on
    the stack until REDUCE.

    Only the root can head the words that are on the stack without a head when the buffer runs
    out. So that this is one word, the last word is shifted only onto a stack without such
    words and right-attached only where there is one. (Nivre and Fernandez-Gonzalez 2014 mend the
    same with an action UNSHIFT; here no derivation of a single-rooted tree is lost, and none is longer.)

    SHIFT
      - Legal when: a word, not the root, is at the front of the buffer; if it is the last one,
        every word on the stack has a head.
      - Effect: the front of the buffer becomes the top of the stack.
      - Builds: nothing.
    LEFT-ARC(r)
      - Legal when: the top of the stack has no head; r is a relation of the root if the
        front of the buffer is the root, of other arcs if not (`Roots`).
      - Effect: pops the stack.
      - Builds: an arc from the front of the buffer to the top of the stack.
    RIGHT-ARC(r)
      - Legal when: the stack is not empty, the front of the buffer is not the root, and r is a
        relation of other arcs; if the front is the last word, one word of the stack has no head.
      - Effect: the front of the buffer becomes the top of the stack.
      - Builds: an arc from the top of the stack to the front of the buffer.
    REDUCE
      - Legal when: the top of the stack has a head.
      - Effect: pops the stack.
      - Builds: nothing.

    A derivation over n words takes 2n actions.
    """

    name = "arc-eager"
    kinds = (Kind.SHIFT, Kind.REDUCE, Kind.LEFT_ARC, Kind.RIGHT_ARC)

    def why_illegal(self, state: State, action: Action) -> str | None:
        stack, front = state.stack, state.buffer[0]
        if action.kind in (Kind.SHIFT, Kind.RIGHT_ARC) and front == state.root:
            return "only the root is left in the buffer"
        if action.kind is Kind.SHIFT:
            if front == state.root - 1 and self._headless(state):
                return "the last word would be a second root beside the words without a head"
            return self._why_wrong_shift_label(state, action)
        if not stack:
            return "the stack is empty"
        has_head = state.heads[stack[-1]] != NO_HEAD
        if action.kind is Kind.REDUCE:
            return None if has_head else "the top of the stack has no head"
        if action.kind is Kind.LEFT_ARC:
            if has_head:
                return "the top of the stack has a head"
            return self._why_wrong_relation(front == state.root, action)
        if action.kind is Kind.RIGHT_ARC:
            if front == state.root - 1 and self._headless(state) != 1:
                return "after the last word one word alone may be without a head"
            return self._why_wrong_relation(False, action)
        return self._unknown(action)

    @staticmethod
    def _headless(state: State) -> int:
        return sum(state.heads[word] == NO_HEAD for word in state.stack)

    def apply(self, state: State, action: Action) -> State:
        stack, buffer = state.stack, state.buffer
        if action.kind is Kind.SHIFT:
            return self._move(state, (*stack, buffer[0]), buffer[1:])
        if action.kind is Kind.REDUCE:
            return self._move(state, stack[:-1], buffer)
        if action.kind is Kind.LEFT_ARC:
            return self._arc(state, stack[-1], buffer[0], action.label, stack[:-1], buffer)
        return self._arc(state, buffer[0], stack[-1], action.label, (*stack, buffer[0]), buffer[1:])

    def may_attach(self, state: State) -> Sequence[int]:
        stack, front = state.stack, state.buffer[0]
        top = [word for word in stack[-1:] if state.heads[word] == NO_HEAD]
        return [*top, front] if stack and front != state.root else top

    def is_final(self, state: State) -> bool:
        return not state.stack and state.buffer[0] == state.root

    def max_actions(self, n: int) -> int:
        return 2 * n

"""The arc-eager system, in which the legality rules guarantee a single root.

Source: Nivre 2003; Nivre 2008 (sec. 4.2); the root at the end: Ballesteros and Nivre 2013.
"""

from __future__ import annotations

from collections.abc import Iterator

from transition_parser.transitions.system import Action, Kind
from transition_parser.transitions.tree_system import (
    B0,
    S0,
    SHIFT_EFFECT,
    Condition,
    Effect,
    Fact,
    GoldTree,
    Items,
    Rule,
    Spec,
    TreeSystem,
    lost_in_buffer,
)

_REDUCE = Action(Kind.REDUCE)
_SOME_WORD = Condition("the stack is empty", given=Fact.SOME)
_WORD_IN_FRONT = Condition("only the root is left in the buffer", lacking=Fact.FRONT_IS_ROOT)
_ONE_ROOT = Condition(
    "the last word would be a second root: other words have no head", Fact.NONE_HEADLESS, lacking=Fact.FRONT_IS_LAST
)
_HEADS_LEFT = Condition(
    "after the last word, at most one word may be without a head", Fact.ONE_HEADLESS, lacking=Fact.FRONT_IS_LAST
)
_HEADED = Condition("the top of the stack has no head", given=Fact.TOP_HAS_HEAD)
_HEADLESS = Condition("the top of the stack has a head", lacking=Fact.TOP_HAS_HEAD)
_RULES = {
    Kind.SHIFT: Rule(SHIFT_EFFECT, (_WORD_IN_FRONT, _ONE_ROOT)),
    Kind.REDUCE: Rule(Effect(stack_pops=1), (_SOME_WORD, _HEADED)),
    Kind.LEFT_ARC: Rule(Effect(S0, B0, stack_pops=1), (_SOME_WORD, _HEADLESS)),
    Kind.RIGHT_ARC: Rule(Effect(B0, S0, stack_push=B0, buffer_pops=1), (_WORD_IN_FRONT, _SOME_WORD, _HEADS_LEFT)),
}


class ArcEager(TreeSystem):
    """The arc-eager system for projective trees.

    Arcs join the top of the stack and the front of the buffer. A right dependent stays on the stack until REDUCE.

    When the buffer runs out, only the root can become the head of the headless words of the stack. So that at most one
    such word is left, the last word is shifted only if the stack has no headless word, and gets a right arc only if the
    stack has exactly one. (Nivre and Fernandez-Gonzalez 2014 solve the same problem with an action UNSHIFT. Here every
    single-rooted tree keeps all its derivations, and no derivation gets longer.)
    """

    name = loss = "arc-eager"
    kinds = tuple(_RULES)
    spec = Spec(_RULES, closes_on_stack=False, reads_arcs=True)

    def max_actions(self, n: int) -> int:
        return 2 * n

    def oracle(self, gold: GoldTree) -> Iterator[Action]:
        heads, last_child = gold.heads, gold.last_child
        stack: list[int] = []
        for front in range(gold.root + 1):
            while stack:
                top = stack[-1]
                if heads[top] == front:
                    yield gold.left[top]
                elif heads[top] < top and heads[front] != top and last_child[top] < front:
                    yield _REDUCE
                else:
                    break
                stack.pop()
            if front < gold.root:
                yield gold.right[front] if stack and heads[front] == stack[-1] else gold.shift[front]
                stack.append(front)

    def lost_arcs(self, c: Items) -> int:
        """Count the lost arcs word by word, and one more where the buffer can't give heads to the headless words.

        A headless word of the stack can still become a dependent of a word in the buffer. The lowest headless word can
        also become a dependent of the root. A word in the buffer can become a dependent of any word that was not
        popped.

        At most one word may be headless once the buffer is empty. So every headless word of the stack except the lowest
        must become a dependent of a word of the buffer, even if this head is wrong. If a word of the buffer has a gold
        arc with a word further down the stack, the first such word can be the head without loss. Otherwise the head
        can be the first word of the buffer after the dependents of the higher words. If these dependents include the
        last word, no such head is left, and one more arc is lost. This happens where the last word is in the buffer and
        depends, directly or through words of the buffer, on the second headless word from below or a word above it.
        """
        lost = sum(c.heads[w] not in c.buffer and (c.heads[w] != c.root or w != c.headless[0]) for w in c.headless)
        last = c.root - 1
        while last in c.buffer:
            last = c.heads[last]
        several_headless = c.root - 1 in c.buffer and len(c.headless) > 1
        return lost + lost_in_buffer(c) + (several_headless and last in c.stack and last >= c.headless[1])

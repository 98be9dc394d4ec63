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
    Rule,
    Spec,
    TreeSystem,
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

    name = "arc-eager"
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

"""The arc-hybrid systems, without and with SWAP.

Source: Kuhlmann, Gomez-Rodriguez and Satta 2011; de Lhoneux, Stymne and Nivre 2017 (SWAP).
"""

from __future__ import annotations

from collections.abc import Iterator

from transition_parser.transitions.system import Action, Kind
from transition_parser.transitions.tree_system import (
    B0,
    S0,
    S1,
    SHIFT_EFFECT,
    Condition,
    Effect,
    Fact,
    GoldTree,
    Rule,
    Spec,
    TreeSystem,
)

_SWAP = Action(Kind.SWAP)
_SOME_WORD = Condition("the stack is empty", given=Fact.SOME)
_ONE_UNDER_ROOT = Condition("the root takes one word, and the stack holds more", lacking=Fact.FRONT_IS_ROOT | Fact.TWO)
_RULES = {
    Kind.SHIFT: Rule(SHIFT_EFFECT, (Condition("only the root is left in the buffer", lacking=Fact.FRONT_IS_ROOT),)),
    Kind.LEFT_ARC: Rule(Effect(S0, B0, stack_pops=1), (_SOME_WORD, _ONE_UNDER_ROOT)),
    Kind.RIGHT_ARC: Rule(
        Effect(S0, S1, stack_pops=1), (Condition("the stack holds fewer than two words", given=Fact.TWO),)
    ),
}
_SWAP_RULE = Rule(
    Effect(stack_pops=1, buffer_pops=1, swaps=1, buffer_pushes=(S0, B0)),
    (
        _SOME_WORD,
        Condition("the root stays at the end of the buffer", lacking=Fact.FRONT_IS_ROOT),
        Condition("these two words have been swapped before", given=Fact.TOP_BEFORE_FRONT),
        Condition("the sentence has as many SWAPs as it may", given=Fact.MAY_SWAP),
    ),
)


class ArcHybrid(TreeSystem):
    """The arc-hybrid system for projective trees.

    The head of a left arc is the front of the buffer. The head of a right arc is the word below the top of the stack.
    """

    name = "arc-hybrid"
    kinds = tuple(_RULES)
    spec = Spec(_RULES, closes_on_stack=False)

    def max_actions(self, n: int) -> int:
        return 2 * n

    def oracle(self, gold: GoldTree) -> Iterator[Action]:
        """Yield the actions of a lazy oracle; projective trees need no SWAP.

        A swap waits while the front of the buffer still has to become the left dependent of a word of its own
        projective component, because this takes the front out of the way.
        """
        heads, rank, missing = gold.heads, gold.rank, gold.children.copy()
        stack: list[int] = []
        buffer = list(range(gold.root, -1, -1))
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
                if rank[top] > rank[front] and not (
                    heads[front] > front and gold.component[heads[front]] == gold.component[front]
                ):
                    yield _SWAP
                    stack.pop()
                    buffer.insert(-1, top)
                    continue
            stack.append(buffer.pop())
            yield gold.shift[front]


class ArcHybridSwap(ArcHybrid):
    """The arc-hybrid system for all trees: SWAP moves the top of the stack after the front of the buffer."""

    name = "arc-hybrid-swap"
    kinds = (*ArcHybrid.kinds, Kind.SWAP)
    projective_only = False
    spec = Spec({**_RULES, Kind.SWAP: _SWAP_RULE}, closes_on_stack=False)

    def max_actions(self, n: int) -> int:
        return 2 * n + n * (n - 1)  # two words are swapped at most once

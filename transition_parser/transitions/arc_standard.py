"""The arc-standard systems, without and with SWAP.

Source: Nivre 2004; Nivre 2009 (SWAP).
"""

from __future__ import annotations

from collections.abc import Iterator

from transition_parser.transitions.system import Action, Kind
from transition_parser.transitions.tree_system import (
    NONE,
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
_TWO_WORDS = Condition("the stack holds fewer than two words", given=Fact.TWO)
_RULES = {
    Kind.SHIFT: Rule(
        SHIFT_EFFECT,
        (
            Condition("the buffer is empty", given=Fact.HAS_BUFFER),
            Condition("the root takes one word, and there is none", Fact.SOME, lacking=Fact.FRONT_IS_ROOT),
            Condition("the root takes one word, and the stack holds more", lacking=Fact.FRONT_IS_ROOT | Fact.TWO),
        ),
    ),
    Kind.LEFT_ARC: Rule(Effect(S1, S0, stack_pops=2, stack_push=S0), (_TWO_WORDS,)),
    Kind.RIGHT_ARC: Rule(
        Effect(S0, S1, stack_pops=1), (_TWO_WORDS, Condition("the root has no head", lacking=Fact.TOP_IS_ROOT))
    ),
}
_SWAP_RULE = Rule(
    Effect(stack_pops=2, stack_push=S0, swaps=1, buffer_pushes=(NONE, S1)),
    (
        _TWO_WORDS,
        Condition("the root stays after the last word", lacking=Fact.TOP_IS_ROOT),
        Condition("these two words have been swapped before", given=Fact.SECOND_BEFORE_TOP),
        Condition("the sentence has as many SWAPs as it may", given=Fact.MAY_SWAP),
    ),
)


class ArcStandard(TreeSystem):
    """The arc-standard system for projective trees. Arcs join the two words on top of the stack."""

    name = "arc-standard"
    kinds = tuple(_RULES)
    spec = Spec(_RULES, closes_on_stack=True)

    def max_actions(self, n: int) -> int:
        return 2 * n + 1

    def oracle(self, gold: GoldTree) -> Iterator[Action]:
        """Yield the actions of a lazy oracle; projective trees need no SWAP.

        A swap waits while the top of the stack and the front of the buffer belong to one projective component, in which
        they still have to be joined.

        Source: Nivre, Kuhlmann and Hall 2009, sec. 3.
        """
        heads, rank, missing = gold.heads, gold.rank, gold.children.copy()
        stack: list[int] = []
        buffer = list(range(gold.root, -1, -1))
        while buffer or len(stack) > 1:
            if len(stack) > 1:
                second, top = stack[-2:]
                if heads[second] == top and not missing[second]:
                    yield gold.left[second]
                    del stack[-2]
                    missing[top] -= 1
                    continue
                if heads[top] == second and not missing[top]:
                    yield gold.right[top]
                    stack.pop()
                    missing[second] -= 1
                    continue
                if rank[second] > rank[top] and gold.component[top] != gold.component[buffer[-1]]:
                    yield _SWAP
                    del stack[-2]
                    buffer.append(second)
                    continue
            word = buffer.pop()
            stack.append(word)
            yield gold.shift[word]


class ArcStandardSwap(ArcStandard):
    """The arc-standard system for all trees: SWAP moves the second word of the stack to the front of the buffer."""

    name = "arc-standard-swap"
    kinds = (*ArcStandard.kinds, Kind.SWAP)
    projective_only = False
    spec = Spec({**_RULES, Kind.SWAP: _SWAP_RULE}, closes_on_stack=True)

    def max_actions(self, n: int) -> int:
        return 2 * n + 1 + n * (n - 1)  # two words are swapped at most once

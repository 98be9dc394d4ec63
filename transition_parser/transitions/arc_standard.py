"""The arc-standard systems, without and with SWAP.

Source: Nivre 2004; Nivre 2009 (SWAP).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

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
    Items,
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

    name = loss = "arc-standard"
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

    def lost_arcs(self, c: Items) -> int:
        """Count the arcs of words whose heads were popped, and the arcs that the best continuation gives up.

        The words above a word of the stack become one sub-tree before that word gets any arc. So the words of the
        stack join a tree one by one, the top first, and words of the buffer join in between. Each word becomes a
        dependent or the head of the tree's current root. Words of the buffer without gold arcs to the stack never
        prevent an arc. They are left out: the dependents of such a word count as dependents of its head.

        `_most_arcs` fills a table for each configuration. The table is small, because words are left out. The linear
        algorithm of Nederhof 2019 (From cubic to linear time) would be faster only for long stacks.

        Source: Goldberg, Sartorio and Satta 2014, sec. 4.
        """
        there = {*c.stack, *c.buffer, c.root}
        lost = sum(c.heads[word] not in there for word in there if word != c.root)
        if len(c.stack) < 2 or c.root in c.stack:
            return lost
        joined = {c.heads[w] for w in c.stack if c.heads[w] in c.buffer} | {
            w for w in c.buffer if c.heads[w] in c.stack
        }
        left_out = set(c.buffer) - joined
        heads = {}
        for word in (*c.stack, *joined):
            heads[word] = c.heads[word]
            while heads[word] in left_out:
                heads[word] = c.heads[heads[word]]
        arcs = sum(head in heads or head == c.root for head in heads.values())
        return lost + arcs - _most_arcs(c.stack[::-1], sorted(joined, key=c.gold.rank.__getitem__), heads, c.root)


class ArcStandardSwap(ArcStandard):
    """The arc-standard system for all trees: SWAP moves the second word of the stack to the front of the buffer."""

    name = "arc-standard-swap"
    kinds = (*ArcStandard.kinds, Kind.SWAP)
    projective_only = False
    spec = Spec({**_RULES, Kind.SWAP: _SWAP_RULE}, closes_on_stack=True)

    def max_actions(self, n: int) -> int:
        return 2 * n + 1 + n * (n - 1)  # two words are swapped at most once


def _most_arcs(stack: Sequence[int], buffer: Sequence[int], heads: Mapping[int, int], root: int) -> int:
    """Return the largest number of arcs of `heads` that one tree over the stack (top first) and the buffer can have."""
    column = [{stack[0]: 0}]  # item i, for trees with the first i buffer words: root → largest number of arcs
    for word in buffer:
        column.append(_join(column[-1], word, heads))
    for word in stack[1:]:
        above, column = column, [_join(column[0], word, heads)]
        for trees, next_word in zip(above[1:], buffer, strict=True):
            ways = _join(trees, word, heads), _join(column[-1], next_word, heads)
            column.append({top: max(way.get(top, 0) for way in ways) for top in ways[0] | ways[1]})
    return max(arcs + (heads[top] == root) for top, arcs in column[-1].items())


def _join(trees: Mapping[int, int], word: int, heads: Mapping[int, int]) -> dict[int, int]:
    longer = {top: arcs + (heads[word] == top) for top, arcs in trees.items()}
    longer[word] = max(arcs + (heads[top] == word) for top, arcs in trees.items())
    return longer

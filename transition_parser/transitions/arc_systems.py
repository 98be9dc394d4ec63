"""The systems of dependency trees: arc-standard and arc-hybrid, both without and with SWAP, and arc-eager."""

from __future__ import annotations

from collections.abc import Iterator

from transition_parser.transitions.system import Action, Kind
from transition_parser.transitions.tree_system import (
    B0,
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

_REDUCE = Action(Kind.REDUCE)
_SOME_WORD = Condition("the stack is empty", given=Fact.SOME)
_TWO_WORDS = Condition("the stack holds fewer than two words", given=Fact.TWO)
_WORD_IN_FRONT = Condition("only the root is left in the buffer", lacking=Fact.FRONT_IS_ROOT)
_ONE_UNDER_ROOT = Condition("the root takes one word, and the stack holds more", lacking=Fact.FRONT_IS_ROOT | Fact.TWO)
_SWAPS_LEFT = Condition("the sentence has as many SWAPs as it may", given=Fact.MAY_SWAP)
_STANDARD = {
    Kind.SHIFT: Rule(
        SHIFT_EFFECT,
        (
            Condition("the buffer is empty", given=Fact.HAS_BUFFER),
            Condition("the root takes one word, and there is none", Fact.SOME, lacking=Fact.FRONT_IS_ROOT),
            _ONE_UNDER_ROOT,
        ),
    ),
    Kind.LEFT_ARC: Rule(Effect(S1, S0, stack_pops=2, stack_push=S0), (_TWO_WORDS,)),
    Kind.RIGHT_ARC: Rule(
        Effect(S0, S1, stack_pops=1), (_TWO_WORDS, Condition("the root has no head", lacking=Fact.TOP_IS_ROOT))
    ),
}
_STANDARD_SWAP = Rule(
    Effect(stack_pops=2, stack_push=S0, swaps=1, buffer_pushes=(NONE, S1)),
    (
        _TWO_WORDS,
        Condition("the root stays after the last word", lacking=Fact.TOP_IS_ROOT),
        Condition("these two words have been swapped before", given=Fact.SECOND_BEFORE_TOP),
        _SWAPS_LEFT,
    ),
)


class ArcStandard(TreeSystem):
    """The arc-standard system for projective trees (Nivre 2004). Arcs join the two words on top of the stack."""

    name = "arc-standard"
    kinds = tuple(_STANDARD)
    spec = Spec(_STANDARD, closes_on_stack=True)

    def swap(self, gold: GoldTree, stack: list[int], buffer: list[int]) -> bool:
        """A swap waits while the top of the stack and the front of the buffer belong to one projective component.

        They still have to be joined in it.
        """
        if len(stack) < 2 or gold.rank[stack[-2]] < gold.rank[stack[-1]]:
            return False
        if gold.component[stack[-1]] == gold.component[buffer[-1]]:
            return False
        buffer.append(stack.pop(-2))
        return True


class ArcStandardSwap(ArcStandard):
    """The arc-standard system for all trees: SWAP moves the second word of the stack to the front of the buffer.

    Source: Nivre 2009.
    """

    name = "arc-standard-swap"
    kinds = (*ArcStandard.kinds, Kind.SWAP)
    projective_only = False
    spec = Spec({**_STANDARD, Kind.SWAP: _STANDARD_SWAP}, closes_on_stack=True)


_HYBRID = {
    Kind.SHIFT: Rule(SHIFT_EFFECT, (_WORD_IN_FRONT,)),
    Kind.LEFT_ARC: Rule(Effect(S0, B0, stack_pops=1), (_SOME_WORD, _ONE_UNDER_ROOT)),
    Kind.RIGHT_ARC: Rule(Effect(S0, S1, stack_pops=1), (_TWO_WORDS,)),
}
_HYBRID_SWAP = Rule(
    Effect(stack_pops=1, buffer_pops=1, swaps=1, buffer_pushes=(S0, B0)),
    (
        _SOME_WORD,
        Condition("the root stays at the end of the buffer", lacking=Fact.FRONT_IS_ROOT),
        Condition("these two words have been swapped before", given=Fact.TOP_BEFORE_FRONT),
        _SWAPS_LEFT,
    ),
)


class ArcHybrid(TreeSystem):
    """The arc-hybrid system for projective trees.

    The head of a left arc is the front of the buffer. The head of a right arc is the word below the top of the stack.

    Source: Kuhlmann, Gomez-Rodriguez and Satta 2011.
    """

    name = "arc-hybrid"
    kinds = tuple(_HYBRID)
    spec = Spec(_HYBRID, closes_on_stack=False)

    def swap(self, gold: GoldTree, stack: list[int], buffer: list[int]) -> bool:
        """A swap waits while the front still has to become the left dependent of a word of its projective component.

        This takes the front out of the way.
        """
        front, head = buffer[-1], gold.heads[buffer[-1]]
        if not stack or gold.rank[stack[-1]] < gold.rank[front]:
            return False
        if head > front and gold.component[head] == gold.component[front]:
            return False
        buffer.insert(-1, stack.pop())
        return True


class ArcHybridSwap(ArcHybrid):
    """The arc-hybrid system for all trees: SWAP moves the top of the stack after the front of the buffer.

    Source: de Lhoneux, Stymne and Nivre 2017.
    """

    name = "arc-hybrid-swap"
    kinds = (*ArcHybrid.kinds, Kind.SWAP)
    projective_only = False
    spec = Spec({**_HYBRID, Kind.SWAP: _HYBRID_SWAP}, closes_on_stack=False)


_ONE_ROOT = Condition(
    "the last word would be a second root: other words have no head", Fact.NONE_HEADLESS, lacking=Fact.FRONT_IS_LAST
)
_HEADS_LEFT = Condition(
    "after the last word, at most one word may be without a head", Fact.ONE_HEADLESS, lacking=Fact.FRONT_IS_LAST
)
_HEADED = Condition("the top of the stack has no head", given=Fact.TOP_HAS_HEAD)
_HEADLESS = Condition("the top of the stack has a head", lacking=Fact.TOP_HAS_HEAD)
_EAGER = {
    Kind.SHIFT: Rule(SHIFT_EFFECT, (_WORD_IN_FRONT, _ONE_ROOT)),
    Kind.REDUCE: Rule(Effect(stack_pops=1), (_SOME_WORD, _HEADED)),
    Kind.LEFT_ARC: Rule(Effect(S0, B0, stack_pops=1), (_SOME_WORD, _HEADLESS)),
    Kind.RIGHT_ARC: Rule(Effect(B0, S0, stack_push=B0, buffer_pops=1), (_WORD_IN_FRONT, _SOME_WORD, _HEADS_LEFT)),
}


class ArcEager(TreeSystem):
    """The arc-eager system for projective trees, in which the legality rules guarantee a single root.

    Arcs join the top of the stack and the front of the buffer. A right dependent stays on the stack until REDUCE.

    When the buffer runs out, only the root can become the head of the headless words of the stack. So that at most one
    such word is left, the last word is shifted only if the stack has no headless word, and gets a right arc only if the
    stack has exactly one. (Nivre and Fernandez-Gonzalez 2014 solve the same problem with an action UNSHIFT. Here every
    single-rooted tree keeps all its derivations, and no derivation gets longer.)

    Source: Nivre 2003; Nivre 2008 (sec. 4.2); the root at the end: Ballesteros and Nivre 2013.
    """

    name = "arc-eager"
    kinds = tuple(_EAGER)
    spec = Spec(_EAGER, closes_on_stack=False, reads_arcs=True)

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

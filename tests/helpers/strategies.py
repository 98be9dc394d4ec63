"""Random trees, random graphs and random legal walks, for property tests."""

import random
from collections.abc import Sequence

from hypothesis import strategies as st

from transition_parser.graphs.amr import AmrGraph, Edge
from transition_parser.graphs.dependency import DependencyTree
from transition_parser.transitions import Action, State, TransitionSystem

RELATIONS = ("nsubj", "obj", "a b(c)%", "root")


@st.composite
def trees(
    draw,
    max_words: int = 12,
    projective: bool = False,
    roots: Sequence[str] = ("root",),
    others: Sequence[str] = RELATIONS[:-1],
    min_words: int = 1,
) -> DependencyTree:
    """A tree with one root, each shape possible. roots, others: the relations of arcs from the root, and of others."""
    n = draw(st.integers(min_words, max_words))
    rng = random.Random(draw(st.integers(0, 2**32)))
    heads = _projective_heads(n, rng) if projective else random_heads(n, rng)
    relations = tuple(rng.choice(others if head else roots) for head in heads)
    return DependencyTree(tuple(heads), relations)


def random_heads(n: int, rng: random.Random) -> list[int]:
    """Of any tree of n words."""
    order = list(range(1, n + 1))
    rng.shuffle(order)
    heads = [0] * n
    for i, word in enumerate(order[1:], 1):
        heads[word - 1] = rng.choice(order[:i])
    return heads


def _projective_heads(n: int, rng: random.Random) -> list[int]:
    heads = [0] * n

    def attach(words: range, head: int) -> None:
        """Splits a stretch of words into sub-trees that hang from `head`."""
        while words:
            size = len(words) if head == 0 else rng.randint(1, len(words))  # one root: one sub-tree
            part, words = words[:size], words[size:]
            top = rng.choice(part)
            heads[top - 1] = head
            attach(range(part.start, top), top)
            attach(range(top + 1, part.stop), top)

    attach(range(1, n + 1), 0)
    return heads


@st.composite
def graphs(
    draw,
    concepts: Sequence[str],
    roles: Sequence[str],
    constants: Sequence[str] = (),
    roles_of_constants: Sequence[str] = (),
    most: int = 7,
    further: int = 6,
) -> AmrGraph:
    """A connected graph, whose last nodes are its constants; with several edges between two nodes, cycles and loops.

    roles_of_constants: further roles that edges to constants may have
    most: the largest number of concepts; further: that of edges without which they are connected, too
    """
    labels = draw(st.lists(st.sampled_from(concepts), min_size=1, max_size=most))
    node, role = st.integers(0, len(labels) - 1), st.sampled_from(roles)
    edges = []
    for new in range(1, len(labels)):
        source, target = draw(st.permutations([draw(st.integers(0, new - 1)), new]))
        edges.append(Edge(source, draw(role), target))
    edges += draw(st.lists(st.builds(Edge, node, role, node), max_size=further))
    values = draw(st.lists(st.sampled_from(constants), max_size=4)) if constants else []
    places = range(len(labels), len(labels) + len(values))
    edges += [Edge(draw(node), draw(st.sampled_from((*roles, *roles_of_constants))), place) for place in places]
    return AmrGraph((*labels, *values), frozenset(places), tuple(dict.fromkeys(edges)), draw(node))


def legal_actions(system: TransitionSystem, state: State, actions: list[Action]) -> list[Action]:
    """The ones that are legal in `state`."""
    return [action for action in actions if system.why_illegal(state, action) is None]

from itertools import combinations, pairwise

from hypothesis import given

from tests.helpers.steps import grows_linearly
from tests.helpers.strategies import trees
from transition_parser.graphs.dependency import DependencyTree, attachment_scores


def tree(*heads: int) -> DependencyTree:
    return DependencyTree(heads, tuple("root" if h == 0 else "dep" for h in heads))


def test_the_hearing_sentence_is_not_projective():
    """A hearing is scheduled on the issue today: the arc hearing -> issue crosses the root's."""
    assert not tree(2, 4, 4, 0, 7, 7, 2, 4).is_projective()
    assert tree(2, 4, 4, 0, 7, 7, 4, 4).is_projective()


def crosses(heads: tuple[int, ...]) -> bool:
    """Two arcs cross; the root stands before the first word."""
    spans = [tuple(sorted((word, head))) for word, head in enumerate(heads, 1)]
    return any(a < c < b < d or c < a < d < b for (a, b), (c, d) in combinations(spans, 2))


@given(trees())
def test_projective_means_that_no_arcs_cross(random_tree):
    assert random_tree.why_invalid() is None
    assert random_tree.is_projective() == (not crosses(random_tree.heads))


@given(trees(projective=True))
def test_projective_trees_are_in_projective_order(random_tree):
    assert random_tree.projective_order() == list(range(1, len(random_tree) + 1))


def components(random_tree: DependencyTree) -> list[int]:
    """Joins neighbors while that is possible, then follows each word to the head of its component."""
    words, above = list(range(1, len(random_tree) + 1)), {}
    while found := next((pair for pair in _neighbors(words) if _may_join(*pair, random_tree, above)), None):
        word, head = found
        above[word] = head
        words.remove(word)
    tops = []
    for word in range(1, len(random_tree) + 1):
        while word in above:
            word = above[word]
        tops.append(word)
    return tops


def _neighbors(words: list[int]):
    for one, other in pairwise(words):
        yield one, other
        yield other, one


def _may_join(word: int, head: int, random_tree: DependencyTree, above: dict[int, int]) -> bool:
    dependents = [other for other, its in enumerate(random_tree.heads, 1) if its == word]
    return random_tree.heads[word - 1] == head and all(other in above for other in dependents)


@given(trees())
def test_projective_components(random_tree):
    assert random_tree.projective_components() == components(random_tree)


def chain(size: int) -> DependencyTree:
    """Each word hangs from the next one."""
    return tree(*range(2, size + 1), 0)


def test_components_of_a_long_chain_take_linear_time():
    assert chain(300).projective_components() == [300] * 300
    assert grows_linearly(lambda size: chain(size).projective_components(), 100)


def test_what_is_wrong_with_a_tree():
    assert tree(0).why_invalid() is None
    assert tree(2, 1, 0).why_invalid() == (1, "word 1 is its own ancestor: the heads form a cycle")
    assert "both have head 0" in tree(0, 0).why_invalid()[1]
    assert "has head 3" in tree(0, 3).why_invalid()[1]
    assert "cycle" in tree(1).why_invalid()[1]


def test_attachment_scores_count_heads_and_full_labels():
    gold = DependencyTree((2, 0, 2), ("nsubj", "root", "obl:tmod"))
    system = DependencyTree((2, 0, 2), ("obj", "root", "obl"))
    assert attachment_scores([gold], [system]) == (3, 3, 1)

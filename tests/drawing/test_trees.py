"""Trees in one line, and upright: nothing overlaps, and nothing is missing."""

from itertools import combinations
from xml.etree import ElementTree

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.drawing.pictures import SVG, check_texts, of_kind
from tests.helpers.strategies import trees
from transition_parser.drawing.trees import TreeLayout, tree_drawing, tree_of
from transition_parser.graphs.conllu import Row, Sentence
from transition_parser.graphs.dependency import DependencyTree

FORMS = st.sampled_from(["I", "a", ",", "lighthouse", "日本語", "שלום", "it", "unmistakably"])
RELATIONS = ("nsubj", "obl:unmarked", "acl:relcl", "x")


def sentence_of(forms: list[str], tree: DependencyTree) -> Sentence:
    rows = tuple(Row(str(i), form, form, "NOUN") for i, form in enumerate(forms, 1))
    return Sentence(rows).with_tree(tree)


@st.composite
def sentences(draw, projective: bool = False) -> tuple[Sentence, list[float]]:
    tree = draw(trees(30, projective, others=RELATIONS))
    forms = draw(st.lists(FORMS, min_size=len(tree), max_size=len(tree)))
    return sentence_of(forms, tree), draw(st.lists(st.sampled_from([1.0, 0.7, 0.1]), min_size=30, max_size=30))


@settings(max_examples=40, deadline=None)
@given(sentences())
def test_all_words_and_relations_are_there_and_none_covers_another(drawn):
    sentence, confidences = drawn
    svg = tree_drawing(sentence, confidences)
    assert of_kind(svg, "word") == sentence.forms
    assert set(of_kind(svg, "role")) == set(sentence.tree().relations)
    arcs = ElementTree.fromstring(svg).findall(f".//{SVG}g[@data-words]")
    pairs = {(word - 1, head - 1) if head else (word - 1,) for word, head in enumerate(sentence.tree().heads, 1)}
    assert {tuple(map(int, arc.get("data-words").split())) for arc in arcs} == pairs
    assert len(arcs) == len(pairs)
    check_texts(svg)


def ends_of_arcs(layout: TreeLayout) -> list[list[float]]:
    """The left and right ends of the arcs between words."""
    tree = layout.tree
    return [
        [layout.places[word] + layout.feet[i, word] for word in arc.span]
        for i, arc in enumerate(tree.arcs)
        if arc.head >= 0
    ]


@settings(max_examples=40, deadline=None)
@given(sentences())
def test_arcs_are_above_all_shorter_ones_that_they_overlap_with(drawn):
    tree = tree_of(drawn[0])
    layout = TreeLayout(tree)
    ends = ends_of_arcs(layout)
    levels = [level for level in layout.levels if level]
    lengths = [arc.span[1] - arc.span[0] for arc in tree.arcs if arc.head >= 0]
    assert all(low < high for low, high in ends)
    for i, j in combinations(range(len(ends)), 2):
        if ends[i][0] < ends[j][1] and ends[j][0] < ends[i][1]:
            assert levels[i] != levels[j] and (levels[i] < levels[j] or lengths[i] >= lengths[j])


@settings(max_examples=40, deadline=None)
@given(sentences(projective=True))
def test_arcs_of_projective_trees_do_not_cross(drawn):
    tree = tree_of(drawn[0])
    layout = TreeLayout(tree)
    ends = ends_of_arcs(layout)
    for (a, b), (c, d) in combinations(ends, 2):
        assert not (a < c < b < d or c < a < d < b)


def test_tags_lemmas_and_confidences_are_there_where_they_are_known():
    tree = DependencyTree((2, 0), ("nsubj", "root"))
    rows = (Row("1", "Dogs", "dog", "NOUN"), Row("2", "bark", "_", "VERB"))
    svg = tree_drawing(Sentence(rows).with_tree(tree), [0.89, 0.9])
    assert of_kind(svg, "tag") == ["NOUN", "VERB"] and of_kind(svg, "lemma") == ["dog"]
    titles = [title.text for title in ElementTree.fromstring(svg).iter(f"{SVG}title")]
    assert titles == ["nsubj: 89.0 %", "root: 90.0 %"] and svg.count("unsure") - svg.count(".unsure") == 1
    bare = tree_drawing(sentence_of(["a"], DependencyTree((0,), ("root",))).untagged())
    assert not of_kind(bare, "tag")

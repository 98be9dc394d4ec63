"""Trees in one line, in several lines, and upright: nothing overlaps, and nothing is missing."""

from itertools import combinations
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import SAMPLE
from tests.drawing.pictures import SVG, check_texts, of_kind, texts
from tests.helpers.strategies import trees
from transition_parser.drawing.trees import TreeLayout, derivation_drawing, tree_drawings, tree_of
from transition_parser.graphs.conllu import Row, Sentence, read_conllu
from transition_parser.graphs.dependency import DependencyTree
from transition_parser.oracles.static import oracle
from transition_parser.transitions import TREE_SYSTEMS

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
    drawings = tree_drawings(sentence, confidences)
    widths = [float(ElementTree.fromstring(svg).get("width")) for svg in drawings]
    assert widths == sorted(widths, reverse=True)
    for number, svg in enumerate(drawings):
        assert of_kind(svg, "word") == sentence.forms
        assert set(of_kind(svg, "role")) == set(sentence.tree().relations)
        arcs = ElementTree.fromstring(svg).findall(f".//{SVG}g[@data-words]")
        pairs = {(word - 1, head - 1) if head else (word - 1,) for word, head in enumerate(sentence.tree().heads, 1)}
        assert {tuple(map(int, arc.get("data-words").split())) for arc in arcs} == pairs
        assert len(arcs) == len(pairs) or 0 < number < len(drawings) - 1  # lines repeat the arcs that leave them
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
    svg = tree_drawings(Sentence(rows).with_tree(tree), [0.89, 0.9])[0]
    assert of_kind(svg, "tag") == ["NOUN", "VERB"] and of_kind(svg, "lemma") == ["dog"]
    assert of_kind(svg, "figure") == ["89 %"]
    titles = [title.text for title in ElementTree.fromstring(svg).iter(f"{SVG}title")]
    assert titles == ["nsubj: 89.0 %", "root: 90.0 %"] and svg.count("unsure") - svg.count(".unsure") == 1
    bare = tree_drawings(sentence_of(["a"], DependencyTree((0,), ("root",))).untagged())[0]
    assert not of_kind(bare, "tag", "figure")


def test_long_trees_break_into_lines_of_about_equal_width():
    n = 60
    sentence = sentence_of(["lighthouse"] * n, DependencyTree((0, *range(1, n)), ("root", *["obj"] * (n - 1))))
    whole, *lines, upright = tree_drawings(sentence)
    assert len(lines) == 2
    for svg, width in zip((whole, *lines), (None, 1080, 700)):
        words = [one for one in texts(svg) if one.kind == "word"]
        rows = sorted({one.y for one in words})
        assert (len(rows) == 1) if width is None else (len(rows) > 4)
        per_row = [sum(one.y == y for one in words) for y in rows]
        assert max(per_row) - min(per_row) <= 1
        assert width is None or float(ElementTree.fromstring(svg).get("width")) <= width
    assert [one.y for one in texts(upright) if one.kind == "word"] == [24 * i + 21 for i in range(n)]


@pytest.mark.parametrize("name", ["arc-hybrid-swap", "arc-eager"])
def test_a_derivation_has_a_line_for_each_state(name):
    sentence = next(iter(read_conllu(SAMPLE)))
    system, names = TREE_SYSTEMS[name](), [*sentence.forms, "ROOT"]
    actions = list(oracle(system, sentence.forms, sentence.tree()))
    svg = derivation_drawing(sentence, system, actions)
    check_texts(svg)
    shown, y, state = texts(svg), {}, system.initial(sentence.forms)
    for one in shown:
        y.setdefault(one.y, []).append(one.text)
    states = [row for row in y.values() if row[-1] == "ROOT" or "→" in row[-1]]
    assert len(states) == len(actions) + 1 and states[0] == names
    for action, row in zip(actions, states[1:], strict=True):
        before, state = state.heads, system.apply(state, action)
        arcs = [
            f"{names[new]} → {names[word]}" for word, (old, new) in enumerate(zip(before, state.heads)) if old != new
        ]
        assert row == [str(action), *names, *arcs]
    marked = ElementTree.fromstring(svg).findall(f".//{SVG}text[@class='word gone']")
    assert len(marked) > 0 and system.result(state) == sentence.tree()

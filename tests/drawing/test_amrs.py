"""AMRs: nodes, roles and words do not cover each other, and none is missing."""

import random
from itertools import combinations
from xml.etree import ElementTree

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import SAMPLE_AMR
from tests.drawing.pictures import SVG, check_texts, of_kind, texts
from tests.helpers.strategies import graphs
from transition_parser.drawing.amrs import AmrLayout, Node, amr_drawing, steps_drawing
from transition_parser.graphs.amr import AmrGraph, Edge
from transition_parser.graphs.bank import AmrEntry, read_bank

LABELS = ("thing", "want-01", "rate-entity-91", "x", "日本")


@st.composite
def entries(draw) -> AmrEntry:
    """Graphs with words, each node aligned to some of them."""
    graph = draw(graphs(LABELS, ("ARG0", "mod", "time-of"), most=14, further=4))
    rng = random.Random(draw(st.integers(0, 2**32)))
    words = [f"w{i}" * rng.randint(1, 3) for i in range(rng.randint(1, 20))]
    aligned = (rng.sample(range(len(words)), rng.randint(0, min(3, len(words)))) for _ in graph.labels)
    return AmrEntry({"tok": " ".join(words)}, graph, alignments=tuple(tuple(sorted(one)) for one in aligned))


@settings(max_examples=40, deadline=None)
@given(entries(), st.booleans())
def test_all_nodes_roles_and_words_are_there(entry, with_confidences):
    graph = entry.amr
    confidences = [0.7, 0.95, 0.2] * len(graph) if with_confidences else []
    svg = amr_drawing(entry, confidences)
    assert sorted(of_kind(svg, "concept")) == sorted(graph.labels)
    assert sorted(of_kind(svg, "role")) == sorted(edge.role for edge in graph.edges)
    assert of_kind(svg, "word") == entry.tokens
    root = ElementTree.fromstring(svg)
    nodes = [group for group in root.iter(f"{SVG}g") if "node" in group.get("class", "").split()]
    assert [tuple(map(int, node.get("data-words", "").split())) for node in nodes] == [*entry.alignments]
    numbers = [group.get("data-edge") for group in root.iter(f"{SVG}g") if group.get("class") == "edge"]
    assert numbers == [*map(str, range(len(graph.edges)))] * 2  # lines, then roles
    assert len(root.findall(f".//{SVG}rect[@class='ring']")) == 1


@settings(max_examples=40, deadline=None)
@given(entries())
def test_nodes_and_roles_of_the_tree_do_not_cover_each_other(entry):
    graph = entry.amr
    nodes = [Node(label, False, words) for label, words in zip(graph.labels, entry.alignments, strict=True)]
    layout = AmrLayout(nodes, graph.edges, graph.top)
    for one, other in combinations(layout.boxes, 2):
        assert one.row != other.row or abs(one.x - other.x) >= (one.slot + other.slot) / 2
    for edge, run in layout.runs.items():
        assert layout.boxes[layout.ends(edge)[0]].y < run.y < layout.floor
        for other in layout.runs.values():
            if other is not run and (other.row, other.track) == (run.row, run.track):
                assert other.extent[1] < run.extent[0] or other.extent[0] > run.extent[1]


def test_the_sample_is_drawn_the_same_again_and_without_overlaps():
    entries = list(read_bank(SAMPLE_AMR))
    for entry in entries[:50]:
        svg = amr_drawing(entry)
        assert svg == amr_drawing(entry)
        check_texts(svg)


def test_words_wrap_and_a_graph_needs_none():
    entry = AmrEntry({"tok": " ".join(["lighthouse"] * 9)}, AmrGraph(("a",), frozenset(), ()))
    assert len({one.y for one in texts(amr_drawing(entry)) if one.kind == "word"}) == 2
    svg = amr_drawing(AmrEntry({}, AmrGraph(("see-01",), frozenset(), (Edge(0, "ARG0", 0),))))
    assert [one.text for one in texts(svg)] == ["ARG0", "see-01"]


def test_steps_are_drawn_with_all_that_they_make():
    nodes = [(0, "she", False, 0, 0), (1, "sell-01", False, 1, 2)]
    empty = {"nodes": [], "edges": [], "top": None}
    steps = [
        {**empty, "nodes": nodes[:1]},
        {**empty, "nodes": nodes[1:], "edges": [(1, "ARG0", 0)]},
        {**empty, "top": 1},
    ]
    svg = steps_drawing(["She", "sells", "them"], steps)
    assert of_kind(svg, "concept") == ["she", "sell-01"] and of_kind(svg, "tag")[-2:] == ["1", "2–3"]
    assert 'class="ring"' in svg

"""The AMR oracle: four-word graphs with the actions of every step, and that every graph comes back exactly."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import SAMPLE_AMR
from tests.helpers.amr_walks import FRAMES
from tests.helpers.strategies import graphs
from transition_parser.graphs.amr import AmrGraph, Edge, quoted
from transition_parser.graphs.bank import AmrEntry, parse_entry, read_bank
from transition_parser.oracles.amr import Derivation, amr_oracle
from transition_parser.preprocess.aligner.aligner import aligned
from transition_parser.transitions import Kind
from transition_parser.transitions.amr import ARCS_IN_A_ROW, AmrSystem

SYSTEM = AmrSystem(frames=FRAMES)
MODES = ("imperative", "expressive")

DERIVATIONS = {entry.id: entry for entry in read_bank(Path(__file__).with_name("derivations.amr"))}


def entry_of(sentence: str, graph: str) -> AmrEntry:
    return parse_entry([f"# ::tok {sentence}", graph])


def derive(words: list[str], graph: AmrGraph, alignments, system: AmrSystem = SYSTEM) -> Derivation:
    return amr_oracle(system, system.read(words), graph, alignments)


def assert_comes_back(words: list[str], graph: AmrGraph, derivation: Derivation, system: AmrSystem = SYSTEM) -> None:
    """By legal steps alone (or `replay` raises)."""
    back = system.replay(system.read(words), derivation.actions)
    assert back.renumbered(range(len(back))) == graph.renumbered(derivation.order)
    assert len(derivation.spans) == len(derivation.actions) <= SYSTEM.max_actions(len(words))


@pytest.mark.parametrize("name", DERIVATIONS)
def test_derivations(name):
    entry = DERIVATIONS[name]
    found = derive(entry.forms, entry.graph, entry.alignments)
    assert " ".join(map(str, found.actions)) == entry.metadata["actions"]
    assert_comes_back(entry.forms, entry.graph, found)


@pytest.mark.parametrize("members", [12, 25])
def test_a_long_list_is_flat(members):
    words = [*" , ".join("x" * members).split(" "), "and", "y"]
    ops = " ".join(f":op{i + 1} (x{i} / x~{2 * i})" for i in range(members))
    entry = entry_of(" ".join(words), f"(a / and~{2 * members - 1} {ops} :op{members + 1} (y / y~{2 * members}))")
    found = derive(entry.forms, entry.graph, entry.alignments)
    arcs = [str(action) for action in found.actions if action.kind in (Kind.LA, Kind.RA)]
    assert arcs == ["LA(op)"] * members + ["RA(op)"]
    assert_comes_back(entry.forms, entry.graph, found)


def test_spans_and_order():
    entry = DERIVATIONS["an-entity-of-two-words"]
    found = derive(entry.forms, entry.graph, entry.alignments)
    assert [entry.graph.labels[node] for node in found.order] == ["she", "like-01", "city", "name", '"New"', '"York"']
    assert found.spans == [(0, 0)] * 2 + [(1, 1)] * 5 + [(2, 3)] * 6


FIVE_EDGES = "(s / see-01~0 :a (d / dog~1) :b d :c d :d d :e d)"
MANY_NODES = "(a / and~0 " + " ".join(f":op{i} (x{i} / x~0)" for i in range(1, 20)) + ")"
MANY_EDGES = (
    "(a / a~0 "
    + " ".join(f":r{i} (x{i} / x~0 " + " ".join(f":s{i}{j} x{j}" for j in range(i)) + ")" for i in range(9))
    + ")"
)


@pytest.mark.parametrize(
    ("graph", "problem"),
    [
        ("(s / see-01~0 :ARG0 (d / dog))", "the node dog is not aligned to any word: run `transition-parser align`"),
        ("(s / see-01~0 :ARG1 s)", "the edge :ARG1 goes from see-01 to itself"),
        (FIVE_EDGES, "5 edges join see-01 and dog: at most 4 can be built"),
        (MANY_NODES, "the graph needs 20 nodes, but a sentence of 2 words may have 12"),
        (MANY_EDGES, "the graph needs 36 further edges, but a sentence of 2 words may have 24"),
    ],
)
def test_what_can_not_be_built(graph, problem):
    entry = entry_of("a b", graph)
    with pytest.raises(ValueError, match=f"^{problem}$"):
        derive(entry.forms, entry.graph, entry.alignments)


def test_a_graph_that_is_not_connected():
    graph = AmrGraph(("a", "b", "c"), frozenset(), (Edge(0, "ARG0", 1),))
    with pytest.raises(ValueError, match="the graph is not connected"):
        derive(["a", "b"], graph, [[0], [1], [1]])


def test_the_sample_comes_back():
    for entry in aligned(list(read_bank(SAMPLE_AMR))):
        assert_comes_back(entry.forms, entry.graph, derive(entry.forms, entry.graph, entry.alignments))


def test_frames_name_what_words_evoke():
    """The span's own lemma first, then its particle, then aliases, and PRED for what nothing evokes."""
    for sentence, written, concept, action in (
        ("dogs", "(d / dog-02~0)", "dog-02", "FRAME(02)"),
        ("dogs", "(d / dog-01~0)", "dog-01", "PRED(dog-01)"),
        ("dogs", "(d / dog~0)", "dog", "COPY_LEMMA"),
        ("gave it up", "(g / give-up-07~0)", "give-up-07", "FRAME(07,particle)"),
        ("gave up", "(g / give-up-07~0,1)", "give-up-07", "FRAME(07)"),
        ("gave up", "(g / give-up-07~1)", "give-up-07", "PRED(give-up-07)"),
        ("gifts", "(g / give-03~0)", "give-03", "FRAME(03,alias)"),
        ("gifts", "(h / hound-01~0)", "hound-01", "FRAME(01,alias2)"),
        ("Zorbed", "(z / zorbed-01~0)", "zorbed-01", "FRAME(01)"),
        ("mother", "(h / have-rel-role-91~0)", "have-rel-role-91", "PRED(have-rel-role-91)"),
    ):
        entry = parse_entry([f"# ::tok {sentence}", written])
        words = SYSTEM.read(sentence.split())
        derivation = amr_oracle(SYSTEM, words, entry.graph, entry.alignments)
        assert action in map(str, derivation.actions), (sentence, concept)
        assert SYSTEM.replay(words, derivation.actions).labels == (concept,)


FORMS = ("dogs", "New", "York", "12", '"', "(", "German", "@-@", "-", "12,000", "imperative", "a")
CONCEPTS = "dog dog-01 dog-02 hound-01 new-york-01 x new-york city name German 12 a-01".split()
CONSTANTS = ("-", "12", "12000", *MODES, '"New"', '"New-York"', '"dogs"', '"12,000"', '""', "5")
ROLES = ("ARG0", "ARG1", "mod", "op1", "op2", "op3", "snt1", "op", "snt", "consist-of")


@st.composite
def aligned_graphs(draw, max_words: int = 7) -> tuple[list[str], AmrGraph, list[tuple[int, ...]]]:
    """Words, any connected graph that keeps the machine's limits, and any alignment of its nodes."""
    words = draw(st.lists(st.sampled_from(FORMS), min_size=1, max_size=max_words))
    graph = draw(graphs(CONCEPTS, ROLES, CONSTANTS, ("domain",), most=6))
    labels, constants = [*graph.labels], {*graph.constants}
    edges = _few_between_two([edge for edge in graph.edges if edge.source != edge.target])
    concepts = st.sampled_from(sorted({*range(len(labels))} - constants))
    if draw(st.booleans()):
        for owner in draw(st.lists(concepts, min_size=1, max_size=2)):
            name = len(labels)
            strings = draw(_names(words))
            constants.update(range(name + 1, name + 1 + len(strings)))
            edges.append(Edge(owner, "name", name))
            edges += [Edge(name, f"op{i}", name + i) for i in range(1, len(strings) + 1)]
            labels += ["name", *map(quoted, strings)]
    graph = AmrGraph(tuple(labels), frozenset(constants), tuple(edges), graph.top)
    order = draw(st.permutations(range(len(labels))))
    return words, graph.renumbered(order), draw(_alignments(len(words), len(labels)))


def _few_between_two(edges: list[Edge]) -> list[Edge]:
    kept: dict[frozenset, list[Edge]] = {}
    for edge in dict.fromkeys(edges):
        kept.setdefault(frozenset((edge.source, edge.target)), []).append(edge)
    return [edge for pair in kept.values() for edge in pair[:ARCS_IN_A_ROW]]


@st.composite
def _names(draw, words: list[str]) -> list[str]:
    """The strings of a name: of the sentence, one by one or joined, or others."""
    first = draw(st.integers(0, len(words) - 1))
    strings = words[first : first + draw(st.integers(1, 3))]
    return draw(st.sampled_from([strings, ["".join(strings)], ["Rome"]]))


@st.composite
def _alignments(draw, words: int, nodes: int) -> list[tuple[int, ...]]:
    """All on the last word, each on one, on a few spans, or on any words."""
    token = st.integers(0, words - 1)
    span = st.tuples(token, token).map(lambda ends: tuple(range(min(ends), max(ends) + 1)))
    few = draw(st.lists(span, min_size=1, max_size=3))
    late = st.integers(max(0, words - 3), words - 1)
    tokens = draw(
        st.sampled_from(
            [
                st.just((words - 1,)),
                st.tuples(token),
                st.tuples(late),
                st.sampled_from(few),
                st.lists(token, min_size=1, max_size=3, unique=True).map(tuple),
            ]
        )
    )
    return draw(st.lists(tokens, min_size=nodes, max_size=nodes))


def assert_limits_aside_comes_back(words, graph, alignments, system: AmrSystem = SYSTEM) -> None:
    try:
        derivation = derive(words, graph, alignments, system)
    except ValueError as error:
        assert f"a sentence of {len(words)} words may have" in str(error)
        return
    assert_comes_back(words, graph, derivation, system)


@pytest.mark.parametrize("examples", [100, pytest.param(4000, marks=pytest.mark.slow)])
def test_random_graphs_come_back(examples):
    @settings(max_examples=examples)
    @given(aligned_graphs(), st.sampled_from([SYSTEM, AmrSystem(shift_words=("New", "a"), frames=FRAMES)]))
    def comes_back(case, system):
        assert_limits_aside_comes_back(*case, system)

    comes_back()


@given(aligned_graphs(max_words=2))
@settings(max_examples=80)
def test_random_graphs_over_one_or_two_words_come_back(case):
    """Most nodes are on the last word, where the machine allows least."""
    assert_limits_aside_comes_back(*case)


@pytest.mark.slow
def test_whole_corpora_come_back(corpora):
    paths = [*sorted(corpora.glob("amr/*/dev.amr")), *sorted(corpora.glob("amr/*/test.amr"))]
    assert len(paths) >= 6
    for path in paths:
        for entry in aligned(list(read_bank(path, []))):
            for system in (SYSTEM, AmrSystem()):
                derivation = derive(entry.forms, entry.graph, entry.alignments, system)
                assert_comes_back(entry.forms, entry.graph, derivation, system)

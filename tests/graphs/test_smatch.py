"""Smatch by hand, as its program and the package `smatch` have it, and of large graphs; the fine-grained scores."""

import itertools
import os
import random
import re

import pytest
import smatch
from hypothesis import example, given
from hypothesis import strategies as st

from tests.conftest import SAMPLE_AMR, run
from transition_parser.base.errors import InputError
from transition_parser.graphs.bank import AmrEntry, parse_bank, parse_entry, read_bank
from transition_parser.graphs.smatch import (
    RESTARTS,
    Counts,
    Triples,
    best_mapping,
    compare_banks,
    count_entries,
    entry_triples,
    smatch_counts,
    total,
)

WANT = "(w / want-01 :ARG0 (b / boy) :ARG1 (g / go-01 :ARG0 b))"  # 3 concepts, 3 relations, TOP
NAMED = '(c / city :wiki "Paris" :name (n / name :op1 "Paris"))'


def entry(penman: str) -> AmrEntry:
    return parse_entry(["# ::id a", *penman.splitlines()])


@pytest.mark.parametrize(
    ("gold", "system", "match", "system_size", "gold_size"),
    [
        (WANT, WANT, 7, 7, 7),
        (WANT, "(x / want-01 :ARG1 (y / go-01 :ARG0 (z / boy)) :ARG0 z)", 7, 7, 7),  # order and variables
        (WANT, "(g / go-01 :ARG0 (b / boy :ARG0-of (w / want-01 :ARG1 g)))", 6, 7, 7),  # all but TOP
        (WANT, "(w / want-01 :ARG0 (g2 / girl) :ARG1 (g / go-02 :ARG0 g2 :polarity -))", 5, 8, 7),
        (WANT, "(a / amr-empty)", 1, 2, 7),  # TOP
        (NAMED, '(c / CITY :name (n / name :op1 "paris"))', 5, 5, 6),  # case makes no difference
        ("(f / five :quant 5)", '(f / five :quant "5")', 3, 3, 3),
        ("(d / dog :mod (b / big))", "(b / big :domain (d / dog))", 3, 4, 4),  # one relation, other TOP
        # equal triples count once
        ("(a / go-01 :polarity - :polarity -)", "(a / go-01 :polarity -)", 3, 3, 3),
        ("(a / go-01 :ARG0 (b / boy) :ARG0 b)", "(a / go-01 :ARG0 (b / boy :ARG0-of a) :arg0 b)", 4, 4, 4),
        # constants after inverse roles are dropped
        ("(b / boy :ARG0-of 5 :mod 6 :quant 7)", "(b / boy :quant 7)", 3, 3, 3),
        # strings are compared whole
        ('(n / name :op1 "Anna")', '(n / name :op1 "Anna Berg")', 2, 3, 3),
        ('(n / name :op1 "Anna Berg" :op2 "a:(b)/c")', '(n / name :op1 "anna  Berg" :op2 "A:(B)/c")', 3, 4, 4),
        ('(n / name :op1 "Anna")', '(n / name :op1 "Anna_")', 2, 3, 3),
        ('(n / name :op1 "917")', '(n / name :op1 "917 703")', 2, 3, 3),
        (r'(n / name :op1 "a \"b\" c")', r'(n / name :op1 "a \"b\" d")', 2, 3, 3),
        ('(n / name :op1 "" :op2 "n")', '(m / name :op1 "" :op2 "n")', 4, 4, 4),
    ],
)
def test_smatch_by_hand(gold, system, match, system_size, gold_size):
    ours, theirs = entry(gold), entry(system)
    assert count_entries(ours, theirs) == Counts(match, system_size, gold_size)
    if not ours.wiki:
        assert smatch_counts(ours.amr, theirs.amr) == count_entries(ours, theirs)


def test_the_sample_as_written_and_as_we_write_it():
    """Inverse roles, :domain for the inverse of :mod, and the order of branches make no difference."""
    for entry in read_bank(SAMPLE_AMR):
        variables = [f"x{node}" for node in range(len(entry.graph))]
        text = entry.graph.to_penman(wiki=entry.wiki, variables=variables)
        (again,) = parse_bank(text.encode().splitlines())
        assert count_entries(entry, again).f1 == 1, entry.id


def bank(path, *graphs, ids=True):
    entries = [f"# ::id s{i}\n{graph}\n" if ids else f"{graph}\n" for i, graph in enumerate(graphs, 1)]
    path.write_text("\n".join(entries), encoding="utf-8")
    return path


GOLD = (
    WANT,
    '(l / live-01 :polarity - :ARG0 (p / person :wiki "Ann_B" :name (n / name :op1 "Ann"))'
    ' :location (c / city :wiki - :name (n2 / name :op1 "Rome")))',
)
SYSTEM = (
    "(w / want-02 :ARG0 (b / boy) :ARG1 (g / go-01 :ARG1 b))",
    '(l / live-01 :ARG0 (p / person :polarity - :wiki "Ann_C" :name (n / name :op1 "Ann"))'
    ' :location (c / country :wiki - :name (n2 / name :op1 "Rome")))',
)


def test_fine_grained_scores_by_hand(tmp_path):
    gold, system = bank(tmp_path / "gold.amr", *GOLD), bank(tmp_path / "system.amr", *SYSTEM)
    assert total(compare_banks(gold, system, fine_grained=True)) == {
        # of the 7: not want-02, not ARG1; of the 15: not city, not polarity, not Ann_B
        "smatch": Counts(5 + 12, 7 + 15, 7 + 15),
        "unlabeled": Counts(6 + 12, 22, 22),  # ARG1 for ARG0 matches now
        "no_wsd": Counts(6 + 12, 22, 22),  # want-02 matches now
        "concepts": Counts(2 + 3, 3 + 4, 3 + 4),  # name is one concept of the set
        "named_entities": Counts(1, 2, 2),  # person; not city
        "negation": Counts(0, 1, 1),
        "wiki": Counts(1, 2, 2),  # -
        "reentrancies": Counts(3, 5, 5),  # of three concepts and two edges not want-02, not the ARG1 of go-01
        "srl": Counts(4 + 3, 6 + 3, 6 + 3),
    }
    twice = bank(tmp_path / "twice.amr", "(t / talk-01 :ARG0 (i / i) :ARG2 i)", ids=False)  # files without ids, too
    other = bank(tmp_path / "other.amr", "(t / talk-01 :ARG0 (i / i) :ARG2 i)")
    assert total(compare_banks(twice, other, fine_grained=True))["unlabeled"] == Counts(4, 4, 4)  # one edge


def test_processes_and_order_change_nothing(tmp_path, monkeypatch):
    """Processes are not forked: they would have the caller's handlers of signals."""
    monkeypatch.setattr(os, "fork", lambda: pytest.fail("forked"))
    gold, system = bank(tmp_path / "gold.amr", *GOLD * 5), bank(tmp_path / "system.amr", *SYSTEM * 5)
    one = compare_banks(gold, system, fine_grained=True)
    assert compare_banks(gold, system, fine_grained=True, processes=2) == one
    assert one == one[:2] * 5 and one[0] != one[1]


def test_files_that_do_not_correspond(tmp_path):
    gold, other = bank(tmp_path / "gold.amr", *GOLD), tmp_path / "other.amr"
    bank(other, GOLD[0])
    with pytest.raises(InputError, match=r"gold.amr:4: sentence s2: .*other.amr has 1 entries and .*gold.amr has more"):
        compare_banks(gold, other)
    other.write_text(gold.read_text(encoding="utf-8").replace("s2", "s7"), encoding="utf-8")
    with pytest.raises(InputError, match=r"other.amr:4: sentence s7: entry 2 of .*gold.amr \(line 4\) has the id s2"):
        compare_banks(gold, other)
    assert total(compare_banks(gold, other, ignore_ids=True))["smatch"].f1 == 1
    other.write_text(gold.read_text(encoding="utf-8") + "\n# ::id s3\n# ::snt Hi\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"other.amr:7: sentence s3: .*amr-empty"):
        compare_banks(gold, other)
    other.write_text("", encoding="utf-8")
    with pytest.raises(InputError, match=r"other.amr: the file holds no graphs"):
        compare_banks(gold, other)


def test_like_the_program(tmp_path):
    gold, system = bank(tmp_path / "gold.amr", *GOLD), bank(tmp_path / "system.amr", *SYSTEM)
    counts = total(compare_banks(gold, system))["smatch"]
    printed = run("smatch.py", "-f", system, gold, "--pr", "--significant", "4").stdout
    figures = f"Precision: {counts.precision:.4f}\nRecall: {counts.recall:.4f}\nF-score: {counts.f1:.4f}\n"
    assert printed == figures


def test_close_to_the_program_on_whole_files(corpora, tmp_path):
    """Its random starts differ from run to run, by some tenths of a percent."""
    source = corpora / "amr" / "lpp-v3.0" / "dev.amr"
    texts = [entry.amr.to_penman(None, entry.wiki) for entry in read_bank(source)]
    chance = random.Random(1)
    damaged = [re.sub(r":ARG\d|-0\d", lambda m: m[0][:-1] + chance.choice("0123"), text) for text in texts]
    gold, system = bank(tmp_path / "gold.amr", *texts), bank(tmp_path / "system.amr", *damaged)
    counts = total(compare_banks(gold, system))["smatch"]
    printed = run("smatch.py", "-f", system, gold, "--significant", "4").stdout
    assert float(printed.split()[-1]) == pytest.approx(counts.f1, abs=0.003)
    assert total(compare_banks(gold, gold))["smatch"].f1 == 1


class Seeded(random.Random):
    """The package would seed it from the clock."""

    def seed(self, a=None, version=2):
        if a is not None:
            super().seed(a, version)


def by_the_package(system: Triples, gold: Triples, seed: int) -> tuple[int, list[int | None]]:
    """What the package finds with our random numbers."""
    before = smatch.iteration_num, smatch.random
    smatch.iteration_num, smatch.random = RESTARTS + 1, Seeded(seed)
    smatch.match_triple_dict.clear()
    try:
        mapping, match = smatch.get_best_match(*named(system, "a"), *named(gold, "b"), prefix1="a", prefix2="b")
    finally:
        smatch.iteration_num, smatch.random = before
        smatch.match_triple_dict.clear()
    return match, [None if node == -1 else node for node in mapping]


def named(triples: Triples, prefix: str):
    return (
        [("instance", f"{prefix}{node}", concept) for node, concept in enumerate(triples.concepts)],
        [(role, f"{prefix}{node}", value) for role, node, value in triples.attributes],
        [(role, f"{prefix}{source}", f"{prefix}{target}") for role, source, target in triples.relations],
    )


@st.composite
def triples(draw, size=9) -> Triples:
    """Few names, so that much is alike; loops too."""
    count = draw(st.integers(1, size))
    node = st.integers(0, count - 1)
    concepts = draw(st.lists(st.sampled_from(["a", "A", "b", "c"]), min_size=count, max_size=count))
    attributes = st.tuples(st.sampled_from(["x", "X", "y"]), node, st.sampled_from(["1", '"1"', "2"]))
    relations = st.tuples(st.sampled_from(["r", "R", "s"]), node, node)
    return Triples(
        tuple(concepts),
        tuple(draw(st.lists(attributes, max_size=4))),
        tuple(draw(st.lists(relations, max_size=14))),
    ).normalized


@given(triples(), triples(), st.integers(0, 99))
def test_each_step_is_that_of_the_package(system, gold, seed):
    assert best_mapping(system, gold, RESTARTS, seed) == by_the_package(system, gold, seed)


def test_the_sample_as_the_package_matches_it():
    """Each graph with its neighbors in the file: other graphs, and other sizes."""
    graphs = [entry_triples(entry).normalized for entry in read_bank(SAMPLE_AMR)]
    for system, gold in zip(graphs, [*graphs[1:], graphs[0]], strict=True):
        assert best_mapping(system, gold, RESTARTS, 7) == by_the_package(system, gold, 7)


def chain(length: int, concepts: int = 1) -> Triples:
    """x0 :ARG0 x1 :ARG0 …"""
    return Triples(
        tuple(f"c{i % concepts}" for i in range(length)),
        (("TOP", 0, "top"),),
        tuple(("ARG0", i, i + 1) for i in range(length - 1)),
    )


def shuffled(graph: Triples, seed: int) -> Triples:
    """The same graph, its nodes in another order."""
    order = list(range(len(graph.concepts)))
    random.Random(seed).shuffle(order)
    place = {old: new for new, old in enumerate(order)}
    return Triples(
        tuple(graph.concepts[old] for old in order),
        tuple((role, place[node], value) for role, node, value in graph.attributes),
        tuple((role, place[source], place[target]) for role, source, target in graph.relations),
    )


def matched(system: Triples, gold: Triples, mapping: list[int | None]) -> int:
    """How many triples match under a mapping."""
    ours = {("instance", mapping[node], concept) for node, concept in enumerate(system.concepts)}
    ours |= {(role, mapping[node], value) for role, node, value in system.attributes}
    ours |= {(role, mapping[source], mapping[target]) for role, source, target in system.relations}
    theirs = {("instance", node, concept) for node, concept in enumerate(gold.concepts)}
    return len(ours & (theirs | {*gold.attributes, *gold.relations}))


MORE_NODES = Triples(("a",) * 4, (), (("r", 2, 3),))


@given(triples(4), triples(4))
@example(MORE_NODES, Triples(("a", "a"), (), (("r", 0, 1),)))
def test_the_best_of_all_mappings_is_found(system, gold):
    """With so many starts that none of the mappings of tiny graphs is missed, in one direction: as in smatch, a start
    gives nodes of gold to the first nodes of a larger system alone."""
    nodes = [*range(len(gold.concepts)), *[None] * len(system.concepts)]
    mappings = {*itertools.permutations(nodes, len(system.concepts))}
    best = max(matched(system, gold, [*mapping]) for mapping in mappings)
    found = [best_mapping(*pair, restarts=300)[0] for pair in ((system, gold), (gold, system))]
    assert max(found) == best <= min(len(system), len(gold))


def test_graphs_of_many_nodes():
    graph = chain(401, 50)
    match, mapping = best_mapping(graph, graph)
    assert match == len(graph) and mapping == list(range(401))
    for other in (shuffled(graph, 1), chain(301, 50)):
        match, mapping = best_mapping(other, graph)
        assert match == matched(other, graph, mapping) and match > 0.5 * len(other)


def test_graphs_that_are_too_large():
    with pytest.raises(InputError, match="graphs of 2000 and 2001 nodes are too large for Smatch"):
        best_mapping(chain(2000), chain(2001))


@pytest.mark.slow
def test_corpora_as_the_package_matches_them(corpora):
    for name in ("lpp-v3.0/dev.amr", "bio-isi-aligned/train.amr"):
        graphs = [entry_triples(entry).normalized for entry in read_bank(corpora / "amr" / name)]
        graphs = graphs[:150]
        for system, gold in zip(graphs, [*graphs[1:], graphs[0]], strict=True):
            if len(system.concepts) * len(gold.concepts) < 900:  # the package takes long
                assert best_mapping(system, gold, RESTARTS, 7) == by_the_package(system, gold, 7)

"""What differs between trees and AMRs, without a network."""

import pytest

from tests.conftest import SAMPLE, SAMPLE_AMR, python
from transition_parser.base.errors import InputError
from transition_parser.graphs.amr import AmrGraph, Edge
from transition_parser.graphs.dependency import DependencyTree
from transition_parser.parsing.formalisms import AMR, FORMALISMS, OF_SYSTEM, TREES, formalism_of_files, read, score
from transition_parser.transitions import SYSTEMS

SAMPLES = {TREES: SAMPLE, AMR: SAMPLE_AMR}
WANT = AmrGraph(
    ("want-01", "dog", "sleep-01"), frozenset(), (Edge(0, "ARG0", 1), Edge(0, "ARG1", 2), Edge(2, "ARG0", 1))
)


def test_scores_of_files_and_of_parses_are_the_same(tmp_path):
    for formalism, path in SAMPLES.items():
        gold = [*read(path)]
        figures = formalism.score(str(path), str(path)).figures
        assert score(path, gold) == score(gold, path) == score(gold, gold) == figures
    trees = [*read(SAMPLE)]
    assert score(trees, trees, full_labels=True, conll18=True)["conll18"]["LAS"]["f1"] == 100
    assert "concepts" in score(SAMPLE_AMR, SAMPLE_AMR, fine_grained=True)
    with pytest.raises(InputError, match="fine_grained is no option of trees"):
        score(trees, trees, fine_grained=True)


def test_each_system_is_of_one_formalism():
    assert sorted(name for formalism in FORMALISMS for name in formalism.systems) == sorted(SYSTEMS)
    assert all(OF_SYSTEM[name] is formalism for formalism in FORMALISMS for name in formalism.systems)
    assert all(formalism.default_system in formalism.systems for formalism in FORMALISMS)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.conllu", "# x\n\n1\tHi\t_\t_\t_\t_\t0\troot\t_\t_\n", TREES),
        ("a.txt", "# ::id a\n(h / hi)\n", AMR),
        ("a.amr", "", AMR),
        ("a.amr", "1\tHi", AMR),
        ("a.txt", "no graph of any kind", TREES),
        ("a.txt", "", TREES),
    ],
)
def test_what_files_hold(tmp_path, name, text, expected):
    path = tmp_path / name
    path.write_text(text)
    assert formalism_of_files(path) is expected
    assert formalism_of_files(path, "/dev/null") is expected


def test_files_of_two_kinds():
    assert formalism_of_files(SAMPLE_AMR, SAMPLE_AMR) is AMR
    with pytest.raises(InputError, match=r"sample\.amr: AMR, but .*sample\.conllu is CoNLL-U: give files of one kind"):
        formalism_of_files(SAMPLE, "/dev/null", SAMPLE_AMR)


def figures(formalism, counts: list) -> dict:
    sums = {name: sum(count[name] for count in counts) for name in formalism.sums}
    return {name: figure(sums) for name, figure in formalism.figures.items()}


def test_counts_of_trees():
    gold = DependencyTree((2, 0, 2), ("nsubj", "root", "obj"))
    parsed = DependencyTree((2, 0, 1), ("obj", "root", "obj"))
    counts = [TREES.count(gold, gold), TREES.count(gold, parsed), TREES.count(gold, None)]
    assert counts[1:] == [{"_words": 3, "_heads": 2, "_labeled": 1}, {"_words": 3, "_heads": 0, "_labeled": 0}]
    assert figures(TREES, counts) == {"uas": round(500 / 9, 2), "las": round(400 / 9, 2)}
    assert figures(TREES, []) == {"uas": 0.0, "las": 0.0}


def test_counts_of_amrs():
    parsed = AmrGraph(WANT.labels, frozenset(), WANT.edges[:2])
    depth = 1100
    deep = AmrGraph(("x",) * depth, frozenset(), tuple(Edge(i, "ARG0", i + 1) for i in range(depth - 1)))
    counts = [AMR.count(WANT, graph) for graph in (WANT, parsed, None, deep)]
    assert [tuple(count.values()) for count in counts] == [(7, 7, 7), (6, 6, 7), (0, 0, 7), (2, 2200, 7)]
    assert figures(AMR, counts) == {"smatch": round(2 * 15 / (2213 + 28), 4)}
    assert figures(AMR, []) == {"smatch": 0.0}


def test_commands_for_graphs_load_no_torch(tmp_path):
    commands = [
        *(["score", str(path), str(path)] for path in (SAMPLE, SAMPLE_AMR)),
        *(["draw", str(path), "-o", "x.svg"] for path in (SAMPLE, SAMPLE_AMR)),
        ["oracle", str(SAMPLE), "--system", "arc-eager"],
        ["oracle", str(SAMPLE_AMR), "--system", "amr"],
    ]
    code = f"""
import sys
sys.modules["torch"] = sys.modules["fairseq"] = None  # importing them is an error
from transition_parser.cli.main import main
sys.exit(max([main(command) for command in {commands!r}]))"""
    assert python("-c", code, cwd=tmp_path).stderr == ""

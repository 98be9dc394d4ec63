"""run/bench/errors.py: what each class of errors costs, on graphs whose repair is known."""

import json
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given

from tests.conftest import ROOT
from tests.graphs.test_amr_score import graphs
from tests.helpers.scripts import module
from transition_parser.graphs.amr_score import compare_banks, count_entries, smatch_counts
from transition_parser.graphs.bank import parse_entry
from transition_parser.graphs.smatch import entry_triples, graph_triples

SCRIPT = ROOT / "run" / "bench" / "errors.py"
errors = module("bench/errors.py")

GOLD = (
    '(w / want-01 :polarity - :ARG0 (b / boy :mod (t / tall)) :ARG1 (v / visit-01 :ARG0 b :ARG1 (c / city :wiki "Rome"'
    ' :name (n / name :op1 "Rome")) :time (y / yesterday)))'
)
# class → a part of GOLD, and what replaces the part in a parse that has only errors of this class
DAMAGES = {
    "wiki": (':wiki "Rome"', ":wiki -"),
    "name strings": (':op1 "Rome"', ':op1 "New" :op2 "Rome"'),
    "constants": (":polarity -", ""),
    "sense": ("want-01", "want-02"),
    "name type": ("city", "country"),
    "concept": ("yesterday", "today"),
    "role": (":time", ":duration"),
    "re-entrancy": (":ARG0 b ", ""),
}
# a parse with several classes of errors, the same parse after the repair of some classes, and these classes
WANT = "(w / want-01 :ARG0 (b / boy) :ARG1 (g / go-01 :ARG0 b :destination (h / home)))"
REPAIRS = [
    (
        "(b / boy :ARG0-of (w / want-02 :ARG1 (g / go-01 :destination (h / home))))",
        "(w / want-02 :ARG0 (b / boy) :ARG1 (g / go-01 :destination (h / home)))",
        ["top"],
    ),
    (
        "(w / want-02 :ARG0 (b / boy) :ARG1 (g / go-01 :ARG0 b))",
        "(w / want-02 :ARG0 (b / boy) :ARG1 (g / go-01 :ARG0 b :destination (h / home)))",
        ["nodes", "edges at nodes"],
    ),
    (
        "(w / want-02 :ARG0 (b / boy) :ARG1 (g / go-01 :ARG0 b) :destination (h / home))",
        "(w / want-02 :ARG0 (b / boy) :ARG1 (g / go-01 :ARG0 b :destination (h / home)))",
        ["attachment"],
    ),
    (
        "(w / want-02 :ARG0 (b / boy) :ARG1 (g / go-01 :destination (h / home) :ARG3 b))",
        "(w / want-01 :ARG0 (b / boy) :ARG1 (g / go-01 :destination (h / home) :ARG0 b))",
        ["sense", "role"],
    ),
]


def entry_of(text: str):
    return parse_entry([text])


def found_in(system: str, gold: str):
    return errors.errors_of(entry_triples(entry_of(gold)), entry_triples(entry_of(system)))


@pytest.mark.parametrize("name", DAMAGES)
def test_errors_of_one_class_are_found_as_this_class_and_their_repair_gives_the_gold_graph(name):
    old, new = DAMAGES[name]
    damaged = GOLD.replace(old, new)
    found = found_in(damaged, GOLD)
    assert damaged != GOLD and {*+found.missing, *+found.invented} == {name}
    assert found.counts == count_entries(entry_of(GOLD), entry_of(damaged)) and found.repaired([name]).exact


@pytest.mark.parametrize(("system", "repaired", "classes"), REPAIRS)
def test_the_gain_is_what_smatch_gains_when_the_graph_is_repaired(system, repaired, classes):
    found, counts = found_in(system, WANT), count_entries(entry_of(WANT), entry_of(repaired))
    assert found.repaired(classes) == counts
    before = count_entries(entry_of(WANT), entry_of(system)).f1
    assert found.gain(*classes) == pytest.approx(counts.f1 - before) and found.gain(*classes) > 0


def test_an_edge_between_the_right_nodes_with_nothing_else_right_is_another_edge():
    system = "(w / want-01 :ARG0 (b / boy :time (h / home)) :ARG1 (g / go-01 :ARG0 b))"
    found = found_in(system, WANT)
    assert +found.missing == +found.invented == {"other edges": 1}


def test_nodes_that_have_nothing_in_common_are_not_mapped():
    found = found_in("(w / want-01 :ARG2 (c / cat))", "(w / want-01 :ARG0 (b / boy))")
    assert +found.missing == +found.invented == {"nodes": 1, "edges at nodes": 1}
    nothing = found_in("(c / cat)", "(w / want-01 :ARG0 (b / boy))")
    assert nothing.repaired(errors.CLASSES).exact


@given(graphs(), graphs())
def test_each_triple_that_does_not_match_is_of_one_class(gold, system):
    found = errors.errors_of(graph_triples(gold), graph_triples(system))
    counts = smatch_counts(gold, system)
    assert found.counts == counts and {*found.missing, *found.invented} <= {*errors.CLASSES}
    assert found.missing.total() == counts.gold - counts.match
    assert found.invented.total() == counts.system - counts.match
    assert found.repaired(errors.CLASSES) == replace(counts, match=counts.gold, system=counts.gold)


def bank(path, *texts):
    path.write_text("".join(f"# ::id s{number}\n{text}\n\n" for number, text in enumerate(texts)), encoding="utf-8")
    return path


def run(*arguments):
    return subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True)


def test_each_pair_of_files_is_a_line(tmp_path):
    gold = bank(tmp_path / "gold.amr", GOLD, WANT)
    other = bank(tmp_path / "parsed.amr", GOLD.replace("city", "country"), REPAIRS[0][0])
    first, second = map(json.loads, run(gold, gold, gold, other).stdout.splitlines())
    assert first["smatch"] == 1 and not any(any(first[name].values()) for name in errors.CLASSES)
    assert second["sentences"] == 2 and second["smatch"] == round(compare_banks(gold, other).total()["smatch"].f1, 4)
    assert second["name type"]["missing"] == second["top"]["invented"] == 1
    assert second["name type"]["gain"] == second["top"]["gain"] > 0


def test_wiki_is_left_out_on_request(tmp_path):
    text = '(c / city :wiki {} :name (n / name :op1 "Rome"))'
    gold, other = bank(tmp_path / "gold.amr", text.format('"Rome"')), bank(tmp_path / "other.amr", text.format("-"))
    found = [json.loads(run(gold, other, *more).stdout) for more in ((), ("--ignore-wiki",))]
    assert [pair["smatch"] for pair in found] == [0.8333, 1.0]


def test_bad_input_is_one_line_and_exit_status_2(tmp_path):
    gold, short = bank(tmp_path / "gold.amr", GOLD, WANT), bank(tmp_path / "short.amr", GOLD)
    for arguments, problem in (
        ((gold, short), "has 1 entries"),
        ((gold, tmp_path / "missing.amr"), "missing.amr"),
    ):
        done = run(*arguments)
        assert done.returncode == 2 and not done.stdout
        assert done.stderr.startswith("errors.py: error: ") and done.stderr.count("\n") == 1 and problem in done.stderr
    done = run(gold)
    assert done.returncode == 2 and "pairs of files" in done.stderr

"""The claims of the papers, and the tables of docs/ that are made from results."""

import json
import tomllib

import paper
import paper_table
import pytest
import update_docs

from tests.conftest import ROOT, run
from transition_parser.base.errors import InputError
from transition_parser.parsing.formalisms import TREES

PAPERS = sorted(path.stem for path in paper.PAPERS.glob("*.toml") if path.stem != "comparisons")


def trained(row, seed, las, table="1", smatch=None):
    """Return a run with one score on test."""
    settings = {"paper": "use", "table": table, "row": row, "seed": seed, "epochs": 5, "system": "arc-hybrid"}
    settings["data"] = {"name": "corpus", "test": "digest"}
    found = {"uas": las + 5, "las": las} if smatch is None else {"smatch": {"f1": smatch}}
    return {
        "settings": settings,
        "scores": {"test": {"beam 10": found}},
        "without punctuation": {"test": {"beam 10": {"uas": las + 6, "las": las + 1}}},
    }


def claim(**keys):
    return paper_table.Claim(**{"claim": "", "table": "1", "row": "a", "against": "b", "paper": "", **keys})


@pytest.mark.parametrize("of", PAPERS)
def test_claims_are_of_rows_that_their_tables_have(of):
    tables = tomllib.loads((paper.PAPERS / f"{of}.toml").read_text(encoding="utf-8"))["tables"]
    claims = paper_table.claims_of(of)
    assert claims
    for one in claims:
        rows = {row["name"] for row in paper.read_table(of, one.table, TREES).rows}
        assert one.table in tables and {one.row, one.against} <= rows and one.row != one.against
        assert one.expect in ("better", "worse", "as good") and one.trees in ("uas", "las")


@pytest.mark.parametrize(
    ("expect", "difference", "error", "verdict"),
    [
        ("better", 1.1, None, "✓"),
        ("better", 0.9, None, "?"),
        ("better", 0.9, 0.4, "✓"),
        ("better", 0.9, 0.5, "?"),
        ("worse", -1.1, None, "✓"),
        ("as good", -0.9, None, "✓"),
        ("as good", 5.0, 0.1, "✓"),
        ("as good", -1.1, 2.0, "✗"),
    ],
)
def test_a_verdict_needs_a_difference_beyond_chance(expect, difference, error, verdict):
    assert claim(expect=expect).verdict(difference, 1.0, error) == verdict


def test_rows_of_other_budgets_and_rows_that_have_not_learned_say_nothing():
    longer = trained("b", 1, 70)
    longer["settings"]["epochs"] = 10
    assert claim().ours([trained("a", 1, 80), longer]) == "+10.0 ? (other epochs)"
    assert claim().ours([trained("a", 1, 80), trained("b", 1, 7)]) == "+73.0 ? (b has hardly learned)"
    assert claim().ours([trained("a", 1, 80), trained("b", 1, 70)]) == "+10.0 ✓"


def test_differences_are_of_means_with_their_standard_error():
    runs = [trained("a", 1, 80.0), trained("a", 2, 82.0), trained("b", 1, 70.0), trained("b", 2, 70.0)]
    assert claim().ours(runs) == "+11.0 ± 1.0 ✓"
    assert claim().ours(runs[:3]) == "+11.0 ± 1.7 ✓"  # the row of one seed varies as the other
    assert claim(row="b", against="a", expect="worse").ours(runs[1:3]) == "−12.0 ✓"
    assert claim().ours(runs[:2]) == claim(table="2").ours(runs) == "–"
    amrs = [trained("a", 1, 0, smatch=0.5), trained("b", 1, 0, smatch=0.505)]
    assert claim().ours(amrs) == "−0.005 ?"


def test_rows_are_compared_by_the_largest_beam_that_both_have():
    searched, greedy = trained("a", 1, 80.0), trained("b", 1, 70.0)
    for key in ("scores", "without punctuation"):
        found = greedy[key]["test"]
        found["beam 1"] = found.pop("beam 10")
        searched[key]["test"]["beam 1"] = {"uas": 84.0, "las": 79.0}
    assert claim().ours([searched, greedy]) == "+9.0 ✓"
    assert claim(punct="skip").ours([searched, greedy]) == "+8.0 ✓"
    assert claim(row="b", against="a").ours([searched, greedy]) == "−9.0 ✗"
    del searched["scores"]["test"]["beam 1"]
    assert claim().ours([searched, greedy]) == "not run with the same beam"


def test_the_command_prints_a_row_for_each_claim(tmp_path):
    path = tmp_path / "use.json"
    path.write_text(json.dumps({"runs": [trained("arc-hybrid", 1, 80.0), trained("arc-eager", 1, 70.0)]}))
    lines = run(ROOT / "run" / "paper_table.py", path, "--claims").stdout.splitlines()
    assert lines[0] == "use:" and lines[2] == "| claim | paper | corpus |"
    assert len(lines) == 4 + len(paper_table.claims_of("use")) + 1
    assert "| +0.02 | +10.0 ✓ |" in lines[4] and lines[5].endswith("| – |")


def test_a_table_that_is_like_another_has_a_column_of_its_own():
    runs = [trained("a", 1, 80.0), trained("c", 1, 90.0), trained("c", 1, 70.0, table="1-MiniLM")]
    runs.append(trained("a", 1, 72.0, table="1-MiniLM"))
    header, first, *_others = paper_table.claim_rows("stack-transformer", runs)
    assert header == ["claim", "paper", "corpus", "corpus, table 1-MiniLM"]
    assert first[2:] == ["+10.0 ✓", "−2.0 ✗"]


def test_the_tables_of_the_docs_are_what_their_commands_print():
    run(ROOT / "run" / "update_docs.py", "--check")


def test_a_table_that_its_command_does_not_print_is_written_anew(monkeypatch):
    monkeypatch.setattr(update_docs, "printed", lambda command: f"| {command} |\n")
    page = "a\n\n<!-- from: run/x.py -->\n| old |\n| older |\n\n| another |\n"
    new = "a\n\n<!-- from: run/x.py -->\n| run/x.py |\n\n| another |\n"
    assert update_docs.updated(page) == update_docs.updated(new) == new


def test_a_claim_without_punctuation_is_not_judged_where_there_is_no_such_score():
    row, against = trained("a", 1, 80.0), trained("b", 1, 70.0)
    assert claim(punct="skip").ours([row, against]) == "+10.0 ✓"
    del against["without punctuation"]
    assert claim(punct="skip").ours([row, against]) == "has no scores without punctuation"
    assert claim().ours([row, against]) == "+10.0 ✓"


def test_a_command_that_prints_no_table_is_an_error():
    with pytest.raises(InputError, match="prints 0 tables, not one"):
        update_docs.printed("run/paper_table.py results/stack-transformer.json --table none")
    with pytest.raises(InputError, match=r"prints [2-9] tables, not one"):
        update_docs.printed("run/paper_table.py results/stack-transformer.json --table 1")

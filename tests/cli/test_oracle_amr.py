"""`transition-parser oracle --system amr`."""

import json
from pathlib import Path

from tests.conftest import SAMPLE_AMR, run_here
from transition_parser.graphs.bank import read_bank
from transition_parser.oracles import amr_check
from transition_parser.oracles.amr import Derivation
from transition_parser.text.frames import packaged
from transition_parser.transitions import Action, make_system

AMR = ("--system", "amr")


def figures(*command) -> dict:
    return json.loads(run_here("oracle", *command, *AMR, "--json").stdout)


def test_the_sample_comes_back():
    found = figures(SAMPLE_AMR, "--check")
    assert found["sentences"] == found["exact"] == 100 and found["skipped"] == found["illegal_steps"] == 0
    assert found["smatch"] == {"precision": 1.0, "recall": 1.0, "f1": 1.0}
    assert 2 < found["actions_per_token"] < 5
    without = figures(SAMPLE_AMR)
    assert "exact" not in without and without["kinds"] == found["kinds"]


def test_actions_are_written(tmp_path):
    out = tmp_path / "actions"
    run_here("oracle", SAMPLE_AMR, *AMR, "--out-actions", out)
    assert_builds(out, make_system("amr", frames=packaged()))


def assert_builds(out: Path, system) -> None:
    lines, entries = out.read_text(encoding="utf-8").splitlines(), list(read_bank(SAMPLE_AMR))
    for line, entry in zip(lines, entries, strict=True):
        if entry.tokens:
            graph = system.replay(system.read(entry.tokens), [*map(Action.parse, line.split())])
            assert sorted(graph.labels) == sorted(entry.graph.labels)


def test_processes_change_nothing():
    one, two = (figures(SAMPLE_AMR, "--check", "--processes", n) for n in ("1", "2"))
    assert one | {"sentences_per_second": 0} == two | {"sentences_per_second": 0}


def test_a_check_that_fails_has_status_1(monkeypatch):
    original = amr_check.amr_oracle

    def forgetful(*args):
        found = original(*args)
        return Derivation(found.actions[:-1], found.order, found.spans[:-1])

    monkeypatch.setattr(amr_check, "amr_oracle", forgetful)
    done = run_here("oracle", SAMPLE_AMR, *AMR, "--check", "--json", status=1)
    assert json.loads(done.stdout)["illegal_steps"] == 100
    run_here("oracle", SAMPLE_AMR, *AMR)

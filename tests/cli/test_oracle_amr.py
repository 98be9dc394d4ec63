"""`transition-parser oracle --system amr`."""

import json

from tests.conftest import SAMPLE_AMR, run_here
from transition_parser.oracles import amr_check
from transition_parser.oracles.amr import Derivation

AMR = ("--system", "amr")


def figures(*command) -> dict:
    return json.loads(run_here("oracle", *command, *AMR, "--json").stdout)


def test_the_sample_comes_back():
    found = figures(SAMPLE_AMR, "--check")
    assert found["sentences"] == found["exact"] == 100 and found["skipped"] == found["illegal_steps"] == 0
    assert found["smatch"] == {"precision": 1.0, "recall": 1.0, "f1": 1.0}
    assert 2 < found["actions_per_token"] < 5
    without = figures(SAMPLE_AMR)
    assert "exact" not in without and without["action_types"] == found["action_types"]


def test_a_check_that_fails_has_status_1(monkeypatch):
    original = amr_check.amr_oracle

    def forgetful(*args):
        found = original(*args)
        return Derivation(found.actions[:-1], found.order, found.spans[:-1])

    monkeypatch.setattr(amr_check, "amr_oracle", forgetful)
    done = run_here("oracle", SAMPLE_AMR, *AMR, "--check", "--json", status=1)
    assert json.loads(done.stdout)["illegal_steps"] == 100
    run_here("oracle", SAMPLE_AMR, *AMR)

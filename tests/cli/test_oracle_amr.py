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
CATS = "# ::id cats\n# ::tok The cats sleep .\n(s / sleep-01 :ARG0 (c / cat))\n"
GO = "# ::id go\n# ::tok Go home\n(g / go-02 :ARG4 (h / home))\n"


def figures(*command) -> dict:
    return json.loads(run_here("oracle", *command, *AMR, "--json").stdout)


def test_the_sample_comes_back():
    found = figures(SAMPLE_AMR, "--check")
    assert found["sentences"] == found["exact"] == 100 and found["skipped"] == found["illegal_steps"] == 0
    assert found["smatch"] == {"precision": 1.0, "recall": 1.0, "f1": 1.0}
    assert 2 < found["actions_per_token"] < 5 and "smatch_seen_actions" not in found
    without = figures(SAMPLE_AMR)
    assert "exact" not in without and without["kinds"] == found["kinds"]


def test_figures_are_printed_as_text():
    printed = run_here("oracle", SAMPLE_AMR, *AMR, "--check").stdout
    assert "precision 1.0, recall 1.0, f1 1.0" in printed and "{" not in printed


def test_actions_are_written(tmp_path):
    out = tmp_path / "actions"
    for options, frames in (((), packaged()), (("--no-frames",), None)):
        run_here("oracle", SAMPLE_AMR, *AMR, *options, "--out-actions", out)
        assert_builds(out, make_system("amr", frames=frames))


def assert_builds(out: Path, system) -> None:
    lines, entries = out.read_text(encoding="utf-8").splitlines(), list(read_bank(SAMPLE_AMR))
    for line, entry in zip(lines, entries, strict=True):
        if entry.tokens:
            graph = system.replay(system.read(entry.tokens), [*map(Action.parse, line.split())])
            assert sorted(graph.labels) == sorted(entry.graph.labels)


def test_a_vocabulary(tmp_path):
    train, dev = tmp_path / "train.amr", tmp_path / "dev.amr"
    train.write_text(CATS)
    dev.write_text(f"{CATS}\n{GO}")
    found = figures(dev, "--check", "--vocabulary-from", train)
    assert found["exact"] == 2 and found["unseen_types"] == 1 and 0 < found["unseen_actions"] < 0.2
    assert 0 < found["smatch_seen_actions"]["f1"] < 1
    without = figures(dev, "--check", "--vocabulary-from", train, "--no-frames")
    assert without["exact"] == 2 and without["unseen_types"] == 2 and "COPY_SENSE01" in without["kinds"]
    train.write_text(f"{CATS}\n# ::id run\n# ::tok Run far\n(r / run-02~0 :ARG1 (f / far~1))\n")
    command = ("oracle", dev, *AMR, "--check", "--vocabulary-from", train, "--worst", "--no-frames")
    printed = run_here(*command).stdout
    assert "\ngo  Smatch 1.0000 / 0." in printed and "  - g / go-02\n" in printed and "\ncats" not in printed
    train.write_text(f"{CATS}\n# ::id loop\n# ::tok a\n(a / a :ARG0 a)\n")
    assert "sentence loop: " in run_here("oracle", dev, *AMR, "--vocabulary-from", train, status=2).stderr
    done = run_here("oracle", dev, *AMR, "--vocabulary-from", train, "--skip-bad", "--json")
    assert "left out: " in done.stderr and json.loads(done.stdout)["skipped"] == 0


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

"""run/bench/calibration.py: every kind of confidence is measured."""

import json

from tests.conftest import ROOT, SAMPLE, run

KINDS = {"beam 1": ["action", "derivation"], "beam 4": ["action", "derivation", "beam", "derivation and beam"]}


def test_all_kinds_of_confidence_are_measured(tmp_path):
    script, path = ROOT / "run" / "bench" / "calibration.py", tmp_path / "out.json"
    run(script, "en-ewt", SAMPLE, SAMPLE, "--beam", "1", "4", "-o", path)
    found = json.loads(path.read_text(encoding="utf-8"))["ece"]
    assert {beam: [*kinds] for beam, kinds in found.items()} == KINDS
    assert all(0 <= row["and offset"]["ece"] < 0.2 for kinds in found.values() for row in kinds.values())

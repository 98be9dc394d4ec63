"""A model that the package does not know goes the whole way: nothing but its own file names it."""

import json
import shutil

import pytest

from tests.conftest import AT_THE_END, ROOT, SAMPLE, SAMPLE_AMR, run
from tests.crosses import mostly_slow
from transition_parser.graphs.bank import read_bank
from transition_parser.graphs.conllu import read_conllu
from transition_parser.storage.exports import write_config

PLUGIN = ("--user-dir", ROOT / "tests" / "toy_plugin")
TEXT = "The old dog sleeps .\nShe sees it .\n"


@pytest.mark.parametrize("kind", mostly_slow(["trees", "amr"], "trees"))
def test_a_model_from_outside(request, tmp_path, kind):
    data = request.getfixturevalue("data_folder" if kind == "trees" else "amr_data_folder")
    metric = "las" if kind == "trees" else "smatch"
    checkpoint, exported = tmp_path / "checkpoint_best.pt", tmp_path / "exported"
    done = run(
        "fairseq-train", data, *PLUGIN, "--task", "transition_parsing", "--arch", "toy_top_two", "--toy-width", "48",
        "--criterion", "legal_cross_entropy", "--optimizer", "adam", "--lr", "0.01", "--max-tokens", "600",
        "--max-update", "8", *AT_THE_END, "--num-workers", "0", "--save-dir", tmp_path, "--log-format", "json",
        "--best-checkpoint-metric", metric, "--maximize-best-checkpoint-metric",
    )  # fmt: skip
    assert f'"valid_{metric}"' in done.stdout + done.stderr
    run("transition-parser", "export", checkpoint, *PLUGIN, "-o", exported)
    assert json.loads((exported / "config.json").read_text())["architecture"] == "toy_top_two"
    assert json.loads((exported / "config.json").read_text())["model"]["toy_width"] == 48
    parses = []
    for model in (checkpoint, exported):
        output = tmp_path / ("out.conllu" if kind == "trees" else "out.amr")
        for beam in ("1", "4"):
            run("transition-parser", "parse", model, "-", *PLUGIN, "--beam", beam, "-o", output, stdin=TEXT)
            parses.append(output.read_text())
            found = list(read_conllu(output) if kind == "trees" else read_bank(output))
            assert len(found) == 2
        run("transition-parser", "parse", model, SAMPLE if kind == "trees" else SAMPLE_AMR, *PLUGIN, "-o", output)
    assert parses[:2] == parses[2:]


def test_without_its_file_the_error_says_what_is_missing(tmp_path):
    folder = shutil.copytree(ROOT / "transition_parser" / "pretrained" / "en-fast", tmp_path / "model")
    write_config(folder, "toy_top_two", {})
    done = run("transition-parser", "parse", folder, "-", status=2, stdin=TEXT)
    assert "unknown architecture 'toy_top_two'" in done.stderr and "--user-dir" in done.stderr
    assert len(done.stderr.splitlines()) == 1

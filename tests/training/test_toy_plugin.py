"""A model that the package does not know goes the whole way: nothing but its own file names it."""

import json
import shutil

import pytest

import tests.toy_plugin  # noqa: F401  (registers its model)
from tests.conftest import ROOT, SAMPLE, SAMPLE_AMR, logged, run, run_here
from tests.helpers.crosses import mostly_slow
from transition_parser.graphs.bank import read_bank
from transition_parser.graphs.conllu import read_conllu
from transition_parser.storage.exports import Exported, write_config

PLUGIN = ("--user-dir", ROOT / "tests" / "toy_plugin")
TEXT = "The old dog sleeps .\nShe sees it .\n"


@pytest.mark.parametrize("kind", mostly_slow(["trees", "amr"], "trees"))
def test_a_model_from_outside(request, tmp_path, kind):
    data = request.getfixturevalue("data_folder" if kind == "trees" else "amr_data_folder")
    sample, read, metric = (SAMPLE, read_conllu, "las") if kind == "trees" else (SAMPLE_AMR, read_bank, "smatch")
    checkpoint, exported, output = tmp_path / "checkpoint_best.pt", tmp_path / "exported", tmp_path / f"out.{kind}"
    done = run(
        "fairseq-train", data, *PLUGIN, "--task", "transition_parsing", "--arch", "toy_top_two", "--toy-width", "48",
        "--criterion", "legal_cross_entropy", "--optimizer", "adam", "--lr", "0.01", "--max-tokens", "600",
        "--max-update", "8", "--num-workers", "0", "--save-dir", tmp_path, "--log-format", "json",
        "--best-checkpoint-metric", metric, "--maximize-best-checkpoint-metric", "--validate-interval", "100",
    )  # fmt: skip
    assert logged(done, f"valid_{metric}")
    run("transition-parser", "export", checkpoint, *PLUGIN, "-o", exported)
    config = json.loads((exported / "config.json").read_text())
    assert (config["architecture"], config["model"]["toy_width"]) == ("toy_top_two", 48)
    for beam in ("1", "4"):
        alike = [run_here("parse", model, "-", "--beam", beam, stdin=TEXT).stdout for model in (checkpoint, exported)]
        assert alike[0] == alike[1]
        run("transition-parser", "parse", exported, "-", *PLUGIN, "--beam", beam, "-o", output, stdin=TEXT)
        assert output.read_text() == alike[0] and len(list(read(output))) == 2
    for model in (checkpoint, exported):
        run_here("parse", model, sample, "-o", output)


def test_without_its_file_the_error_says_what_is_missing(tmp_path):
    folder = shutil.copytree(ROOT / "transition_parser" / "pretrained" / "en-fast", tmp_path / "model")
    write_config(folder, Exported("toy_top_two", {}))
    done = run("transition-parser", "parse", folder, "-", status=2, stdin=TEXT)
    assert "unknown architecture 'toy_top_two'" in done.stderr and "--user-dir" in done.stderr
    assert len(done.stderr.splitlines()) == 1

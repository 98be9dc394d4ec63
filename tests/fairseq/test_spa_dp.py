"""SPA-DP through the real programs: trained, generated from, averaged, exported, loaded again, parsed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

from tests.conftest import SAMPLE, SAMPLE_AMR, fairseq_preprocess, run, run_here
from tests.crosses import mostly_slow
from tests.fairseq import any_model
from tests.fairseq.any_model import TASK
from transition_parser import Parser
from transition_parser.graphs.conllu import read_conllu
from transition_parser.graphs.dependency import attachment_scores
from transition_parser.storage.checkpoints import load_model
from transition_parser.transitions import Action
from transition_parser.transitions.config import ParserConfig

SIZES = ("--word-width", "32", "--scan-width", "16", "--spa-width", "16", "--mlp-width", "32")
SENTENCES = [["The", "dog", "wants", "to", "sleep", "."], ["Anna", "sat", "in", "the", "city"], ["No"]]


def train(data: Path, checkpoints: Path, arch: str, *options: str, updates: int = 6, status: int = 0):
    return any_model.train(data, checkpoints, arch, *SIZES, *options, updates=updates, status=status)


@pytest.fixture(scope="module", params=mostly_slow(["spa_dp_small", "spa_dp_graph_small"], "spa_dp_graph_small"))
def checkpoint(request, data_folder, tmp_path_factory) -> Path:
    """A model of some updates, stopped and resumed after the first half of them."""
    folder = tmp_path_factory.mktemp(request.param)
    return any_model.train_twice(data_folder, folder, request.param, *SIZES, updates=(3, 6))


def test_generate_finds_trees_and_scores_them(data_folder, checkpoint):
    done, found = any_model.generated(data_folder, checkpoint, 2)
    trees, gold = any_model.trees_of(data_folder, found), list(read_conllu(SAMPLE))
    words, heads, labelled = attachment_scores([sentence.tree() for sentence in gold], trees)
    uas, las = round(100 * heads / words, 2), round(100 * labelled / words, 2)
    assert done.stdout.rstrip().endswith(f"Generate valid with beam=2: UAS {uas}, LAS {las}")
    if "graph" in checkpoint.parent.name:
        parses = Parser.load(checkpoint, precision="fp32").parse(SAMPLE)
        assert [[str(a) for a in parse.actions] for parse in parses] == found


@pytest.mark.slow
def test_interactive_reads_words(data_folder, checkpoint):
    done = run("fairseq-interactive", data_folder, *TASK, "--path", checkpoint, stdin="The cat sleeps .\nStop\n")
    (line,) = re.findall(r"^H-0\t\S+\t(.*)$", done.stdout, re.M)
    system = ParserConfig.load(data_folder).transition_system()
    assert len(system.replay("The cat sleeps .".split(), [*map(Action.parse, line.split())])) == 4


def test_average_and_export_parse_alike(checkpoint, tmp_path):
    run_here("average", checkpoint, checkpoint, "-o", tmp_path / "mean.pt")
    run_here("export", tmp_path / "mean.pt", "-o", tmp_path / "exported")
    outputs = []
    for model in (checkpoint, tmp_path / "exported"):
        for beam in ("1", "3"):
            output = tmp_path / "out.conllu"
            run_here("parse", model, SAMPLE, "--beam", beam, "-o", output)
            outputs.append(output.read_text(encoding="utf-8"))
    assert outputs[:2] == outputs[2:]
    if "graph" in checkpoint.parent.name:
        assert outputs[0] == outputs[1]  # there is no beam
    first, again = (load_model(path)[0].state_dict() for path in (checkpoint, tmp_path / "exported"))
    assert first.keys() == again.keys() and all(torch.equal(first[name], again[name]) for name in first)


@pytest.mark.parametrize("precision", ["bf16", "int8"])
def test_other_precisions_find_about_the_same(checkpoint, precision):
    exact, other = (Parser.load(checkpoint, precision=name, threads=1).parse(SAMPLE) for name in ("fp32", precision))
    same = [ours.tree == theirs.tree for ours, theirs in zip(exact, other, strict=True)]
    assert len(same) > 20 and sum(same) > len(same) / 4  # it has hardly learned: many scores are about equal


def test_what_graphs_have_no_actions_for_is_said(data_folder, checkpoint):
    if "graph" not in checkpoint.parent.name:
        pytest.skip("scores actions")
    command = ("fairseq-generate", data_folder, *TASK, "--gen-subset", "valid", "--path")
    for options, problem in (
        ((f"{checkpoint}:{checkpoint}",), "do not generate together: give --path one checkpoint"),
        ((checkpoint, "--score-reference"), "--score-reference is for models that score actions"),
        ((checkpoint, "--prefix-size", "1"), "--prefix-size and --constraints are for models that score actions"),
    ):
        done = run(*command, *options, status=1)
        assert problem in done.stderr.splitlines()[-1]


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [("--spa", "none"), ("--spa", "vanilla"), ("--spa", "tob", "--word-dropout", "0.1")]
)
def test_variants_train(data_folder, tmp_path, options):
    done = train(data_folder, tmp_path, "spa_dp_small", *options, "--train-precision", "bf16", "--no-save", updates=2)
    assert '"valid_las"' in done.stdout + done.stderr


@pytest.mark.slow
def test_heads_by_a_hidden_layer_and_tags_train(data_folder, tmp_path):
    train(data_folder, tmp_path, "spa_dp_graph_small", "--head-score", "concat", "--read-tags", "--tag-loss", "0.5",
          "--train-precision", "bf16", "--softmax-over", "all", updates=3)  # fmt: skip
    parse = Parser.load(tmp_path / "checkpoint_last.pt", precision="fp32").parse(SENTENCES)[0]
    assert parse.tree.why_invalid() is None


@pytest.mark.slow
def test_amrs(amr_data_folder, tmp_path):
    train(amr_data_folder, tmp_path, "spa_dp_small")
    run_here("export", tmp_path / "checkpoint_last.pt", "-o", tmp_path / "exported")
    for beam in ("1", "3"):
        run_here("parse", tmp_path / "exported", SAMPLE_AMR, "--beam", beam, "-o", tmp_path / "out.amr")
        run_here("score", SAMPLE_AMR, tmp_path / "out.amr")


def test_a_projective_system_is_refused(tmp_path):
    run_here("preprocess", "dependency", "--train", SAMPLE, "--valid", SAMPLE, "--test", SAMPLE, "--system",
             "arc-eager", "--pieces", "400", "--dest", tmp_path / "data")  # fmt: skip
    fairseq_preprocess(tmp_path / "data")
    done = train(tmp_path / "data", tmp_path, "spa_dp_graph_small", status=1)
    last = done.stderr.splitlines()[-1]
    assert "arc-eager can't build: preprocess with --system arc-standard-swap or arc-hybrid-swap" in last


@pytest.mark.slow
def test_relations_that_only_validation_has(tmp_path):
    """They have no loss, nor has what their derivations could not build without them; all else has."""
    text = SAMPLE.read_text(encoding="utf-8").replace("\tvocative\t", "\tnever:seen\t")
    (tmp_path / "dev.conllu").write_text(text, encoding="utf-8")
    kept = [s for s in read_conllu(SAMPLE) if all(row.deprel != "vocative" for row in s.words)]
    (tmp_path / "train.conllu").write_text("".join(map(str, kept)), encoding="utf-8")
    files = ("--train", tmp_path / "train.conllu", "--valid", tmp_path / "dev.conllu", "--test", SAMPLE)
    options = ("--system", "arc-hybrid-swap", "--pieces", "400", "--dest", tmp_path / "data")
    run_here("preprocess", "dependency", *files, *options)
    fairseq_preprocess(tmp_path / "data")
    done = train(tmp_path / "data", tmp_path, "spa_dp_graph_small", "--no-save", updates=2)
    losses = re.findall(r'"valid_loss": "([\d.]+)"', done.stdout + done.stderr)
    assert losses and all(float(loss) < 100 for loss in losses)

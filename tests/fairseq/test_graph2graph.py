"""Sentence and State Transformer through the real programs: trained, generated from, averaged, exported, parsed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.conftest import SAMPLE, actions_generated, run, run_here
from tests.tiny_encoder import make_encoder
from transition_parser import Parser
from transition_parser.graphs.conllu import read_conllu
from transition_parser.transitions import Action
from transition_parser.transitions.config import ParserConfig

TASK = ("--user-dir", "transition_parser", "--task", "transition_parsing")
SIZES = ("--encoder-embed-dim", "32", "--encoder-ffn-embed-dim", "64", "--exist-width", "32", "--relation-width", "32")
STATE = ("--composition-width", "16", "--history-width", "16", "--no-graph-output")
MODELS = {
    "sentence_transformer_small": ("--pretrained-lr-scale", "0.5"),
    "sentence_transformer_g2g_small": ("--sampled-states", "3", "--character-width", "8"),
    "state_transformer_small": (*STATE, "--sampled-states", "3"),
}


def train(data: Path, checkpoints: Path, arch: str, *options: str, updates: int = 6, status: int = 0):
    return run(
        "fairseq-train", data, *TASK, "--arch", arch, *SIZES, "--criterion", "legal_cross_entropy",
        "--label-smoothing", "0.1", "--optimizer", "adam_by_part", "--lr", "0.005", "--max-tokens", "600",
        "--num-workers", "0", "--max-update", str(updates), "--save-dir", checkpoints, "--log-format", "json",
        "--best-checkpoint-metric", "las", "--maximize-best-checkpoint-metric", *options, status=status,
    )  # fmt: skip


@pytest.fixture(scope="module")
def encoder(tmp_path_factory) -> Path:
    return make_encoder(tmp_path_factory.mktemp("encoder") / "tiny")


@pytest.fixture(scope="module", params=MODELS)
def checkpoint(request, data_folder, encoder, tmp_path_factory) -> Path:
    """A model of some updates, stopped and resumed, which starts from layers of an encoder."""
    folder = tmp_path_factory.mktemp(request.param)
    for updates in (10, 20):
        done = train(
            data_folder, folder, request.param, *MODELS[request.param], "--pretrained", str(encoder), updates=updates
        )
    said = done.stdout + done.stderr
    assert "Loaded checkpoint" in said and '"valid_las"' in said
    return folder / "checkpoint_last.pt"


@pytest.mark.parametrize("beam", [1, 2])
def test_generate_finds_the_trees_of_parse(data_folder, checkpoint, beam):
    options = ("--path", checkpoint, "--beam", str(beam), "--gen-subset", "valid")
    done = run("fairseq-generate", data_folder, *TASK, *options)
    found = actions_generated(done.stdout)
    gold = list(read_conllu(SAMPLE))
    assert sorted(found) == list(range(len(gold)))
    system = ParserConfig.load(data_folder).transition_system()
    trees = [system.replay(s.forms, [*map(Action.parse, found[i])]) for i, s in enumerate(gold)]
    assert all(tree.why_invalid() is None for tree in trees)
    parses = Parser.load(checkpoint, precision="fp32", beam=beam).parse(SAMPLE)
    same = [[str(a) for a in parse.actions] == found[i] for i, parse in enumerate(parses)]
    assert all(same)


def test_average_and_export_parse_alike(checkpoint, tmp_path):
    run_here("average", checkpoint, checkpoint, "-o", tmp_path / "mean.pt")
    run_here("export", tmp_path / "mean.pt", "-o", tmp_path / "exported")
    config = json.loads((tmp_path / "exported" / "config.json").read_text())
    assert config["architecture"] in MODELS and len(config["model"]["pretrained_sha256"]) == 64
    for beam in ("1", "3"):
        outputs = [
            run_here("parse", model, SAMPLE, "--beam", beam, "--precision", "fp32").stdout
            for model in (checkpoint, tmp_path / "mean.pt", tmp_path / "exported")
        ]
        assert outputs[0] == outputs[1] == outputs[2] and outputs[0].startswith("# ")


@pytest.mark.parametrize("precision", ["bf16", "int8"])
def test_other_precisions_find_about_as_good_parses(checkpoint, precision):
    """After so few updates many actions are about as good as others."""
    exact, other = (Parser.load(checkpoint, precision=name, threads=1).parse(SAMPLE) for name in ("fp32", precision))
    assert len(exact) == len(other) == 64
    apart = [abs(ours.score - theirs.score) for ours, theirs in zip(exact, other, strict=True)]
    assert sorted(apart)[32] < 0.1


def test_a_sentence_does_not_depend_on_its_batch(checkpoint):
    for beam in (1, 3):
        parser = Parser.load(checkpoint, precision="fp32", beam=beam)
        sentences = list(parser.read(SAMPLE))[:12]
        for sentence, wanted in zip(sentences, parser.parse(sentences), strict=True):
            (alone,) = parser.parse([sentence])
            assert alone.actions == wanted.actions and alone.score == pytest.approx(wanted.score, abs=1e-4)


def test_copies_parse_as_one(checkpoint):
    alone, copies = (
        Parser.load(checkpoint, precision="fp32", beam=3, others=others).parse(SAMPLE)
        for others in ([], [checkpoint, checkpoint])
    )
    for one, three in zip(alone, copies, strict=True):
        assert one.actions == three.actions and one.score == pytest.approx(three.score, abs=1e-5)


def test_a_sentence_longer_than_any_position(checkpoint):
    """The encoder has 24: what is further away is like the last."""
    (parse,) = Parser.load(checkpoint).parse([["word"] * 200])
    assert parse.tree.why_invalid() is None


def test_an_exported_model_without_its_encoder(data_folder, checkpoint, encoder, tmp_path):
    moved = tmp_path / "encoder"
    run_here("export", checkpoint, "-o", tmp_path / "exported")
    shutil.move(encoder, moved)
    try:
        done = run_here("parse", tmp_path / "exported", SAMPLE, status=2)
        assert "is not on this machine" in done.stderr and "Traceback" not in done.stderr
    finally:
        shutil.move(moved, encoder)


@pytest.mark.parametrize(
    ("arch", "options"),
    [
        ("sentence_transformer_small", ("--read-tags", "--tag-loss", "0.1", "--train-precision", "bf16")),
        ("sentence_transformer_g2g_small", ("--train-precision", "bf16")),
        ("state_transformer_g2g_small", (*STATE[:4], "--sampled-states", "2", "--word-dropout", "0.1")),
        ("state_transformer_g2g_small", (*STATE, "--composition", "--history-layers", "2")),
        ("sentence_transformer_g2g_small", ("--oracle", "dynamic", "--explore-after", "0", "--sampled-states", "2")),
    ],
)
def test_from_scratch(data_folder, tmp_path, arch, options):
    done = train(data_folder, tmp_path, arch, *options, "--no-save", updates=3)
    assert '"valid_las"' in done.stdout + done.stderr


def test_options_that_make_no_sense(data_folder, amr_data_folder, tmp_path):
    done = train(data_folder, tmp_path, "state_transformer_small", "--tag-loss", "0.1", status=1)
    assert "InputError: there is no encoder before the first action" in done.stderr
    done = train(data_folder, tmp_path, "state_transformer_g2g_small", "--also", str(data_folder), status=1)
    assert "InputError: --also: state_transformer_g2g_small has no encoder to share" in done.stderr
    done = train(amr_data_folder, tmp_path, "sentence_transformer_small", status=1)
    assert "InputError: the Graph2Graph Transformer reads and writes dependency trees, not amr" in done.stderr

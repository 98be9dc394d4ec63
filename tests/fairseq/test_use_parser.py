"""The Unified Structure Encoder through the real programs: trained, generated from, averaged, exported, parsed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.conftest import SAMPLE, SAMPLE_AMR, actions_generated, run, run_here
from transition_parser import Parser
from transition_parser.graphs.conllu import read_conllu
from transition_parser.transitions import Action
from transition_parser.transitions.config import ParserConfig

TASK = ("--user-dir", "transition_parser", "--task", "transition_parsing")
SIZES = ("--encoder-embed-dim", "64", "--encoder-ffn-embed-dim", "64", "--use-width", "64", "--mlp-width", "64",
         "--action-width", "16", "--marker-width", "16", "--relation-width", "16")  # fmt: skip


def train(data: Path, checkpoints: Path, *options: str, updates: int = 6, status: int = 0):
    metric = "smatch" if (data / "lexicon.json").is_file() else "las"
    return run(
        "fairseq-train", data, *TASK, "--arch", "use_parser_small", *SIZES, "--criterion", "legal_cross_entropy",
        "--label-smoothing", "0.1", "--optimizer", "adam", "--lr", "0.005", "--max-tokens", "600",
        "--num-workers", "0", "--max-update", str(updates), "--save-dir", checkpoints, "--log-format", "json",
        "--best-checkpoint-metric", metric, "--maximize-best-checkpoint-metric", *options, status=status,
    )  # fmt: skip


@pytest.fixture(scope="module")
def checkpoint(data_folder, tmp_path_factory) -> Path:
    """A model of some updates, stopped and resumed."""
    folder = tmp_path_factory.mktemp("use_parser")
    for updates in (40, 60):
        done = train(data_folder, folder, updates=updates)
    said = done.stdout + done.stderr
    assert "Loaded checkpoint" in said and '"valid_las"' in said
    return folder / "checkpoint_last.pt"


@pytest.mark.parametrize("beam", [1, 2])
def test_generate_finds_the_trees_of_parse(data_folder, checkpoint, beam):
    """Greedily, too, where the kind of an action is taken first."""
    options = ("--path", checkpoint, "--beam", str(beam), "--gen-subset", "valid")
    done = run("fairseq-generate", data_folder, *TASK, *options)
    found = actions_generated(done.stdout)
    gold = list(read_conllu(SAMPLE))
    assert sorted(found) == list(range(len(gold)))
    system = ParserConfig.load(data_folder).transition_system()
    trees = [system.replay(s.forms, [*map(Action.parse, found[i])]) for i, s in enumerate(gold)]
    assert all(tree.why_invalid() is None for tree in trees)
    assert f"Generate valid with beam={beam}: UAS" in done.stdout
    parses = Parser.load(checkpoint, precision="fp32", beam=beam).parse(SAMPLE)
    assert [[str(a) for a in parse.actions] for parse in parses] == [found[i] for i in range(len(gold))]


def test_average_and_export_parse_alike(checkpoint, tmp_path):
    run_here("average", checkpoint, checkpoint, "-o", tmp_path / "mean.pt")
    run_here("export", tmp_path / "mean.pt", "-o", tmp_path / "exported")
    assert json.loads((tmp_path / "exported" / "config.json").read_text())["architecture"] == "use_parser_small"
    for beam in ("1", "3"):
        outputs = [
            run_here("parse", model, SAMPLE, "--beam", beam, "--precision", "fp32").stdout
            for model in (checkpoint, tmp_path / "mean.pt", tmp_path / "exported")
        ]
        assert outputs[0] == outputs[1] == outputs[2] and outputs[0].startswith("# ")


@pytest.mark.parametrize("precision", ["bf16", "int8"])
def test_other_precisions_find_about_the_same(checkpoint, precision):
    exact, other = (Parser.load(checkpoint, precision=name, threads=1).parse(SAMPLE) for name in ("fp32", precision))
    same = [ours.tree == theirs.tree for ours, theirs in zip(exact, other, strict=True)]
    assert len(same) == 64 and sum(same) > len(same) / 2


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


@pytest.mark.parametrize(
    "options",
    [
        (
            "--read-tags",
            "--tag-loss",
            "0.1",
            "--character-width",
            "8",
            "--character-windows",
            "1,2",
            "--train-precision",
            "bf16",
        ),
        ("--action-dropout", "0.1", "--word-dropout", "0.1", "--encoder-local-layers", "1"),
        ("--stack-heads", "1", "--buffer-heads", "1", "--arc-heads", "0", "--relation-heads", "0"),
    ],
)
def test_variants_train(data_folder, tmp_path, options):
    done = train(data_folder, tmp_path, *options, "--no-save", updates=3)
    said = done.stdout + done.stderr
    assert '"valid_las"' in said
    losses = [float(loss) for loss in re.findall(r'"(?:train|valid)_loss": "([\d.]+)"', said)]
    assert losses and max(losses) < 20


def test_amrs(amr_data_folder, tmp_path):
    train(amr_data_folder, tmp_path)
    run_here("export", tmp_path / "checkpoint_last.pt", "-o", tmp_path / "exported")
    for beam in ("1", "3"):
        run_here("parse", tmp_path / "exported", SAMPLE_AMR, "--beam", beam, "-o", tmp_path / "out.amr")
        run_here("score", SAMPLE_AMR, tmp_path / "out.amr")


def test_sizes_that_make_no_sense(data_folder, tmp_path):
    done = train(data_folder, tmp_path, "--use-width", "100", status=1)
    assert "InputError: the 8 heads of structures do not divide --use-width 100" in done.stderr
    done = train(data_folder, tmp_path, "--softmax-over", "all", status=1)  # the data's SHIFTs have words
    assert "InputError: --softmax-over all is not for models that give all SHIFTs one score" in done.stderr

"""What every model does through the real programs: training, and checks of a checkpoint."""

from __future__ import annotations

import json
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.conftest import AT_THE_END, SAMPLE, actions_generated, run, run_here
from transition_parser import Parser
from transition_parser.graphs.conllu import read_conllu
from transition_parser.graphs.dependency import DependencyTree
from transition_parser.storage.checkpoints import load_model
from transition_parser.transitions import Action
from transition_parser.transitions.config import ParserConfig

TASK = ("--user-dir", "transition_parser", "--task", "transition_parsing")


def train(
    data: Path, checkpoints: Path, arch: str, *options: str | Path, updates: int = 6, status: int = 0
) -> CompletedProcess:
    """A few updates of a model, on trees or AMRs; some of `options` may stand in for those here."""
    metric = "smatch" if (data / "lexicon.json").is_file() else "las"
    return run(
        "fairseq-train", data, *TASK, "--arch", arch, "--criterion", "legal_cross_entropy",
        "--label-smoothing", "0.1", "--optimizer", "adam", "--lr", "0.005", "--max-tokens", "600",
        "--num-workers", "0", "--max-update", str(updates), "--save-dir", checkpoints, "--log-format", "json",
        "--best-checkpoint-metric", metric, "--maximize-best-checkpoint-metric", *AT_THE_END, *options,
        status=status,
    )  # fmt: skip


def train_twice(data: Path, checkpoints: Path, arch: str, *options: str | Path, updates: tuple[int, int]) -> Path:
    """A checkpoint of training that was stopped and resumed."""
    for some in updates:
        done = train(data, checkpoints, arch, *options, updates=some)
    said = done.stdout + done.stderr
    assert "Loaded checkpoint" in said and '"valid_las"' in said
    return checkpoints / "checkpoint_last.pt"


def generated(data: Path, checkpoint: Path, beam: int) -> tuple[CompletedProcess, list[list[str]]]:
    """What `fairseq-generate` says, and the actions of each sentence of the sample treebank."""
    options = ("--path", checkpoint, "--beam", str(beam), "--gen-subset", "valid")
    done = run("fairseq-generate", data, *TASK, *options)
    found = actions_generated(done.stdout)
    assert sorted(found) == list(range(len(found)))
    return done, [found[i] for i in range(len(found))]


def trees_of(data: Path, derivations: list[list[str]]) -> list[DependencyTree]:
    """The trees of the sample treebank that derivations build; all are well-formed."""
    system = ParserConfig.load(data).transition_system()
    sentences = zip(read_conllu(SAMPLE), derivations, strict=True)
    trees = [system.replay(sentence.forms, [*map(Action.parse, actions)]) for sentence, actions in sentences]
    assert all(tree.why_invalid() is None for tree in trees)
    return trees


def check_generate(data: Path, checkpoint: Path, beam: int) -> None:
    """`fairseq-generate` finds the derivations of `parse`, and scores them."""
    done, found = generated(data, checkpoint, beam)
    trees_of(data, found)
    assert f"Generate valid with beam={beam}: UAS" in done.stdout
    parses = Parser.load(checkpoint, precision="fp32", beam=beam).parse(SAMPLE)
    assert [[str(action) for action in parse.actions] for parse in parses] == found


def check_average_and_export(checkpoint: Path, folder: Path) -> dict:
    """Averaged and exported they parse alike. Returns the exported `config.json`."""
    run_here("average", checkpoint, checkpoint, "-o", folder / "mean.pt")
    run_here("export", folder / "mean.pt", "-o", folder / "exported")
    for beam in ("1", "3"):
        outputs = [
            run_here("parse", model, SAMPLE, "--beam", beam, "--precision", "fp32").stdout
            for model in (checkpoint, folder / "mean.pt", folder / "exported")
        ]
        assert outputs[0] == outputs[1] == outputs[2] and outputs[0].startswith("# ")
    return json.loads((folder / "exported" / "config.json").read_text())


def check_batches(checkpoint: Path) -> None:
    """A sentence has the same parse alone and in a batch."""
    for beam in (1, 3):
        parser = Parser.load(checkpoint, precision="fp32", beam=beam)
        sentences = list(parser.read(SAMPLE))[:12]
        for sentence, wanted in zip(sentences, parser.parse(sentences), strict=True):
            (alone,) = parser.parse([sentence])
            assert alone.actions == wanted.actions and alone.score == pytest.approx(wanted.score, abs=1e-4)


def check_copies(checkpoint: Path) -> None:
    """Copies of a model parse together as one of them; of models that score whole trees, two do as four."""
    fewest = [checkpoint] if load_model(checkpoint)[0].searches_directly else []
    alone, copies = (
        Parser.load(checkpoint, precision="fp32", beam=3, others=others).parse(SAMPLE)
        for others in (fewest, [*fewest, checkpoint, checkpoint])
    )
    for one, three in zip(alone, copies, strict=True):
        assert one.actions == three.actions and one.score == pytest.approx(three.score, abs=1e-5)

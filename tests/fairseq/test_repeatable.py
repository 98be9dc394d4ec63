"""The same training gives the same weights, in whichever process and after an interruption too."""

from __future__ import annotations

import json
import os
from dataclasses import fields
from pathlib import Path

import pytest
import torch

from tests.conftest import OF_PROGRAMS, ROOT
from tests.crosses import mostly_slow
from tests.programs import TRAINING, Programs
from tests.small_models import MODELS, SIZES, runs_with
from tests.tiny_encoder import make_encoder
from transition_parser.models.registry import architecture_of

UPDATES, INTERRUPTED = 4, 2  # an epoch has three
SHORT = (
    *("--task", "transition_parsing", "--criterion", "legal_cross_entropy", "--cpu", "--seed", "7", "--lr", "0.005"),
    *("--max-tokens", "600", "--num-workers", "0", "--disable-validation", "--no-epoch-checkpoints"),
    *("--subword-regularization", "0.2"),
)
DROPOUT = dict.fromkeys(("dropout", "word_dropout", "encoder_dropout", "classifier_dropout", "word_table_dropout"), 0.2)
OF_AMRS = ("state", "no memory", "stack attention", "bot", "structures", "columns")  # each way to see their state
# further ways to train: a model and flags
WAYS = {
    "processes that read data": ("state", ("--num-workers", "1")),
    "exploration": ("positions", ("--oracle", "dynamic", "--explore-after", "0", "--explore", "0.5")),
    "tags": ("columns", ("--read-tags", "--tag-loss", "0.5")),
}
RESUMED = (*WAYS, "stack attention, amr", "pretrained, trees", "refined, trees")


def command(kind: str, data: Path, encoder: Path) -> list[str]:
    """The arguments of a training of a model of `MODELS`, but for its length and the folder of its checkpoints."""
    name, values = MODELS[kind]
    known = {field.name for field in fields(architecture_of(name).options)}
    values = {**{name: value for name, value in {**SIZES, **DROPOUT}.items() if name in known}, **values}
    optimizer = "adam"
    if kind.startswith("pretrained"):
        values, optimizer = {**values, "pretrained": encoder}, "adam_by_part"
    flags = [
        part
        for option, value in values.items()
        for part in (f"--{option.replace('_', '-')}", *([] if value is True else [str(value)]))
    ]
    return [str(data), "--arch", name, *SHORT, "--optimizer", optimizer, *flags]


USUAL = ("positions, trees", "refined, trees", "stack attention, amr", "exploration")


@pytest.fixture(scope="module", params=mostly_slow(["usual", "all"], "usual"))
def commands(request, data_folder, amr_data_folder, tmp_path_factory) -> dict[str, list[str]]:
    encoder = make_encoder(tmp_path_factory.mktemp("encoders") / "encoder")
    found = {f"{kind}, trees": command(kind, data_folder, encoder) for kind in MODELS}
    assert all(runs_with(kind, "amr") for kind in OF_AMRS)
    found |= {f"{kind}, amr": command(kind, amr_data_folder, encoder) for kind in OF_AMRS}
    found |= {name: [*command(kind, data_folder, encoder), *flags] for name, (kind, flags) in WAYS.items()}
    return found if request.param == "all" else {name: found[name] for name in USUAL}


def train(commands: dict[str, list[str]], folder: Path, seed: int, resumed: tuple[str, ...] = ()) -> None:
    """Runs trainings in a process whose sets are in another order for another seed; some are stopped and resumed."""
    trainings = [
        (arguments, str(folder / name), updates)
        for name, arguments in commands.items()
        for updates in ([INTERRUPTED, UPDATES] if name in resumed else [UPDATES])
    ]
    file = folder / "trainings.json"
    file.write_text(json.dumps(trainings), encoding="utf-8")
    env = {**os.environ, **OF_PROGRAMS, "PYTHONHASHSEED": str(seed)}
    done = Programs(env, TRAINING).run([str(ROOT / "tests" / "trainings.py"), str(file)], "", ROOT, env)
    assert done.returncode == 0, done.stderr[-3000:]


def test_it_gives_the_same_weights(commands, tmp_path_factory):
    once, again = (tmp_path_factory.mktemp(name) for name in ("once", "again"))
    train(commands, once, 1)
    train(commands, again, 2, RESUMED)
    assert different(once, again, commands) == {}
    lengths = {torch.load(file, weights_only=False)["optimizer_history"][-1]["num_updates"] for file in files(again)}
    assert lengths == {UPDATES}


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*/checkpoint_last.pt"))


def different(once: Path, again: Path, names) -> dict[str, list[str]]:
    """The weights that differ, of each training where some do."""
    assert len(files(once)) == len(files(again)) == len(names)
    found = {}
    for first, second in zip(files(once), files(again), strict=True):
        first_weights, second_weights = (torch.load(file, weights_only=False)["model"] for file in (first, second))
        assert first.parent.name == second.parent.name and first_weights.keys() == second_weights.keys()
        unequal = [name for name, value in first_weights.items() if not torch.equal(value, second_weights[name])]
        found |= {first.parent.name: unequal} if unequal else {}
    return found

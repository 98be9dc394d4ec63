"""The same training gives the same weights: in whichever process, after an interruption, and by two processes."""

import os
from dataclasses import fields
from pathlib import Path

import pytest
import torch

from tests.conftest import OF_PROGRAMS, PROGRAMS, ROOT, logged, run_trainings, train, train_command, weights
from tests.helpers.crosses import mostly_slow
from tests.helpers.programs import TRAINING, Programs
from tests.helpers.small_models import MODELS, SIZES, runs_with
from tests.helpers.tiny_encoder import make_encoder
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


USUAL = ("refined, trees", "stack attention, amr", "exploration")


@pytest.fixture(scope="module", params=mostly_slow(["usual", "all"], "usual"))
def commands(request, data_folder, amr_data_folder, tmp_path_factory) -> dict[str, list[str]]:
    encoder = make_encoder(tmp_path_factory.mktemp("encoders") / "encoder")
    found = {f"{kind}, trees": command(kind, data_folder, encoder) for kind in MODELS}
    assert all(runs_with(kind, "amr") for kind in OF_AMRS)
    found |= {f"{kind}, amr": command(kind, amr_data_folder, encoder) for kind in OF_AMRS}
    found |= {name: [*command(kind, data_folder, encoder), *flags] for name, (kind, flags) in WAYS.items()}
    return found if request.param == "all" else {name: found[name] for name in USUAL}


def train_all(commands: dict[str, list[str]], folder: Path, programs: Programs, resumed: tuple[str, ...] = ()) -> None:
    """Runs trainings in a process, some of them stopped and resumed."""
    trainings = [
        (arguments, name, updates)
        for name, arguments in commands.items()
        for updates in ([INTERRUPTED, UPDATES] if name in resumed else [UPDATES])
    ]
    run_trainings(folder, trainings, programs)


def test_it_gives_the_same_weights(commands, tmp_path_factory):
    once, again = (tmp_path_factory.mktemp(name) for name in ("once", "again"))
    train_all(commands, once, PROGRAMS)
    other = {**PROGRAMS.env, "PYTHONHASHSEED": "2"}  # its sets are in another order
    train_all(commands, again, Programs(other, TRAINING), RESUMED)
    assert {name: unequal for name in commands if (unequal := different(once / name, again / name))} == {}
    states = (torch.load(again / name / "checkpoint_last.pt", weights_only=False) for name in commands)
    assert {state["optimizer_history"][-1]["num_updates"] for state in states} == {UPDATES}


def different(first: Path, second: Path) -> list[str]:
    """The weights that differ."""
    one, other = weights(first), weights(second)
    assert one.keys() == other.keys()
    return [name for name, value in one.items() if not torch.equal(value, other[name])]


# --- training on explored states --------------------------------------------------------------


DYNAMIC = ("--oracle", "dynamic", "--explore", "0.2", "--explore-after", "1")
HINGE = ("--action-loss", "hinge", "--hinge-weight", "0.4", "--label-smoothing", "0")


@pytest.mark.parametrize("options", [pytest.param(()), pytest.param(HINGE, marks=pytest.mark.slow)])
def test_resumed_exploration_goes_on_in_the_same_way(data_folder, tmp_path, options):
    """Exploration begins before training stops, and goes on after it."""
    options = (*options, "--disable-validation")
    dynamic, static = (train_command(data_folder, tmp_path, *some, *options)[1:] for some in (DYNAMIC, ()))
    trainings = [(dynamic, "whole", 8), (dynamic, "resumed", 5), (dynamic, "resumed", 8), (static, "static", 8)]
    run_trainings(tmp_path, trainings, PROGRAMS)
    assert not different(tmp_path / "whole", tmp_path / "resumed")
    assert different(tmp_path / "whole", tmp_path / "static")


# --- two processes (DDP over gloo, on a CPU) --------------------------------------------------


# the weights then change by the gradients themselves
PLAIN = (
    *("--optimizer", "sgd", "--lr", "1", "--clip-norm", "0", "--dropout", "0", "--train-precision", "fp32"),
    *("--tag-loss", "0.1", "--seed", "7"),
)
DISTRIBUTED = "--cpu --ddp-backend legacy_ddp --distributed-backend gloo --distributed-no-spawn"
BOTH = """
import os, sys
for rank in ("0", "1"):
    if not os.fork():
        sys.argv += ["--distributed-rank", rank]
        if rank == "1":
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        from fairseq_cli.train import cli_main
        cli_main()
        sys.exit()
sys.exit(max(os.waitstatus_to_exitcode(os.wait()[1]) for _ in range(2)))
"""


def by_two(data: Path, folder: Path):
    """One update by two processes. Returns what the first printed."""
    _, *arguments = train_command(data, folder, *PLAIN, *DISTRIBUTED.split(), updates=1)
    arguments += ["--distributed-world-size", "2", "--distributed-init-method", f"file://{folder}.meeting"]
    done = PROGRAMS.run(["-c", BOTH, *arguments], "", ROOT, {**os.environ, **OF_PROGRAMS})
    assert done.returncode == 0, done.stderr[-3000:]
    return done


def farthest(first: Path, second: Path) -> float:
    """The largest difference of a weight."""
    one, other = weights(first), weights(second)
    assert one.keys() == other.keys()
    return max(float((one[name].float() - other[name].float()).abs().max()) for name in one)


def test_gradients_and_validation_are_those_of_one_process(data_folder, tmp_path):
    printed = by_two(data_folder, tmp_path / "two")
    alone = train(data_folder, tmp_path / "one", *PLAIN, "--update-freq", "2", "--cpu", updates=1)  # batches of both
    train(data_folder, tmp_path / "half", *PLAIN, "--cpu", "--disable-validation", updates=1)
    assert farthest(tmp_path / "two", tmp_path / "one") <= 1e-5
    assert farthest(tmp_path / "two", tmp_path / "half") > 1e-3
    two, one = (logged(done, "valid_loss")[-1] for done in (printed, alone))
    assert two.keys() == one.keys() and {"valid_las", "valid_upos", "valid_loss"} <= two.keys()
    for name in one.keys() - {"valid_wps", "valid_wpb", "valid_bsz", "train_wall"}:
        assert float(two[name]) == pytest.approx(float(one[name]), abs=2e-3), name

"""Shared by all tests: the sample treebank, where the large corpora are, small trained folders."""

import contextlib
import copy
import fcntl
import gc
import io
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import settings

from tests.helpers.programs import PARSING, TRAINING, Programs
from transition_parser.base.process import limit_instructions

ROOT = Path(__file__).resolve().parents[1]
SAMPLE = ROOT / "tests" / "data" / "sample.conllu"
SAMPLE_AMR = ROOT / "tests" / "data" / "sample.amr"
DATA_VARIABLE = "TRANSITION_PARSER_DATA"

OF_PROGRAMS = {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}  # in their environment
limit_instructions()  # before torch is imported
ENVIRONMENT = {**os.environ, **OF_PROGRAMS}
PROGRAMS = Programs(ENVIRONMENT, (*PARSING, *TRAINING))

for profile, examples in (("default", 25), ("many", 200)):  # many: with `run/test.sh --slow`
    settings.register_profile(profile, deadline=None, max_examples=examples)  # machines are shared: no timed tests
settings.load_profile("default")


def pytest_collection_modifyitems(items):
    """Marks the tests that read whole corpora."""
    for item in items:
        if "corpora" in getattr(item, "fixturenames", ()):
            item.add_marker("corpora")


def pytest_collection_finish():
    """Excludes what is imported by now from the searches for garbage, which take long among so many objects."""
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def models_read_once():
    """The package's models without a pretrained encoder are read once; tests that load them again get copies."""
    if "transition_parser.storage.checkpoints" not in sys.modules:  # no test here parses
        yield
        return
    from transition_parser.storage import cards, checkpoints

    read, once = checkpoints._load_exported, cache(checkpoints._load_exported)

    def load(folder: Path) -> tuple:
        if folder.parent != cards.PRETRAINED or "minilm" in folder.name:
            return read(folder)
        model, resources = once(folder)
        return copy.deepcopy(model), resources

    with mock.patch.object(checkpoints, "_load_exported", load):
        yield


@pytest.fixture(scope="session")
def corpora() -> Path:
    """The folder of whole corpora; its tests are skipped where there is none."""
    folder = os.environ.get(DATA_VARIABLE)
    if not folder:
        pytest.skip(f"{DATA_VARIABLE} is not set: no whole corpora here")
    return Path(folder)


@contextlib.contextmanager
def without_kernels():
    """As where the package was set up without a compiler."""
    from transition_parser.kernels import loader

    with mock.patch.object(loader, "library", lambda: None):
        yield


@contextlib.contextmanager
def threads(count: int):
    """As where torch has so many threads."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@pytest.fixture(params=["compiled", "torch"])
def both_ways(request, monkeypatch):
    """Tests that use it run with kernels, and without them."""
    from transition_parser.kernels import loader

    if request.param == "torch":
        monkeypatch.setattr(loader, "library", lambda: None)
    elif loader.library() is None:
        pytest.skip("set up without a compiler for the kernels")


def run(*command: str | Path, status: int = 0, stdin: str | None = None, cwd: Path | None = None):
    """Runs a program of this environment, or a script by its path, and returns what it printed; fails on another exit
    status."""
    program, *arguments = map(str, command)
    path = Path(sys.executable).parent / program
    done = PROGRAMS.run([str(path), *arguments], stdin or "", cwd or ROOT, {**os.environ, **OF_PROGRAMS})
    assert done.returncode == status, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done


def python(
    *command: str | Path, status: int = 0, cwd: Path = ROOT, stdin: str | None = None, **environment: str
) -> subprocess.CompletedProcess:
    """Runs Python in a process that nothing has been imported in, and returns what it printed; fails on another exit
    status."""
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        cwd=cwd, env={**ENVIRONMENT, **environment}, input=stdin, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == status, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done


def run_code(code: str) -> None:
    """Runs code in a process that has imported nothing of the package; fails where it does."""
    done = PROGRAMS.run(["-c", code], "", ROOT, ENVIRONMENT)
    assert done.returncode == 0, done.stderr[-3000:]


def run_here(*command: str | Path, status: int = 0, stdin: str = "") -> subprocess.CompletedProcess:
    """`transition-parser` in this process: what `run` does, without seconds of imports."""
    from transition_parser.cli.main import main

    out, err = io.StringIO(), io.StringIO()
    before, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(stdin.encode()))
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main([str(part) for part in command])
    except SystemExit as stop:  # argparse
        code = stop.code
    finally:
        sys.stdin = before
    done = subprocess.CompletedProcess(command, code, out.getvalue(), err.getvalue())
    assert code == status, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done


def fails(*command: str | Path, lines: int = 1, **options: str) -> str:
    """What a command that refuses its input says on so many lines."""
    done = run_here(*command, status=2, **options)
    assert done.stdout == "" and "Traceback" not in done.stderr
    assert done.stderr.startswith("transition-parser: error: ") and done.stderr.count("\n") == lines
    return done.stderr


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """The folder that `make` fills, once for all processes of the tests; these only read it."""
    base = factory.getbasetemp()
    common = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder, made = common / name, common / f"{name}.made"
    with open(common / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            shutil.rmtree(folder, ignore_errors=True)  # what a process left that failed
            folder.mkdir()
            make(folder)
            made.touch()
    return folder


@pytest.fixture(scope="session")
def few_amrs(tmp_path_factory) -> Path:
    """The first 20 entries of the sample bank."""
    path = tmp_path_factory.mktemp("few") / "few.amr"
    blocks = SAMPLE_AMR.read_text(encoding="utf-8").split("\n\n")
    path.write_text("\n\n".join(blocks[:21]) + "\n\n", encoding="utf-8")  # the first block is the header
    return path


@pytest.fixture(scope="session")
def data_folder(tmp_path_factory) -> Path:
    """The sample treebank after `preprocess` and `fairseq-preprocess`, arc-hybrid-swap, 3 labeled SHIFTs."""
    return made_once(tmp_path_factory, "preprocessed", preprocess_trees) / "data"


def preprocess_trees(parent: Path) -> None:
    preprocess(parent / "data", "--labeled-shift", "3", "--columns", "upos")


def preprocess(
    folder: Path, *options: str | Path, train=SAMPLE, valid=None, test=None, kind: str = "dependency"
) -> Path:
    """Prepares a corpus for training; `valid` and `test` are those of training where none are given."""
    splits = ("--train", train, "--valid", valid or train, "--test", test or valid or train)
    system = ("--system", "arc-hybrid-swap") if kind == "dependency" else ()
    run_here("preprocess", kind, *splits, *system, "--pieces", "400", *options, "--dest", folder)
    fairseq_preprocess(folder)
    return folder


def fairseq_preprocess(folder: Path, *options: str) -> None:
    """Binarises a folder that `preprocess` wrote."""
    prefixes = (part for name in ("train", "valid", "test") for part in (f"--{name}pref", folder / name))
    run("fairseq-preprocess", *TASK, "--source-lang", "src", "--target-lang", "act", *prefixes, "--destdir", folder,
        *options)  # fmt: skip


TASK = ("--user-dir", "transition_parser", "--task", "transition_parsing")
SIZES = {
    "stack_transformer_small": "--encoder-embed-dim 32 --decoder-embed-dim 32 --encoder-ffn-embed-dim 32 "
    "--decoder-ffn-embed-dim 32",
    "stack_attention_rnn_small": "--encoder-embed-dim 32 --encoder-hidden 16 --decoder-embed-dim 16 "
    "--decoder-hidden 32 --attention-width 16 --decoder-layers 2",
    "spa_dp_small": "--word-width 32 --scan-width 16 --spa-width 16 --mlp-width 32",
    "spa_dp_graph_small": "--word-width 32 --scan-width 16 --spa-width 16 --mlp-width 32",
}


def train(data: Path, checkpoints: Path, *options: str | Path, status: int = 0, **more):
    """A few updates of a tiny model, validated and saved after the last one; neither where `--max-epoch` ends them."""
    return run(*train_command(data, checkpoints, *options, **more), status=status)


def train_command(
    data: Path, checkpoints: Path, *options: str | Path, arch: str = "stack_transformer_small", updates: int = 6
) -> list[str]:
    """The program that `train` runs, and its arguments."""
    metric = "smatch" if (data / "lexicon.json").is_file() else "las"
    command = [
        "fairseq-train", data, *TASK, "--arch", arch, *SIZES.get(arch, "").split(),
        "--criterion", "legal_cross_entropy", "--label-smoothing", "0.1",
        "--optimizer", "adam", "--lr", "0.005", "--max-tokens", "600", "--num-workers", "0", "--data-buffer-size", "0",
        "--max-update", updates, "--save-dir", checkpoints, "--log-format", "json", "--no-progress-bar",
        "--best-checkpoint-metric", metric, "--maximize-best-checkpoint-metric", "--keep-best-checkpoints", "2",
        # not after each epoch of a few updates
        "--validate-interval", "100", "--save-interval", "100", *options,
    ]  # fmt: skip
    return [*map(str, command)]


def run_trainings(
    folder: Path, trainings: list[tuple[list[str], str, int]], programs: Programs = PROGRAMS
) -> subprocess.CompletedProcess:
    """Runs trainings in one process: arguments, name of the checkpoints' folder, and number of updates of each. Those
    that are resumed later are validated then."""
    file = folder / "trainings.json"
    file.write_text(json.dumps([(some, str(folder / name), updates) for some, name, updates in trainings]))
    done = programs.run([str(ROOT / "tests" / "helpers" / "trainings.py"), str(file)], "", ROOT, programs.env)
    assert done.returncode == 0, done.stderr[-3000:]
    return done


def logged(done: subprocess.CompletedProcess, key: str) -> list[dict]:
    """What training logged as JSON, of all that has the key."""
    lines = re.findall(r'\{".*\}', done.stdout + done.stderr)
    return [entry for entry in map(json.loads, lines) if key in entry]


def weights(folder: Path) -> dict:
    """The last ones of a training."""
    import torch

    return torch.load(folder / "checkpoint_last.pt", weights_only=False)["model"]


@pytest.fixture(scope="session")
def checkpoint(data_folder, tmp_path_factory) -> Path:
    """A barely trained model of the sample treebank."""
    options = ("--state-positions", "--encoder-local-layers", "1")
    folder = made_once(tmp_path_factory, "checkpoints", lambda new: train(data_folder, new, *options, updates=40))
    return folder / "checkpoint_best.pt"


@pytest.fixture(scope="session")
def amr_data_folder(tmp_path_factory) -> Path:
    """The sample bank after `preprocess amr` and `fairseq-preprocess`, 2 labeled SHIFTs. Training has the first 85
    entries alone, the other splits the last 30, so that some have actions that it lacks."""
    return made_once(tmp_path_factory, "preprocessed_amr", preprocess_amrs) / "data"


def preprocess_amrs(parent: Path) -> None:
    folder = parent / "data"
    blocks = SAMPLE_AMR.read_text(encoding="utf-8").split("\n\n")
    files = parent / "train.amr", parent / "dev.amr"
    for file, some in zip(files, (blocks[:86], blocks[-30:]), strict=True):  # the first block is the header
        file.write_text("\n\n".join(some) + "\n", encoding="utf-8")
    preprocess(folder, "--labeled-shift", "2", train=files[0], valid=files[1], kind="amr")


@pytest.fixture(scope="session")
def amr_dev(amr_data_folder) -> Path:
    """The bank of its development data."""
    return amr_data_folder.with_name("dev.amr")


@pytest.fixture(scope="session")
def amr_checkpoint(amr_data_folder, tmp_path_factory) -> Path:
    """A barely trained model of the sample bank."""
    make = lambda new: train(amr_data_folder, new, "--state-positions", updates=30)  # noqa: E731
    return made_once(tmp_path_factory, "amr_checkpoints", make) / "checkpoint_best.pt"

"""Training by two processes (DDP over gloo, on a CPU) is training by one on the batches of both."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tests.conftest import OF_PROGRAMS, ROOT, train, train_command
from tests.tiny_encoder import make_encoder

# the weights then change by the gradients themselves
PLAIN = (
    *("--optimizer", "sgd", "--lr", "1", "--clip-norm", "0", "--dropout", "0", "--train-precision", "fp32"),
    *("--tag-loss", "0.1", "--seed", "7"),
)


def by_two(data: Path, folder: Path, *options: str) -> list[str]:
    """One update by two processes. Returns what each printed."""
    folder.mkdir()
    command = train_command(data, folder / "checkpoints", *PLAIN, *options, updates=1)
    command[0] = str(Path(sys.executable).with_name(command[0]))
    command += ["--cpu", "--ddp-backend", "legacy_ddp", "--distributed-backend", "gloo", "--distributed-no-spawn"]
    command += ["--distributed-world-size", "2", "--distributed-init-method", f"file://{folder}/meeting"]
    running = [
        subprocess.Popen(
            [*command, "--distributed-rank", str(rank)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            cwd=ROOT, env={**os.environ, **OF_PROGRAMS},
        )
        for rank in range(2)
    ]  # fmt: skip
    try:
        printed = [process.communicate(timeout=300)[0] for process in running]
    finally:
        for process in running:
            process.kill()
    assert [process.returncode for process in running] == [0, 0], "\n".join(text[-2000:] for text in printed)
    return printed


def by_one(data: Path, folder: Path, *options: str, batches: int = 2) -> str:
    """One update by one process from the batches of both."""
    every = ("--update-freq", str(batches), "--cpu")
    done = train(data, folder / "checkpoints", *PLAIN, *every, *options, updates=1)
    return done.stdout + done.stderr


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return torch.load(folder / "checkpoints" / "checkpoint_last.pt", weights_only=False)["model"]


def farthest(one: Path, other: Path) -> float:
    """The largest difference of a weight."""
    first, second = weights(one), weights(other)
    assert first.keys() == second.keys()
    return max(float((first[name].float() - second[name].float()).abs().max()) for name in first)


def validation(printed: str) -> dict[str, float]:
    lines = [line[line.index("{") :] for line in printed.splitlines() if '"valid_' in line and "{" in line]
    return {name: float(value) for name, value in json.loads(lines[-1]).items()}


def test_gradients_and_validation_are_those_of_one_process(data_folder, tmp_path):
    first, _second = by_two(data_folder, tmp_path / "two")
    printed = by_one(data_folder, tmp_path / "one")
    by_one(data_folder, tmp_path / "half", batches=1)
    assert farthest(tmp_path / "two", tmp_path / "one") <= 1e-5
    assert farthest(tmp_path / "two", tmp_path / "half") > 1e-3
    two, one = validation(first), validation(printed)
    assert two.keys() == one.keys() and {"valid_las", "valid_upos", "valid_loss"} <= two.keys()
    for name in one.keys() - {"valid_wps", "valid_wpb", "valid_bsz", "train_wall"}:
        assert two[name] == pytest.approx(one[name], abs=2e-3), name


@pytest.mark.slow
def test_kept_vectors_of_words_are_computed_once(data_folder, tmp_path):
    encoder = make_encoder(tmp_path / "encoder")
    options = ("--pretrained", str(encoder), "--pretrained-training", "frozen", "--pretrained-layers", "0-2")
    by_two(data_folder, tmp_path / "two", *options, "--pretrained-cache", str(tmp_path / "kept"))
    by_one(data_folder, tmp_path / "one", *options, "--pretrained-cache", str(tmp_path / "other"))
    assert farthest(tmp_path / "two", tmp_path / "one") <= 1e-5
    kept, other = ({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("kept", "other"))
    assert kept == other

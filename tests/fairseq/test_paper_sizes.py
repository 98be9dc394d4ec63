"""The recipes of the papers train: ten updates at their sizes."""

import re

import pytest

from tests.conftest import ROOT, run
from tests.crosses import mostly_slow
from tests.tiny_encoder import make_encoder
from transition_parser.training.flags import arguments_of, read_flags

TASK = ("--user-dir", "transition_parser", "--task", "transition_parsing")


NAMES = (
    "paper-stack",
    "paper-stack-all",
    "paper-stack-roberta",
    "stack-attention",
    "spa-dp",
    "spa-dp-graph",
    "use",
    "graph2graph",
)


@pytest.mark.parametrize("name", mostly_slow(NAMES, "stack-attention"))
def test_paper_sizes_train(data_folder, tmp_path, name):
    """The flags of the configuration, with batches of two sentences. A RoBERTa is a tiny one, with random weights."""
    flags = arguments_of(read_flags(ROOT / "configs" / f"{name}.flags"))
    if "roberta-base" in flags:
        flags += ["--pretrained", str(make_encoder(tmp_path / "encoder", kind="roberta"))]
    done = run(
        "fairseq-train", data_folder, *TASK, *flags, "--batch-size", "2", "--required-batch-size-multiple", "1",
        "--max-update", "10", "--num-workers", "0", "--disable-validation", "--no-save", "--save-dir", tmp_path,
        "--log-format", "json", "--log-interval", "1",
    )  # fmt: skip
    losses = [float(loss) for loss in re.findall(r'"loss": "([\d.]+)"', done.stdout + done.stderr)]
    assert len(losses) >= 10 and min(losses) < losses[0] and max(losses) < 20  # SGD at 2 jumps with so small batches

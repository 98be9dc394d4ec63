"""In which precision a training step computes its loss."""

import logging

import pytest
import torch

from tests.helpers.small_models import make_batch, make_criterion, make_folder, make_model, make_optimizer, make_task
from transition_parser.tasks import transition_parsing


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_folder("arc-hybrid-swap", tmp_path_factory)


def dtypes(task, folder, weights: torch.dtype) -> set[torch.dtype]:
    """What products give within two training steps, and validation between them."""
    model, batch = make_model("state", task.resources).to(weights), make_batch(task, folder, range(1, 8), 3)
    criterion, optimizer, seen = make_criterion(task), make_optimizer(model), set()

    def watched(model, sample):
        seen.add((torch.ones(2, 2) @ torch.ones(2, 2)).dtype)
        return criterion(model, sample)

    for update in range(2):
        task.train_step(batch, model, watched, optimizer, update)
        assert not torch.is_autocast_enabled("cpu")
    task.train_step({}, model, lambda model, sample: (torch.zeros((), requires_grad=True), 1, {}), optimizer, 2)
    return seen


@pytest.mark.parametrize(
    ("asked", "native", "weights", "expected"),
    [
        ("auto", True, torch.float32, torch.bfloat16),
        ("auto", False, torch.float32, torch.float32),
        ("bf16", False, torch.float32, torch.bfloat16),
        ("fp32", True, torch.float32, torch.float32),
        ("auto", True, torch.float64, torch.float32),  # as with --fp16: the weights have a precision of their own
    ],
)
def test_it_is_what_is_asked_for_or_what_the_machine_has(folder, monkeypatch, caplog, asked, native, weights, expected):
    monkeypatch.setattr(transition_parsing, "has_fast_bf16", lambda device: native)
    task = make_task(folder, train_precision=asked)
    with caplog.at_level(logging.INFO):
        assert dtypes(task, folder, weights) == {expected}
    said = str(torch.bfloat16 if expected == torch.bfloat16 else weights).removeprefix("torch.")
    lines = [line for line in caplog.messages if line.startswith("training in")]
    assert lines == [f"training in {said} (--train-precision {asked})"]

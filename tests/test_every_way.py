"""Training, validation and search give the same with kernels, without them, and on a (simulated) accelerator."""

from __future__ import annotations

import copy
from collections.abc import Callable
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from unittest import mock

import pytest
import torch
from fairseq.utils import apply_to_sample
from transition_parser.models.transition_transformer import TransitionTransformer

from tests.simulated_device import DEVICE, SimulatedDevice
from tests.small_models import (
    MODELS,
    SYSTEMS,
    make_batch,
    make_criterion,
    make_folder,
    make_model,
    make_optimizer,
    make_task,
)
from transition_parser.kernels import machine_kernels, search_kernels
from transition_parser.search import search
from transition_parser.tasks.transition_parsing import TransitionParsingTask

WAYS = ("kernels", "torch", "device")
CLOSE = 1e-5


@contextmanager
def without_kernels():
    """As where the package was set up without a compiler."""
    with ExitStack() as stack:
        for kernels in (search_kernels, machine_kernels):
            stack.enter_context(mock.patch.object(kernels, "library", lambda: None))
        yield


@pytest.fixture
def move(request) -> Callable:
    """Brings a model or a batch to where it is computed with."""
    if request.param == "torch":
        with without_kernels():
            yield lambda x: x
    elif request.param == "device":
        with SimulatedDevice():
            yield lambda x: apply_to_sample(_to_device, x) if isinstance(x, dict) else x.to(DEVICE)
    elif search_kernels.library() is None:
        pytest.skip("set up without a compiler for the kernels")
    else:
        yield lambda x: x


def _to_device(x: torch.Tensor) -> torch.Tensor:
    return x.to(DEVICE)


@dataclass
class Case:
    """A model that has learned for some updates, so that its derivations are short, and a batch."""

    task: TransitionParsingTask
    model: TransitionTransformer
    batch: dict
    _wanted: dict = field(default_factory=dict)

    def wanted(self, function: Callable, *options):
        """What the function gives on the CPU without kernels."""
        key = function, options
        if key not in self._wanted:
            with without_kernels():
                self._wanted[key] = function(self, lambda x: x, *options)
        return self._wanted[key]


@pytest.fixture(scope="module")
def case_of(tmp_path_factory) -> Callable[[str, str], Case]:
    tasks, cases = {}, {}

    def case(system: str, kind: str) -> Case:
        if system not in tasks:
            folder = make_folder(system, tmp_path_factory.mktemp(system) / "data")
            task = make_task(folder)
            tasks[system] = task, make_batch(task, folder, range(1, 8), 5)
        if (system, kind) not in cases:
            task, batch = tasks[system]
            cases[system, kind] = Case(task, make_model(kind, task.resources), batch)
            _update(task, cases[system, kind].model, batch, 15)
        return cases[system, kind]

    return case


def _update(task: TransitionParsingTask, model: TransitionTransformer, batch: dict, count: int) -> torch.Tensor:
    """The loss of the last of some updates; leaves its gradients."""
    criterion, optimizer = make_criterion(task), make_optimizer(model)
    for update in range(count):
        optimizer.zero_grad()
        loss, size, _ = task.train_step(batch, model, criterion, optimizer, update)
        optimizer.multiply_grads(1.0 / size)
        optimizer.clip_grad_norm(5.0)
        optimizer.step()
    return loss


def trained(case: Case, move: Callable) -> dict[str, torch.Tensor]:
    """What two more updates change: the loss, gradients and weights."""
    model = move(copy.deepcopy(case.model))
    found = {"loss": _update(case.task, model, move(case.batch), 2)}
    for name, parameter in model.named_parameters():
        found |= {name: parameter, f"gradient of {name}": parameter.grad}
    return {name: value.detach().cpu() for name, value in found.items()}


def validated(case: Case, move: Callable) -> dict:
    """What `fairseq-train` logs of a batch of validation data."""
    model = move(copy.deepcopy(case.model)).eval()
    with torch.no_grad():
        return case.task.valid_step(move(case.batch), model, make_criterion(case.task))[2]


def searched(case: Case, move: Callable, beam: int) -> list[list[tuple[list[int], list[float], float]]]:
    """All hypotheses of each sentence: tokens, their scores, the score of all."""
    model, net_input = move(copy.deepcopy(case.model)).eval(), move(case.batch)["net_input"]
    with torch.no_grad():
        encoder_out = model.encoder(net_input["src_tokens"], features=net_input.get("features"))
    found = search(model.decoder, encoder_out, beam, nbest=beam)
    return [[(h.tokens, h.step_scores, h.score) for h in hypotheses] for hypotheses in found]


each_case = pytest.mark.parametrize(("system", "kind"), [(system, kind) for system in SYSTEMS for kind in MODELS])
each_way = pytest.mark.parametrize("move", WAYS, indirect=True)
each_other_way = pytest.mark.parametrize("move", ["kernels", "device"], indirect=True)


@each_case
@each_other_way
def test_training(case_of, system, kind, move):
    case = case_of(system, kind)
    wanted, found = case.wanted(trained), trained(case, move)
    assert found.keys() == wanted.keys()
    for name, value in wanted.items():  # updates make differences of rounding larger
        assert torch.allclose(found[name], value, rtol=CLOSE, atol=CLOSE if "gradient" in name else 10 * CLOSE), name


@each_case
@each_other_way
def test_validation(case_of, system, kind, move):
    case = case_of(system, kind)
    found = validated(case, move)
    assert found == pytest.approx(case.wanted(validated), rel=CLOSE)
    assert found["_gold" if system == "amr" else "_words"] > 0


@each_case
@each_other_way
@pytest.mark.parametrize("beam", [1, 3])
def test_search(case_of, system, kind, move, beam):
    case = case_of(system, kind)
    found, wanted = searched(case, move, beam), case.wanted(searched, beam)
    for ours, theirs in zip(found, wanted, strict=True):
        assert [tokens for tokens, *_ in ours] == [tokens for tokens, *_ in theirs]
        for (_, steps, score), (_, wanted_steps, wanted_score) in zip(ours, theirs, strict=True):
            assert steps == pytest.approx(wanted_steps, abs=CLOSE) and score == pytest.approx(wanted_score, abs=CLOSE)

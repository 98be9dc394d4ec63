"""The simulated accelerator itself: what it refuses, what it counts, and that it computes as the CPU does."""

import copy
from collections import Counter

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tests.simulated_device import DEVICE, OnDevice, SimulatedDevice


@pytest.fixture
def device():
    with SimulatedDevice() as device:
        yield device


def some(*shape: int) -> torch.Tensor:
    """Always the same numbers, on the CPU."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(1))


MIXED = {
    "sum": lambda x, y: x + y,
    "product": lambda x, y: x @ y,
    "cat": lambda x, y: torch.cat([x, y]),
    "rows of the other": lambda x, y: y[x[0].long() * 0],
}


@pytest.mark.parametrize("name", MIXED)
@pytest.mark.parametrize("inference", [True, False])
def test_tensors_of_two_devices_do_not_meet(device, name, inference):
    here, there = some(3, 3), some(3, 3).to(DEVICE)
    with torch.inference_mode(inference):
        MIXED[name](here, here)
        MIXED[name](there, there)
        with pytest.raises(RuntimeError, match="on the simulated device and"):
            MIXED[name](there, here)


def test_the_host_reads_nothing_without_a_copy(device):
    there = torch.arange(3.0, device=DEVICE)
    for read in (lambda x: x.numpy(), np.asarray, np.array):
        with pytest.raises(TypeError, match=r"use \.cpu\(\) first"):
            read(there)
    with pytest.raises(RuntimeError, match="can't read memory"):
        there.data_ptr()
    copied = there.cpu()
    there += 1
    assert copied.numpy().tolist() == [0.0, 1.0, 2.0] and there.cpu().tolist() == [1.0, 2.0, 3.0]


COUNTED = {
    "item": (lambda x: x[0, 0].item(), {"item": 1}),
    "bool": (lambda x: bool((x > 0).any()), {"item": 1}),
    "tolist": (lambda x: x.tolist(), {"tolist": 1}),
    "equal": (lambda x: torch.equal(x, x), {"equal": 1}),
    "cpu": (lambda x: x.cpu(), {"cpu": 1}),
    "upload": (lambda x: x.copy_(torch.zeros(4, 3)), {"upload": 1}),
    "from Python": (lambda x: torch.tensor([1, 2], device=x.device), {"upload": 1}),
    "nonzero": (lambda x: (x > 0).nonzero(), {"nonzero": 1}),
    "mask": (lambda x: x[x > 0], {"mask": 1}),
    "repeat": (lambda x: x.repeat_interleave(torch.arange(4, device=DEVICE), 0), {"repeat_interleave": 1}),
    "sums": (lambda x: (x + 1).sum(0) @ x.t(), {}),
    "mask set to a number": (lambda x: x.__setitem__(x > 0, 0.0), {}),
    "scatter": (lambda x: x.scatter(1, torch.zeros(4, 1, dtype=torch.long, device=DEVICE), 1.0), {}),
}


COMPARED = ("item", "tolist", "nonzero", "mask", "sums")


@pytest.mark.parametrize("name", COUNTED)
@pytest.mark.parametrize("inference", [True, False])
def test_what_makes_the_host_wait_is_counted(device, name, inference):
    function, counts = COUNTED[name]
    x = some(4, 3).to(DEVICE)
    device.waits.clear()
    with torch.inference_mode(inference):
        found = function(x)
    assert device.waits.kinds == Counter(counts)
    if name in COMPARED:
        assert_equal(found, function(some(4, 3)))


def assert_equal(found, wanted) -> None:
    """What was computed on the device, and what on the CPU."""
    if isinstance(wanted, torch.Tensor):
        assert isinstance(found, OnDevice)
        assert torch.equal(found.cpu(), wanted)
    elif isinstance(wanted, tuple):
        for each, other in zip(found, wanted, strict=True):
            assert_equal(each, other)
    else:
        assert found == wanted


class Net(nn.Module):
    """Some of everything, with weights that two layers share."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.embed, self.inner, self.norm = nn.Embedding(7, 8), nn.Linear(8, 8), nn.LayerNorm(8)
        self.output = nn.Linear(8, 7, bias=False)
        self.output.weight = self.embed.weight

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.norm(F.relu_(self.inner(self.embed(tokens))))
        scores = torch.einsum("btd,bsd->bts", x, x).masked_fill(tokens[:, None] == 0, -1e9)
        x = x + scores.softmax(-1) @ x[:, torch.arange(x.size(1), device=x.device)]
        return F.cross_entropy(self.output(x).flatten(0, 1), tokens.flatten(), reduction="sum")


def test_gradients_and_updates_are_those_of_the_cpu(device):
    tokens, here = torch.randint(0, 7, (3, 5), generator=torch.Generator().manual_seed(1)), Net()
    there = copy.deepcopy(here).to(DEVICE)
    assert there.output.weight is there.embed.weight and isinstance(there.embed.weight, OnDevice)
    for model, batch in ((here, tokens), (there, tokens.to(DEVICE))):
        optimizer = torch.optim.Adam(model.parameters(), 0.01)
        for _ in range(3):
            optimizer.zero_grad()
            model(batch).backward()
            optimizer.step()
    for (name, wanted), found in zip(here.named_parameters(), there.parameters(), strict=True):
        assert torch.equal(found.grad.cpu(), wanted.grad), name
        assert torch.equal(found.detach().cpu(), wanted.detach()), name


def test_tensors_without_numbers_are_refused():
    without = torch.zeros(3, device=DEVICE)
    with SimulatedDevice(), pytest.raises(RuntimeError, match="without numbers"):
        without + 1

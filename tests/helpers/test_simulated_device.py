"""The simulated accelerator itself: what it refuses, and what it counts. Models train on it in `test_every_way.py`."""

from collections import Counter

import numpy as np
import pytest
import torch

from tests.helpers.simulated_device import DEVICE, OnDevice, SimulatedDevice


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


@pytest.mark.parametrize("name", COUNTED)
@pytest.mark.parametrize("inference", [True, False])
def test_what_makes_the_host_wait_is_counted(device, name, inference):
    function, counts = COUNTED[name]
    x = some(4, 3).to(DEVICE)
    device.waits.clear()
    with torch.inference_mode(inference):
        found = function(x)
    assert device.waits == Counter(counts)
    if name == "sums":
        assert isinstance(found, OnDevice) and torch.equal(found.cpu(), function(some(4, 3)))

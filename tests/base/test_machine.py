"""What figures say of the machine."""

import torch

from transition_parser.base.machine import machine


def test_the_description_of_the_machine_names_its_gpus(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    assert len(machine().split(", ")) == 3
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda number: f"GPU {number}")
    assert machine().split(", ")[2:4] == ["GPU 0", "GPU 1"]

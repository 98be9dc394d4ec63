"""What figures say of the machine, and what its processor can do."""

import pytest
import torch

from transition_parser.base.errors import InputError
from transition_parser.kernels.encoders import has_amx, has_fast_bf16, machine


def test_the_description_of_the_machine_names_its_gpus(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    assert len(machine().split(", ")) == 3
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda number: f"GPU {number}")
    assert machine().split(", ")[2:4] == ["GPU 0", "GPU 1"]


def test_a_variable_makes_a_newer_processor_an_older_one(monkeypatch):
    for name in ("_is_amx_tile_supported", "_is_avx512_bf16_supported"):
        monkeypatch.setattr(torch.cpu, name, lambda: True)
    monkeypatch.delenv("TRANSITION_PARSER_CPU", raising=False)
    assert has_amx() and has_fast_bf16(torch.device("cpu"))
    monkeypatch.setenv("TRANSITION_PARSER_CPU", "avx2")
    assert not has_amx() and not has_fast_bf16(torch.device("cpu"))
    monkeypatch.setenv("TRANSITION_PARSER_CPU", "sse")
    with pytest.raises(InputError, match="TRANSITION_PARSER_CPU is 'sse': set it to avx2 "):
        has_amx()

"""Facts about the machine, which products of matrices it computes fast, and a work-around for fairseq."""

from __future__ import annotations

import argparse
import os
import platform

import torch

from transition_parser.base.process import at_most_avx2


def machine() -> str:
    """Return the processor architecture, the number of cores, the GPUs and the Python version, as one line of text."""
    gpus = [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
    return ", ".join([platform.machine(), f"{os.cpu_count()} cores", *gpus, f"Python {platform.python_version()}"])


def has_amx() -> bool:
    """Return True if the CPU multiplies matrices in tiles (Intel's AMX)."""
    return bool(torch.cpu._is_amx_tile_supported()) and not at_most_avx2()


def has_fast_bf16(device: torch.device) -> bool:
    """Return True if the device multiplies bf16 matrices natively; elsewhere bf16 is emulated, and slow."""
    if device.type == "cpu":
        return has_amx() or (bool(torch.cpu._is_avx512_bf16_supported()) and not at_most_avx2())
    if device.type != "cuda":
        return False
    with torch.cuda.device(device):
        return torch.cuda.is_bf16_supported(including_emulation=False)


def allow_fairseq_checkpoints() -> None:
    """Let `torch.load` read fairseq's checkpoints under its `weights_only` protection."""
    torch.serialization.add_safe_globals([argparse.Namespace])

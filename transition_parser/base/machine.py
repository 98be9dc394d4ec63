"""The machine that figures were measured on."""

from __future__ import annotations

import os
import platform

import torch


def machine() -> str:
    """Return a description of the machine: its processor, the number of its cores, its GPUs, the version of Python."""
    gpus = [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
    return ", ".join([platform.machine(), f"{os.cpu_count()} cores", *gpus, f"Python {platform.python_version()}"])

"""A description of the machine, to be stored with measurements."""

from __future__ import annotations

import os
import platform

import torch


def machine() -> str:
    """Return the processor architecture, the number of cores, the GPUs and the Python version, as one line of text."""
    gpus = [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
    return ", ".join([platform.machine(), f"{os.cpu_count()} cores", *gpus, f"Python {platform.python_version()}"])

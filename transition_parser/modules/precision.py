"""Devices and number formats, and models made ready to compute with them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from transition_parser.base.errors import InputError, input_error, shortened
from transition_parser.base.model_files import short_repr
from transition_parser.kernels.encoders import has_amx, has_fast_bf16, has_int8
from transition_parser.modules.contract import ParserModel
from transition_parser.modules.layers import pack, quantize

PRECISIONS = ("fp32", "bf16", "int8")


def checked_device(name: str) -> torch.device:
    """Return the torch device of this name. Raises `InputError` where the device can't be used on this machine."""
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).item()
    except (RuntimeError, AssertionError, ImportError) as error:  # a torch built without CUDA raises AssertionError
        problem = shortened(str(error).partition("\n")[0], 200)
        raise InputError(f"the device {name!r:.60} can't be used here: {problem}") from None
    return device


def checked_precision(name: str, device: torch.device) -> str:
    """Return the name of the precision; for `auto` the fastest one, but with AMX not int8, which was not measured."""
    if name == "auto":
        half = has_fast_bf16(device)
        if device.type == "cpu" and has_int8() and not (half and has_amx()):
            return "int8"
        return "bf16" if half else "fp32"
    if name not in PRECISIONS:
        raise InputError(f"unknown precision {name!r:.60}: give auto, {', '.join(PRECISIONS)}")
    if name == "int8" and not (device.type == "cpu" and has_int8()):
        raise InputError(
            "the precision int8 is for x86 processors with AVX2, and needs the library that gcc compiles: give bf16"
        )
    return name


def check_finite(weights: Mapping[str, Tensor], path: str | os.PathLike | None = None) -> None:
    """Raise `InputError` with the name of the first tensor that holds NaN or an infinite number."""
    for name, value in weights.items():
        # a finite sum has only finite terms, and summing takes a hundredth of the time of testing each term
        if not value.sum().isfinite() and not value.isfinite().all():
            kind = "NaN" if value.isnan().any() else "an infinite number"
            raise input_error(
                f"{short_repr(name)} holds {kind}: the training has diverged, or the file is damaged", path
            )


def prepared(model: ParserModel, device: torch.device, precision: str) -> ParserModel:
    """Make the model ready to compute, and return it."""
    packs = device.type == "cpu" and has_fast_bf16(device)
    model = model.to(device)
    if precision == "int8":
        quantize(model)
    if precision == "bf16" or (precision == "int8" and packs):
        model.to(torch.bfloat16)
        check_finite(model.state_dict())  # the largest numbers of fp32 are infinite there
    if packs and precision != "fp32":
        pack(model)
    for module in model.modules():
        if use_kernels := getattr(module, "use_kernels", None):
            use_kernels()
    return model


def to_device(device: torch.device, value: Any) -> Any:
    """Return nested dictionaries with their tensors on the device."""
    if isinstance(value, Mapping):
        return {name: to_device(device, inner) for name, inner in value.items()}
    return value.to(device) if isinstance(value, Tensor) else value

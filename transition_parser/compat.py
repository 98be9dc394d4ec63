"""Every work-around for fairseq and torch, and for what they do to others; nothing else."""

from __future__ import annotations

import argparse
import ctypes
import logging
import os
import warnings
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.ao.quantization import default_dynamic_qconfig


def allow_fairseq_checkpoints() -> None:
    """Lets `torch.load` read fairseq's checkpoints under its `weights_only` protection.

    torch ≥ 2.6 refuses every class that is not allow-listed; fairseq stores its arguments as an
    `argparse.Namespace` (a plain bag of values). Without this, resuming and `fairseq-generate` die.
    """
    torch.serialization.add_safe_globals([argparse.Namespace])


def quiet_penman() -> None:
    """Keeps penman from printing each token it reads: importing fairseq sets the level of all loggers to DEBUG.

    What penman warns of comes again as our errors.
    """
    logging.getLogger("penman").setLevel(logging.ERROR)


def keep_freed_memory() -> None:
    """Tells glibc to keep the memory of freed tensors for the next ones.

    By default it gives blocks of some MB back to the system at once, and gets them again page by page: for the
    scores over a large vocabulary that takes longer than computing them. Does nothing where there is no glibc.
    """
    if mallopt := _of_glibc("mallopt"):
        trim_threshold, mmap_max = -1, -4  # M_TRIM_THRESHOLD and M_MMAP_MAX of malloc.h
        mallopt(mmap_max, 0)
        mallopt(trim_threshold, 2**31 - 1)


def give_back_freed_memory() -> None:
    """Gives the system what `keep_freed_memory` kept: without this now and then, free blocks that fit nothing pile
    up. Does nothing where there is no glibc."""
    if malloc_trim := _of_glibc("malloc_trim"):
        malloc_trim(0)


def keep_few_kernels() -> None:
    """Limits oneDNN's cache of kernels, which holds one for each shape of each product: 1,024 of them take over 1 GB.
    Keeps a limit that the user has set; too late once oneDNN has computed.
    """
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "64")


def padded(rows: Tensor, step: int | None = None) -> Tensor:
    """(N, ...) with zeros behind up to a multiple of `step`; by default at most a sixteenth more (or 7).

    oneDNN makes a kernel for each shape of a product in bf16, which takes as long as some products, and keeps 0.2 to
    1 MB of it for ever, also when `keep_few_kernels` drops it: so let products have few numbers of rows.
    """
    count = rows.size(0)
    missing = -count % (step or max(2 ** (count.bit_length() - 5), 8))
    return F.pad(rows, (*(0, 0) * (rows.dim() - 1), 0, missing)) if missing else rows


def _of_glibc(name: str) -> Callable | None:
    try:
        return getattr(ctypes.CDLL(None), name)
    except (AttributeError, OSError, TypeError):  # another C library
        return None


def quantised(model: nn.Module) -> nn.Module:
    """A copy whose decoder layers have int8 weights, and quantise the inputs of linear layers call by call.

    The encoder is left as it is: it takes little time and cost accuracy (0.1 LAS). torch marks its own quantisation as
    deprecated in favour of the package torchao; that warning is not for our users.
    """
    names = [name for name, _ in _linear_in("decoder.layers", model)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", UserWarning)
        return torch.ao.quantization.quantize_dynamic(model, dict.fromkeys(names, default_dynamic_qconfig))


def pack(model: nn.Module) -> None:
    """Brings the weights of the layers of a model in bf16 into oneDNN's own order, which it does in each call
    otherwise."""
    for name, layer in _linear_in("encoder.layers", model) + _linear_in("decoder.layers", model):
        parent, _, last = name.rpartition(".")
        setattr(model.get_submodule(parent), last, _PackedLinear(layer))
    for layer in (*model.get_submodule("encoder.layers"), *model.get_submodule("decoder.layers")):
        inner, outer = layer.feed_forward.inner, layer.feed_forward.outer
        inner.activation = "relu"  # with the product
        layer.feed_forward = nn.Sequential(inner, outer)


class _PackedLinear(nn.Module):
    """What torch's own compiler makes of a linear layer on CPUs (`torch._inductor`): the operators are not public. It
    computes with few numbers of rows, see `padded`."""

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__()
        self.in_features, self.out_features, self.bias = layer.in_features, layer.out_features, layer.bias
        self.packed = torch.ops.mkldnn._reorder_linear_weight(layer.weight.detach(), None)
        self.activation = "none"

    def forward(self, x: Tensor) -> Tensor:
        if x.dim() > 2:
            return self.forward(x.flatten(0, -2)).unflatten(0, x.shape[:-1])
        rows = padded(x)
        found = torch.ops.mkldnn._linear_pointwise(rows, self.packed, self.bias, self.activation, [], "")
        return found if rows is x else found[: x.size(0)]


def _linear_in(part: str, model: nn.Module) -> list[tuple[str, nn.Linear]]:
    """Name and layer of the linear layers in this part of a model whose weights nobody else reads: not the keys of
    cross-attention, which state positions go through too."""
    return [
        (name, layer)
        for name, layer in model.named_modules()
        if isinstance(layer, nn.Linear) and name.startswith(part) and not name.endswith("cross_attention.key_value")
    ]


def has_fast_bf16(device: torch.device) -> bool:
    """True where the device multiplies bf16 matrices natively; elsewhere bf16 is emulated, and slow."""
    if device.type == "cpu":
        return bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())
    if device.type != "cuda":
        return False
    with torch.cuda.device(device):
        return torch.cuda.is_bf16_supported(including_emulation=False)

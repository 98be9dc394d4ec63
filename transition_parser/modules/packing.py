"""Linear layers made ready for parsing: without adapters, and on CPUs packed for bf16 or quantised to int8.

Layers are found by their type, whatever model they are in.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.ao.quantization import default_dynamic_qconfig

from transition_parser.modules.linear import padded, padded_size


def pack(model: nn.Module) -> None:
    """Bring the weights of the linear layers of a bf16 model into oneDNN's own order.

    Otherwise each call would bring them into that order. An activation that follows a linear layer is computed together
    with the product. A module asks for that by the attribute `activation`: `relu` or `gelu`, applied to the output of
    its layer `inner`. Once this function has set `activation_in_product` to True, the module must leave the activation
    to `inner`. The modules of BERT and its kin in transformers are recognised by the names of their attributes.
    """
    for parent in list(model.modules()):
        inner, activation = getattr(parent, "inner", None), getattr(parent, "activation", None)
        if type(inner) is nn.Linear and isinstance(activation, str) and not _is_read(inner):
            parent.inner, parent.activation_in_product = _PackedLinear(inner, activation), True
        dense, after = getattr(parent, "dense", None), getattr(parent, "intermediate_act_fn", None)
        if type(dense) is nn.Linear and after is not None and _is_gelu(after):
            parent.dense, parent.intermediate_act_fn = _PackedLinear(dense, "gelu"), nn.Identity()
        for name, layer in parent.named_children():
            if type(layer) is nn.Linear and not _is_read(layer):
                setattr(parent, name, _PackedLinear(layer))


def merge_adapters(model: nn.Module) -> None:
    """Merge low-rank adapters, by peft, into the weights that they adapt, so that parsing computes without adapters."""
    for parent in list(model.modules()):
        for name, layer in list(parent.named_children()):
            if hasattr(layer, "get_base_layer"):
                layer.merge()
                setattr(parent, name, layer.get_base_layer())


def quantised(model: nn.Module, part: str = "decoder") -> nn.Module:
    """Return a copy of a model whose `part` has int8 weights and quantises the inputs of linear layers at each call.

    The encoder stays as it is, because quantising it saved little time and cost accuracy (0.1 LAS). An encoder inside
    the decoder stays as it is, too; its attribute `reads_words` is True. torch marks its own quantisation as deprecated
    in favour of the package torchao; users don't see that warning.
    """
    decoder = model.get_submodule(part)
    readers = [module for module in decoder.modules() if getattr(module, "reads_words", False)]
    kept = {layer for reader in readers for layer in reader.modules()}
    names = [
        f"{part}.{name}"
        for name, layer in decoder.named_modules()
        if type(layer) is nn.Linear and layer not in kept and not _is_read(layer)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", UserWarning)
        return torch.ao.quantization.quantize_dynamic(model, dict.fromkeys(names, default_dynamic_qconfig))


def _is_gelu(activation: Callable[[Tensor], Tensor]) -> bool:
    """Return True for the exact GELU; its approximations have other formulas."""
    probe = torch.linspace(-4, 4, 99)
    return torch.equal(activation(probe), F.gelu(probe))


def _is_read(layer: nn.Module) -> bool:
    return getattr(layer, "weight_is_read", False)


class _PackedLinear(nn.Module):
    """A linear layer as torch's own compiler makes it on CPUs (`torch._inductor`), by operators that are not public.

    The layer computes with few different numbers of rows, see `padded`.
    """

    def __init__(self, layer: nn.Linear, activation: str = "none") -> None:
        super().__init__()
        self.in_features, self.out_features, self.bias = layer.in_features, layer.out_features, layer.bias
        self.packed = torch.ops.mkldnn._reorder_linear_weight(layer.weight.detach(), None)
        self.weight = layer.weight if getattr(layer, "plain_is_read_too", False) else None
        self.fused: tuple[str, list, str] = activation, [], "none" if activation == "gelu" else ""

    def forward(self, x: Tensor) -> Tensor:
        if x.dim() > 2:
            return self.forward(x.flatten(0, -2)).unflatten(0, x.shape[:-1])
        rows = _with_rows_behind(x)
        product = torch.ops.mkldnn._linear_pointwise(rows, self.packed, self.bias, *self.fused)
        return product if rows is x else product[: x.size(0)]


def _with_rows_behind(x: Tensor) -> Tensor:
    """Return x (N, …) with more rows, up to `padded_size`; the contents of the additional rows change no other row.

    The additional rows are the memory behind x where x is a part of a larger tensor, as products are; otherwise they
    are zeros.
    """
    size = padded_size(x.size(0))
    if size > x.size(0) and x.is_contiguous():
        end = (x.storage_offset() + size * x.stride(0)) * x.element_size()
        if end <= x.untyped_storage().nbytes():
            return x.as_strided((size, *x.shape[1:]), x.stride())
    return padded(x)


def has_fast_bf16(device: torch.device) -> bool:
    """Return True if the device multiplies bf16 matrices natively; elsewhere bf16 is emulated, and slow."""
    if device.type == "cpu":
        return bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())
    if device.type != "cuda":
        return False
    with torch.cuda.device(device):
        return torch.cuda.is_bf16_supported(including_emulation=False)

"""Linear layers of any model made ready for parsing: on CPUs packed for bf16 or quantized to int8."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transition_parser.kernels.encoders import LARGEST, Int8Product, Int8Weights, quantize_weights
from transition_parser.modules.layers import KEEP_RAW, KEEP_RAW_AND_PACK, KEEP_RAW_BESIDE_BF16, padded, padded_size

_NARROW = 32  # layers with fewer inputs or outputs take too little time to be quantized


def pack(model: nn.Module) -> None:
    """Bring the weights of the linear layers of a bf16 model into oneDNN's memory layout."""
    _replace_layers(model, _PackedLinear)


def quantize(model: nn.Module) -> None:
    """Give the linear layers of an fp32 model int8 weights, except narrow layers and those marked by `keep_weight`."""
    _replace_layers(model, Int8Linear, _NARROW)
    for module in model.modules():
        if use_int8 := getattr(module, "use_int8", None):
            use_int8()


def _replace_layers(model: nn.Module, make: Callable[[nn.Linear, str], nn.Module], narrowest: int = 0) -> None:
    """Replace wide linear layers, joined with their activations, by what `make` returns."""

    def replaces(layer: Any) -> bool:
        plain = type(layer) is nn.Linear and getattr(layer, "kept", None) != KEEP_RAW
        return plain and min(layer.in_features, layer.out_features) >= narrowest

    for module in list(model.modules()):
        if unfold := getattr(module, "unfold", None):
            unfold()
    for parent in list(model.modules()):
        inner, activation = getattr(parent, "inner", None), getattr(parent, "activation", None)
        if replaces(inner) and activation in ("relu", "gelu"):
            parent.inner, parent.activation_in_product = make(inner, activation), True
        dense, after = getattr(parent, "dense", None), getattr(parent, "intermediate_act_fn", None)
        probe = torch.linspace(-4, 4, 99)  # approximations of GELU have other formulas
        if replaces(dense) and after is not None and torch.equal(after(probe), F.gelu(probe)):
            parent.dense, parent.intermediate_act_fn = make(dense, "gelu"), nn.Identity()
        for name, layer in parent.named_children():
            if replaces(layer):
                setattr(parent, name, make(layer, "none"))


class _PackedLinear(nn.Module):
    """A linear layer with packed weights, computed by the private operators that `torch._inductor` uses on CPUs."""

    def __init__(self, layer: nn.Linear, activation: str = "none") -> None:
        super().__init__()
        self.in_features, self.out_features, self.bias = layer.in_features, layer.out_features, layer.bias
        self.packed = torch.ops.mkldnn._reorder_linear_weight(layer.weight.detach(), None)
        self.weight = (
            layer.weight if getattr(layer, "kept", None) in (KEEP_RAW_AND_PACK, KEEP_RAW_BESIDE_BF16) else None
        )
        self.fused: tuple[str, list, str] = activation, [], "none" if activation == "gelu" else ""

    def forward(self, x: Tensor) -> Tensor:
        if x.dim() > 2:
            return self.forward(x.flatten(0, -2)).unflatten(0, x.shape[:-1])
        rows, size = x, padded_size(x.size(0))
        if size > x.size(0):  # without a copy where memory follows x
            end = (x.storage_offset() + size * x.stride(0)) * x.element_size()
            follows = x.is_contiguous() and end <= x.untyped_storage().nbytes()
            rows = x.as_strided((size, *x.shape[1:]), x.stride()) if follows else padded(x)
        product = torch.ops.mkldnn._linear_pointwise(rows, self.packed, self.bias, *self.fused)
        return product if rows is x else product[: x.size(0)]


class Int8Linear(nn.Module):
    """A linear layer, by a kernel, with int8 weights (a scale for each output) and 8-bit inputs (one for each row)."""

    def __init__(self, layer: nn.Linear, activation: str = "none") -> None:
        super().__init__()
        self.in_features, self.out_features, self.activation = layer.in_features, layer.out_features, activation
        self.weight = layer.weight if getattr(layer, "kept", None) == KEEP_RAW_AND_PACK else None
        integers, largest = quantize_weights(layer.weight.detach().float())
        self.bias = torch.zeros(len(integers)) if layer.bias is None else layer.bias.detach().float()
        scale = largest[:, 0] / LARGEST**2  # a product has the scales of both factors
        self.int8 = Int8Weights(integers, scale, self.bias)
        self.product = Int8Product(self.int8)

    def forward(self, x: Tensor) -> Tensor:
        if x.dim() > 2:
            return self.forward(x.flatten(0, -2)).unflatten(0, x.shape[:-1])
        return self.product(x, self.activation)

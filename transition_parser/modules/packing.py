"""Linear layers made ready for parsing: without adapters, and on CPUs packed for bf16, or quantised to int8. Layers are
known by their type, whatever model they are in."""

from __future__ import annotations

import warnings

import torch
from torch import Tensor, nn
from torch.ao.quantization import default_dynamic_qconfig

from transition_parser.modules.layers import FeedForward
from transition_parser.modules.linear import padded


def pack(model: nn.Module) -> None:
    """Brings the weights of the linear layers of a model in bf16 into oneDNN's own order, which it does in each call
    otherwise."""
    for parent in list(model.modules()):
        if isinstance(parent, FeedForward) and not (_is_read(parent.inner) or _is_read(parent.outer)):
            parent.inner, parent.outer = _PackedLinear(parent.inner, "relu"), _PackedLinear(parent.outer)
            parent.relu_in_product = True
        for name, layer in parent.named_children():
            if type(layer) is nn.Linear and not _is_read(layer):
                setattr(parent, name, _PackedLinear(layer))


def merge_adapters(model: nn.Module) -> None:
    """Adds the products of low-rank adapters, by peft, to the weights that they adapt: parsing then computes without
    them."""
    for parent in list(model.modules()):
        for name, layer in list(parent.named_children()):
            if hasattr(layer, "get_base_layer"):
                layer.merge()
                setattr(parent, name, layer.get_base_layer())


def quantised(model: nn.Module, part: str = "decoder") -> nn.Module:
    """A copy whose `part` has int8 weights, and quantises the inputs of linear layers call by call.

    The encoder is left as it is: it takes little time and cost accuracy (0.1 LAS); so is what has an attribute
    `reads_words`, an encoder inside the decoder. torch marks its own quantisation as deprecated in favour of the
    package torchao; that warning is not for our users.
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


def _is_read(layer: nn.Module) -> bool:
    return getattr(layer, "weight_is_read", False)


class _PackedLinear(nn.Module):
    """What torch's own compiler makes of a linear layer on CPUs (`torch._inductor`): the operators are not public. It
    computes with few numbers of rows, see `padded`."""

    def __init__(self, layer: nn.Linear, activation: str = "none") -> None:
        super().__init__()
        self.in_features, self.out_features, self.bias = layer.in_features, layer.out_features, layer.bias
        self.packed = torch.ops.mkldnn._reorder_linear_weight(layer.weight.detach(), None)
        self.activation = activation

    def forward(self, x: Tensor) -> Tensor:
        if x.dim() > 2:
            return self.forward(x.flatten(0, -2)).unflatten(0, x.shape[:-1])
        rows = padded(x)
        product = torch.ops.mkldnn._linear_pointwise(rows, self.packed, self.bias, self.activation, [], "")
        return product if rows is x else product[: x.size(0)]


def has_fast_bf16(device: torch.device) -> bool:
    """True where the device multiplies bf16 matrices natively; elsewhere bf16 is emulated, and slow."""
    if device.type == "cpu":
        return bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())
    if device.type != "cuda":
        return False
    with torch.cuda.device(device):
        return torch.cuda.is_bf16_supported(including_emulation=False)

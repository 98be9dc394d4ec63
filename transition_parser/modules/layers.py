"""Layers: linear, dropout, attention with a mask for each head, query and key; pre-norm Transformer layers.

`pack` and `quantize` make the linear layers of any model ready for parsing on CPUs, in bf16 and int8.

Shapes: B sentences, P positions (words and root), H heads, T queries, S keys. Source: Vaswani et al. 2017
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from itertools import cycle
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transition_parser.kernels import encoders
from transition_parser.kernels.encoders import LARGEST, Int8Product, Int8Weights, quantize_weights


def linear(inputs: int, outputs: int) -> nn.Linear:
    """Return a linear layer with Xavier-initialized weights and zero biases."""
    layer = nn.Linear(inputs, outputs)
    nn.init.xavier_uniform_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer


def linear_of(weight: Tensor, bias: Tensor | None) -> nn.Linear:
    """Return a linear layer with this weight and bias, which are not trained any more."""
    layer = nn.Linear.__new__(nn.Linear)  # draws no weights, and `skip_init` would import sympy
    nn.Module.__init__(layer)
    layer.out_features, layer.in_features = weight.shape
    layer.weight = nn.Parameter(weight.detach(), False)
    layer.bias = None if bias is None else nn.Parameter(bias.detach(), False)
    return layer


KEEP_RAW = "raw"  # the layer is not packed
KEEP_RAW_AND_PACK = "raw and packed"  # the weight stays beside the packed weight, in bf16 and int8
KEEP_RAW_BESIDE_BF16 = "raw beside bf16"  # the weight stays beside the packed weight in bf16 alone


def keep_weight(layer: nn.Linear, how: str = KEEP_RAW) -> nn.Linear:
    """Mark a layer whose weight other code reads. `how`, one of the constants above, is for `pack` and `quantize`."""
    layer.kept = how
    return layer


def replace_layers(model: nn.Module, kind: type[nn.Module], make: Callable[[Any], nn.Module]) -> None:
    """Replace the layers of a class in a model by what `make` makes of them."""
    for parent in list(model.modules()):
        for name, layer in list(parent.named_children()):
            if type(layer) is kind:
                parent.add_module(name, make(layer))


FEW_ROWS = 8  # products of fewer rows are hardly faster, so selecting or padding rows does not pay


def padded_size(count: int) -> int:
    """Return at least `count`, rounded up above `FEW_ROWS`, because oneDNN makes a kernel for each shape in bf16."""
    return count if count <= FEW_ROWS else count + -count % max(2 ** (count.bit_length() - 5), 8)


def padded(rows: Tensor) -> Tensor:
    """Append zeros to `rows` (N, ...), up to `padded_size` rows."""
    missing = padded_size(rows.size(0)) - rows.size(0)
    # `cat` is faster than `F.pad`
    return torch.cat([rows, rows.new_zeros(missing, *rows.shape[1:])]) if missing else rows


def in_few_shapes(x: Tensor) -> bool:
    """Return True in training in bf16 on a CPU, where oneDNN makes a kernel for each number of rows of a product."""
    return x.is_cpu and torch.is_autocast_enabled("cpu")


def of_rows(layer: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """Return what a layer makes of each vector of x (..., d), with `padded` rows where `in_few_shapes` is true."""
    if not in_few_shapes(x):
        return layer(x)
    rows = x.flatten(0, -2)
    return layer(padded(rows))[: len(rows)].unflatten(0, x.shape[:-1])


def cheap_dropout(x: Tensor, p: float, training: bool) -> Tensor:
    """Return dropout of x. On CPUs, `p` is a multiple of 1/256, and one random number decides about eight elements."""
    if not training or p == 0.0:
        return x
    if x.device.type != "cpu":
        return F.dropout(x, p, True)
    dropped = max(1, round(p * 256))
    count = x.numel()
    draws = torch.empty((count + 7) // 8, dtype=torch.int64).random_(-(2**63), None)
    kept = draws.view(torch.uint8)[:count].view(x.shape) >= dropped
    return x * kept.to(x.dtype).mul_(256 / (256 - dropped))


class Dropout(nn.Module):
    """The function `cheap_dropout` as a layer; `whole` zeroes whole vectors (the last dimension)."""

    def __init__(self, p: float, whole: bool = False) -> None:
        super().__init__()
        self.p, self.whole = p, whole

    def forward(self, x: Tensor) -> Tensor:
        if not self.whole or not self.training or self.p == 0.0:
            return cheap_dropout(x, self.p, self.training)
        return x * cheap_dropout(torch.ones_like(x[..., :1]), self.p, True)


_AT_ONCE = 1 << 24  # the most scores that search computes at once; more queries are computed in groups


class HeadMask(NamedTuple):
    """An additive attention mask in which no row is −inf throughout."""

    bias: Tensor  # (B, H or 1, T or 1, S); 0 where a query may see a key, −inf elsewhere; all 0 if it sees none
    alive: Tensor | None = None  # (B, H or 1, T or 1, 1); 0 where no key is seen and the output is zero; None: all 1

    @classmethod
    def from_visible(cls, visible: Tensor) -> HeadMask:
        """Make a mask from a bool tensor of the shape of `bias`, which is True where a key may be seen."""
        alive = visible.any(-1, keepdim=True)
        bias = torch.zeros_like(visible, dtype=torch.float)
        return cls(bias.masked_fill_(alive & ~visible, float("-inf")), alive.float())


class Attention(nn.Module):
    """Multi-head attention."""

    def __init__(self, dim: int, heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.query = linear(dim, dim)
        self.key_value = linear(dim, 2 * dim)
        self.out = linear(dim, dim)

    def split(self, x: Tensor) -> Tensor:
        """Split (B, T, dim) into heads: (B, heads, T, dim / heads)."""
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def keys_values(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Return the keys and the values, each (B, heads, S, dim / heads), of `memory` (B, S, dim)."""
        keys, values = self.key_value(memory).chunk(2, -1)
        return self.split(keys), self.split(values)

    def attend(
        self, query: Tensor, keys: Tensor, values: Tensor, mask: HeadMask | None, causal: bool = False
    ) -> Tensor:
        """Return the projected mean of values, (B, T, dim), from split queries, keys and values."""
        bias = None if mask is None else mask.bias
        dropout = self.dropout if self.training else 0.0
        read = scaled_dot_product_attention(query, keys, values, bias, dropout, causal)
        if mask is not None and mask.alive is not None:
            read = read * mask.alive.to(read.dtype)
        return self.out(read.transpose(1, 2).flatten(2))

    def forward(self, x: Tensor, memory: Tensor, mask: HeadMask) -> Tensor:
        """Let x (B, T, dim) attend to memory (B, S, dim) and return (B, T, dim)."""
        return self.attend(self.split(self.query(x)), *self.keys_values(memory), mask)


def summed_exactly(x: Tensor) -> Tensor:
    """Convert x so that sums of products with x do not depend on the batch: bf16 on a CPU to fp64, others to fp32."""
    half = x.dtype is torch.bfloat16 and x.device.type == "cpu"
    return x.double() if half else x.to(torch.promote_types(x.dtype, torch.float))


def scaled_dot_product_attention(
    query: Tensor, keys: Tensor, values: Tensor, bias: Tensor | None = None, dropout: float = 0.0, causal: bool = False
) -> Tensor:
    """Compute attention; on CPUs by separate operations, as torch's fused kernel takes up to seven times as long."""
    dtype = query.dtype
    if query.device.type != "cpu":
        bias = None if bias is None else bias.to(dtype)
        return F.scaled_dot_product_attention(query, keys, values, bias, dropout, causal)
    if not torch.is_grad_enabled():  # search rounds each sum once, as kernels does
        at_once = max(_AT_ONCE // (keys.size(-2) * query[..., 0, 0].numel()), 1)
        if query.size(-2) > at_once and not causal:
            biases = [bias] if bias is None or bias.size(-2) == 1 else bias.split(at_once, -2)
            some = zip(query.split(at_once, -2), cycle(biases), strict=False)
            return torch.cat([scaled_dot_product_attention(q, keys, values, b, dropout) for q, b in some], -2)
        query, keys, values = summed_exactly(query), summed_exactly(keys), summed_exactly(values)
    elif dtype is torch.bfloat16:  # in fp32, where no kernel is made for each shape
        with torch.autocast("cpu", enabled=False):
            return scaled_dot_product_attention(query.float(), keys.float(), values.float(), bias, dropout, causal).to(
                dtype
            )
    scores = query * query.size(-1) ** -0.5 @ keys.transpose(-1, -2)
    if bias is not None:
        scores = scores + bias.to(scores.dtype)
    if causal:
        steps = scores.size(-1)
        later = torch.full((steps, steps), float("-inf"), dtype=scores.dtype).triu_(1)
        scores = scores + later
    # the softmax is in fp32 at least: in bf16 its sum over the keys is slower and less exact
    weights = cheap_dropout(scores.softmax(-1, dtype=torch.promote_types(scores.dtype, torch.float)), dropout, True)
    return (weights.to(values.dtype) @ values).to(dtype)


def sinusoids(first: int, count: int, dim: int, device: torch.device) -> Tensor:
    """Return the sinusoidal embeddings, (count, dim), of the positions first, first + 1, …"""
    size = max(1 << (first + count).bit_length(), 256)
    return _sinusoids(size, dim, device)[first : first + count]


@lru_cache(maxsize=16)
def _sinusoids(count: int, dim: int, device: torch.device) -> Tensor:
    half = dim // 2
    with torch.inference_mode(False), torch.no_grad():  # so that training can read a table that search has made
        frequency = torch.exp(torch.arange(half, device=device) * (-math.log(10000.0) / max(half - 1, 1)))
        angle = torch.arange(count, device=device)[:, None] * frequency
        return F.pad(torch.cat([angle.sin(), angle.cos()], 1), (0, dim % 2))


def gather_rows(x: Tensor, positions: Tensor) -> Tensor:
    """Return the rows (B, K, d) of x (B, P, d) at positions (B, K). `gather` would take ten times as long."""
    if positions.is_cpu and positions.numel():
        least, most = positions.aminmax()
        if least < 0 or most >= x.size(1):
            raise IndexError(f"positions {int(least)} to {int(most)} of {x.size(1)}")
    first = x.size(1) * torch.arange(len(x), device=x.device)
    return x.flatten(0, 1).index_select(0, (first[:, None] + positions).flatten()).unflatten(0, positions.shape)


class FeedForward(nn.Module):
    """Two linear layers with a ReLU between them, which `pack` may fuse (`activation`, `activation_in_product`)."""

    activation, activation_in_product = "relu", False

    def __init__(self, dim: int, inner: int, dropout: float) -> None:
        super().__init__()
        self.inner, self.outer = linear(dim, inner), linear(inner, dim)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        inner = self.inner(x)
        if not self.activation_in_product:
            inner = F.relu(inner) if inner.requires_grad else inner.relu_()
        return self.outer(self.dropout(inner))


class HiddenLayer(nn.Module):
    """Two linear layers with a ReLU between them; the widths of input, hidden layer and output may differ."""

    def __init__(self, inputs: int, width: int, outputs: int, dropout: float) -> None:
        super().__init__()
        self.inner, self.output, self.dropout = linear(inputs, width), linear(width, outputs), Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        return self.output(self.dropout(F.relu(self.inner(x))))


class LocalLayer(nn.Module):
    """A convolution over each word and its neighbors, added to it; `unfold` makes it the linear layer `inner`."""

    activation, activation_in_product = "relu", False

    def __init__(self, dim: int, dropout: float) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.mix = nn.Conv1d(dim, dim, 3, padding=1)
        self.inner: nn.Module | None = None
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, words: Tensor) -> Tensor:
        """Return x (B, P, dim) with the convolution added; `words` (B, P) is False at padding."""
        inner = self.norm(x) * words.unsqueeze(-1)
        if self.inner is None:
            return x + self.dropout(F.relu(self.mix(inner.transpose(1, 2))).transpose(1, 2))
        around = F.pad(inner, (0, 0, 1, 1))
        three = torch.cat([around[:, :-2], inner, around[:, 2:]], 2).flatten(0, 1)
        mixed = self.inner(padded(three))[: len(three)].view_as(x)
        return x + self.dropout(mixed if self.activation_in_product else F.relu(mixed))

    def unfold(self) -> None:
        """Move the convolution into a linear layer, which `pack` can replace. A second call does nothing."""
        if self.inner is None:  # the weight of a linear layer over three words, (dim, 3 dim)
            self.inner = linear_of(self.mix.weight.permute(0, 2, 1).flatten(1), self.mix.bias)


class EncoderLayer(nn.Module):
    """Self-attention and feed-forward over words; input and output are (B, P, dim)."""

    def __init__(
        self, dim: int, heads: int, inner: int, dropout: float, attention_dropout: float, relu_dropout: float
    ) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(dim) for _ in range(2))
        self.attention = Attention(dim, heads, attention_dropout)
        self.feed_forward = FeedForward(dim, inner, relu_dropout)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, mask: HeadMask) -> Tensor:
        inner = self.norms[0](x)
        x = x + self.dropout(self.attention(inner, inner, mask))
        return x + self.dropout(self.feed_forward(self.norms[1](x)))

    def infer(self, x: Tensor, first: Tensor, lengths: Tensor, longest: int) -> Tensor:
        """Return x (N, dim), the words of sentences one after another, changed in place, with attention by a kernel."""
        attention, inner = self.attention, self.norms[0](x)
        keys, values = attention.key_value(inner).chunk(2, 1)
        heads_read = encoders.self_attention(
            attention.query(inner), keys, values, attention.heads, first, lengths, longest
        )
        x.add_(attention.out(heads_read))
        return x.add_(self.feed_forward(self.norms[1](x)))


class Content(NamedTuple):
    """The keys and values of the items and indicators that H heads attend to in B sentences."""

    keys: Tensor  # (H, B, P, d)
    values: Tensor  # (H, B, P, d)
    key_indicators: Tensor  # (H, V, d)
    value_indicators: Tensor  # (H, V, d)

    def rows(self, sentences: Tensor) -> Content:
        return self._replace(keys=self.keys.index_select(1, sentences), values=self.values.index_select(1, sentences))

    def precise(self) -> Content:
        """Return the content ready for many steps: contiguous, and in fp32 at least."""
        return Content._make(summed_exactly(tensor).contiguous() for tensor in self)


def attend(query: Tensor, content: Content, index: Tensor, unseen: Tensor | None) -> Tensor:
    """Return the weighted mean of the values that each head reads, (H, B, T, d), without items that are `unseen`.

    Each step adds a learned vector, an indicator, to an item's key and value, but no tensor has a vector for each step
    and item: with key k_i, value x_i, weight a_i, vector s_v of indicator v, and w_v the sum of the weights of items
    with indicator v, q · (k_i + s_v) = q · k_i + q · s_v, and Σ_i a_i (x_i + s_v) = Σ_i a_i x_i + Σ_v w_v s_v.
    Source: Shaw et al. 2018; Mohammadshahi and Henderson 2020, eqs 3 and 4; Ji et al. 2021, eqs 1 and 2

    query: (H, B, T, d); index: the indicator of each item at each step, (H or 1, B, T or 1, P); unseen: bool, likewise
    """
    heads, batch, steps, _ = query.shape
    dtype = query.dtype
    if not torch.is_grad_enabled():  # search rounds each sum once
        query, content = summed_exactly(query), content.precise()
    query = query * query.size(-1) ** -0.5
    by_indicator = (query.flatten(1, 2) @ content.key_indicators.transpose(1, 2)).unflatten(1, (batch, steps))
    index = index.expand(heads, batch, steps, -1)
    scores = query @ content.keys.transpose(2, 3) + by_indicator.gather(3, index)
    if unseen is not None:
        scores = scores.masked_fill(unseen, float("-inf"))
    weights = scores.softmax(-1, dtype=torch.promote_types(scores.dtype, torch.float))
    of_indicator = torch.zeros_like(by_indicator, dtype=weights.dtype).scatter_add(3, index, weights)
    summed = (of_indicator.to(query.dtype).flatten(1, 2) @ content.value_indicators).unflatten(1, (batch, steps))
    return (weights.to(query.dtype) @ content.values + summed).to(dtype)


_NARROW = 32  # layers with fewer inputs or outputs take too little time to be quantized


def pack(model: nn.Module) -> None:
    """Bring the weights of the linear layers of a bf16 model into oneDNN's memory layout."""
    _make_ready(model, _PackedLinear)


def quantize(model: nn.Module) -> None:
    """Give the linear layers of an fp32 model int8 weights, except narrow layers and those marked by `keep_weight`."""
    _make_ready(model, Int8Linear, _NARROW)
    for module in model.modules():
        if use_int8 := getattr(module, "use_int8", None):
            use_int8()


def _make_ready(model: nn.Module, make: Callable[[nn.Linear, str], nn.Module], narrowest: int = 0) -> None:
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

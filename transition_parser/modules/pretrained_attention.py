"""Self-attention of pretrained encoders on CPUs by `search_kernels`, through the attention interface of `transformers`.

For sentences, torch's own function takes two to five times as long, and needs padding.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from transition_parser.kernels import search_kernels
from transition_parser.modules.attention import HeadMask, rounds_sums, scaled_dot_product_attention

FUSED = "sdpa"  # name in transformers of torch's scaled_dot_product_attention
KERNELS = "transition_parser"  # name in transformers of `_attend`
_NOT_FOR_US = ("position_bias", "cache", "softcap")  # arguments of FUSED that the kernels do not take
_IN_ROWS = ("bert",)  # types of encoders with the same results for a `PackedRow` as for padded batches


def register() -> None:
    """Register `KERNELS` as an attention of transformers."""
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS

    AttentionInterface.register(KERNELS, _attend)
    AttentionMaskInterface.register(KERNELS, ALL_MASK_ATTENTION_FUNCTIONS[FUSED])


class PackedRow(NamedTuple):
    """The pieces of S windows (`text.windows`) one after another, without padding between windows.

    ids: (1, N); the ids of the N pieces.
    positions: (1, N); the position of each piece in its window.
    ends: (S + 1,) int32; 0 and the end of each window. Pieces behind the last end are padding.
    longest: the number of pieces of the longest window.
    """

    ids: Tensor
    positions: Tensor
    ends: Tensor
    longest: int

    def read(self, network: nn.Module) -> list[Tensor]:
        """Return the hidden states, (N, hidden size), of each layer, the embeddings first.

        The attention of the network must be `KERNELS`.
        """
        windows = {"cu_seq_lens_q": self.ends, "max_length_q": self.longest}  # argument names of transformers
        read = network(input_ids=self.ids, position_ids=self.positions, output_hidden_states=True, **windows)
        return [states[0] for states in read.hidden_states]


def reads_rows(network: nn.Module, like: Tensor) -> bool:
    """Return True if a network can read a `PackedRow`; a network in training can't, because of its dropout.

    like: a tensor of the network's dtype, on its device.
    """
    config = network.config
    if config.model_type not in _IN_ROWS or config.is_decoder or network.training:
        return False
    if torch.is_autocast_enabled("cpu") and torch.get_autocast_dtype("cpu") is not torch.bfloat16:
        return False
    if getattr(config, "position_embedding_type", "absolute") != "absolute":
        return False
    return search_kernels.supports(like, config.hidden_size // config.num_attention_heads)


def _attend(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    **others: Any,
) -> tuple[Tensor, None]:
    """Return the output of attention, (B, T, H, d), of query, key and value (B, H, T, d), as transformers asks for it.

    The kernel is used where it computes the same as `FUSED`: without dropout, gradients and biases, where words see all
    words of their own sentence and no others. The arguments of a `PackedRow` (`cu_seq_lens_q`; B is 1) need the kernel:
    raises `ValueError` if it does not support them. Without the kernel, `modules.attention` computes bf16 on CPUs, so
    that results do not depend on the batch, and `FUSED` computes the rest.
    """
    sentences, heads, width, d = query.shape
    is_plain = (
        query.shape == key.shape == value.shape
        and query.dtype == key.dtype == value.dtype
        and (scaling is None or scaling == d**-0.5)
        and not (dropout or torch.is_grad_enabled() or any(others.get(name) is not None for name in _NOT_FOR_US))
    )
    ends, found = others.pop("cu_seq_lens_q", None), None
    longest = others.pop("max_length_q", width)
    if is_plain and search_kernels.supports(query, d):
        if ends is not None:
            found = ends[:-1], ends.diff()
        else:
            found = _sentences(query, attention_mask, _is_causal(module, others))
    if found is not None:
        rows = (x.transpose(1, 2).reshape(sentences * width, heads * d) for x in (query, key, value))
        queries, keys, values = rows
        first, lengths = found
        read = search_kernels.self_attention(queries, keys, values, heads, first, lengths, longest)
        return read.view(sentences, width, heads, d), None
    if ends is None and is_plain and rounds_sums(query) and _says_what_is_seen(attention_mask):
        bias = None if attention_mask is None else HeadMask.from_visible(attention_mask).bias
        causal = attention_mask is None and _is_causal(module, others)
        return scaled_dot_product_attention(query, key, value, bias, causal=causal).transpose(1, 2), None
    if ends is not None:
        raise ValueError(f"windows in a row of {query.dtype}, dropout {dropout}, cannot be read: see `reads_rows`")
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    options = {"dropout": dropout, "scaling": scaling, **others}
    return ALL_ATTENTION_FUNCTIONS[FUSED](module, query, key, value, attention_mask, **options)


def _is_causal(module: nn.Module, options: Mapping[str, Any]) -> bool:
    """Return True if, without a mask, words see only themselves and the words before them."""
    asked = options.get("is_causal")
    return bool(getattr(module, "is_causal", True) if asked is None else asked)


def _says_what_is_seen(mask: Tensor | None) -> bool:
    return mask is None or mask.dtype is torch.bool


def _sentences(query: Tensor, mask: Tensor | None, is_causal: bool) -> tuple[Tensor, Tensor] | None:
    """Return the index of each sentence's first word among B · T words, and its number of words, each (B,) int32.

    The result is None unless, by mask or `is_causal`, each word sees all words of its own sentence and no others.

    query: (B, H, T, d).
    mask: (B, 1, T, T) bool. None if words see all words or, with `is_causal`, no later words.
    """
    sentences, _, width, _ = query.shape
    if mask is None:
        lengths = None if is_causal else torch.full((sentences,), width, dtype=torch.int32)
    elif mask.dtype is not torch.bool or mask.shape != (sentences, 1, width, width):
        lengths = None
    else:
        lengths = mask[:, 0, 0].sum(1, dtype=torch.int32)
        seen = torch.arange(width) < lengths[:, None]
        if not torch.equal(mask[:, 0], seen[:, None].expand(-1, width, -1)):
            lengths = None
    return None if lengths is None else (width * torch.arange(sentences, dtype=torch.int32), lengths)

"""The compiled legality of actions on CPUs: `legality_kernels.c`.

The Python functions check types and shapes of tensors, and C checks the numbers. A tensor that does not fit raises
`ValueError`. Dimensions: V tokens of the action vocabulary, C columns (`ActionClass`), R rows (hypotheses).
"""

from __future__ import annotations

import ctypes
from typing import NamedTuple

import torch
from torch import Tensor

from transition_parser.kernels.guards import optional, raise_problem, require
from transition_parser.kernels.loader import POINTER, PROBLEM, SIZE, Signature, lazy_library

_FUNCTIONS: dict[str, Signature] = {
    "legal_anywhere": (PROBLEM, (SIZE, POINTER, SIZE, *(POINTER,) * 4)),
    "legality": (PROBLEM, (SIZE, POINTER, SIZE, *(POINTER,) * 2, SIZE, SIZE, *(POINTER,) * 2)),
}
_CONTEXT = 2  # the number of values that a context must have where there is a lexicon
_OF_TOKENS = ("column", "shift_word", "top_roles", "second_roles", "top_sorts", "second_sorts")
_NODES = 4  # in search, the number of further values in a context: the roles and sorts of two nodes
library = lazy_library("legality", _FUNCTIONS)


def supports(like: Tensor) -> bool:
    """Return True if the library is available and `like` is on the CPU."""
    return like.is_cpu and library() is not None


class VocabularyTensors(NamedTuple):
    """The action vocabulary of V tokens. `limited`, `offsets` and `tokens` are None without a lexicon.

    column: (V,) int64; the `ActionClass` of each token
    shift_word: (V,) int64; 0 for a plain SHIFT, k for a SHIFT labelled with the k-th word, −1 for other tokens
    top_roles: (V,) int64; the roles that each token gives the node on top of the stack, as bits
    second_roles: (V,) int64; the roles that each token gives the second node, as bits
    top_sorts: (V,) int64; the sorts that the node on top may not have where search takes the token, as bits
    second_sorts: (V,) int64; the sorts that the second node may not have where search takes the token, as bits
    limited: (V,) bool; True for the tokens that the lexicon limits
    offsets: (rows + 1,) int64; the index in `tokens` at which the tokens of each lexicon row begin
    tokens: (entries,) int64; the tokens that each lexicon row allows, row after row
    """

    column: Tensor
    shift_word: Tensor
    top_roles: Tensor
    second_roles: Tensor
    top_sorts: Tensor
    second_sorts: Tensor
    limited: Tensor | None = None
    offsets: Tensor | None = None
    tokens: Tensor | None = None


class _Vocabulary(ctypes.Structure):
    _fields_ = (
        *((name, SIZE) for name in ("size", "columns", "rows", "entries")),
        *((name, POINTER) for name in _OF_TOKENS),
        *((name, POINTER) for name in ("offsets", "tokens", "limited")),
    )


def legal_anywhere(vocabulary: VocabularyTensors, columns: Tensor, context: Tensor | None) -> Tensor:
    """Return all tokens that are legal in at least one row, and perhaps a few others, (U,) int64, in ascending order.

    columns: (R, C) bool; True for each `ActionClass` that is legal in a row
    context: (R, K) int64 or None; the K values of each row's context, see `DeviceTable.legality`
    """
    count = ctypes.c_int64()
    found = torch.empty_like(vocabulary.column)
    rows = _rows(vocabulary, columns, context)
    raise_problem(library().legal_anywhere(*rows, found.data_ptr(), ctypes.addressof(count)))
    return found[: count.value]


def legality(
    vocabulary: VocabularyTensors, columns: Tensor, context: Tensor | None, tokens: Tensor | None, compare_shifts: bool
) -> Tensor:
    """Return the legality of all V tokens, (R, V) float, or of U given tokens, (R, U); see `DeviceTable.legality`.

    columns: (R, C) bool; the legal columns
    context: (R, K) int64 or None; the K values of each row's context, see `DeviceTable.legality`
    tokens: (U,) int64, all different; None for all tokens
    compare_shifts: True to make SHIFTs illegal unless they name the word at the front of the buffer; False to make
        labelled SHIFTs illegal only where the root is at the front
    """
    size = len(vocabulary.column) if tokens is None else len(tokens)
    legal = torch.empty(len(columns), size)
    chosen = optional("tokens", tokens, torch.long, size)
    rows = _rows(vocabulary, columns, context)
    raise_problem(library().legality(*rows, compare_shifts, size, chosen, legal.data_ptr()))
    return legal


def _rows(vocabulary: VocabularyTensors, columns: Tensor, context: Tensor | None) -> tuple:
    """Return the leading arguments that the C functions `legal_anywhere` and `legality` share.

    Raises `ValueError` for a tensor that does not fit.
    """
    rows, count = columns.shape
    wide = 0 if context is None else context.shape[1]
    if vocabulary.limited is not None and wide < _CONTEXT:
        raise ValueError(
            f"context must have {_CONTEXT} columns or more, because the vocabulary has a lexicon; it has {wide}"
        )
    if _CONTEXT < wide < _CONTEXT + _NODES:
        raise ValueError(
            f"context must have {_CONTEXT} columns, or {_CONTEXT + _NODES} or more, with the roles and sorts of two "
            f"nodes; it has {wide}"
        )
    return (
        rows,
        ctypes.byref(as_c(vocabulary, count)),
        wide,
        require("columns", columns, torch.bool, rows, count),
        optional("context", context, torch.long, rows, wide),
    )


def as_c(vocabulary: VocabularyTensors, columns: int) -> _Vocabulary:
    """Return the vocabulary as C reads it. The tensors must outlive the result."""
    *_, limited, offsets, tokens = vocabulary
    size = len(vocabulary.column)
    words = [require(name, getattr(vocabulary, name), torch.long, size) for name in _OF_TOKENS]
    if limited is None or offsets is None or tokens is None:
        return _Vocabulary(size, columns, 0, 0, *words)
    return _Vocabulary(
        size, columns, len(offsets) - 1, len(tokens), *words, require("offsets", offsets, torch.long, len(offsets)),
        require("tokens", tokens, torch.long, len(tokens)), require("limited", limited, torch.bool, size),
    )  # fmt: skip

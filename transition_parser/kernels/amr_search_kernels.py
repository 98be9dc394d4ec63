"""The compiled search for the AMRs of sentences on CPUs: `amr_search_kernels.c`.

The Python functions check types and shapes of tensors, and C checks the numbers. A tensor that does not fit raises
`ValueError`. Tensors without a dtype are float or bfloat16.

Common dimensions: B sentences, P words of the longest sentence and its root, V actions, C columns (`ActionClass`), M
slots for nodes.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from transition_parser.kernels import amr_machine_kernels, legality_kernels, search_kernels
from transition_parser.kernels.amr_machine_kernels import COLUMNS, NODE, NUMBERS, Setting, width_of_context
from transition_parser.kernels.guards import optional, raise_problem, require
from transition_parser.kernels.legality_kernels import VocabularyTensors
from transition_parser.kernels.loader import FLOAT, INT, POINTER, PROBLEM, SIZE, Signature, lazy_library
from transition_parser.kernels.search_kernels import DecoderAsC, FoundDerivations, LayerStack

_FUNCTIONS: dict[str, Signature] = {
    "search_amrs": (PROBLEM, (*(POINTER,) * 4, INT, *(SIZE,) * 4, *(POINTER,) * 9)),
}
# The functions of other libraries that a step of search calls, in the order of `Parts` in C.
_PARTS = (
    (legality_kernels, ("legal_anywhere", "legality")),
    (amr_machine_kernels, ("stack_ranks", "buffer_ranks")),
    (search_kernels, ("decoder_layers", "add_and_normalise", "legal_scores", "best_continuations")),
    (amr_machine_kernels, ("take_amr_actions",)),
)
_KINDS = 2  # the groups of words that an attention head may be limited to: the stack, the buffer

library = lazy_library("amr_search", _FUNCTIONS)


def supports(like: Tensor) -> bool:
    """Return True if all libraries that search needs are available, and `like` is float or bfloat16 on the CPU."""
    parts = (kernels.library() for kernels, _ in _PARTS)
    return search_kernels.supports(like) and library() is not None and all(part is not None for part in parts)


class InitialRows(NamedTuple):
    """The state of each sentence before the first action, one row a sentence, as `take_actions` reads it.

    setting: the values that all rows share
    numbers: (B, 16) int64
    nodes: (B, M, 6) int64
    named: (B, 2, span) int64; None without limits of search
    columns: (B, C) bool; the legal columns
    context: (B, 2) int64, or (B, 6 + span) with `named`
    """

    setting: Setting
    numbers: Tensor
    nodes: Tensor
    named: Tensor | None
    columns: Tensor
    context: Tensor


class Prior(NamedTuple):
    """The numbers that a lexicon adds to scores: the fields of `SpanPrior` except `spans`."""

    offsets: Tensor
    tokens: Tensor
    values: Tensor


class Actions(NamedTuple):
    """The embeddings of actions, and what the lexicon adds to their scores.

    embedded: (V, dim); the input embedding of each action
    scale: the factor of the input embeddings
    output: (V, dim); the output embedding of each action
    end: the token before the first action
    prior: the lexicon's additions to scores; None to add nothing
    """

    embedded: Tensor
    scale: float
    output: Tensor
    end: int
    prior: Prior | None


class Attended(NamedTuple):
    """The inputs of cross-attention; see `cross_attention`.

    memories: (B, P, 2 dim) for each layer; keys and values of the words
    lengths: (B,) int32; the number of words of each sentence
    roles: (heads,) int32; 0 for heads that see the stack, 1 for the buffer, −1 for all words
    positions: (2, largest + 1, dim) for each layer; the vectors added to keys, by rank; all None to add nothing
    windows: how many words heads see from the top of the stack, and from the front of the buffer; 0 for all
    """

    memories: Sequence[Tensor]
    lengths: Tensor
    roles: Tensor
    positions: Sequence[Tensor | None]
    windows: tuple[int, int]


class _PartPointers(ctypes.Structure):
    _fields_ = tuple((name, POINTER) for _, names in _PARTS for name in names)


class _Network(ctypes.Structure):
    _fields_ = (
        ("layers", DecoderAsC),
        *((name, SIZE) for name in ("words", "stack_window", "buffer_window", "end", "lexicon_rows", "entries")),
        *((name, FLOAT) for name in ("scale", "norm_epsilon")),
        *(
            (name, POINTER)
            for name in (
                *("embedded", "sinusoids", "norm", "norm_bias", "output", "memories", "lengths"),
                *("offsets", "prior_tokens", "values"),
            )
        ),
    )


def search_amrs(
    rows: InitialRows,
    vocabulary: VocabularyTensors,
    actions: Actions,
    sinusoids: Tensor,
    stack: LayerStack,
    attended: Attended,
    beam: int,
) -> FoundDerivations:
    """Return the complete derivations that beam search finds with a decoder of the Stack-Transformer.

    sinusoids: (most, dim); the position vector of each step; a derivation has at most `most` actions
    stack: the layers of the decoder
    beam: the number of hypotheses that are kept for each sentence; 1 is greedy search
    """
    (sentences, slots, _), most, setting = rows.nodes.shape, len(sinusoids), rows.setting
    wide = width_of_context(setting, rows.named is not None)
    if beam < 1 or most < 1 or not slots:
        raise ValueError(f"beam, most and slots must be 1 or more; they are {beam}, {most} and {slots}")
    network, kept = _network(actions, sinusoids, stack, attended, (sentences, setting.words), len(vocabulary.column))
    setting.slots = slots
    parts = _PartPointers(*(_address(kernels, name) for kernels, names in _PARTS for name in names))
    found = FoundDerivations.empty(sentences, beam, most)
    problem = library().search_amrs(
        ctypes.byref(parts), ctypes.byref(network), ctypes.byref(setting),
        ctypes.byref(legality_kernels.as_c(vocabulary, COLUMNS)), torch.get_num_threads(), sentences, beam, most, wide,
        require("numbers", rows.numbers, torch.long, sentences, NUMBERS),
        require("nodes", rows.nodes, torch.long, sentences, slots, NODE),
        optional("named", rows.named, torch.long, sentences, 2, setting.span),
        require("columns", rows.columns, torch.bool, sentences, COLUMNS),
        require("context", rows.context, torch.long, sentences, wide),
        *(part.data_ptr() for part in found),
    )  # fmt: skip
    del kept
    raise_problem(problem)
    return found


def _network(
    actions: Actions,
    sinusoids: Tensor,
    stack: LayerStack,
    attended: Attended,
    size: tuple[int, int],
    vocabulary: int,
) -> tuple[_Network, tuple]:
    """Return the decoder as C reads it, and the arrays that the decoder points to, which the caller must keep.

    size: (B, P), the shape of the batch
    """
    dim, dtype, norm, prior = stack.dim, stack.dtype, stack.first_norm, actions.prior
    if not len(attended.memories) == len(attended.positions) == stack.layers:
        raise ValueError(f"there must be a memory and positions, or None, for each of {stack.layers} layers")
    first = attended.positions[0]
    largest = -1 if first is None else first.size(1) - 1
    if first is not None and largest < 0:
        raise ValueError(f"positions must have one vector at least, or be None; they are {tuple(first.shape)}")
    memories = (POINTER * stack.layers)(
        *(require("memory", memory, dtype, *size, 2 * dim) for memory in attended.memories)
    )
    positions = (POINTER * stack.layers)(
        *(optional("positions", part, dtype, _KINDS, largest + 1, dim) for part in attended.positions)
    )
    layers = stack.as_c(
        _KINDS, largest, require("roles", attended.roles, torch.int32, stack.heads), ctypes.addressof(positions)
    )
    lexicon, added = ((0, 0), (None,) * 3) if prior is None else search_kernels.prior_as_c(*prior, dtype)
    network = _Network(
        layers, size[1], *attended.windows, actions.end, *lexicon, actions.scale, norm.eps,
        require("embedded", actions.embedded, dtype, vocabulary, dim),
        require("sinusoids", sinusoids, dtype, len(sinusoids), dim), require("norm", norm.weight, dtype, dim),
        require("norm's bias", norm.bias, dtype, dim), require("output", actions.output, dtype, vocabulary, dim),
        ctypes.addressof(memories), require("lengths", attended.lengths, torch.int32, size[0]), *added,
    )  # fmt: skip
    return network, (memories, positions)


def _address(kernels: object, name: str) -> int | None:
    return ctypes.cast(getattr(kernels.library(), name), ctypes.c_void_p).value  # type: ignore[attr-defined]

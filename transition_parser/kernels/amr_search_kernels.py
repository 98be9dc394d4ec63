"""The compiled search for AMRs on CPUs: `amr_search_kernels.c`.

Every tensor that C reads is checked. The Python functions check types and shapes, and C checks the numbers as it reads
them. A tensor that does not fit raises `ValueError`.

Common dimensions: B sentences, P words of the longest sentence and its root, V actions.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from transition_parser.kernels import amr_machine_kernels, legality_kernels, search_kernels
from transition_parser.kernels.amr_machine_kernels import Setting
from transition_parser.kernels.guards import optional, raise_problem, require
from transition_parser.kernels.legality_kernels import VocabularyTensors
from transition_parser.kernels.loader import FLOAT, POINTER, PROBLEM, SIZE, Signature, lazy_library
from transition_parser.kernels.search_kernels import FoundDerivations, LayerStack

_FUNCTIONS: dict[str, Signature] = {
    "search_amrs": (PROBLEM, (*(POINTER,) * 4, *(SIZE,) * 4, *(POINTER,) * 9)),
}
# The functions of other libraries that compute the parts of a step, in the order of `Parts` in C.
_PARTS = (
    (legality_kernels, ("legal_anywhere", "legality")),
    (amr_machine_kernels, ("stack_ranks", "buffer_ranks")),
    (search_kernels, ("decoder_layers", "add_and_normalise", "legal_scores", "best_continuations")),
    (amr_machine_kernels, ("take_amr_actions",)),
)
_KINDS = 2  # the kinds of heads that see the parser state, of the stack and of the buffer

library = lazy_library("amr_search", _FUNCTIONS)


def supports(like: Tensor) -> bool:
    """Return True if all libraries are available that search needs, and can compute with tensors like this one."""
    parts = (kernels.library() for kernels, _ in _PARTS)
    return search_kernels.supports(like) and library() is not None and all(part is not None for part in parts)


class Rows(NamedTuple):
    """The rows of a batch before the first action, one for each sentence; see `take_actions`.

    setting: the values that all rows share
    numbers: (B, fields)
    nodes: (B, M, fields)
    named: (B, 2, span); None without limits
    columns: (B, C) bool
    context: (B, K)
    """

    setting: Setting
    numbers: Tensor
    nodes: Tensor
    named: Tensor | None
    columns: Tensor
    context: Tensor


class Prior(NamedTuple):
    """A lexical prior; see `SpanPrior`.

    offsets: (rows + 1,) int64
    tokens: (K,) int64
    values: (K,) of the type of the network
    """

    offsets: Tensor
    tokens: Tensor
    values: Tensor


class Actions(NamedTuple):
    """The vectors of actions.

    embedded: (V, dim); of actions as inputs
    scale: what they are multiplied by
    output: (V, dim); of actions as outputs
    end: the token before the first action
    prior: what a lexicon adds to the scores; None to add nothing
    """

    embedded: Tensor
    scale: float
    output: Tensor
    end: int
    prior: Prior | None


class Attended(NamedTuple):
    """What the heads of cross-attention see; see `cross_attention`.

    memories: (B, P, 2 dim) for each layer
    lengths: (B,) int32
    roles: (heads,) int32; 0 for heads that see the stack, 1 for the buffer, −1 for all words
    positions: (2, largest + 1, dim) for each layer, or None
    window: heads see so many ranks of the stack, and 2 of the buffer; 0 for all
    """

    memories: Sequence[Tensor]
    lengths: Tensor
    roles: Tensor
    positions: Sequence[Tensor | None]
    window: int


class _Parts(ctypes.Structure):
    _fields_ = tuple((name, POINTER) for _, names in _PARTS for name in names)


class _Network(ctypes.Structure):
    _fields_ = (
        *(
            (name, SIZE)
            for name in (
                *("half", "dim", "heads", "inner", "layers", "window", "largest", "end"),
                *("lexicon_rows", "entries"),
            )
        ),
        *((name, FLOAT) for name in ("scale", "norm_epsilon")),
        *(
            (name, POINTER)
            for name in (
                *("embedded", "sinusoids", "norm", "norm_bias", "output", "weights", "epsilons", "memories"),
                *("positions", "lengths", "roles", "offsets", "named", "values"),
            )
        ),
    )


def search_amrs(
    rows: Rows,
    vocabulary: VocabularyTensors,
    actions: Actions,
    sinusoids: Tensor,
    stack: LayerStack,
    attended: Attended,
    beam: int,
) -> FoundDerivations:
    """Return the complete derivations that beam search finds with a decoder of the Stack-Transformer.

    sinusoids: (most, dim); the vector of each step; a derivation has at most so many actions
    stack: the layers of the decoder
    beam: the number of hypotheses kept for each sentence
    """
    (sentences, fields), columns, context = rows.numbers.shape, rows.columns, rows.context
    slots, words, most = rows.nodes.shape[1], rows.setting.words, len(sinusoids)
    if beam < 1 or most < 1 or not slots or len(attended.memories) != stack.layers:
        raise ValueError("beam, most and slots must be 1 or more, and there must be a memory for each layer")
    network, kept = _network(actions, sinusoids, stack, attended, sentences, words, len(vocabulary.column))
    rows.setting.slots = slots
    parts = _Parts(*(_address(kernels, name) for kernels, names in _PARTS for name in names))
    found = FoundDerivations.empty(sentences, beam, most)
    problem = library().search_amrs(
        ctypes.byref(parts), ctypes.byref(network), ctypes.byref(rows.setting),
        ctypes.byref(legality_kernels.as_c(vocabulary, columns.shape[1])), sentences, beam, most, context.shape[1],
        require("numbers", rows.numbers, torch.long, sentences, fields),
        require("nodes", rows.nodes, torch.long, sentences, slots, rows.nodes.shape[2]),
        optional("named", rows.named, torch.long, sentences, 2, rows.setting.span),
        require("columns", columns, torch.bool, sentences, columns.shape[1]),
        require("context", context, torch.long, sentences, context.shape[1]),
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
    sentences: int,
    words: int,
    vocabulary: int,
) -> tuple[_Network, tuple]:
    """Return the decoder as C reads it, and what must live as long."""
    dim, dtype, norm, prior = stack.dim, stack.dtype, stack.first_norm, actions.prior
    largest = -1 if attended.positions[0] is None else attended.positions[0].size(1) - 1
    memories = (POINTER * stack.layers)(
        *(require("memory", memory, dtype, sentences, words, 2 * dim) for memory in attended.memories)
    )
    positions = (POINTER * stack.layers)(
        *(optional("positions", part, dtype, _KINDS, largest + 1, dim) for part in attended.positions)
    )
    lexicon = (0, 0) if prior is None else (len(prior.offsets) - 1, len(prior.tokens))
    added = (None,) * 3
    if prior is not None:
        added = (
            require("offsets", prior.offsets, torch.long, len(prior.offsets)),
            require("prior", prior.tokens, torch.long, len(prior.tokens)),
            require("values", prior.values, dtype, len(prior.tokens)),
        )
    network = _Network(
        search_kernels.HALF[dtype], dim, stack.heads, stack.inner, stack.layers, attended.window, largest,
        actions.end, *lexicon, actions.scale, norm.eps,
        require("embedded", actions.embedded, dtype, vocabulary, dim),
        require("sinusoids", sinusoids, dtype, len(sinusoids), dim), require("norm", norm.weight, dtype, dim),
        require("norm's bias", norm.bias, dtype, dim), require("output", actions.output, dtype, vocabulary, dim),
        ctypes.addressof(stack.weights), ctypes.addressof(stack.epsilons), ctypes.addressof(memories),
        ctypes.addressof(positions), require("lengths", attended.lengths, torch.int32, sentences),
        require("roles", attended.roles, torch.int32, stack.heads), *added,
    )  # fmt: skip
    return network, (memories, positions)


def _address(kernels: object, name: str) -> int | None:
    return ctypes.cast(getattr(kernels.library(), name), ctypes.c_void_p).value  # type: ignore[attr-defined]

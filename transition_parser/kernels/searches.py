"""The compiled searches for dependency trees and for AMRs, with their machines, and replay, on CPUs.

Tensors without a dtype are float or bfloat16. Common dimensions: B sentences, P positions (the words of the longest
sentence, and the root or `</s>`), F features of a word, V tokens of the action vocabulary, C columns (`ActionClass`),
T actions.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from transition_parser.kernels import loader
from transition_parser.kernels.encoders import FloatWeights
from transition_parser.kernels.loader import BLOCK, FLOAT, HALF, POINTER, SIZE, optional, require, supports

_SITUATIONS, _EFFECT = 256, 8  # the numbers of situations (`situation_of` in tree_machine.h) and of fields of an effect


class TreeMachine(NamedTuple):
    """The machine of a system of dependency trees, as `search_trees` reads it."""

    column: Tensor  # (V,) int64; the `ActionClass` of each token
    effects: Tensor  # (C, 8) int64; the `Effect` of each column
    legal: Tensor  # (256, C) bool; the legal columns for each set of facts (`tree_system.Fact`)
    swaps_per_word: int  # how many SWAPs a sentence may take for each word


class FoundDerivations(NamedTuple):
    """The final derivations of a batch; the derivations of a sentence are in the order in which they became final."""

    counts: Tensor  # (B,) int64; the number of derivations of each sentence, at most twice the beam
    steps: Tensor  # (B, 2 beam) int64; the number of actions of each derivation
    actions: Tensor  # (B, 2 beam, most) int32; the tokens; 0 after the last one
    added: Tensor  # (B, 2 beam, most) float; the log-probability of each action; 0 after the last one

    @classmethod
    def empty(cls, sentences: int, beam: int, most: int) -> FoundDerivations:
        """Return tensors of zeros for derivations of at most `most` actions."""
        return cls(
            torch.zeros(sentences, dtype=torch.long), torch.zeros(sentences, 2 * beam, dtype=torch.long),
            torch.zeros(sentences, 2 * beam, most, dtype=torch.int32), torch.zeros(sentences, 2 * beam, most),
        )  # fmt: skip


def search_trees(
    words: Tensor,
    bias: Tensor,
    output: nn.Linear,
    ranks: Sequence[int],
    lengths: Tensor,
    machine: TreeMachine,
    beam: int,
    most: int,
) -> FoundDerivations:
    """Return the final derivations that beam search finds with scores = W max(0, sum of words at places + bias) + b.

    words: (B, P, places, width) float; the vector that each word adds if it is at each place
    ranks: for each place, k for the k-th word from the top of the stack, −k for the k-th word of the buffer
    """
    (count, positions, places, width), dtype, (tokens, _) = words.shape, output.weight.dtype, output.weight.shape
    if beam < 1 or most < 1 or not supports(output.weight, width):
        raise ValueError(f"beam and most must be 1 or more, and rows of the weight of a multiple of {BLOCK} numbers")
    columns = len(machine.effects)
    found = FoundDerivations.empty(count, beam, most)
    plain_bias, token_bias, order = bias.float(), output.bias.float(), torch.tensor(ranks)
    loader.library().search_trees(
        HALF[dtype], torch.get_num_threads(), count, positions, places, width, tokens, columns, beam,
        machine.swaps_per_word, most, require("words", words, torch.float, count, positions, places, width),
        require("bias", plain_bias, torch.float, width), require("weight", output.weight, dtype, tokens, width),
        require("token_bias", token_bias, torch.float, tokens), require("ranks", order, torch.long, places),
        require("lengths", lengths, torch.long, count), require("column", machine.column, torch.long, tokens),
        require("effects", machine.effects, torch.long, columns, _EFFECT),
        require("legal", machine.legal, torch.bool, _SITUATIONS, columns), *(part.data_ptr() for part in found),
    )  # fmt: skip
    return found


def replay_derivation(
    token: Tensor, log_prob: Tensor, words: int, column: Tensor, relation: Tensor, effects: Tensor, attach: Tensor
) -> tuple[list[int], list[int], list[float]]:
    """Return the head and the relation of each word that a derivation builds, and the log-probability of each head.

    Words count from 0, and the root is after the last word; −1 and 0 stand for no head and no relation.
    """
    if words < 1:
        raise ValueError(f"words must be 1 or more, not {words}")
    steps, tokens, columns = len(token), len(column), len(effects)
    built, room = torch.empty(2, words + 1, dtype=torch.long), torch.empty(2, words + 2, dtype=torch.long)
    sums = torch.empty(words + 1, dtype=torch.double)
    loader.library().replay_derivation(
        steps, words, tokens, columns, require("token", token, torch.long, steps),
        require("log_prob", log_prob, torch.double, steps), require("column", column, torch.long, tokens),
        require("relation", relation, torch.long, tokens), require("effects", effects, torch.long, columns, _EFFECT),
        require("attach", attach, torch.long, _SITUATIONS), room.data_ptr(), built.data_ptr(), sums.data_ptr(),
    )  # fmt: skip
    heads, relations = built.tolist()
    return heads[:-1], relations[:-1], sums.tolist()[:-1]


# --- AMRs -------------------------------------------------------------------------------------


_COLUMNS, _NUMBERS, _NODE = 21, 16, 6  # `COLUMNS`, and the numbers of fields of `AmrRow` and of `AmrNode`
_FIRST_SPAN = 7  # the number of features of a word before the features of the spans that end with the word
_MOST_ARCS = 64  # `MOST_ARCS`
_KINDS = 2  # the groups of words that an attention head may be limited to: the stack, the buffer
_OF_TOKENS = ("column", "shift_word", "top_roles", "second_roles", "new_roles")
_OF_TOKENS += ("route", "sense", "new_sort", "top_sorts", "second_sorts")


class _Table(ctypes.Structure):
    """A `DeviceTable`, features (B, P, F), the number of positions, and the most nodes of a span: `AmrTable` in C."""

    _fields_ = (
        *((name, SIZE) for name in ("vocabulary", "lexicon_rows", "entries", "lemmas", "senses", "labeled")),
        *((name, SIZE) for name in ("sentences", "width", "fields", "words", "span")),
        *((name, POINTER) for name in (*_OF_TOKENS, "lacked", "offsets", "listed", "limited", "features")),
        *((name, POINTER) for name in ("groups", "group_begin", "frame_classes", "token_classes")),
    )

    def __init__(self, table: Any, features: Tensor, words: int, span: int, frames: bool) -> None:
        (sentences, width, fields), vocabulary = features.shape, len(table.column)
        if not (0 < words <= width and fields > _FIRST_SPAN and span >= 0):
            raise ValueError(
                f"words must be from 1 to {width}, span 0 or more, and the features more than {_FIRST_SPAN}"
            )
        offsets, listed, limited = table.lexicon.offsets, table.lexicon.tokens, table.limited
        groups, begin = torch.empty(vocabulary, dtype=torch.long), torch.empty(2 * _COLUMNS + 1, dtype=torch.long)
        of_frames, of_tokens = table.frame_classes if frames else (None, None)
        self._kept = features, offsets, listed, limited, groups, begin, of_frames, of_tokens
        super().__init__(
            vocabulary, len(offsets) - 1, len(listed), *table.lacked.shape, table.labeled_shift,
            sentences, width, fields, words, span,
            *(require(name, getattr(table, name), torch.long, vocabulary) for name in _OF_TOKENS),
            require("lacked", table.lacked, torch.long, *table.lacked.shape),
            require("offsets", offsets, torch.long, len(offsets)), require("lexicon", listed, torch.long, len(listed)),
            require("limited", limited, torch.bool, vocabulary),
            require("features", features, torch.long, *features.shape), groups.data_ptr(), begin.data_ptr(),
            optional("frame_classes", of_frames, torch.long, *table.lacked.shape),
            optional("token_classes", of_tokens, torch.long, vocabulary),
        )  # fmt: skip


def unroll_amrs(
    table: Any, features: Tensor, rows: Tensor, actions: Tensor, ranks: bool, frames: bool
) -> tuple[Tensor, Tensor, Tensor | None, Tensor | None, Tensor | None]:
    """Return the legal columns, the context, the ranks and the frames before each action, outside search; see `States`.

    table: a `DeviceTable`
    features: (B, P, F) int64; see `ActionTable.features`
    rows: (B, 16) int64; the rows before the first action, see `Rows`
    actions: (B, T) int64; the last one is not taken, and an illegal action changes nothing
    ranks, frames: False to return None for them
    """
    batch, steps = actions.shape
    words, nodes = int(rows[:, 1].max()) + 1, int(rows[:, 14].max())
    as_c = _Table(table, features, words, nodes, frames)
    memory = torch.empty(nodes + 1, _NODE, dtype=torch.long)
    columns = torch.empty(batch, steps, _COLUMNS, dtype=torch.bool)
    context = torch.empty(batch, steps, 2, dtype=torch.long)
    found = [torch.empty(batch, steps, words, dtype=torch.int16) for _ in range(2)] if ranks else [None, None]
    found.append(torch.empty(batch, steps, 2, dtype=torch.int16) if frames else None)
    loader.library().unroll_amrs(
        ctypes.byref(as_c), steps, memory.data_ptr(), require("rows", rows, torch.long, len(features), _NUMBERS),
        require("actions", actions, torch.long, len(features), steps), columns.data_ptr(), context.data_ptr(),
        *(None if part is None else part.data_ptr() for part in found),
    )  # fmt: skip
    stack, buffer, of_frames = found
    return columns, context, stack, buffer, of_frames


class LayerStack:
    """The weights of all layers of a decoder, as `search_amrs` reads them. Copies and pickles of it are None.

    linears: seven linear layers for each decoder layer, each with a weight or with a `product` of integers (`int8`):
        keys and values, query, and output of self-attention; query and output of cross-attention; both of feed-forward
    norms: three norms for each decoder layer: before cross-attention, before feed-forward, and after the layer

    Raises `ValueError` for layers that the kernel can't read.
    """

    def __init__(
        self,
        linears: Sequence[Sequence[Any]],
        norms: Sequence[Sequence[nn.LayerNorm]],
        first_norm: nn.LayerNorm,
        heads: int,
    ) -> None:
        self.first_norm = first_norm
        like, self.dim, self.heads, self.layers = first_norm.weight, len(first_norm.weight), heads, len(linears)
        self.dtype, self.inner = like.dtype, len(linears[0][-2].bias)
        if not supports(like, self.dim // heads) or self.dim % heads or self.inner % BLOCK:
            raise ValueError(f"heads and feed-forward must be of a multiple of {BLOCK} numbers")
        dim, inner = self.dim, self.inner
        shapes = ((2 * dim, dim), *((dim, dim),) * 4, (inner, dim), (dim, inner))
        parts = [pair for of_layer in linears for pair in zip(of_layer, shapes, strict=True)]
        if len({getattr(part, "product", None) is None for part, _ in parts}) > 1:
            raise ValueError("the weights of all layers must be integers, or none of them")
        self._products = [self._product(part, *shape) for part, shape in parts]
        self._norms = [part.detach() for three in norms for norm in three for part in (norm.weight, norm.bias)]
        self.products = (POINTER * len(self._products))(*(ctypes.addressof(one.as_c) for one in self._products))
        self.norms = (POINTER * len(self._norms))(*(require("norm", one, self.dtype, dim) for one in self._norms))
        self.epsilons = (FLOAT * (3 * self.layers))(*(norm.eps for three in norms for norm in three))

    def __reduce__(self) -> tuple:
        return type(None), ()

    def _product(self, linear: Any, outputs: int, inputs: int) -> Any:
        product = getattr(linear, "product", None)
        if product is not None:
            product.address(outputs, inputs)  # raises an error for wrong sizes
            return product
        require("weight", linear.weight, self.dtype, outputs, inputs)
        require("bias", linear.bias, self.dtype, outputs)
        return FloatWeights(linear.weight.detach(), linear.bias.detach())


class Prior(NamedTuple):
    """The numbers that a lexicon adds to the scores of actions that may name the current span, row after row."""

    offsets: Tensor  # (rows + 1,) int64; the index in `tokens` at which the tokens of each lexicon row begin
    tokens: Tensor  # (K,) int64
    values: Tensor  # (K,); the number that is added to the score of each token


class Functions(NamedTuple):
    """Scores that A arcs get by the functions of their roles, given the frames of the nodes that they lead from."""

    tokens: Tensor  # (A,) int64
    places: Tensor  # (A,) int64; 0 for arcs that lead from the node on top, 1 for those from the second node
    rows: Tensor  # (classes of frames, A) int64; a row of `weight` plus 1; 0 for none
    weight: Tensor  # (rows, dim); its product with the output of the decoder is added


class Actions(NamedTuple):
    """The embeddings of actions, and what lexicon and frames add to their scores."""

    embedded: Tensor  # (V, dim); the input embedding of each action
    scale: float  # the factor of the input embeddings
    output: Tensor  # (V, dim); the output embedding of each action
    end: int  # the token before the first action
    prior: Prior | None
    functions: Functions | None


class Attended(NamedTuple):
    """The words that the decoder attends to."""

    memories: Sequence[Tensor]  # (B, P, 2 dim) for each layer; keys and values of the words
    lengths: Tensor  # (B,) int32; the number of words of each sentence
    roles: Tensor  # (heads,) int32; 0 for heads that see the stack, 1 for the buffer, −1 for all words
    positions: Sequence[Tensor | None]  # (2, largest + 1, dim) for each layer; added to keys by rank; or all None
    windows: tuple[int, int]  # how many words heads see from the top of the stack, and from the front; 0 for all


class _Network(ctypes.Structure):
    _fields_ = (
        *((name, SIZE) for name in ("half", "heads", "d", "inner", "layers", "largest", "words", "stack", "buffer")),
        *((name, SIZE) for name in ("end", "prior_rows", "entries", "arcs", "frames", "functions")),
        *((name, FLOAT) for name in ("scale", "norm_epsilon")),
        *((name, POINTER) for name in ("products", "norms", "epsilons", "roles", "positions")),
        *((name, POINTER) for name in ("embedded", "sinusoids", "norm", "norm_bias", "output", "memories", "lengths")),
        *((name, POINTER) for name in ("offsets", "prior_tokens", "values")),
        *((name, POINTER) for name in ("arc_tokens", "places", "rows", "of_functions")),
    )

    def __init__(
        self, actions: Actions, sinusoids: Tensor, stack: LayerStack, attended: Attended, size: tuple[int, int]
    ) -> None:
        dim, dtype, norm, layers = stack.dim, stack.dtype, stack.first_norm, stack.layers
        vocabulary = len(actions.output)
        first = attended.positions[0]
        largest = -1 if first is None else first.size(1) - 1
        if first is not None and largest < 0:
            raise ValueError(f"positions must have one vector at least, or be None; they are {tuple(first.shape)}")
        if not len(attended.memories) == len(attended.positions) == layers:
            raise ValueError(f"there must be a memory and positions, or None, for each of {layers} layers")
        memories = [require("memory", memory, dtype, *size, 2 * dim) for memory in attended.memories]
        positions = [optional("positions", one, dtype, _KINDS, largest + 1, dim) for one in attended.positions]
        self._kept = (POINTER * layers)(*memories), (POINTER * layers)(*positions), stack
        lexicon: tuple = (0, 0, None, None, None)
        if actions.prior is not None:
            (*_, values), rows, entries = actions.prior, len(actions.prior.offsets) - 1, len(actions.prior.tokens)
            lexicon = (
                rows, entries, require("offsets", actions.prior.offsets, torch.long, rows + 1),
                require("prior", actions.prior.tokens, torch.long, entries), require("values", values, dtype, entries),
            )  # fmt: skip
        functions: tuple = (0, 0, 0, None, None, None, None)
        if actions.functions is not None:
            tokens, places, rows, weight = actions.functions
            arcs = len(tokens)
            if arcs > _MOST_ARCS:
                raise ValueError(f"the scores of at most {_MOST_ARCS} arcs may depend on frames, not of {arcs}")
            functions = (
                arcs, len(rows), len(weight), require("tokens", tokens, torch.long, arcs),
                require("places", places, torch.long, arcs), require("rows", rows, torch.long, len(rows), arcs),
                require("weight", weight, dtype, len(weight), dim),
            )  # fmt: skip
        super().__init__(
            HALF[dtype], stack.heads, dim // stack.heads, stack.inner, layers, largest, size[1], *attended.windows,
            actions.end, *lexicon[:2], *functions[:3], actions.scale, norm.eps, ctypes.addressof(stack.products),
            ctypes.addressof(stack.norms), ctypes.addressof(stack.epsilons),
            require("roles", attended.roles, torch.int32, stack.heads), ctypes.addressof(self._kept[1]),
            require("embedded", actions.embedded, dtype, vocabulary, dim),
            require("sinusoids", sinusoids, dtype, len(sinusoids), dim), require("norm", norm.weight, dtype, dim),
            require("norm's bias", norm.bias, dtype, dim), require("output", actions.output, dtype, vocabulary, dim),
            ctypes.addressof(self._kept[0]), require("lengths", attended.lengths, torch.int32, size[0]), *lexicon[2:],
            *functions[3:],
        )  # fmt: skip


def search_amrs(
    table: Any,
    features: Tensor,
    rows: Tensor,
    span: int,
    actions: Actions,
    sinusoids: Tensor,
    stack: LayerStack,
    attended: Attended,
    beam: int,
) -> FoundDerivations:
    """Return the complete derivations that beam search finds with a decoder of the Stack-Transformer.

    table, features, rows: see `unroll_amrs`
    span: the largest number of nodes of a span
    sinusoids: (most, dim); the position vector of each step; a derivation has at most `most` actions
    """
    sentences, most = len(features), len(sinusoids)
    if beam < 1 or most < 1 or len(actions.output) != len(table.column):
        raise ValueError(
            f"beam and most must be 1 or more, for {len(table.column)} actions; they are {beam} and {most}"
        )
    words = attended.memories[0].size(1)
    network = _Network(actions, sinusoids, stack, attended, (sentences, words))
    as_c = _Table(table, features, words, span, actions.functions is not None)
    found = FoundDerivations.empty(sentences, beam, most)
    loader.library().search_amrs(
        ctypes.byref(network), ctypes.byref(as_c), torch.get_num_threads(), sentences, beam, most,
        require("rows", rows, torch.long, sentences, _NUMBERS), *(part.data_ptr() for part in found),
    )  # fmt: skip
    return found

"""The compiled part of search and of its encoder on CPUs: `search_kernels.c`.

The functions are called through ctypes, which releases the GIL. The Python functions check types, shapes and devices of
tensors (`require`), and C checks the numbers. A tensor that does not fit raises `ValueError`. Tensors whose dtype is
not given are float or bfloat16.

Common dimensions: N queries, R rows (hypotheses), B sentences, P words of the longest sentence, V tokens of the action
vocabulary, U of these tokens, C columns (`ActionClass`).
"""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import Structure, byref
from ctypes import addressof as address_of
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor, nn

from transition_parser.kernels.guards import Pointers, optional, raise_problem, require
from transition_parser.kernels.loader import FLOAT, INT, POINTER, PROBLEM, SIZE, Signature, lazy_library

__all__ = [
    "Pointers",
    "SpanPrior",
    "add_and_normalise",
    "best_continuations",
    "cached_self_attention",
    "cross_attention",
    "decoder_layers",
    "gated_step",
    "indicated_attention",
    "legal_scores",
    "letter_maxima",
    "products_of_pairs",
    "search_trees",
    "self_attention",
    "supports",
    "supports_letters",
]

BLOCK = 32  # how many numbers C reads at once; the size of a head must be a multiple of it

_FILTERS, _LETTERS = 64, 64  # `letter_maxima` takes a multiple of 64 filters, and words of 64 letters at most

_DEAD = -1e30  # totals below this value mark dead hypotheses, because C computes with finite numbers only

_FUNCTIONS: dict[str, Signature] = {
    "cached_self_attention": (PROBLEM, (INT, INT, *(SIZE,) * 4, *(POINTER,) * 9)),
    "cross_attention": (PROBLEM, (INT, INT, *(SIZE,) * 9, *(POINTER,) * 9)),
    "self_attention": (PROBLEM, (INT, INT, *(SIZE,) * 8, *(POINTER,) * 6)),
    "indicated_attention": (PROBLEM, (INT, *(SIZE,) * 7, POINTER, SIZE, *(POINTER,) * 9)),
    "gated_step": (PROBLEM, (INT, INT, *(SIZE,) * 6, *(POINTER,) * 4)),
    "letter_maxima": (PROBLEM, (INT, *(SIZE,) * 5, *(POINTER,) * 5)),
    "has_codes": (INT, ()),
    "coded_linear": (PROBLEM, (INT, INT, INT, SIZE, SIZE, *(POINTER,) * 3)),
    "coded_layers": (PROBLEM, (INT, *(SIZE,) * 8, *(POINTER,) * 8)),
    "products_of_pairs": (None, (*(SIZE,) * 3, *(POINTER,) * 3)),
    "add_and_normalise": (None, (INT, SIZE, SIZE, *(POINTER,) * 4, FLOAT, POINTER)),
    "legal_scores": (PROBLEM, (INT, *(SIZE,) * 5, *(POINTER,) * 5, SIZE, SIZE, *(POINTER,) * 5)),
    "best_continuations": (PROBLEM, (INT, *(SIZE,) * 4, *(POINTER,) * 4, SIZE, *(POINTER,) * 3)),
    "decoder_layers": (PROBLEM, (POINTER, SIZE, POINTER, POINTER, POINTER)),
    "search_trees": (PROBLEM, (INT, INT, *(SIZE,) * 9, *(POINTER,) * 13)),
    "copy_rows": (PROBLEM, (POINTER, SIZE, POINTER, SIZE, SIZE, POINTER)),
    "lanes": (INT, ()),
}
_SITUATIONS, _EFFECT = 256, 8  # the numbers of situations and of fields of an effect
HALF = {torch.float: 0, torch.bfloat16: 1}  # the value of the argument `half` in C


library = lazy_library("search", _FUNCTIONS)


class Linear(Protocol):
    """A linear layer with a plain weight, or with a `product` (see `code_kernels`)."""

    weight: Tensor | None
    bias: Tensor
    product: Any


class TreeMachine(NamedTuple):
    """The machine of a system of dependency trees, as `search_trees` reads it.

    column: (V,) int64; the `ActionClass` of each token
    effects: (C, 8) int64; the `Effect` of each column
    legal: (256, C) bool; the legal columns in each `Situation`, whose number has field i as bit i
    swaps_per_word: how many SWAPs a sentence may take for each word
    """

    column: Tensor
    effects: Tensor
    legal: Tensor
    swaps_per_word: int


class FoundDerivations(NamedTuple):
    """The final derivations of a batch; the derivations of a sentence are in the order in which they became final.

    `most` is the largest number of actions that a derivation may have.

    counts: (B,) int64; the number of derivations of each sentence, at most twice the beam
    steps: (B, 2 beam) int64; the number of actions of each derivation
    actions: (B, 2 beam, most) int32; the tokens; 0 behind the last one
    added: (B, 2 beam, most) float; the log-probability of each action; 0 behind the last one
    """

    counts: Tensor
    steps: Tensor
    actions: Tensor
    added: Tensor

    @classmethod
    def empty(cls, sentences: int, beam: int, most: int) -> FoundDerivations:
        """Return tensors of zeros for derivations of at most `most` actions."""
        return cls(
            torch.zeros(sentences, dtype=torch.long), torch.zeros(sentences, 2 * beam, dtype=torch.long),
            torch.zeros(sentences, 2 * beam, most, dtype=torch.int32), torch.zeros(sentences, 2 * beam, most),
        )  # fmt: skip


def supports(like: Tensor, width: int = BLOCK) -> bool:
    """Return True if the library is available, `like` is float or bfloat16 on the CPU, and `width` fits.

    width: the size of an attention head or of a row; only multiples of 32 fit
    """
    return like.is_cpu and like.dtype in HALF and width % BLOCK == 0 and library() is not None


def supports_letters(like: Tensor, filters: int) -> bool:
    """Return True if `letter_maxima` supports the device and dtype of `like`, and `filters` filters for each window."""
    return filters % _FILTERS == 0 and supports(like)


def cached_self_attention(
    query: Tensor, heads: int, cache: Pointers, origin: Pointers, cache_row: Pointers | None, rows: Tensor | None
) -> Tensor:
    """Return the output of self-attention to the action history of each hypothesis, (N, dim).

    query: (N, dim)
    heads: the number of heads
    cache: (R_s, 2 dim) for each step s; keys and values
    origin: (R_s,) int32 for each step s; the row of the previous step that each row continues; None for a step whose
        row i continues row i
    cache_row: (R_s,) int32 for each step s; the row of the step's cache that belongs to each row; None for a step whose
        row i has row i of the cache
    rows: (N,) int32; the row of the last step that each query belongs to; None for the first N rows
    """
    query, d = _query(query, heads)
    cache.require("cache", query.dtype, 2 * heads * d)
    origin.require("origin", torch.int32)
    if cache_row is not None:
        cache_row.require("cache_row", torch.int32)
        _keep_few(cache, cache_row)
    counts = [part.count for part in (cache, origin, cache_row) if part is not None]
    if not counts[0] or len({*counts}) > 1:
        raise ValueError(
            f"cache, origin and cache_row must have one entry a step, and one step at least; they have {counts}"
        )
    output = torch.empty_like(query)
    problem = library().cached_self_attention(
        HALF[query.dtype], torch.get_num_threads(), query.shape[0], heads, d, cache.count, _rows(rows, query),
        query.data_ptr(), cache.array, cache.sizes, origin.array, origin.sizes,
        None if cache_row is None else cache_row.array, None if cache_row is None else cache_row.sizes,
        output.data_ptr(),
    )  # fmt: skip
    raise_problem(problem)
    return output


def cross_attention(
    query: Tensor,
    heads: int,
    memory: Tensor,
    sentence: Tensor,
    lengths: Tensor,
    roles: Tensor,
    ranks: tuple[Tensor, ...],
    positions: Tensor | None,
    rows: Tensor | None,
) -> Tensor:
    """Return the output of cross-attention to the words of each hypothesis's sentence, (N, dim).

    query: (N, dim)
    heads: the number of heads
    memory: (B, P, 2 dim); keys and values of the words
    sentence: (R,) int32; the sentence of each row
    lengths: (B,) int32; the number of words of each sentence
    roles: (heads,) int32; the index in `ranks` of the words that a head sees; −1 for heads that see all words
    ranks: (R, P) int64 each; k for the k-th word from the top of the stack or the front of the buffer, 0 for words that
        must not be seen
    positions: (len(ranks), largest + 1, dim); the vector that is added to the keys of words of each rank; ranks above
        `largest` share the last vector; None to add nothing
    rows: (N,) int32; the row that each query belongs to; None for the first N rows
    """
    query, d = _query(query, heads)
    (queries, dim), (known, *_), (sentences, width, *_) = query.shape, sentence.shape, memory.shape
    stride = _stride(ranks, known, width)
    largest = -1 if positions is None else positions.size(1) - 1
    if positions is not None and largest < 0:
        raise ValueError(
            f"positions must not be empty: give one vector at least, or None; it is {tuple(positions.shape)}"
        )
    output = torch.empty_like(query)
    problem = library().cross_attention(
        HALF[query.dtype], torch.get_num_threads(), queries, heads, d, sentences, width, known, len(ranks), stride,
        largest, _rows(rows, query), query.data_ptr(),
        require("memory", memory, query.dtype, sentences, width, 2 * dim),
        require("sentence", sentence, torch.int32, known), require("lengths", lengths, torch.int32, sentences),
        require("roles", roles, torch.int32, heads), (POINTER * max(len(ranks), 1))(*(r.data_ptr() for r in ranks)),
        optional("positions", positions, query.dtype, len(ranks), largest + 1, dim),
        output.data_ptr(),
    )  # fmt: skip
    raise_problem(problem)
    return output


class DecoderAsC(Structure):
    """The layers of a decoder, as `Decoder` in steps.h."""

    _fields_ = (
        *((name, SIZE) for name in ("half", "heads", "d", "inner", "layers", "kinds", "largest")),
        *((name, POINTER) for name in ("weights", "epsilons", "roles", "positions")),
    )


class _Group(Structure):
    """The rows of a step of search, as `Group` in steps.h."""

    _fields_ = (
        *((name, SIZE) for name in ("rows", "steps")),
        *(
            (name, POINTER)
            for name in ("caches", "cache_sizes", "origin", "origin_sizes", "cache_rows", "cache_row_sizes")
        ),
        *((name, SIZE) for name in ("sentences", "width", "known", "stride")),
        *((name, POINTER) for name in ("memories", "sentence", "lengths", "ranks")),
    )


class LayerStack:
    """The weights of all layers of a decoder, as `decoder_layers` reads them.

    linears: seven linear layers for each decoder layer: keys and values, query, and output of self-attention; query and
        output of cross-attention; the two layers of feed-forward
    norms: three norms for each decoder layer: before cross-attention, before feed-forward, and after the layer
    first_norm: the norm before the first layer
    heads: the number of heads
    is_coded: True if weights are codes; the results then equal those of calling layer by layer, bit for bit

    Raises `ValueError` for layers that the kernel can't read.
    """

    def __init__(
        self,
        linears: Sequence[Sequence[Linear]],
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
        addresses: list[int | None] = []
        self._kept: list[Any] = []  # so that the memory stays as long as the addresses
        kinds = {getattr(part, "product", None) is not None for of_layer in linears for part in of_layer}
        if len(kinds) > 1:
            raise ValueError("the weights of all layers must be codes, or none of them")
        self.is_coded = kinds == {True}
        for of_layer, (before_words, before_inner, after) in zip(linears, norms, strict=True):
            pairs = [*zip(of_layer, shapes, strict=True)]
            order = [
                *pairs[:3],
                (before_words, (dim,)),
                *pairs[3:5],
                (before_inner, (dim,)),
                *pairs[5:],
                (after, (dim,)),
            ]
            for part, shape in order:
                product = getattr(part, "product", None)
                if product is not None:
                    addresses += [product.address(*shape), None]
                else:
                    addresses.append(require("weight", part.weight, self.dtype, *shape))
                    addresses.append(require("bias", part.bias, self.dtype, shape[0]))
                self._kept += [part.weight, part.bias, product]
        self.weights = (POINTER * len(addresses))(*addresses)
        self.epsilons = (FLOAT * (3 * self.layers))(*(norm.eps for three in norms for norm in three))

    def as_c(self, kinds: int, largest: int, roles: int, positions: int) -> DecoderAsC:
        """Return the layers as C reads them.

        kinds: the number of tensors in `ranks` of `decoder_layers`
        largest: the largest rank with a vector of its own in `positions`; -1 if no vectors are added
        roles: the address of the role of each head, see `cross_attention`
        positions: the address of an array with the address of each layer's `positions`, see `cross_attention`
        """
        return DecoderAsC(
            HALF[self.dtype], self.heads, self.dim // self.heads, self.inner, self.layers, kinds, largest,
            address_of(self.weights), address_of(self.epsilons), roles, positions,
        )  # fmt: skip


def decoder_layers(
    x: Tensor,
    normed: Tensor,
    stack: LayerStack,
    caches: Sequence[Pointers],
    origin: Pointers,
    cache_rows: Sequence[Pointers],
    memories: Sequence[Tensor],
    sentence: Tensor,
    lengths: Tensor,
    roles: Tensor,
    ranks: tuple[Tensor, ...],
    positions: Sequence[Tensor | None],
) -> Tensor:
    """Return the layer norm of the output of a decoder's last layer in a step of search, (R, dim).

    The newest entry of each cache is written; it must have R rows or more. See `cached_self_attention` and
    `cross_attention` for the other parameters. Parameters of type `Sequence` have an entry for each layer.

    x: (R, dim); the input of the first layer; changed in place
    normed: (R, dim); `first_norm` of x; changed in place
    """
    (rows, dim), (sentences, width, *_), known = x.shape, memories[0].shape, len(sentence)
    stride, steps, dtype = _stride(ranks, known, width), origin.count, stack.dtype
    largest = -1 if positions[0] is None else positions[0].size(1) - 1
    if not steps or any(part.count != steps for part in (*caches, *cache_rows)) or dim != stack.dim or rows > known:
        raise ValueError("caches, origin and cache_rows must have one entry a step, and the rows must fit")
    for cache, cache_row in zip(caches, cache_rows, strict=True):
        cache.require("cache", dtype, 2 * dim)
        cache_row.require("cache_row", torch.int32)
    origin.require("origin", torch.int32)

    kept = []  # arrays that C reads

    def addresses(*parts: int | None) -> int:
        kept.append((POINTER * len(parts))(*parts))
        return address_of(kept[-1])

    decoder = stack.as_c(
        len(ranks), largest, require("roles", roles, torch.int32, stack.heads),
        addresses(*(optional("positions", part, dtype, len(ranks), largest + 1, dim) for part in positions)),
    )  # fmt: skip
    group = _Group(
        rows, steps, addresses(*(address_of(cache.array) for cache in caches)),
        addresses(*(address_of(cache.sizes) for cache in caches)), address_of(origin.array), address_of(origin.sizes),
        addresses(*(address_of(part.array) for part in cache_rows)),
        addresses(*(address_of(part.sizes) for part in cache_rows)), sentences, width, known, stride,
        addresses(*(require("memory", memory, dtype, sentences, width, 2 * dim) for memory in memories)),
        require("sentence", sentence, torch.int32, known), require("lengths", lengths, torch.int32, sentences),
        addresses(*(rank.data_ptr() for rank in ranks)),
    )  # fmt: skip
    problem = library().decoder_layers(
        byref(decoder), 1, byref(group), require("x", x, dtype, rows, dim), require("normed", normed, dtype, rows, dim)
    )
    raise_problem(problem)
    return normed


def self_attention(
    query: Tensor, keys: Tensor, values: Tensor, heads: int, first: Tensor, lengths: Tensor, longest: int
) -> Tensor:
    """Return the output of self-attention within each of S sentences, (N, dim); 0 for rows outside all sentences.

    query, keys, values: (N, dim); gaps between rows are allowed
    heads: the number of heads
    first: (S,) int32; the first row of each sentence
    lengths: (S,) int32; the number of words of each sentence
    longest: the largest number of words that a sentence may have
    """
    d, rest = divmod(query.size(-1), heads)
    if rest or query.dim() != 2 or not supports(query, d):
        raise ValueError(f"query must be (N, dim), float or bfloat16, on cpu, its heads of a multiple of {BLOCK}")
    strides = [_row_stride(name, x, query) for name, x in (("query", query), ("keys", keys), ("values", values))]
    output = query.new_zeros(query.shape)
    problem = library().self_attention(
        HALF[query.dtype], torch.get_num_threads(), len(query), len(first), longest, heads, d, *strides,
        require("first", first, torch.int32, len(first)), require("lengths", lengths, torch.int32, len(first)),
        query.data_ptr(), keys.data_ptr(), values.data_ptr(), output.data_ptr(),
    )  # fmt: skip
    raise_problem(problem)
    return output


def indicated_attention(
    query: Tensor,
    keys: Tensor,
    values: Tensor,
    key_indicators: Tensor,
    value_indicators: Tensor,
    item: Tensor | None,
    index: Tensor,
    unseen: Tensor | None,
) -> Tensor:
    """Return the output of H attention heads that add vectors, called indicators, to keys and values, (H, R, d).

    R queries attend to P items each, with V indicators a head. The output is 0 for queries that see no item.

    query: (H, R, d) float
    keys: (H, R, P, d) float; with `item`, (H, 1, S, d)
    values: float, of the same shape as `keys`
    key_indicators, value_indicators: (H, V, d) float; the vectors that are added to keys and to values
    item: (R, P) int64; the index of each item in the S stored keys and values; None if each query has its own P items
    index: int64, broadcast to (H, R, P); the indicator of each item
    unseen: bool, broadcast to (R, P); True for items that must not be seen; None to show all items
    """
    if query.dim() != 3 or query.dtype is not torch.float or not supports(query, query.size(2)):
        raise ValueError(f"query must be (H, R, d), float, on cpu, d a multiple of {BLOCK}")
    heads, rows, d = query.shape
    query, keys, values = query.contiguous(), keys.contiguous(), values.contiguous()
    stored, count = keys.size(2), key_indicators.size(1)
    items = stored if item is None else item.size(1)
    shape = (heads, rows if item is None else 1, stored, d)
    index = _broadcast("index", index, torch.long, heads, rows, items)
    if unseen is not None:
        unseen = _broadcast("unseen", unseen, torch.bool, rows, items)
    told = [_by_head(some, heads, count, d) for some in (key_indicators, value_indicators)]
    if told[0].stride() != told[1].stride():
        told = [some.contiguous() for some in told]
    output = torch.empty_like(query)
    problem = library().indicated_attention(
        torch.get_num_threads(), heads, d, rows, items, stored, count, told[0].stride(0),
        (SIZE * 2)(*index.stride()[:2]), 0 if unseen is None else unseen.stride(0), query.data_ptr(),
        require("keys", keys, torch.float, *shape), require("values", values, torch.float, *shape),
        *(some.data_ptr() for some in told), optional("item", item, torch.long, rows, items),
        index.data_ptr(), None if unseen is None else unseen.data_ptr(), output.data_ptr(),
    )  # fmt: skip
    raise_problem(problem)
    return output


def gated_step(found: Tensor, recurrent: Tensor, words: Tensor) -> Tensor:
    """Return the N states of each of S gated passes after one more word, (S, N, width).

    See `SequencePreservedAttention` for the passes.

    found: (S, N, width); the states before the word; its first dimension may have any stride
    recurrent: (S, N, 3 width); the products of the states with the recurrent weights
    words: (S, M, 3 width); the products of M words with the input weights; N is a multiple of M, and state i reads word
        i modulo M; its first dimension may have any stride
    """
    if found.dim() != 3 or not supports(found, found.size(2)):
        raise ValueError(f"found must be (S, N, width), float or bfloat16, on cpu, width a multiple of {BLOCK}")
    (passes, rows, width), read = found.shape, words.size(1) if words.dim() == 3 else 0
    if read == 0 or rows % read:
        raise ValueError(f"words must be (S, M, 3 width), {rows} a multiple of M; it is {tuple(words.shape)}")
    output = found.new_empty(passes, rows, width)
    problem = library().gated_step(
        HALF[found.dtype], torch.get_num_threads(), passes, rows, read, width, found.stride(0), words.stride(0),
        _part("found", found, found.dtype, passes, rows, width),
        require("recurrent", recurrent, found.dtype, passes, rows, 3 * width),
        _part("words", words, found.dtype, passes, read, 3 * width), output.data_ptr(),
    )  # fmt: skip
    raise_problem(problem)
    return output


def letter_maxima(letters: Tensor, sizes: Sequence[int], tables: Tensor, biases: Tensor) -> Tensor:
    """Return the maximum of each convolution filter over the letters of each word, at least 0, (W, windows × F).

    W words of at most L letters are read with F filters for each window. Window i has sizes[i] letters, and
    sizes[i] // 2 of them precede the current letter. Words are padded with zeros. Rows of `tables` are added up, so
    that nothing is multiplied.

    letters: (W, L) int64; the id of each letter, 0 behind the last letter of a word
    tables: (sum(sizes), ids, F) float; for each position in each window, the products of each letter with F weights
    biases: (windows, F) float
    """
    if letters.dim() != 2 or not 0 < letters.size(1) <= _LETTERS:
        raise ValueError(f"letters must be (W, L), L from 1 to {_LETTERS}; it is {tuple(letters.shape)}")
    (words, most), symbols, (windows, filters) = letters.shape, tables.size(1), biases.shape
    if len(sizes) != windows or min(sizes) < 1 or filters % _FILTERS:
        raise ValueError(f"there must be a size for each of {windows} windows, of a multiple of {_FILTERS} filters")
    output = biases.new_empty(words, windows * filters)
    problem = library().letter_maxima(
        torch.get_num_threads(), words, most, symbols, windows, filters, (SIZE * windows)(*sizes),
        require("letters", letters, torch.long, words, most),
        require("tables", tables, torch.float, sum(sizes), symbols, filters),
        require("biases", biases, torch.float, windows, filters), output.data_ptr(),
    )  # fmt: skip
    raise_problem(problem)
    return output


def add_and_normalise(x: Tensor, added: Tensor, norm: nn.LayerNorm) -> Tensor:
    """Add `added` to `x` in place, and return the layer norm of the sum, (R, dim).

    x: (R, dim); changed in place
    added: (R, dim)
    norm: a layer norm with a weight and a bias
    """
    if x.dim() != 2 or not supports(x, x.shape[1]):
        raise ValueError(f"x must be (R, dim), float or bfloat16, on cpu, its rows of a multiple of {BLOCK} numbers")
    dtype, (rows, dim) = x.dtype, x.shape
    weight, bias = norm.weight, norm.bias
    if weight is None or bias is None:
        raise ValueError("the norm must have a weight and a bias")
    if added.dtype is not dtype or not added.is_contiguous():
        added = added.to(dtype).contiguous()
    normal = torch.empty_like(x)
    library().add_and_normalise(
        HALF[dtype], rows, dim, require("x", x, dtype, rows, dim), require("added", added, dtype, rows, dim),
        require("the norm's weight", weight, dtype, dim), require("the norm's bias", bias, dtype, dim),
        norm.eps, normal.data_ptr(),
    )  # fmt: skip
    return normal


class SpanPrior(NamedTuple):
    """The numbers that a lexicon adds to the scores of actions that may name the current span.

    spans: (R,) int64; the lexicon row of the current span of each hypothesis
    offsets: (rows + 1,) int64; the index in `tokens` at which the tokens of each lexicon row begin
    tokens: (K,) int64; the tokens of the lexicon rows, row after row
    values: (K,), of the dtype of the scores; the number that is added to the score of each token
    """

    spans: Tensor
    offsets: Tensor
    tokens: Tensor
    values: Tensor


def prior_as_c(offsets: Tensor, tokens: Tensor, values: Tensor, dtype: torch.dtype) -> tuple[tuple, tuple]:
    """Return a lexical prior as C reads it: the numbers of lexicon rows and of tokens, and the three addresses.

    The parameters are fields of `SpanPrior`. Raises `ValueError` for a tensor of another type or shape.

    dtype: the type of the scores
    """
    rows, entries = len(offsets) - 1, len(tokens)
    addresses = (
        require("offsets", offsets, torch.long, rows + 1),
        require("prior", tokens, torch.long, entries),
        require("values", values, dtype, entries),
    )
    return (rows, entries), addresses


def products_of_pairs(many: Tensor, one: Tensor) -> Tensor:
    """Return the dot products (N, K) of K vectors of each row with one vector of the row, in single precision.

    many: (N, K, dim) bfloat16
    one: (N, dim) float
    """
    rows, count, dim = many.shape
    products = one.new_empty(rows, count)
    library().products_of_pairs(
        rows, count, dim, require("many", many, torch.bfloat16, rows, count, dim),
        require("one", one, torch.float, rows, dim), products.data_ptr(),
    )  # fmt: skip
    return products


def legal_scores(
    x: Tensor, weight: Tensor, tokens: Tensor, legal: Tensor, rows: Tensor | None, prior: SpanPrior | None = None
) -> Tensor:
    """Return the scores of actions, (N, U). The scores of actions whose legality is 0 may be any numbers.

    x: (N, dim); the outputs of the decoder
    weight: (V, dim); the vectors of all tokens
    tokens: (U,) int64; the tokens to score
    legal: (R, U) float; see `ActionScores`
    rows: (N,) int64; the row that each output belongs to; None for the first N rows
    prior: added to the scores; None to add nothing
    """
    if x.dim() != 2 or not supports(x, x.shape[1]):
        raise ValueError(f"x must be (N, dim), float or bfloat16, on cpu, its rows of a multiple of {BLOCK} numbers")
    (count, dim), (vocabulary, *_), (hypotheses, actions) = x.shape, weight.shape, legal.shape
    added: tuple = (0, 0, None, None, None, None)
    if prior is not None:
        spans, *lexicon = prior
        sizes, addresses = prior_as_c(*lexicon, x.dtype)
        added = (*sizes, require("spans", spans, torch.long, hypotheses), *addresses)
    scores = x.new_empty(count, actions)
    problem = library().legal_scores(
        HALF[x.dtype], count, dim, hypotheses, actions, vocabulary, require("x", x, x.dtype, count, dim),
        require("weight", weight, x.dtype, vocabulary, dim), require("tokens", tokens, torch.long, actions),
        optional("rows", rows, torch.long, count),
        require("legal", legal, torch.float, hypotheses, actions), *added, scores.data_ptr(),
    )  # fmt: skip
    raise_problem(problem)
    return scores


def best_continuations(
    scores: Tensor, rows: Tensor | None, legal: Tensor, totals: Tensor, beam: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Return each sentence's best continuations (a hypothesis and one more action), best first, (B, beam) each.

    The results are the total scores, the score that the last action added, and the index of each continuation:
    hypothesis × U + action. Totals are −inf where there are no more continuations.

    scores: (N, U); scores of actions before the softmax
    rows: (N,) int64; the row that the scores belong to; None for the first N rows. Other rows have one legal action or
        are dead.
    legal: (R, U) float; see `ActionScores`
    totals: (B, W) float; the total scores of the W hypotheses of each sentence, −inf for dead hypotheses
    beam: how many continuations to return
    """
    if scores.dim() != 2 or totals.dim() != 2 or beam < 1 or not supports(scores):
        raise ValueError(
            "scores must be (N, U), float or bfloat16, on cpu, totals must be (B, W), beam must be 1 or more"
        )
    scores, legal = scores.contiguous(), legal.contiguous()
    totals = totals.clamp_min(2 * _DEAD).contiguous()
    (count, actions), (sentences, width) = scores.shape, totals.shape
    best, added = totals.new_empty(2, sentences, beam)
    index = torch.empty(sentences, beam, dtype=torch.long)
    problem = library().best_continuations(
        HALF[scores.dtype], count, sentences, width, actions, require("scores", scores, scores.dtype, count, actions),
        optional("rows", rows, torch.long, count),
        require("legal", legal, torch.float, sentences * width, actions),
        require("totals", totals, torch.float, sentences, width), beam, best.data_ptr(), added.data_ptr(),
        index.data_ptr(),
    )  # fmt: skip
    raise_problem(problem)
    return torch.threshold_(best, _DEAD, float("-inf")), added, index


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
    """Return the final derivations that beam search finds with scores = W max(0, sum + bias) + b.

    The sum is over places, such as the top of the stack. The word at each place adds a vector.

    words: (B, P, places, width) float; the vector that each word adds if it is at each place
    bias: (width,)
    output: W and b; float or bfloat16; in bfloat16, the hidden layer and the scores are rounded
    ranks: for each place, k for the k-th word from the top of the stack, −k for the k-th word of the buffer
    lengths: (B,) int64; the number of words of each sentence
    beam: the number of hypotheses kept for each sentence
    most: the largest number of actions of a derivation
    """
    (count, positions, places, width), dtype, (tokens, _) = words.shape, output.weight.dtype, output.weight.shape
    if beam < 1 or most < 1 or not supports(output.weight, width):
        raise ValueError(f"beam and most must be 1 or more, and rows of the weight of a multiple of {BLOCK} numbers")
    columns = len(machine.effects)
    found = FoundDerivations.empty(count, beam, most)
    plain_bias, token_bias, order = bias.float(), output.bias.float(), torch.tensor(ranks)
    problem = library().search_trees(
        HALF[dtype], torch.get_num_threads(), count, positions, places, width, tokens, columns, beam,
        machine.swaps_per_word, most, require("words", words, torch.float, count, positions, places, width),
        require("bias", plain_bias, torch.float, width), require("weight", output.weight, dtype, tokens, width),
        require("token_bias", token_bias, torch.float, tokens), require("ranks", order, torch.long, places),
        require("lengths", lengths, torch.long, count), require("column", machine.column, torch.long, tokens),
        require("effects", machine.effects, torch.long, columns, _EFFECT),
        require("legal", machine.legal, torch.bool, _SITUATIONS, columns), *(part.data_ptr() for part in found),
    )  # fmt: skip
    raise_problem(problem)
    return found


def _part(name: str, tensor: Tensor, dtype: torch.dtype, *shape: int) -> int:
    """Return the address of a tensor of this type and shape, on the CPU. There may be gaps between `tensor[i]`.

    Raises `ValueError` for any other tensor.
    """
    if tensor.shape == shape and all(shape):
        require(name, tensor[0], dtype, *shape[1:])
        return tensor.data_ptr()
    return require(name, tensor, dtype, *shape)


def _row_stride(name: str, x: Tensor, like: Tensor) -> int:
    """Return the stride of the rows of x (N, dim), in elements.

    Raises `ValueError` unless x has the type and shape of `like`, is on the CPU, and has contiguous rows.
    """
    stride = x.stride(0) if x.dim() == 2 else 0
    if x.dtype is like.dtype and x.is_cpu and x.shape == like.shape and stride >= x.size(1) and x.stride(1) == 1:
        return stride
    raise ValueError(
        f"{name} must be {like.dtype}, {tuple(like.shape)}, on cpu, each row contiguous; it is {x.dtype}, "
        f"{tuple(x.shape)}, of strides {x.stride()}, on {x.device}"
    )


def _query(query: Tensor, heads: int) -> tuple[Tensor, int]:
    """Return the query, made contiguous, and the size of a head. Raises `ValueError` for a query that does not fit."""
    d, rest = divmod(query.shape[-1], heads)
    if rest or query.dim() != 2 or not supports(query, d):
        raise ValueError(
            f"query must be (N, dim), float or bfloat16, on cpu, its heads of a multiple of {BLOCK} numbers; it is "
            f"{query.dtype}, {tuple(query.shape)}, on {query.device}, in {heads} heads"
        )
    return query.contiguous(), d


def _broadcast(name: str, tensor: Tensor, dtype: torch.dtype, *shape: int) -> Tensor:
    """Return the tensor broadcast to this shape, with a contiguous last dimension.

    Raises `ValueError` if the tensor is of another type, cannot be broadcast, or is not on the CPU.
    """
    fits = tensor.dim() <= len(shape) and all(
        own in (1, size) for own, size in zip(reversed(tensor.shape), reversed(shape), strict=False)
    )
    if not fits or tensor.dtype is not dtype or not tensor.is_cpu:
        raise ValueError(
            f"{name} must be {dtype}, broadcast to {shape}, on cpu; it is {tensor.dtype}, {tuple(tensor.shape)}, on "
            f"{tensor.device}"
        )
    tensor = tensor.expand(shape)
    return tensor if tensor.stride(-1) == 1 else tensor.contiguous()


def _by_head(indicators: Tensor, heads: int, count: int, d: int) -> Tensor:
    """Return indicators (heads, count, d) such that the indicators of each head are contiguous.

    Raises `ValueError` for a tensor of another type or shape, or not on the CPU.
    """
    if indicators.dtype is not torch.float or not indicators.is_cpu or indicators.shape != (heads, count, d):
        raise ValueError(
            f"indicators of keys and of values must be float, ({heads}, {count}, {d}), on cpu; one is "
            f"{indicators.dtype}, {tuple(indicators.shape)}, on {indicators.device}"
        )
    return indicators if indicators.stride()[1:] == (d, 1) else indicators.contiguous()


def _rows(rows: Tensor | None, query: Tensor) -> int | None:
    return optional("rows", rows, torch.int32, query.shape[0])


def _stride(ranks: tuple[Tensor, ...], rows: int, width: int) -> int:
    """Return the stride of the rows that all tensors of `ranks` share, in elements; 0 if there are no tensors.

    Raises `ValueError` unless all are int64, on the CPU, (rows, width) or larger, and have the same strides.
    """
    stride = ranks[0].stride(0) if ranks else 0
    for tensor in ranks:
        fits = tensor.dtype is torch.long and tensor.is_cpu and tensor.stride() == (stride, 1)
        if not fits or tensor.shape[0] < rows or tensor.shape[1] < width:
            raise ValueError(
                f"ranks must be int64, on cpu, ({rows}, {width}) or larger, each row contiguous, and all alike; one is "
                f"{tensor.dtype}, {tuple(tensor.shape)}, of strides {tensor.stride()}, on {tensor.device}"
            )
    return stride


def _keep_few(cache: Pointers, cache_row: Pointers) -> None:
    """Copy the newest step's used cache rows behind the caches of earlier steps if at least half are unused.

    The cache of a step may have many unused rows. Rows that are adjacent in memory are read many times faster.
    """
    rows, stored = cache_row.last, cache.last
    if rows is None or stored is None or 2 * rows.shape[0] > stored.shape[0]:
        return
    count, dim = rows.shape[0], stored.shape[1]
    address = cache.space(count)
    raise_problem(
        library().copy_rows(
            *(stored.data_ptr(), stored.shape[0], rows.data_ptr(), count), dim * stored.element_size(), address
        )
    )
    cache.replace_last(address, count)
    cache_row.replace_last(None, 0)

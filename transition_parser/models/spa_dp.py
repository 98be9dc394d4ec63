"""SPA-DP: a transition-based and a graph-based parser over words with sequence-preserved attention.

An LSTM scans the sentence, then a rescan makes a second vector of each word. B sentences, N parser states, P words and
root, which is after the words; in the paper before them.
Source: the paper of SPA-DP, the "Sequence-Preserved Attention Dependency Parser" (github.com/dugu9sword/spa-dp)
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transition_parser.data.resources import Resources
from transition_parser.kernels import encoders, loader, searches
from transition_parser.kernels.searches import FoundDerivations
from transition_parser.models.registry import register
from transition_parser.modules.contract import MemorylessDecoder, ParserModel
from transition_parser.modules.encoder import EncoderOut, ReadingSettings, RecurrentEncoder
from transition_parser.modules.layers import KEEP_RAW_AND_PACK, Int8Linear, gather_rows, keep_weight, linear, linear_of
from transition_parser.modules.options import dropout_option, layers_option, option, size_option
from transition_parser.modules.tagging import tag_heads
from transition_parser.modules.tree_decoder import TreeDecoder
from transition_parser.modules.words import TaggedWordOptions, WordTensors
from transition_parser.states.machine import max_search_actions, whole_machine
from transition_parser.states.states import RANKS, States
from transition_parser.states.table import ActionTable
from transition_parser.transitions import TreeSystem

NONE, VANILLA = "none", "vanilla"
TO_TARGET, TO_BOUNDARY = "bot", "tob"  # rescan from the boundaries to the word; from the word to the boundaries


@dataclass(frozen=True)
class SpaDpOptions(TaggedWordOptions):
    """The options of both parsers, with the defaults of the transition-based parser."""

    word_width: int = size_option(300, "width of the words that the scan reads", least=2)
    scan_width: int = size_option(700, "width of each direction of the scan")
    scan_layers: int = layers_option(1, "layers of the scan, a bidirectional LSTM")
    spa: str = option(
        TO_TARGET,
        "rescan for each word; bot: from the boundaries to it; tob: from it to the boundaries; vanilla: no order",
        choices=(TO_TARGET, TO_BOUNDARY, VANILLA, NONE),
    )
    spa_width: int = size_option(700, "width of each direction of the rescan (see --spa)")
    mlp_width: int = size_option(700, "width of the hidden layer that scores")
    dropout: float = dropout_option(0.3, "dropout of words, of layers of the scan and of rescans")


_AT_ONCE = 1 << 24  # upper limit of hidden values that `PairScores` computes at once: long sentences have many pairs
_SHAPES = 8  # approximate number of different shapes of a batch's products in bf16 on CPUs


class SpaEncoder(RecurrentEncoder):
    """An encoder that concatenates, for each word, a bidirectional LSTM (the scan, eq. 11) and the rescan (eq. 27).

    The paper's eq. 1 is `--no-pieces --word-table 20000 --read-tags --tag-width 50 --join-inputs concat`. Dropout of
    the scan's layers and of rescans is our addition.
    """

    def __init__(self, resources: Resources, options: SpaDpOptions) -> None:
        super().__init__(
            ReadingSettings.from_resources(resources, options, options.word_width),
            dim=options.word_width,
            hidden=options.scan_width,
            layers=options.scan_layers,
            cell="lstm",
            dropout=options.dropout,
            word_dropout=options.word_dropout,
        )
        scanned = 2 * options.scan_width
        self.rescan: nn.Module | None = None
        if options.spa == VANILLA:
            self.rescan = VanillaAttention(scanned, options.spa_width)
        elif options.spa != NONE:
            self.rescan = SequencePreservedAttention(scanned, options.spa_width, options.spa == TO_BOUNDARY)
        self.keeps_read = options.tags_read_words
        self.output_width = scanned + (self.rescan.output_width if self.rescan is not None else 0)
        self.tagged_width = self.output_width + (self.read_width if self.keeps_read else 0)

    def forward(self, src_tokens: Tensor, words: WordTensors | None = None) -> EncoderOut:
        read, mask = self.read_words(src_tokens, words)
        scanned = self.scan(read, mask)
        if self.keeps_read:
            scanned = replace(scanned, read=self.dropout(read))
        if self.rescan is None:
            return scanned
        found = self.dropout(self.rescan(scanned.words, mask))
        return replace(scanned, words=torch.cat([scanned.words, found.to(scanned.words.dtype)], -1))


class SequencePreservedAttention(nn.Module):
    """Two gated passes for each word, the target: over the words to its left and over the words to its right.

    A pass begins with the target itself, u, and then reads the words v_1, v_2, … (eqs 15 to 19, with m_-1 = 0):

        a = sigmoid(W_a v + b_a + U_a m)            how much of the word enters: its attention (eqs 16 and 21)
        r = sigmoid(W_r v + b_r + U_r m)            the reset gate: how much of the memory is kept (eq. 20)
        n = tanh(W_n v + b_n + r ⊗ (U_n m))         eqs 18 and 22, with v and m as in eq. 23
        m = (1 − a) ⊗ m + a ⊗ n                     eq. 17

    It reads from the boundary up to the target's neighbor (BoT, eq. 26), or in reverse order (ToB, eq. 25).
    """

    def __init__(self, dim: int, width: int, from_target: bool = False) -> None:
        super().__init__()
        self.from_target = from_target
        self.output_width = 2 * width
        # W_a, W_r, W_n and their biases, of the left pass and of the right one
        self.project = keep_weight(linear(dim, 6 * width), KEEP_RAW_AND_PACK)
        self.recurrent = nn.Parameter(torch.empty(2, width, 3 * width))  # U_a, U_r, U_n of both passes
        for gate in self.recurrent.data.chunk(3, 2):
            nn.init.orthogonal_(gate[0])
            nn.init.orthogonal_(gate[1])
        self._kernel: encoders.RecurrentLayer | None = None

    def use_int8(self) -> None:
        """Let one kernel with int8 weights compute the passes, if it can. `layers.quantize` calls this method."""
        self._kernel = encoders.recurrent_layer(self._kind, [*map(Int8Linear, self._linears())])

    def use_kernels(self) -> None:
        """Let one kernel compute the passes, if it can. The weights must not change any more."""
        self._kernel = self._kernel or encoders.recurrent_layer(self._kind, self._linears())

    @property
    def _kind(self) -> str:
        return "to boundary" if self.from_target else "to target"

    def _linears(self) -> list[nn.Linear]:
        """Return the products of the words and of the states of left passes, then those of right passes."""
        pairs = zip(self.project.weight.chunk(2), self.project.bias.chunk(2), self.recurrent, strict=True)
        return [linear_of(*part) for w, b, u in pairs for part in ((w, b), (u.t(), None))]

    def forward(self, words: Tensor, mask: Tensor) -> Tensor:
        """Return (B, P, 2 · width), the results of left and right passes over words; padding is arbitrary."""
        if self._kernel is not None and loader.supports(words) and not torch.is_grad_enabled():
            return self._kernel(words, mask.sum(1))
        positions = torch.arange(mask.size(1), device=mask.device)
        # the position of each word and the root in reverse order; padding keeps its position
        turned = torch.where(mask, mask.sum(1, keepdim=True) - 1 - positions, positions)
        left, right = self.project(words).chunk(2, -1)
        read = torch.stack([left.transpose(0, 1), gather_rows(right, turned).transpose(0, 1)])  # (2, P, B, 3 · width)
        left, right = self._passes(read).transpose(1, 2)
        return torch.cat([left, gather_rows(right, turned)], -1)

    def _passes(self, read: Tensor) -> Tensor:
        """Return (2, P, B, width), the memory of each target, word p, after the pass over the words 0 … p."""
        positions, together = read.size(1), _leaving_together(read)
        attention, _, new = read.chunk(3, -1)
        found, first = attention.sigmoid() * new.tanh(), 0  # first: the target that `found` begins with
        finished: list[Tensor] = []
        if self.from_target:
            read = F.pad(read, (0, 0, 0, 0, together - 1, 0))
        for step in range(1, positions + 1):
            one = found[:, step - 1 - first]
            finished.append(one if torch.is_grad_enabled() else one.clone())  # views would keep n² vectors alive
            if step == positions:
                break
            found, first = found[:, step - step % together - first :], step - step % together
            words = read[:, step - 1 : step]
            if self.from_target:  # target p reads the word p − step
                words = read[:, together - 1 + first - step : together - 1 + positions - step]
            found = self._step(found, words)
        return torch.stack(finished, 1)

    def _step(self, found: Tensor, words: Tensor) -> Tensor:
        """Return (2, N, B, width), the memory after one more word."""
        width = found.size(-1)
        recurrent = torch.bmm(found.flatten(1, 2), self.recurrent).view(*found.shape[:-1], -1)
        gates = (words[..., : 2 * width] + recurrent[..., : 2 * width]).sigmoid()
        attention, reset = gates.chunk(2, -1)
        new = (words[..., 2 * width :] + reset * recurrent[..., 2 * width :]).tanh()
        return torch.lerp(found, new, attention)


def _leaving_together(read: Tensor) -> int:
    """Return the number of finished targets that are removed from the passes together."""
    is_slow_to_change = read.dtype is torch.bfloat16 and read.device.type == "cpu"
    return max(read.size(1) // _SHAPES, 1) if is_slow_to_change else 1


class VanillaAttention(nn.Module):
    """Attention without order (eqs 12 to 14): for each word the mean of all words, weighted by `PairScores`."""

    def __init__(self, dim: int, width: int) -> None:
        super().__init__()
        self.output_width = dim
        self.relevance = PairScores(dim, width)

    def forward(self, words: Tensor, mask: Tensor) -> Tensor:
        scores = self.relevance(words).masked_fill(~mask[:, None], float("-inf"))
        # in bf16 a sum of exponentials is not exact
        weights = scores.softmax(-1, dtype=torch.float64 if scores.dtype == torch.float64 else torch.float)
        return weights.to(words.dtype) @ words


class PairScores(nn.Module):
    """A scorer of pairs of words: w · max(0, W (h_i ⊕ h_j) + b), where ⊕ concatenates (SPA-DP, eqs 8 and 12)."""

    def __init__(self, dim: int, width: int) -> None:
        super().__init__()
        self.first, self.second = linear(dim, width), nn.Linear(dim, width, bias=False)
        self.weigh = nn.Linear(width, 1, bias=False)

    def forward(self, words: Tensor) -> Tensor:
        """Return the scores (B, P, P) of words (B, P, dim); the rows are i, the columns j."""
        first, second = self.first(words)[:, :, None], self.second(words)[:, None]
        rows = max(_AT_ONCE // max(second.numel(), 1), 1)
        return torch.cat([self.weigh(F.relu(some + second))[..., 0] for some in first.split(rows, 1)], 1)


# upper limit of words × width in a batch, so that the vectors and their products fit into the CPU's caches; most
# searches are one call of a kernel (`search_at_once`), so a small batch costs no overhead at each step
_NUMBERS_AT_ONCE = 512_000
PLACES = (("stack", 3), ("stack", 2), ("stack", 1), ("buffer", 1))  # field and rank in `States` of s3, s2, s1, b1


class SpaDecoder(MemorylessDecoder):
    """A decoder with the scores y = W_2 max(0, W_1 (r_s3 ⊕ r_s2 ⊕ r_s1 ⊕ r_b1) + b_1) + b_2; ⊕ concatenates.

    The places are the top three words of the stack (s1 on top) and the front of the buffer, 0 if empty. For AMRs, s1 is
    the current span, s2 and s3 are the top nodes; a place with several words has their mean. Labels are a part of
    actions.
    """

    needs = RANKS

    def __init__(self, table: ActionTable, dim: int, width: int) -> None:
        super().__init__(table)
        self.one_word_each = isinstance(table.system, TreeSystem)
        if self.one_word_each:
            self.words_at_once = min(_NUMBERS_AT_ONCE // dim, 2000)
        self.places = nn.Linear(dim, len(PLACES) * width, bias=False)  # W_1, place by place
        nn.init.xavier_uniform_(self.places.weight)
        self.bias = nn.Parameter(torch.zeros(width))
        self.output = keep_weight(linear(width, len(table.tokens)))  # `search_at_once` reads it

    def search_at_once(self, encoder_out: EncoderOut, beam: int) -> FoundDerivations | None:
        machine = whole_machine(self.device_table)
        fits = loader.supports(self.output.weight, self.output.in_features)
        if machine is None or not fits:
            return None
        words, lengths = self.prepared(encoder_out).words, encoder_out.lengths
        most = max_search_actions(self.table.system, int(lengths.max()))
        ranks = [rank if field == "stack" else -rank for field, rank in PLACES]
        words = words.unflatten(-1, (len(PLACES), -1)).contiguous()
        return searches.search_trees(words, self.bias, self.output, ranks, lengths, machine, beam, most)

    def prepared(self, encoder_out: EncoderOut) -> EncoderOut:
        """Return `encoder_out` with `words` multiplied by the part of W_1 for each place, (B, P, places · width)."""
        words = self.places(encoder_out.words)
        return replace(encoder_out, words=words.to(torch.promote_types(words.dtype, torch.float)))

    def score_states(self, encoder_out: EncoderOut, sentence: Tensor, states: States) -> Tensor:
        there = torch.stack([getattr(states, field) == rank for field, rank in PLACES], 1)
        words = encoder_out.words.unflatten(-1, (len(PLACES), -1))
        summed = (sum_of_words if self.one_word_each else sum_of_means)(words, sentence, there)
        return self.output(F.relu(summed + self.bias).to(self.bias.dtype))


def sum_of_words(words: Tensor, sentence: Tensor, there: Tensor) -> Tensor:
    """Return (N, width), the sum of the vectors of the words at the places. Empty places add nothing."""
    _, positions, places, _ = words.shape
    some, position = there.byte().max(2)
    index = (sentence[:, None] * positions + position) * places + torch.arange(places, device=words.device)
    return F.embedding_bag(index, words.flatten(0, 2), mode="sum", per_sample_weights=some.to(words.dtype))


def sum_of_means(words: Tensor, sentence: Tensor, there: Tensor) -> Tensor:
    """Return (N, width), the sum of one vector for each place: the mean over all words at this place."""
    _, positions, places, _ = words.shape
    row, place, position = there.nonzero(as_tuple=True)
    index = (sentence[row] * positions + position) * places + place
    sizes = there.sum((1, 2))
    share = (1 / there.sum(2)[row, place]).to(words.dtype)
    return F.embedding_bag(
        index, words.flatten(0, 2), sizes.cumsum(0) - sizes, mode="sum", per_sample_weights=share
    )  # fmt: skip


class BilinearHeads(nn.Module):
    """A scorer of heads: s(r_j, r_i) = r_j · W r_i for the dependent i and its head j."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.project = nn.Linear(dim, dim, bias=False)
        nn.init.xavier_uniform_(self.project.weight)

    def forward(self, words: Tensor) -> Tensor:
        """Return the scores (B, P, P) of words (B, P, dim); the rows are dependents, the columns heads."""
        return self.project(words) @ words.transpose(1, 2)


class RelationScores(nn.Module):
    """A scorer of relations: a hidden layer over a word and its head. The paper does not say how arcs get labels."""

    def __init__(self, dim: int, width: int, count: int) -> None:
        super().__init__()
        self.dependent, self.head = linear(dim, width), nn.Linear(dim, width, bias=False)
        self.output = linear(width, count)

    def forward(self, words: Tensor, heads: Tensor) -> Tensor:
        """Return (B, N, count), the scores of relations of the first N words (B, P, dim) to their heads, at (B, N)."""
        head = gather_rows(self.head(words), heads)
        return self.output(F.relu(self.dependent(words)[:, : heads.size(1)] + head))


SMALL = {"word_width": 256, "scan_width": 128, "scan_layers": 2, "spa_width": 128, "mlp_width": 256}


def build(options: SpaDpOptions, resources: Resources) -> ParserModel:
    encoder = SpaEncoder(resources, options)
    decoder = SpaDecoder(resources.table, encoder.output_width, options.mlp_width)
    return ParserModel(encoder, decoder, tag_heads(options, encoder.tagged_width, resources.columns))


def build_graph(options: SpaDpOptions, resources: Resources) -> ParserModel:
    """Return the graph-based parser (eqs 8 to 10, for heads and for relations; no word is its own head)."""
    encoder = SpaEncoder(resources, options)
    dim, table = encoder.output_width, resources.table
    relations = RelationScores(dim, options.mlp_width, len(table.relations))
    decoder = TreeDecoder(table, BilinearHeads(dim), relations)
    return ParserModel(encoder, decoder, tag_heads(options, encoder.tagged_width, resources.columns))


register("spa_dp", SpaDpOptions, build, {"spa_dp": {}, "spa_dp_small": SMALL})
register(
    "spa_dp_graph",
    SpaDpOptions,
    build_graph,
    {
        "spa_dp_graph": {"scan_width": 400, "spa_width": 100, "mlp_width": 100},
        "spa_dp_graph_small": SMALL | {"spa_width": 64, "mlp_width": 128},
    },
)

"""SPA-DP: a transition-based and a graph-based parser over words with sequence-preserved attention.

B sentences, P words and root, N parser states.
Source: the paper of SPA-DP, the "Sequence-Preserved Attention Dependency Parser" (github.com/dugu9sword/spa-dp)
"""

from __future__ import annotations

from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transition_parser.data.resources import Resources
from transition_parser.kernels import loader, trees
from transition_parser.kernels.trees import FoundDerivations
from transition_parser.models.registry import register
from transition_parser.models.spa_dp.encoder import BILINEAR, PairScores, SpaDpGraphOptions, SpaDpOptions, SpaEncoder
from transition_parser.modules.contract import MemorylessDecoder, ParserModel
from transition_parser.modules.encoder import EncoderOut
from transition_parser.modules.layers import gather_rows, keep_weight, linear
from transition_parser.modules.tagging import tag_heads
from transition_parser.modules.tree_decoder import TreeDecoder
from transition_parser.states.machine import max_search_actions, whole_machine
from transition_parser.states.states import RANKS, States
from transition_parser.states.table import ActionTable
from transition_parser.transitions import TreeSystem

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
        return trees.search_trees(words, self.bias, self.output, ranks, lengths, machine, beam, most)

    def prepared(self, encoder_out: EncoderOut) -> EncoderOut:
        """Return `encoder_out` with `words` multiplied by the part of W_1 for each place, (B, P, places · width)."""
        words = self.places(encoder_out.words)
        return replace(encoder_out, words=words.to(torch.promote_types(words.dtype, torch.float)))

    def visible_words(self, states: States) -> dict[str, Tensor]:
        """Return for each place, such as `stack 1`, a tensor (…, P) long: 1 for words at this place, else 0."""
        return {f"{field} {rank}": (getattr(states, field) == rank).long() for field, rank in PLACES}

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


def build_graph(options: SpaDpGraphOptions, resources: Resources) -> ParserModel:
    """Return the graph-based parser (eqs 8 to 10, for heads and for relations; no word is its own head)."""
    encoder = SpaEncoder(resources, options)
    dim, table = encoder.output_width, resources.table
    relations = RelationScores(dim, options.mlp_width, len(table.relations))
    heads = BilinearHeads(dim) if options.head_score == BILINEAR else PairScores(dim, options.mlp_width)
    decoder = TreeDecoder(table, heads, relations)
    return ParserModel(encoder, decoder, tag_heads(options, encoder.tagged_width, resources.columns))


register("spa_dp", SpaDpOptions, build, {"spa_dp": {}, "spa_dp_small": SMALL})
register(
    "spa_dp_graph",
    SpaDpGraphOptions,
    build_graph,
    {
        "spa_dp_graph": {"scan_width": 400, "spa_width": 100, "mlp_width": 100},
        "spa_dp_graph_small": SMALL | {"spa_width": 64, "mlp_width": 128},
    },
)

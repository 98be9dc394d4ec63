"""The decoder: the actions so far and the parser state in, scores of the legal actions out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F
from fairseq.models import FairseqIncrementalDecoder
from torch import Tensor, nn

from transition_parser.compat import padded
from transition_parser.modules.dropout import Dropout
from transition_parser.modules.encoder import EncoderOut
from transition_parser.modules.layers import DecoderLayer, add_and_normalise, sinusoids
from transition_parser.modules.search_attention import SearchAttention, search_attention
from transition_parser.modules.state_masks import StateHeads, StatePositions
from transition_parser.states.device_table import DeviceTable
from transition_parser.states.machine import Machine, make_machine, unroll
from transition_parser.states.table import ActionTable

_CACHE = "transition_parser"  # the key in fairseq's incremental state

# Search swaps at most so many times a word: a model that has not learned when to SWAP would otherwise
# take n² steps. Real trees need fewer: the most swaps a word in the six treebanks that this was
# developed on are 1.97, in a sentence of Basque.
SWAPS_PER_WORD = 2

# From so many actions on, search scores only those that are legal in some row.
_LARGE_VOCABULARY = 512
_ACTIONS_STEP = 128  # what it pads their number to, for few shapes


@dataclass
class SearchState:
    """What search carries from step to step: the batched machine, and what the layers attend to.

    Each of B sentences has W hypotheses; the machine has B · W rows, in the order of the sentences.
    """

    machine: Machine
    seen: SearchAttention
    steps: int = 0

    def branch(self, origin: Tensor) -> Tensor:
        """Hypothesis w of sentence b goes on from what was its hypothesis `origin[b, w]`, (B, W'); the same as
        rows, (B · W',)."""
        rows = self.seen.rows_of(origin)
        self.machine.reorder(rows, same_sentences=origin.size(1) == self.seen.width)
        self.seen.branch(origin)
        return rows

    def keep(self, sentences: Tensor) -> Tensor:
        """Sentence i becomes what was sentence `sentences[i]`, with all its hypotheses; the same as rows."""
        rows = self.seen.rows_in(sentences)
        self.machine.reorder(rows)
        self.seen.keep(sentences)
        return rows


class ActionScores(NamedTuple):
    """Scores of the next action of R hypotheses.

    found: (N, U), before the softmax. rows: (N,), which of R rows they are of (perhaps some twice); None: all. The
    others have one legal action, or do not matter. legal: (R, U), 1 and 0. tokens: (U,), those that are legal in any
    row; None: all.
    """

    found: Tensor
    rows: Tensor | None
    legal: Tensor
    tokens: Tensor | None

    def masked(self) -> Tensor:
        """(R, U) in fp32, −inf for actions that are not legal."""
        found = self.found
        if self.rows is not None:
            found = found.new_zeros(self.legal.shape).index_copy_(0, self.rows, found)
        return _only_legal(found, self.legal)


class ActionDecoder(FairseqIncrementalDecoder):
    """A Transformer decoder over actions whose cross-attention heads see the parser state.

    Scores of illegal actions are −inf. Teacher-forced calls take the states from `state` (made in the
    data loader) or run the batched machine over the actions; in search the machine is in the incremental state.
    """

    def __init__(self, dictionary, table: ActionTable, args) -> None:
        super().__init__(dictionary)
        dim = args.decoder_embed_dim
        self.table, self.device_table = table, DeviceTable.of(table)
        self.heads = args.decoder_attention_heads
        self.state_heads = StateHeads(args.stack_heads, args.buffer_heads, args.state_window, args.state_positions)
        self.predict_shift_words = args.predict_shift_words
        self.embed = nn.Embedding(len(dictionary), dim, dictionary.pad())
        nn.init.normal_(self.embed.weight, std=dim**-0.5)
        nn.init.zeros_(self.embed.weight[dictionary.pad()])
        self.scale = math.sqrt(dim)
        self.dropout = Dropout(args.dropout)
        self.action_dropout = Dropout(args.action_dropout, whole=True)
        self.layers = nn.ModuleList(
            DecoderLayer(
                dim,
                self.heads,
                args.decoder_ffn_embed_dim,
                args.dropout,
                args.attention_dropout,
                args.activation_dropout,
            )
            for _ in range(args.decoder_layers)
        )
        self.norm = nn.LayerNorm(dim)
        self.output = nn.Linear(dim, len(dictionary), bias=False)
        if args.share_decoder_input_output_embed:
            self.output.weight = self.embed.weight
        else:
            nn.init.normal_(self.output.weight, std=dim**-0.5)
        self.positions = StatePositions(dim, self.state_heads) if self.state_heads.positions else None

    @property
    def sees_state(self) -> bool:
        """True if any cross-attention head is a state head."""
        return self.state_heads.stack + self.state_heads.buffer > 0

    def forward(
        self,
        prev_output_tokens: Tensor,
        encoder_out: EncoderOut,
        incremental_state: dict | None = None,
        state: dict[str, Tensor | None] | None = None,
        mask_illegal: bool = True,
        **_,
    ) -> tuple[Tensor, dict]:
        """(B, T, V) scores before the softmax, and fairseq's dictionary of extras.

        prev_output_tokens: (B, T), `</s>` first. In search, the last one is the action just taken, and T in the
        result is 1. state: the arrays of `unroll`, by name. mask_illegal: False leaves the scores of illegal actions
        as they come, and says which are legal under `legal` of the dictionary: (B, T, V), 1 and 0.
        """
        if incremental_state is not None:
            scores = self._fairseq_step(prev_output_tokens, encoder_out, incremental_state)
            return scores.unsqueeze(1), {"attn": None}
        if state is None:
            machine = self.machine(encoder_out)
            # the machine's action at step t is the token that the decoder reads at t + 1
            following = torch.cat([prev_output_tokens[:, 1:], prev_output_tokens[:, :1]], 1)
            state = unroll(machine, following)._asdict()
        places = (state["stack"], state["buffer"]) if self.sees_state else (None, None)
        mask, scores_of = self.state_heads.see(
            *places, encoder_out.mask, self.heads, self.positions, self.embed.weight.dtype
        )
        x = self._embed(prev_output_tokens, 0)
        for layer in self.layers:
            memory = layer.cross_attention.keys_values(encoder_out.words)
            x = layer(x, memory, mask, scores_of)
        legal = self._on_device().legality(state["columns"], state["context"], self.predict_shift_words)
        if not mask_illegal:
            return self.output(self.norm(x)), {"attn": None, "legal": legal}
        return _only_legal(self.output(self.norm(x)), legal), {"attn": None}

    # --- search -----------------------------------------------------------------------------

    def start(self, encoder_out: EncoderOut) -> SearchState:
        """The state of search before the first action."""
        attentions = [layer.cross_attention for layer in self.layers]
        seen = search_attention(attentions, encoder_out, self.state_heads, self.positions)
        return SearchState(self.machine(encoder_out, SWAPS_PER_WORD, keep_arcs=False), seen)

    def step(self, tokens: Tensor, search: SearchState, alive: Tensor | None = None) -> ActionScores:
        """Scores of the next action, where `tokens` (R,) were the last ones (`</s>` at first) and the machine has
        taken them. Rows are hypotheses; each sentence has as many, in its order.

        alive: (R,) bool, the rows whose scores matter; None: all. Where one action alone is legal its probability is 1
        whatever its score, so that the last layer need not be computed.
        """
        machine, seen = search.machine, search.seen
        seen.open(*((machine.stack_places(), machine.buffer_places()) if self.sees_state else (None, None)))
        some = machine.legal_anywhere() if len(self.table.tokens) >= _LARGE_VOCABULARY else None
        legal = machine.legality() if some is None else machine.legality(some)
        # what the first layer projects depends on the action and the step alone
        tokens, which = tokens.unique(return_inverse=True)
        places = every = chosen = None
        if seen.can_choose:
            needed, several = _needed(legal, machine.closing(), alive)
            places = torch.zeros_like(which)  # where in x each row is that is needed
            places[needed] = torch.arange(len(needed))
            tokens, every, chosen = padded(tokens), padded(needed), padded(several)
        x = self._embed(tokens[:, None], search.steps)[:, 0]
        inner = self.layers[0].norms[0](x)
        asked, rows = every, which if every is None else which[every]
        for i, layer in enumerate(self.layers):
            last = i + 1 == len(self.layers)
            if last and chosen is not None:
                asked, rows = chosen, places[chosen] if i else which[chosen]
            x, added = layer.step(x, inner, i, seen, places if i else which, rows, asked)
            inner = add_and_normalise(x, added, self.norm if last else self.layers[i + 1].norms[0])
            rows = None
        search.steps += 1
        return ActionScores(self._scores(inner, some), asked, legal, some)

    def _scores(self, x: Tensor, some: Tensor | None) -> Tensor:
        """(N, V) of x (N, dim), or (N, U) of the actions `some` (U,)."""
        if some is None:
            return self.output(x)
        weight = self.output.weight.index_select(0, padded(some, _ACTIONS_STEP))
        return F.linear(x, weight)[:, : len(some)]

    def machine(self, encoder_out: EncoderOut, swaps_per_word: int | None = None, keep_arcs: bool = True) -> Machine:
        """The batched machine before the first action."""
        return make_machine(self._on_device(), encoder_out.lengths, encoder_out.features, swaps_per_word, keep_arcs)

    def _fairseq_step(self, tokens: Tensor, encoder_out: EncoderOut, incremental: dict) -> Tensor:
        if _CACHE not in incremental:
            incremental[_CACHE] = self.start(encoder_out)
        else:
            incremental[_CACHE].machine.advance(tokens[:, -1])
        scores = self.step(tokens[:, -1], incremental[_CACHE])
        masked = scores.masked()
        if scores.tokens is None:
            return masked
        every = masked.new_full((len(masked), len(self.table.tokens)), float("-inf"))
        return every.index_copy_(1, scores.tokens, masked)

    def reorder_incremental_state(self, incremental_state: dict, new_order: Tensor) -> None:
        """Follows fairseq's beam: hypotheses are copied, dropped, and finished sentences leave."""
        if _CACHE in incremental_state:
            incremental_state[_CACHE].keep(new_order)

    # --- parts ------------------------------------------------------------------------------

    def _on_device(self) -> DeviceTable:
        device = self.embed.weight.device
        if self.device_table.column.device != device:
            self.device_table = DeviceTable.of(self.table, device)
        return self.device_table

    def _embed(self, tokens: Tensor, first: int) -> Tensor:
        x = self.action_dropout(self.embed(tokens) * self.scale)
        return self.dropout(x + sinusoids(first + 1, x.size(1), x.size(2), x.device).to(x.dtype))

    def max_positions(self) -> int:
        """Derivations of any length: positions are computed."""
        return int(1e9)


def _only_legal(scores: Tensor, legal: Tensor) -> Tensor:
    """The scores in fp32, −inf for actions that are not legal; both (..., V)."""
    return scores.float().masked_fill(legal == 0, float("-inf"))


def _needed(legal: Tensor, closing: Tensor, alive: Tensor | None) -> tuple[Tensor, Tensor]:
    """The rows whose keys and values are needed, and of these the rows with more than one legal action. The dead are
    not, nor those whose only action ends the derivation: no later action looks back at it.

    legal: (R, U). closing: (R,), see the machine. alive: (R,) or None."""
    several = legal.sum(1) > 1
    needed = several | ~closing
    if alive is not None:
        needed, several = needed & alive, several & alive
    return needed.nonzero()[:, 0], several.nonzero()[:, 0]

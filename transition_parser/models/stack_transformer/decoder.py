"""The decoder of the Stack-Transformer, which scores actions from the actions so far and the parser state.

Source: Fernandez Astudillo et al. 2020, sec. 3.1
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transition_parser.kernels import amr_search_kernels, search_kernels
from transition_parser.kernels.amr_search_kernels import Actions, Prior
from transition_parser.kernels.search_kernels import FoundDerivations, LayerStack, SpanPrior
from transition_parser.models.stack_transformer.layer import DecoderLayer
from transition_parser.models.stack_transformer.options import StackTransformerOptions
from transition_parser.models.stack_transformer.rows import FEW_ROWS, StepRows
from transition_parser.models.stack_transformer.search_attention import (
    KernelAttention,
    SearchAttention,
    search_attention,
)
from transition_parser.models.stack_transformer.state_masks import StateHeads, StatePositions
from transition_parser.modules.action_scores import LexicalPrior
from transition_parser.modules.contract import ActionScores, SearchState, StateDecoder
from transition_parser.modules.encoder import EncoderOut
from transition_parser.modules.layers import Dropout, add_and_normalise, keep_weight, padded, sinusoids
from transition_parser.states.amr_machine import AmrMachine
from transition_parser.states.machine import Machine, machine_class, max_search_actions
from transition_parser.states.states import RANKS, States
from transition_parser.states.table import ActionTable

# With at least this many actions, search on CPUs scores only the actions that are legal in some row.
LARGE_VOCABULARY = 512
_ACTIONS_STEP = 128  # the number of scored actions is padded to a multiple of this, so that products have few shapes


class StackTransformerSearch(SearchState):
    """The state of a search with a Stack-Transformer.

    attention: the key/value caches of the layers
    stack: the weights of all layers for kernels that compute all layers at once; None where these kernels do not fit
    prior: (K,); the numbers that the lexical prior adds to the scores of its K tokens; None for a model without prior
    """

    def __init__(
        self,
        machine: Machine,
        encoder_out: EncoderOut,
        attention: SearchAttention,
        stack: LayerStack | None,
        prior: Tensor | None,
    ) -> None:
        super().__init__(machine, encoder_out)
        self.attention, self.stack, self.prior = attention, stack, prior

    def move_rows(self, rows: Tensor, origin: Tensor | None, sentences: Tensor | None) -> None:
        self.attention.move_rows(rows, origin, sentences)


class StackTransformerDecoder(StateDecoder):
    """A Transformer decoder over actions whose cross-attention heads see the parser state.

    padding: the id of `<pad>` among the actions
    """

    def __init__(self, table: ActionTable, padding: int, options: StackTransformerOptions) -> None:
        super().__init__(table)
        dim, actions = options.decoder_embed_dim, len(table.tokens)
        self.heads = options.decoder_attention_heads
        top_ranks = machine_class(table.system.name).top_ranks
        self.state_heads = StateHeads(
            options.stack_heads, options.buffer_heads, options.state_window, options.state_positions, top_ranks
        )
        self.needs = RANKS if self.state_heads.count else ()
        self.shifts_compete = options.predict_shift_words
        self.embed = nn.Embedding(actions, dim, padding)
        nn.init.normal_(self.embed.weight, std=dim**-0.5)
        nn.init.zeros_(self.embed.weight[padding])
        self.scale = math.sqrt(dim)
        self.dropout = Dropout(options.dropout)
        self.action_dropout = Dropout(options.action_dropout, whole=True)
        self.layers = nn.ModuleList(
            DecoderLayer(
                dim,
                self.heads,
                options.decoder_ffn_embed_dim,
                options.dropout,
                options.attention_dropout,
                options.activation_dropout,
            )
            for _ in range(options.decoder_layers)
        )
        self.norm = nn.LayerNorm(dim)
        self.output = keep_weight(nn.Linear(dim, actions, bias=False))
        if options.share_decoder_input_output_embed:
            self.output.weight = self.embed.weight
        else:
            nn.init.normal_(self.output.weight, std=dim**-0.5)
        self.positions = None
        if self.state_heads.positions:
            sinusoidal = options.state_position_kind == "sinusoidal"
            self.positions = StatePositions(dim, self.state_heads, options.state_position_ranks, sinusoidal)
        self.prior = LexicalPrior(table) if options.lexical_prior else None

    def scores(
        self, actions: Tensor, encoder_out: EncoderOut, states: States, sampled_steps: Tensor | None = None
    ) -> Tensor:
        mask, position_scores = self.state_heads.masks(
            states, encoder_out.mask, self.heads, self.positions, self.embed.weight.dtype
        )
        x = self._embed(actions, 0)
        for layer in self.layers:
            memory = layer.cross_attention.keys_values(encoder_out.words)
            x = layer(x, memory, mask, position_scores)
        scores = self.output(self.norm(x))
        if self.prior is None:
            return scores
        assert states.context is not None
        return self.prior(scores.flatten(0, 1), states.context[..., 1].flatten()).view(scores.shape)

    def visible_words(self, states: States) -> dict[str, Tensor]:
        """Return the ranks (…, P) that the stack heads and the buffer heads see, 0 for unseen words.

        Heads without a state mask see all words in any state, and are left out.
        """
        if not self.needs:
            return {}
        assert states.stack is not None and states.buffer is not None
        seen = zip(RANKS, self.state_heads.within_window(states.stack, states.buffer), strict=True)
        return {name: ranks for name, ranks in seen if getattr(self.state_heads, name)}

    # --- search -----------------------------------------------------------------------------

    def start(self, encoder_out: EncoderOut) -> StackTransformerSearch:
        attentions = [layer.cross_attention for layer in self.layers]
        attention = search_attention(attentions, encoder_out, self.state_heads, self.positions)
        stack = self._layer_stack() if self._fits_kernel(encoder_out.words) else None
        prior = None if self.prior is None else self.prior.values_of_tokens()
        return StackTransformerSearch(self.machine(encoder_out, in_search=True), encoder_out, attention, stack, prior)

    def search_at_once(self, encoder_out: EncoderOut, beam: int) -> FoundDerivations | None:
        if len(self.table.tokens) < LARGE_VOCABULARY:
            return None
        # without int8 codes, beams of several sentences take 0.8 of the time step by step, where oneDNN multiplies the
        # rows of all sentences, and rows without a choice are left out
        if not self._has_codes() and beam > (FEW_ROWS if len(encoder_out.lengths) == 1 else 1):
            return None
        if self.shifts_compete or machine_class(self.table.system.name) is not AmrMachine:
            return None
        if not amr_search_kernels.supports(encoder_out.words) or not self._fits_kernel(encoder_out.words):
            return None
        search = self.start(encoder_out)
        assert isinstance(search.machine, AmrMachine) and isinstance(search.attention, KernelAttention)
        rows = search.machine.rows_for_kernel()
        if rows is None or search.stack is None:
            return None
        dtype = search.stack.dtype
        prior = None
        if self.prior is not None and search.prior is not None:
            prior = Prior(self.prior.offsets, self.prior.tokens, search.prior.to(dtype))
        actions = Actions(self.embed.weight, self.scale, self.output.weight, self.table.end, prior)
        most = max_search_actions(self.table.system, int(encoder_out.lengths.max()))
        steps = sinusoids(1, most, search.stack.dim, encoder_out.words.device).to(dtype)
        vocabulary, attended = self.device_table.vocabulary(), search.attention.attended()
        return amr_search_kernels.search_amrs(rows, vocabulary, actions, steps, search.stack, attended, beam)

    def step(self, tokens: Tensor, search: SearchState, alive: Tensor | None = None) -> ActionScores:
        """Return the scores of the next action, see `StateDecoder.step`.

        In a row with a single legal action, this action has probability 1 whatever its score, so the last layer need
        not compute the row. `SearchAttention.open` decides which rows each layer computes.
        """
        assert isinstance(search, StackTransformerSearch)
        machine, attention = search.machine, search.attention
        on_cpu = tokens.device.type == "cpu"  # elsewhere counting the legal actions would make the host wait
        some = machine.legal_anywhere() if on_cpu and len(self.table.tokens) >= LARGE_VOCABULARY else None
        legal = machine.legality(some)
        states = machine.observe()
        step = attention.open(tokens, states, legal, machine.may_finish(), alive)
        x = self._embed(step.tokens[:, None], search.steps)[:, 0]
        if len(tokens) <= FEW_ROWS and search.stack is not None:
            assert isinstance(attention, KernelAttention)
            normed = attention.all_layers(x.contiguous(), search.stack)
        else:
            normed = self._layers(x, search, step)
        queries = step.layers[-1].queries
        scores = self._output(normed, some, legal, queries, states, search.prior)
        return ActionScores(scores, queries, legal, some)

    def _layers(self, x: Tensor, search: StackTransformerSearch, step: StepRows) -> Tensor:
        """Return the normalised output of the last layer, (N, dim), for the N rows that it computes.

        x: (M, dim); the embedded actions of the M rows that the first layer computes
        """
        first, *others = (layer.norms[0] for layer in self.layers)
        attention, stack = search.attention, search.stack
        if stack is not None and stack.is_coded:  # as in the kernels that compute all layers
            normed = search_kernels.add_and_normalise(x, torch.zeros_like(x), first)
        else:
            normed = first(x)
        for number, (layer, norm) in enumerate(zip(self.layers, [*others, self.norm], strict=True)):
            x, added = layer.step(x, normed, number, attention, step.layers[number])
            normed = add_and_normalise(x, added, norm)
        return normed

    def _fits_kernel(self, words: Tensor) -> bool:
        """Return True if the kernel that computes all layers can read the layers and the words (B, P, dim).

        The kernel has no dropout and no autocast to bf16. It reads plain weights or int8 codes.
        """
        if self.training or torch.is_autocast_enabled("cpu"):
            return False
        if not self._has_codes() and not all(isinstance(one.weight, Tensor) for one in self._linears()):
            return False
        head, inner = words.size(2) // self.heads, self.layers[0].feed_forward.inner.out_features
        return search_kernels.supports(words, head) and search_kernels.supports(self.norm.weight, inner)

    def _has_codes(self) -> bool:
        """Return True if the weights of all layers are int8 codes that kernels read (`packing.quantise`)."""
        return all(getattr(one, "product", None) is not None for one in self._linears())

    def _linears(self) -> list[nn.Linear]:
        return [linear for layer in self.layers for linear in layer.linears()]

    def _layer_stack(self) -> LayerStack:
        """Return the weights of all layers for the kernel that computes all layers at once."""
        linears = [layer.linears() for layer in self.layers]
        first, *others = (layer.norms[0] for layer in self.layers)
        norms = [
            (layer.norms[1], layer.norms[2], after)
            for layer, after in zip(self.layers, [*others, self.norm], strict=True)
        ]
        return LayerStack(linears, norms, first, self.heads)

    def _output(
        self,
        x: Tensor,
        tokens: Tensor | None,
        legal: Tensor,
        rows: Tensor | None,
        states: States,
        values: Tensor | None,
    ) -> Tensor:
        """Return scores (N, V), or (N, U) of the actions `tokens`. Only the scores of legal actions are meaningful.

        x: (N, dim); the normalised output of the last layer
        tokens: (U,) or None; the actions to score; None: all V actions
        legal: (R, U), or (R, V) without `tokens`; the legality of the scored actions for each of R hypotheses
        rows: (N,) or None; the hypothesis that each row of x belongs to; None: row i belongs to hypothesis i
        states: (R, …)
        values: (K,) or None; the numbers that the lexical prior adds to the scores of its K tokens
        """
        spans = None
        if self.prior is not None:
            assert states.context is not None
            spans = states.context[:, 1]
        if tokens is not None and not self.shifts_compete and search_kernels.supports(x, x.size(1)):
            prior = None
            if self.prior is not None and spans is not None:
                assert values is not None
                prior = SpanPrior(spans.contiguous(), self.prior.offsets, self.prior.tokens, values.to(x.dtype))
            return search_kernels.legal_scores(x, self.output.weight, tokens, legal, rows, prior)
        if tokens is None:
            scores = self.pooled_shifts(self.output(x))
        else:
            weight = self.output.weight.index_select(0, padded(tokens, _ACTIONS_STEP))
            scores = self.pooled_shifts(F.linear(x, weight)[:, : len(tokens)], tokens)
        if self.prior is None or spans is None:
            return scores
        return self.prior(scores, spans if rows is None else spans[rows], tokens)

    def _embed(self, tokens: Tensor, first: int) -> Tensor:
        x = self.action_dropout(self.embed(tokens) * self.scale)
        return self.dropout(x + sinusoids(first + 1, x.size(1), x.size(2), x.device).to(x.dtype))

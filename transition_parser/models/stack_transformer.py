"""The Stack-Transformer: a decoder over the actions so far whose cross-attention heads see the parser state.

B derivations of T steps, R hypotheses, P words and root. Source: Fernandez Astudillo et al. 2020, sec. 3.1
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from transition_parser.data.resources import Resources
from transition_parser.kernels import loader
from transition_parser.kernels.searches import (
    Actions,
    Attended,
    FoundDerivations,
    Functions,
    LayerStack,
    Prior,
    search_amrs,
)
from transition_parser.models.registry import register
from transition_parser.modules.action_scores import FunctionScores, LexicalPrior
from transition_parser.modules.contract import ActionScores, ParserModel, SearchState, StateDecoder
from transition_parser.modules.encoder import EncoderOut, ReadingSettings, WordEncoder
from transition_parser.modules.layers import (
    KEEP_RAW_AND_PACK,
    KEEP_RAW_BESIDE_BF16,
    Attention,
    Dropout,
    FeedForward,
    HeadMask,
    keep_weight,
    padded,
    sinusoids,
    summed_exactly,
)
from transition_parser.modules.options import dropout_option, layers_option, option, size_option
from transition_parser.modules.tagging import tag_heads
from transition_parser.modules.words import WordOptions
from transition_parser.states.amr_machine import AmrMachine, initial_rows
from transition_parser.states.machine import Machine, machine_class, max_search_actions
from transition_parser.states.states import FRAMES, RANKS, States
from transition_parser.states.table import ActionTable


@dataclass(frozen=True)
class StackTransformerOptions(WordOptions):
    """The options of a Stack-Transformer, with sizes as in the paper (the feed-forward width is ours)."""

    encoder_layers: int = layers_option(6, "encoder layers", least=0)
    encoder_embed_dim: int = size_option(256, "encoder width", least=2)
    encoder_ffn_embed_dim: int = size_option(512, "encoder feed-forward width")
    encoder_attention_heads: int = size_option(4, "encoder attention heads")
    decoder_layers: int = layers_option(6, "decoder layers")
    decoder_embed_dim: int = size_option(256, "decoder width", least=2)
    decoder_ffn_embed_dim: int = size_option(512, "decoder feed-forward width")
    decoder_attention_heads: int = size_option(4, "decoder attention heads")
    dropout: float = dropout_option(0.3, "dropout of layer outputs")
    attention_dropout: float = dropout_option(0.0, "dropout of attention weights")
    activation_dropout: float = dropout_option(0.0, "dropout inside feed-forward")
    action_dropout: float = dropout_option(0.0, "dropout of whole actions of the history")
    share_decoder_input_output_embed: bool = option(False, "one embedding for the actions read and predicted")
    encoder_local_layers: int = layers_option(
        0, "convolutions over three words each, before the encoder's attention layers", least=0
    )
    stack_heads: int = size_option(1, "cross-attention heads that see the stack", least=0)
    buffer_heads: int = size_option(1, "cross-attention heads that see the buffer", least=0)
    state_window: str = option(
        "all",
        "words that stack and buffer heads see; all: the whole stack or buffer; top2: its top two words",
        choices=("all", "top2"),
    )
    state_positions: bool = option(False, "add embeddings of the rank in stack or buffer to the keys of their heads")
    state_position_ranks: int = size_option(
        31, "with --state-positions: ranks with an embedding of their own; the ranks below share one", most=1024
    )
    state_position_kind: str = option(
        "learned",
        "with --state-positions: learned embeddings of ranks, or fixed sinusoids",
        choices=("learned", "sinusoidal"),
    )
    predict_shift_words: bool = option(
        False,
        "with labeled SHIFT: train the model to predict the word of SHIFT, too (the paper's multi-task)",
    )
    lexical_prior: bool = option(
        False, "AMR: scores of the actions that name nodes also depend on how often they named the same words"
    )
    role_functions: bool = option(
        False, "AMR: scores of arcs also depend on the function, such as agent, that their role has in PropBank's frame"
    )

    def contradictions(self) -> str | None:
        if self.encoder_embed_dim != self.decoder_embed_dim:
            return "--encoder-embed-dim and --decoder-embed-dim must be equal"
        for side in ("encoder", "decoder"):
            if problem := self.indivisible(side):
                return problem
        state_heads = self.stack_heads + self.buffer_heads
        if state_heads > self.decoder_attention_heads:
            return f"--stack-heads and --buffer-heads ask for {state_heads} of {self.decoder_attention_heads} heads"
        if self.state_positions and not state_heads:
            return "--state-positions needs stack or buffer heads"
        return super().contradictions()


@dataclass(frozen=True)
class StateHeads:
    """The cross-attention heads that see only the stack or only the buffer. The other heads see all words."""

    stack: int = 1  # the number of heads that see the stack
    buffer: int = 1  # likewise
    window: str = "all"  # `all`, or `top2` for the first two words of each
    top_ranks: int = 2  # ranks that the top two words take, see `BatchedMachine`

    @property
    def count(self) -> int:
        return self.stack + self.buffer

    @property
    def windows(self) -> tuple[int, int]:
        """The number of stack ranks, and of buffer ranks, that the heads see; 0 for all ranks."""
        return (0, 0) if self.window == "all" else (self.top_ranks, 2)

    def ranks(self, stack: Tensor, buffer: Tensor) -> Tensor:
        """Return the ranks that each state head sees, (B, state heads, T, P), 0 for unseen words."""
        of_stack, of_buffer = self.windows
        stack = stack * (stack <= of_stack) if of_stack else stack
        buffer = buffer * (buffer <= of_buffer) if of_buffer else buffer
        return torch.stack([stack] * self.stack + [buffer] * self.buffer, 1)


def mask_of(ranks: Tensor, words: Tensor, heads: int) -> HeadMask:
    """Return the mask of all heads, (B, heads, T, P): state heads see what has a rank, the others `words` (B, P)."""
    batch, state_heads, steps, width = ranks.shape
    free = words[:, None, None].expand(batch, heads - state_heads, steps, width)
    return HeadMask.from_visible(torch.cat([ranks > 0, free], 1))


class StatePositions(nn.Module):
    """Embeddings p of ranks, learned or sinusoidal (sec. 5); all ranks above `ranks` share one.

    Their scores q·(p W^K), the term p_ti of sec. 3.1, are gathered by rank, so that no (T, P, dim) tensor is made.
    """

    def __init__(self, dim: int, heads: StateHeads, ranks: int, sinusoidal: bool) -> None:
        super().__init__()
        self.largest = ranks + 1
        if sinusoidal:
            table = sinusoids(0, self.largest + 1, dim, torch.device("cpu"))
            self.register_buffer("table", table.expand(2, -1, -1).contiguous(), persistent=False)
        else:
            self.table = nn.Parameter(torch.randn(2, self.largest + 1, dim) * dim**-0.5)
        role = [0] * heads.stack + [1] * heads.buffer
        self.register_buffer("role", torch.tensor(role), persistent=False)

    def keys(self, attention: Attention) -> Tensor:
        """Return (2, largest + 1, dim), the keys p W^K of the stack and of the buffer."""
        return self.table @ attention.key_value.weight[: self.table.size(2)].t()

    def forward(self, query: Tensor, ranks: Tensor, attention: Attention) -> Tensor:
        """Return (B, state heads, T, P), the scores to add before the softmax, for queries with the state heads first.

        ranks: (B, state heads, T, P) long, at most `largest`
        """
        state_heads, width = len(self.role), query.size(-1)
        keys = self.keys(attention).unflatten(-1, (-1, width))  # (2, largest + 1, heads, d)
        heads = torch.arange(state_heads, device=query.device)
        keys = keys[self.role, :, heads]  # (state heads, largest + 1, d)
        query = query[:, :state_heads]
        if not torch.is_grad_enabled():  # sums are not rounded, as in attention
            query, keys = summed_exactly(query), summed_exactly(keys)
        return torch.einsum("bhtd,hpd->bhtp", query, keys).mul(width**-0.5).gather(-1, ranks)


class VisibleWords(NamedTuple):
    """The words that the heads of cross-attention see in states (B, T, …), and the places of words for state heads."""

    mask: HeadMask
    ranks: Tensor | None = None  # (B, state heads, T, P); see `StatePositions.forward`
    positions: StatePositions | None = None

    def mask_of_layer(self, query: Tensor, attention: Attention) -> HeadMask:
        """Return the mask for queries (B, heads, T, d) of a layer, with the scores of positions."""
        if self.positions is None or self.ranks is None:
            return self.mask
        scores, count = self.positions(query, self.ranks, attention), self.ranks.size(1)
        bias = self.mask.bias.to(scores.dtype)
        return self.mask._replace(bias=torch.cat([bias[:, :count] + scores, bias[:, count:]], 1))


KeysValues = tuple[Tensor, Tensor]


class StackTransformerSearch(SearchState):
    """The state of a search: the keys and values, (R, heads, …), of the words and of the actions so far, by layer."""

    def __init__(self, machine: Machine, encoder_out: EncoderOut, words: list[KeysValues]) -> None:
        super().__init__(machine, encoder_out)
        # contiguous, because each step reads them and would otherwise copy them
        self.words, self.mask = [(keys.contiguous(), values.contiguous()) for keys, values in words], encoder_out.mask
        self.actions: list[KeysValues] = [(keys[:, :, :0], values[:, :, :0]) for keys, values in words]

    def move_rows(self, rows: Tensor, origin: Tensor | None, sentences: Tensor | None) -> None:
        self.actions = [(keys[rows], values[rows]) for keys, values in self.actions]
        if origin is None or origin.size(1) != self.width:  # else the words of each row stay
            self.words = [(keys[rows], values[rows]) for keys, values in self.words]
            self.mask = self.mask[rows]


class DecoderLayer(nn.Module):
    """Self-attention over actions, cross-attention to words, feed-forward (pre-norm), for training and search."""

    def __init__(self, options: StackTransformerOptions) -> None:
        super().__init__()
        dim, heads = options.decoder_embed_dim, options.decoder_attention_heads
        self.norms = nn.ModuleList(nn.LayerNorm(dim) for _ in range(3))
        self.self_attention = Attention(dim, heads, options.attention_dropout)
        self.cross_attention = Attention(dim, heads, options.attention_dropout)
        keep_weight(self.cross_attention.key_value, KEEP_RAW_AND_PACK)  # projects state positions, too
        self.feed_forward = FeedForward(dim, options.decoder_ffn_embed_dim, options.activation_dropout)
        self.dropout = Dropout(options.dropout)
        for one in self.linears():
            keep_weight(one, KEEP_RAW_BESIDE_BF16)

    def linears(self) -> list[nn.Linear]:
        """Return the linear layers in the order in which `LayerStack` reads them."""
        block, words, inner = self.self_attention, self.cross_attention, self.feed_forward
        return [block.key_value, block.query, block.out, words.query, words.out, inner.inner, inner.outer]

    def forward(
        self, x: Tensor, words: KeysValues, visible: VisibleWords, past: KeysValues | None = None
    ) -> tuple[Tensor, KeysValues]:
        """Return the layer's output (B, T, dim) for all actions at once, and the keys and values of actions.

        words: keys and values, (B, heads, P, dim / heads) each
        past: the keys and values of earlier actions, in search, where T is 1
        """
        inner = self.norms[0](x)
        actions = self.self_attention.keys_values(inner)
        if past is not None:
            actions = torch.cat([past[0], actions[0]], 2), torch.cat([past[1], actions[1]], 2)
        query = self.self_attention.split(self.self_attention.query(inner))
        x = x + self.dropout(self.self_attention.attend(query, *actions, None, causal=past is None))
        query = self.cross_attention.split(self.cross_attention.query(self.norms[1](x)))
        mask = visible.mask_of_layer(query, self.cross_attention)
        x = x + self.dropout(self.cross_attention.attend(query, *words, mask))
        return x + self.dropout(self.feed_forward(self.norms[2](x))), actions


class StackTransformerDecoder(StateDecoder):
    """A Transformer decoder over actions whose cross-attention heads see the parser state."""

    def __init__(self, table: ActionTable, padding: int, options: StackTransformerOptions) -> None:
        super().__init__(table)
        dim, actions = options.decoder_embed_dim, len(table.tokens)
        self.heads = options.decoder_attention_heads
        top_ranks = machine_class(table.system.name).top_ranks
        self.state_heads = StateHeads(options.stack_heads, options.buffer_heads, options.state_window, top_ranks)
        needs = RANKS if self.state_heads.count else ()
        self.needs = (*needs, FRAMES) if options.role_functions else needs
        self.shifts_compete = options.predict_shift_words
        self.embed = nn.Embedding(actions, dim, padding)
        nn.init.normal_(self.embed.weight, std=dim**-0.5)
        nn.init.zeros_(self.embed.weight[padding])
        self.scale = math.sqrt(dim)
        self.dropout = Dropout(options.dropout)
        self.action_dropout = Dropout(options.action_dropout, whole=True)
        self.layers = nn.ModuleList(DecoderLayer(options) for _ in range(options.decoder_layers))
        self.norm = nn.LayerNorm(dim)
        self.output = keep_weight(nn.Linear(dim, actions, bias=False))
        if options.share_decoder_input_output_embed:
            self.output.weight = self.embed.weight
        else:
            nn.init.normal_(self.output.weight, std=dim**-0.5)
        self.positions = None
        if options.state_positions:
            sinusoidal = options.state_position_kind == "sinusoidal"
            self.positions = StatePositions(dim, self.state_heads, options.state_position_ranks, sinusoidal)
        self.prior = LexicalPrior(table) if options.lexical_prior else None
        self.functions = FunctionScores(table, dim) if options.role_functions else None
        self._stack: LayerStack | None = None  # the weights of all layers for a kernel, see `use_kernels`

    def scores(
        self, actions: Tensor, encoder_out: EncoderOut, states: States, sampled_steps: Tensor | None = None
    ) -> Tensor:
        visible = self._visible(states, encoder_out.mask)
        x = self._embed(actions, 0)
        for layer in self.layers:
            x, _ = layer(x, layer.cross_attention.keys_values(encoder_out.words), visible)
        x = self.norm(x)
        flat = self._with_knowledge(self.output(x).flatten(0, 1), x.flatten(0, 1), states.flattened())
        return flat.unflatten(0, actions.shape)

    def _visible(self, states: States, words: Tensor) -> VisibleWords:
        """Return what the heads see in states (B, T, …), for a mask of words (B, P)."""
        if not self.state_heads.count or states.stack is None or states.buffer is None:
            return VisibleWords(HeadMask.from_visible(words[:, None, None]))
        ranks = self.state_heads.ranks(states.stack, states.buffer)
        mask = mask_of(ranks, words, self.heads)
        if self.positions is None:
            return VisibleWords(mask)
        return VisibleWords(mask, ranks.clamp_max(self.positions.largest).long(), self.positions)

    def _with_knowledge(self, scores: Tensor, outputs: Tensor, states: States) -> Tensor:
        """Return the scores (N, V) with what the lexicon and the frames add, for outputs (N, dim) of the layers."""
        if self.prior is not None:
            assert states.context is not None
            scores = self.prior(scores, states.context[:, 1])
        if self.functions is not None:
            assert states.frames is not None
            scores = self.functions(scores, outputs, states.frames)
        return scores

    # --- search -----------------------------------------------------------------------------

    def start(self, encoder_out: EncoderOut) -> StackTransformerSearch:
        words = [layer.cross_attention.keys_values(encoder_out.words) for layer in self.layers]
        return StackTransformerSearch(self.machine(encoder_out, in_search=True), encoder_out, words)

    def step(self, tokens: Tensor, search: SearchState) -> ActionScores:
        assert isinstance(search, StackTransformerSearch)
        states = search.machine.observe()
        visible = self._visible(states.at(slice(None), None), search.mask)  # as derivations of one step
        x = self._embed(tokens[:, None], search.steps)
        for number, layer in enumerate(self.layers):
            x, search.actions[number] = layer(x, search.words[number], visible, search.actions[number])
        x = self.norm(x)[:, 0]
        scores = self._with_knowledge(self.pooled_shifts(self.output(x)), x, states)
        return ActionScores(scores, search.machine.legality())

    def search_at_once(self, encoder_out: EncoderOut, beam: int) -> FoundDerivations | None:
        words, table = encoder_out.words, self.device_table
        if self.shifts_compete or machine_class(self.table.system.name) is not AmrMachine or table.limits is None:
            return None
        if not self._fits_kernel(words):
            return None
        assert encoder_out.features is not None
        stack = self._stack or self._layer_stack()
        prior = None
        if self.prior is not None:
            prior = Prior(self.prior.offsets, self.prior.tokens, self.prior.values_of_tokens().to(stack.dtype))
        functions = None
        if self.functions is not None:
            functions = Functions(*(getattr(self.functions, name) for name in Functions._fields))
        actions = Actions(self.embed.weight, self.scale, self.output.weight, self.table.end, prior, functions)
        rows, span = initial_rows(encoder_out.lengths, table.limits)
        most = max_search_actions(self.table.system, int(encoder_out.lengths.max()))
        steps = sinusoids(1, most, stack.dim, words.device).to(stack.dtype)
        return search_amrs(
            table,
            encoder_out.features.contiguous(),
            rows,
            span,
            actions,
            steps,
            stack,
            self._attended(encoder_out),
            beam,
        )

    def use_kernels(self) -> None:
        """Keep the weights in the form that the kernel reads. They must not change any more."""
        self._stack = self._layer_stack() if self._fits_kernel(self.norm.weight) else None

    def _attended(self, encoder_out: EncoderOut) -> Attended:
        attentions, shape = [layer.cross_attention for layer in self.layers], encoder_out.words.shape[:2]
        words = padded(encoder_out.words.flatten(0, 1))
        roles = torch.full((self.heads,), -1, dtype=torch.int32)
        roles[: self.state_heads.stack] = 0
        roles[self.state_heads.stack : self.state_heads.count] = 1
        return Attended(
            [attention.key_value(words)[: shape.numel()].unflatten(0, shape) for attention in attentions],
            (encoder_out.lengths + 1).int(),  # the root included
            roles,
            [None if self.positions is None else self.positions.keys(attention) for attention in attentions],
            self.state_heads.windows,
        )

    def _fits_kernel(self, like: Tensor) -> bool:
        """Return True if the kernel, without dropout and autocast, can read the layers and words like `like`."""
        if self.training or torch.is_autocast_enabled("cpu"):
            return False
        linears = [linear for layer in self.layers for linear in layer.linears()]
        coded = all(getattr(one, "product", None) is not None for one in linears)
        if not coded and not all(isinstance(one.weight, Tensor) for one in linears):
            return False
        width, inner = self.norm.weight.numel() // self.heads, self.layers[0].feed_forward.inner.out_features
        return loader.supports(like, width) and loader.supports(self.norm.weight, inner)

    def _layer_stack(self) -> LayerStack:
        linears = [layer.linears() for layer in self.layers]
        first, *others = (layer.norms[0] for layer in self.layers)
        norms = [
            (layer.norms[1], layer.norms[2], after)
            for layer, after in zip(self.layers, [*others, self.norm], strict=True)
        ]
        return LayerStack(linears, norms, first, self.heads)

    def _embed(self, tokens: Tensor, first: int) -> Tensor:
        x = self.action_dropout(self.embed(tokens) * self.scale)
        return self.dropout(x + sinusoids(first + 1, x.size(1), x.size(2), x.device).to(x.dtype))


NO_STATE = {"stack_heads": 0, "buffer_heads": 0}  # the vanilla Transformer, variant a of the paper's table 1
SMALL = {"encoder_layers": 2, "decoder_layers": 2}


def build(options: StackTransformerOptions, resources: Resources) -> ParserModel:
    dim = options.encoder_embed_dim
    encoder = WordEncoder(
        ReadingSettings.from_resources(resources, options, dim),
        dim=dim,
        heads=options.encoder_attention_heads,
        inner=options.encoder_ffn_embed_dim,
        layers=options.encoder_layers,
        local_layers=options.encoder_local_layers,
        dropout=options.dropout,
        attention_dropout=options.attention_dropout,
        activation_dropout=options.activation_dropout,
        word_dropout=options.word_dropout,
    )
    decoder = StackTransformerDecoder(resources.table, resources.target_dictionary.pad(), options)
    return ParserModel(encoder, decoder, tag_heads(options, dim, resources.columns))


register(
    "stack_transformer",
    StackTransformerOptions,
    build,
    {
        "stack_transformer": {},  # variant c of the paper's table 1
        "stack_transformer_small": SMALL,
        "transition_transformer": NO_STATE,
        "transition_transformer_small": NO_STATE | SMALL,
    },
)

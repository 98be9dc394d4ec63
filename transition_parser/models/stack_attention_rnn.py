"""A sequence-to-sequence parser with stack-based multi-layer attention, which sees pushed and removed words.

B sentences of W states each, R = B · W rows, P words and root. Source: Zhang et al. 2017
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from transition_parser.data.resources import Resources
from transition_parser.models.registry import register
from transition_parser.modules.contract import ActionScores, ParserModel, SearchState, StateDecoder
from transition_parser.modules.encoder import EncoderOut, ReadingSettings, RecurrentEncoder
from transition_parser.modules.layers import Dropout, linear
from transition_parser.modules.options import dropout_option, layers_option, option, size_option
from transition_parser.modules.tagging import tag_heads
from transition_parser.modules.words import WordOptions
from transition_parser.states.machine import Machine
from transition_parser.states.states import States
from transition_parser.states.table import ActionTable


@dataclass(frozen=True)
class StackAttentionOptions(WordOptions):
    """The options, with sizes as in Zhang et al. 2017, sec. 4.1, which does not give the width of attention.

    The paper's words are `--no-pieces --word-table 20000 --read-tags --tag-width 32 --join-inputs concat`.
    """

    encoder_embed_dim: int = size_option(300, "width of words")
    encoder_layers: int = layers_option(3, "layers of the bidirectional GRU over words")
    encoder_hidden: int = size_option(500, "width of the GRU over words, in each direction")
    decoder_embed_dim: int = size_option(32, "width of actions")
    decoder_layers: int = layers_option(3, "layers of the GRU over actions")
    decoder_hidden: int = size_option(500, "width of the GRU over actions")
    attention_layers: int = layers_option(3, "layers of attention")
    attention_width: int = size_option(500, "width of attention")
    no_pushed: bool = option(False, "attention does not see which words have been pushed")
    no_removed: bool = option(False, "attention also sees the words that have left stack and buffer")
    dropout: float = dropout_option(0.2, "dropout between layers, not steps (Zaremba et al. 2014)")


_NONE = -1e9  # far below any score, but finite, so that a row without a word (a parse that is done) does not give NaN


class AttentionMemory(NamedTuple):
    """The words of B sentences as attention reads them: h, (B, P, D), U h of eq. 6, (B, P, A), and a mask, (B, P)."""

    words: Tensor
    keys: Tensor
    mask: Tensor

    def rows(self, sentences: Tensor) -> AttentionMemory:
        return AttentionMemory(*(tensor.index_select(0, sentences) for tensor in self))


class StackAttention(nn.Module):
    """Layers of additive attention, with U, S and v in common (eq. 7); each reads the state and the layer before."""

    def __init__(self, state: int, words: int, width: int, layers: int, sees_pushed: bool = True) -> None:
        super().__init__()
        self.of_words = nn.Linear(words, width, bias=False)
        self.of_pushed = nn.Parameter(torch.empty(width, 1)) if sees_pushed else None
        self.score = nn.Parameter(torch.empty(1, width))
        for weight in (self.of_words.weight, self.of_pushed, self.score):
            if weight is not None:
                nn.init.xavier_uniform_(weight)
        self.of_state = nn.ModuleList(linear(state + (words if layer else 0), width) for layer in range(layers))

    def memory(self, encoder_out: EncoderOut) -> AttentionMemory:
        return AttentionMemory(encoder_out.words, self.of_words(encoder_out.words), encoder_out.mask)

    def forward(self, state: Tensor, memory: AttentionMemory, pushed: Tensor | None, removed: Tensor | None) -> Tensor:
        """Return (B, W, l · D), the layers' results side by side, for W states of each sentence."""
        keys = memory.keys[:, None]
        if self.of_pushed is not None and pushed is not None:
            keys = keys + pushed[..., None].to(keys.dtype) * self.of_pushed[:, 0].to(keys.dtype)
        seen = memory.mask[:, None] if removed is None else memory.mask[:, None] & ~removed
        found: list[Tensor] = []
        for layer in self.of_state:
            query = layer(torch.cat([state, *found[-1:]], -1))
            scores = torch.tanh(keys + query[:, :, None]) @ self.score[0]
            precise = torch.promote_types(scores.dtype, torch.float)
            weights = scores.to(precise).masked_fill(~seen, _NONE).softmax(-1).to(scores.dtype)
            found.append(weights @ memory.words)
        return torch.cat(found, -1)


class StackAttentionSearch(SearchState):
    """The state of a search: the words as attention reads them, and the GRU's states, (R, layers, H)."""

    def __init__(self, machine: Machine, encoder_out: EncoderOut, memory: AttentionMemory, hidden: Tensor) -> None:
        super().__init__(machine, encoder_out)
        self.memory, self.hidden = memory, hidden

    def move_rows(self, rows: Tensor, origin: Tensor | None, sentences: Tensor | None) -> None:
        self.hidden = self.hidden.index_select(0, rows)
        if sentences is not None:
            self.memory = self.memory.rows(sentences)


class StackAttentionDecoder(StateDecoder):
    """A GRU over actions with attention to pushed words (s = 1) and removed words (r = 1)."""

    def __init__(self, table: ActionTable, padding: int, options: StackAttentionOptions) -> None:
        super().__init__(table)
        dim, hidden, words = options.decoder_embed_dim, options.decoder_hidden, 2 * options.encoder_hidden
        self.pushed, self.removed = not options.no_pushed, not options.no_removed
        wanted = {"stack": self.pushed, "buffer": self.removed, "steps_since_stack": self.pushed or self.removed}
        self.needs = tuple(name for name, is_wanted in wanted.items() if is_wanted)
        self.embed = nn.Embedding(len(table.tokens), dim, padding)
        nn.init.normal_(self.embed.weight, std=dim**-0.5)
        nn.init.zeros_(self.embed.weight[padding])
        self.dropout = Dropout(options.dropout)
        self.first = linear(options.encoder_hidden, options.decoder_layers * hidden)
        self.attention = StackAttention(hidden, words, options.attention_width, options.attention_layers, self.pushed)
        found = words * options.attention_layers
        widths = [dim + found, *[hidden] * (options.decoder_layers - 1)]
        self.layers = nn.ModuleList(nn.GRUCell(width, hidden) for width in widths)
        self.inner = linear(dim + hidden + found, hidden)
        self.output = linear(hidden, len(table.tokens))

    def scores(
        self, actions: Tensor, encoder_out: EncoderOut, states: States, sampled_steps: Tensor | None = None
    ) -> Tensor:
        memory, hidden = self.attention.memory(encoder_out), self._first(encoder_out)
        embedded = self.dropout(self.embed(actions))
        tops, contexts = [], []
        for step in range(actions.size(1)):  # the attention of a step needs the GRU's state after the previous step
            context = self._attend(hidden, memory, states.at(slice(None), step), 1)
            hidden = self._advance(embedded[:, step], context, hidden)
            tops.append(hidden[:, -1])
            contexts.append(context)
        return self._score(embedded, torch.stack(tops, 1), torch.stack(contexts, 1))

    def start(self, encoder_out: EncoderOut) -> StackAttentionSearch:
        memory, hidden = self.attention.memory(encoder_out), self._first(encoder_out)
        return StackAttentionSearch(self.machine(encoder_out, in_search=True), encoder_out, memory, hidden)

    def step(self, tokens: Tensor, search: SearchState) -> ActionScores:
        assert isinstance(search, StackAttentionSearch)
        embedded = self.dropout(self.embed(tokens))
        context = self._attend(search.hidden, search.memory, search.machine.observe(), search.width)
        search.hidden = self._advance(embedded, context, search.hidden)
        scores = self._score(embedded, search.hidden[:, -1], context)
        return ActionScores(self.pooled_shifts(scores), search.machine.legality())

    # --- a step of R rows, W for each sentence ----------------------------------------------

    def _first(self, encoder_out: EncoderOut) -> Tensor:
        """Return (B, layers, H), the states of the GRU before the first step."""
        backward = encoder_out.words[:, 0].chunk(2, -1)[1]
        return torch.tanh(self.first(backward)).unflatten(-1, (len(self.layers), -1))

    def _attend(self, hidden: Tensor, memory: AttentionMemory, states: States, width: int) -> Tensor:
        """Return (R, l · D), the results of attention for the GRU's top layer in R rows, `width` for each sentence."""
        masks = (
            None if mask is None else mask.unflatten(0, (-1, width)) for mask in self._pushed_removed_masks(states)
        )
        return self.attention(hidden[:, -1].unflatten(0, (-1, width)), memory, *masks).flatten(0, 1)

    def _pushed_removed_masks(self, states: States) -> tuple[Tensor | None, Tensor | None]:
        """Return masks of pushed and removed words (s and r of sec. 3), (…, P) bool; None if unused."""
        pushed = removed = None
        if self.pushed:
            assert states.stack is not None and states.steps_since_stack is not None
            pushed = (states.stack > 0) | (states.steps_since_stack > 0)
        if self.removed:
            assert states.steps_since_stack is not None and states.buffer is not None
            removed = (states.steps_since_stack > 0) & (states.buffer == 0)
        return pushed, removed

    def _advance(self, embedded: Tensor, context: Tensor, hidden: Tensor) -> Tensor:
        """Return (R, layers, H), the states of the GRU after a step (eq. 3)."""
        x, states = torch.cat([embedded, self.dropout(context)], -1), []
        for number, layer in enumerate(self.layers):
            x = layer(x if number == 0 else self.dropout(x), hidden[:, number])
            states.append(x)
        return torch.stack(states, 1)

    def _score(self, embedded: Tensor, top: Tensor, context: Tensor) -> Tensor:
        """Return (…, V), the scores of actions, g of eq. 4."""
        inner = torch.tanh(self.inner(torch.cat([embedded, self.dropout(top), self.dropout(context)], -1)))
        return self.output(self.dropout(inner))


SMALL = {
    "encoder_embed_dim": 256,
    "encoder_layers": 2,
    "encoder_hidden": 128,
    "decoder_embed_dim": 64,
    "decoder_layers": 1,
    "decoder_hidden": 256,
    "attention_width": 128,
}


def build(options: StackAttentionOptions, resources: Resources) -> ParserModel:
    encoder = RecurrentEncoder(
        ReadingSettings.from_resources(resources, options, options.encoder_embed_dim),
        dim=options.encoder_embed_dim,
        hidden=options.encoder_hidden,
        layers=options.encoder_layers,
        dropout=options.dropout,
        word_dropout=options.word_dropout,
    )
    decoder = StackAttentionDecoder(resources.table, resources.target_dictionary.pad(), options)
    for part in (encoder.ahead, encoder.back, decoder):
        _initialize(part)
    width = 2 * options.encoder_hidden
    return ParserModel(encoder, decoder, tag_heads(options, width, resources.columns))


def _initialize(part: nn.Module) -> None:
    """Draw weights from Glorot and Bengio's normal distribution, for each gate of a GRU (Zhang et al., sec. 4.1)."""
    embeddings = {id(module.weight) for module in part.modules() if isinstance(module, nn.Embedding)}
    for name, weight in part.named_parameters():
        if weight.dim() == 1:
            nn.init.zeros_(weight)
        elif id(weight) not in embeddings:
            for gate in weight.data.chunk(3 if "weight_ih" in name or "weight_hh" in name else 1):
                nn.init.xavier_normal_(gate)


register(
    "stack_attention_rnn", StackAttentionOptions, build, {"stack_attention_rnn": {}, "stack_attention_rnn_small": SMALL}
)

"""The decoder: a GRU over actions that attends to words in layers.

Source: Zhang et al. 2017, secs. 2 and 3
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from transition_parser.models.stack_attention_rnn.attention import AttentionMemory, StackAttention
from transition_parser.models.stack_attention_rnn.options import StackAttentionOptions
from transition_parser.modules.contract import ActionScores, SearchState, StateDecoder
from transition_parser.modules.encoder import EncoderOut
from transition_parser.modules.layers import Dropout, linear
from transition_parser.states.machine import Machine
from transition_parser.states.states import States
from transition_parser.states.table import ActionTable


class StackAttentionSearch(SearchState):
    """The state of a search with stack-based attention.

    memory: the words of the sentences as attention reads them
    hidden: (R, layers, H); the GRU's states of R hypotheses, H wide
    """

    def __init__(self, machine: Machine, encoder_out: EncoderOut, memory: AttentionMemory, hidden: Tensor) -> None:
        super().__init__(machine, encoder_out)
        self.memory, self.hidden = memory, hidden

    def move_rows(self, rows: Tensor, origin: Tensor | None, sentences: Tensor | None) -> None:
        self.hidden = self.hidden.index_select(0, rows)
        if sentences is not None:
            self.memory = self.memory.rows(sentences)


class StackAttentionDecoder(StateDecoder):
    """A GRU over actions with stack-based attention to words.

    A word is pushed (s = 1) once it is or was on the stack. A word is gone (r = 1) once it has left the stack and is
    not in the buffer, where SWAP puts words back. The artificial root counts as a word; the paper has no root.

    The paper does not say how the GRU starts. Here its first state is made from the encoder's backward state at the
    first word, as in Bahdanau et al. 2015, appendix A.2.2. The function g of eq. 4 is one hidden layer with tanh. The
    results of attention have dropout where they are read, in addition to the dropout of the encoded words.

    padding: the id of `<pad>` among the actions
    """

    def __init__(self, table: ActionTable, padding: int, options: StackAttentionOptions) -> None:
        super().__init__(table)
        dim, hidden, words = options.decoder_embed_dim, options.decoder_hidden, 2 * options.encoder_hidden
        self.pushed, self.removed = not options.no_pushed, not options.no_removed
        self.needs = tuple(
            name
            for name, wanted in (
                ("stack", self.pushed),
                ("buffer", self.removed),
                ("steps_since_stack", self.pushed or self.removed),
            )
            if wanted
        )
        self.embed = nn.Embedding(len(table.tokens), dim, padding)
        nn.init.normal_(self.embed.weight, std=dim**-0.5)
        nn.init.zeros_(self.embed.weight[padding])
        self.action_dropout, self.dropout = Dropout(options.action_dropout, whole=True), Dropout(options.dropout)
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
        embedded = self._embed(actions)
        of_step = states.tensors()
        tops, contexts = [], []
        for step in range(actions.size(1)):  # the attention of a step needs the GRU's state after the previous step
            state = States(**{name: of_step[name][:, step] for name in ("columns", *self.needs)})
            context = self._attend(hidden, memory, state, 1)
            hidden = self._advance(embedded[:, step], context, hidden)
            tops.append(hidden[:, -1])
            contexts.append(context)
        return self._score(embedded, torch.stack(tops, 1), torch.stack(contexts, 1))

    def start(self, encoder_out: EncoderOut) -> StackAttentionSearch:
        memory, hidden = self.attention.memory(encoder_out), self._first(encoder_out)
        return StackAttentionSearch(self.machine(encoder_out, in_search=True), encoder_out, memory, hidden)

    def step(self, tokens: Tensor, search: SearchState, alive: Tensor | None = None) -> ActionScores:
        assert isinstance(search, StackAttentionSearch)
        embedded = self._embed(tokens)
        context = self._attend(search.hidden, search.memory, search.machine.observe(), search.width)
        search.hidden = self._advance(embedded, context, search.hidden)
        scores = self._score(embedded, search.hidden[:, -1], context)
        return ActionScores(self.pooled_shifts(scores), None, search.machine.legality())

    def visible_words(self, states: States) -> dict[str, Tensor]:
        """Return `pushed` and `attended`, (…, P) long each: 1 for pushed words, and for words that are not gone.

        Attention has a mark of pushed words as input, and attends only to words that are not gone.
        """
        pushed, gone = self._pushed_removed_masks(states)
        seen = {"pushed": pushed, "attended": None if gone is None else ~gone}
        return {name: words.long() for name, words in seen.items() if words is not None}

    # --- a step of R rows, W for each sentence ----------------------------------------------

    def _embed(self, actions: Tensor) -> Tensor:
        return self.dropout(self.action_dropout(self.embed(actions)))

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
        """Return masks of pushed and gone words (s and r of sec. 3), (…, P) bool; None for a mask that is not used."""
        pushed = gone = None
        if self.pushed:
            assert states.stack is not None and states.steps_since_stack is not None
            pushed = (states.stack > 0) | (states.steps_since_stack > 0)
        if self.removed:
            assert states.steps_since_stack is not None and states.buffer is not None
            gone = (states.steps_since_stack > 0) & (states.buffer == 0)
        return pushed, gone

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

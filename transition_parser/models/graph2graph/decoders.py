"""The decoders of the Sentence Transformer, which reads once, and of models that read again after each action.

R hypotheses, N states, L slots (see `encoder.Slots`), P words and root. Source: Mohammadshahi and Henderson 2020
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from transition_parser.base.errors import InputError
from transition_parser.models.graph2graph.composition import Classifiers, Composed, Composition, History
from transition_parser.models.graph2graph.encoder import (
    CLS,
    SECOND_SEP,
    SentenceEncoder,
    Slots,
    Transformer,
    add_graph_inputs,
    label_embeddings,
)
from transition_parser.models.graph2graph.options import (
    ActionOptions,
    FeedbackOptions,
    RefiningOptions,
    StateTransformerOptions,
)
from transition_parser.modules.action_scores import (
    BiaffineHeads,
    FactoredDecoder,
    FactoredScores,
    RelationsOfHeads,
    places,
)
from transition_parser.modules.contract import ActionScores, MemorylessDecoder, SearchState, only_legal
from transition_parser.modules.encoder import EncoderOut
from transition_parser.modules.layouts import Visible
from transition_parser.modules.tree_decoder import TreeDecoder, other_words
from transition_parser.states.machine import Machine
from transition_parser.states.states import RANKS, TREE, States
from transition_parser.states.table import ActionTable

STACK, BUFFER, DELETED = SEGMENTS = range(3)


class SentenceDecoder(FactoredDecoder, MemorylessDecoder):
    """The decoder of the plain Sentence Transformer, which scores actions from words that the encoder has read once."""

    needs = RANKS
    shifts_are_alike = True

    def __init__(self, table: ActionTable, dim: int, options: ActionOptions) -> None:
        super().__init__(table)
        self.classifiers = Classifiers(table, self.kinds, dim, options, 0, False)

    def _factored_scores(self, words: Tensor, sentence: Tensor, states: States) -> FactoredScores:
        position, some = places(states)
        vectors = words[sentence[:, None], position]
        return self.classifiers(vectors * some[..., None].to(vectors.dtype), None)

    def score_states(self, encoder_out: EncoderOut, sentence: Tensor, states: States) -> Tensor:
        factored = self._factored_scores(encoder_out.words, sentence, states)
        return self.kinds.log_probabilities(factored, self.legality(states))

    def step(self, tokens: Tensor, search: SearchState) -> ActionScores:
        factored = self._factored_scores(search.encoder_out.words, search.sentence_of_row(), search.machine.observe())
        return self.action_scores(factored, search)


class FeedbackMemory(NamedTuple):
    """The tensors that search remembers of R hypotheses; None for tensors that the model does not have."""

    composed: Composed | None = None  # words composed with their dependents
    hidden: Tensor | None = None  # (R, layers, width); of the history's LSTM
    cell: Tensor | None = None  # likewise

    def rows(self, rows: Tensor) -> FeedbackMemory:
        return FeedbackMemory(
            *(None if f is None else f.rows(rows) if isinstance(f, Composed) else f[rows] for f in self)
        )


class FeedbackSearch(SearchState):
    """The state of a search whose `FeedbackMemory` moves with the hypotheses."""

    def __init__(self, machine: Machine, slots: Slots, memory: FeedbackMemory) -> None:
        super().__init__(machine, slots)
        self.slots, self.memory = slots, memory

    def move_rows(self, rows: Tensor, origin: Tensor | None, sentences: Tensor | None) -> None:
        self.memory = self.memory.rows(rows)


class FeedbackDecoder(FactoredDecoder):
    """A decoder that reads the sentence again in each state; with `graph` it reads the arcs so far, too (eqs 3, 4).

    With `graph` alone it is the Sentence Transformer with a graph as input.
    """

    shifts_are_alike = True
    composition: Composition | None

    def __init__(
        self,
        table: ActionTable,
        transformer: Transformer,
        options: FeedbackOptions,
        padding: int,
        graph: bool,
        history: History | None = None,
        together: bool = False,
    ) -> None:
        super().__init__(table)
        self.transformer, self.history, self.composition = transformer, history, None
        self.sampled_states, self.padding = options.sampled_states, padding
        dim = transformer.width
        self.labels = label_embeddings(len(table.relations), dim) if graph else None
        width = 0 if history is None else history.width
        self.classifiers = Classifiers(table, self.kinds, dim, options, width, together)
        self.needs = (*RANKS, *TREE) if graph else RANKS

    # --- the Transformer's input and output -------------------------------------------------

    def layout(self, slots: Slots, states: States) -> tuple[Tensor, Tensor, Tensor]:
        """Return three tensors (N, L): a mask of the slots that are there, and positions and segments of slots."""
        return slots.there, slots.position, torch.zeros_like(slots.position)

    def vectors(self, slots: Slots, states: States, words: Tensor | None, wanted: Tensor) -> Tensor:
        """Return (N, K, dim), the Transformer's output for the wanted slots in N states."""
        x = slots.slots
        wide = slots.words.size(1)
        if words is not None:
            x = torch.cat([words.to(x.dtype), x[:, wide:]], 1)
        relations = None
        if self.labels is not None:
            assert states.head is not None and states.relation is not None
            x, relations = add_graph_inputs(x, slots, self.labels, states.head.long(), states.relation.long())
        there, position, segment = self.layout(slots, states)
        return self.transformer(x, position, segment, Visible(there, wanted, relations))

    def _of_places(self, slots: Slots, states: States, words: Tensor | None) -> Tensor:
        """Return (N, 3, dim), the vectors of S0, S1 and B0, 0 for none; with `together` (N, 1, dim), that of CLS."""
        if self.classifiers.together:
            wanted = torch.full_like(slots.position[:, :1], slots.words.size(1) + CLS)
            return self.vectors(slots, states, words, wanted)
        wanted, some = places(states)
        found = self.vectors(slots, states, words, wanted)
        return found * some[..., None].to(found.dtype)

    # --- training ---------------------------------------------------------------------------

    def sampled_steps(self, actions: Tensor) -> Tensor | None:
        """Sample `--sampled-states` steps of each derivation, see `StateDecoder.sampled_steps`."""
        if not self.sampled_states:
            return None
        real = actions != self.padding
        order = torch.rand(actions.shape, device=actions.device).masked_fill(~real, 2.0).argsort(1)
        sampled = torch.zeros_like(real).scatter_(1, order[:, : self.sampled_states], True)
        return sampled & real

    def scores(
        self, actions: Tensor, encoder_out: EncoderOut, states: States, sampled_steps: Tensor | None = None
    ) -> Tensor:
        assert isinstance(encoder_out, Slots)
        chosen = torch.ones_like(actions, dtype=torch.bool) if sampled_steps is None else sampled_steps
        sentence, step = chosen.nonzero(as_tuple=True)
        some = states.at(sentence, step)
        history = None if self.history is None else self.history(actions)[0][sentence, step]
        words = None
        if self.composition is not None:
            words = self.composition.all_steps(encoder_out.words, states)[sentence, step]
        vectors = self._of_places(encoder_out.rows(sentence), some, words)
        legal = self.legality(some)
        found = self.kinds.log_probabilities(self.classifiers(vectors, history), legal)
        every = found.new_zeros(*actions.shape, found.size(1))
        return every.index_put((sentence, step), found)

    # --- search -----------------------------------------------------------------------------

    def start(self, encoder_out: EncoderOut) -> FeedbackSearch:
        assert isinstance(encoder_out, Slots)
        memory = FeedbackMemory()
        if self.composition is not None:
            memory = memory._replace(composed=self.composition.start(encoder_out.words))
        if self.history is not None:
            lstm = self.history.lstm
            empty = encoder_out.words.new_zeros(len(encoder_out.lengths), lstm.num_layers, lstm.hidden_size)
            memory = memory._replace(hidden=empty, cell=empty)
        return FeedbackSearch(self.machine(encoder_out, in_search=True), encoder_out, memory)

    def step(self, tokens: Tensor, search: SearchState) -> ActionScores:
        assert isinstance(search, FeedbackSearch)
        states, words = search.machine.observe(), None
        history = self._remember(tokens, search)
        if self.composition is not None:
            composed = search.memory.composed
            assert composed is not None
            if search.steps:
                composed = self.composition(composed, states)
                search.memory = search.memory._replace(composed=composed)
            words = composed.words
        vectors = self._of_places(search.slots.rows(search.sentence_of_row()), states, words)
        return self.action_scores(self.classifiers(vectors, history), search)

    def _remember(self, tokens: Tensor, search: FeedbackSearch) -> Tensor | None:
        """Add the last actions to the history, and return (R, width), the vectors of the actions so far."""
        memory = search.memory
        if self.history is None or memory.hidden is None or memory.cell is None:
            return None
        before = tuple(state.transpose(0, 1).contiguous() for state in (memory.hidden, memory.cell))
        found, (hidden, cell) = self.history(tokens[:, None], before)
        search.memory = memory._replace(hidden=hidden.transpose(0, 1), cell=cell.transpose(0, 1))
        return found[:, 0]


class StateTransformerDecoder(FeedbackDecoder):
    """The decoder of the State Transformer, which reads CLS, the stack from its bottom, SEP and the buffer.

    With a graph it also reads SEP and the words that have left both (the deleted list).
    """

    def __init__(
        self,
        table: ActionTable,
        transformer: Transformer,
        options: StateTransformerOptions,
        padding: int,
        graph: bool,
        history: History,
    ) -> None:
        super().__init__(table, transformer, options, padding, graph, history, options.no_graph_output)
        self.deleted_too = graph
        if options.composition or not graph:
            self.composition = Composition(
                transformer.width, options.composition_width, len(table.relations), not options.no_composition_skip
            )
        elif options.no_composition_skip:
            raise InputError("--no-composition-skip is for words that are composed: give --composition, too")
        self.segment_positions = options.segment_positions
        self.needs = (*RANKS, *TREE)

    def layout(self, slots: Slots, states: States) -> tuple[Tensor, Tensor, Tensor]:
        assert states.stack is not None and states.buffer is not None
        stack, buffer, wide = states.stack.long(), states.buffer.long(), slots.words.size(1)
        depth, left = stack.amax(1, keepdim=True), buffer.amax(1, keepdim=True)
        on_stack, in_buffer = stack > 0, buffer > 0
        deleted = slots.there[:, :wide] & ~on_stack & ~in_buffer
        first, second = depth + 1, depth + left + 2  # positions of SEP and of the second SEP
        if self.segment_positions:
            before_buffer, second, before_deleted = torch.zeros_like(depth), left + 1, torch.zeros_like(depth)
        else:
            before_buffer, before_deleted = first, second
        position = torch.where(on_stack, 1 + depth - stack, before_buffer + buffer)
        position = torch.where(deleted, before_deleted + deleted.cumsum(1), position)
        segment = torch.where(on_stack, STACK, torch.where(deleted, DELETED, BUFFER))
        there = (slots.there[:, :wide] if self.deleted_too else on_stack | in_buffer, slots.there[:, wide:])
        of_special = torch.cat([torch.zeros_like(depth), first, second], 1)
        in_segments = torch.tensor([STACK, STACK, BUFFER], device=depth.device).expand(len(depth), -1)
        both = torch.cat(there, 1)
        if self.deleted_too:
            both[:, wide + SECOND_SEP] = True
        return both, torch.cat([position, of_special], 1), torch.cat([segment, in_segments], 1)


class RefiningDecoder(TreeDecoder):
    """A decoder of whole trees, which refines them by reading the sentence again, `refine` times (0: SynTr).

    A further reading has as its graph the best head of each word and the best relation by the previous reading, perhaps
    with a cycle. All readings are trained; no gradient goes through a graph. The paper also starts from other parsers'
    trees. Source: Mohammadshahi and Henderson 2021 (TACL 9)
    """

    encoder: SentenceEncoder | None

    def __init__(self, table: ActionTable, encoder: SentenceEncoder, options: RefiningOptions) -> None:
        dim, count = encoder.transformer.width, len(table.relations)
        super().__init__(
            table,
            BiaffineHeads(dim, options.arc_width, options.classifier_dropout),
            RelationsOfHeads(dim, options.relation_width, count),
        )
        self.refine = options.refine
        self.__dict__["encoder"] = encoder if self.refine else None  # no submodule: the model has it already
        self.labels = label_embeddings(count, dim) if self.refine else None

    def readings(self, encoder_out: EncoderOut) -> Iterator[Tensor]:
        assert isinstance(encoder_out, Slots)
        slots, words = encoder_out, encoder_out.words
        yield words
        for _ in range(self.refine):
            assert self.labels is not None and self.encoder is not None
            words = self.encoder.read_words(
                slots, *add_graph_inputs(slots.slots, slots, self.labels, *self._graph(words, slots))
            )
            yield words

    @torch.no_grad()
    def _graph(self, words: Tensor, slots: Slots) -> tuple[Tensor, Tensor]:
        """Return (B, P) twice: offsets from words to their best heads, and the arcs' best relations; else 0."""
        heads = only_legal(self.heads(words), other_words(slots.mask)).argmax(-1)
        relations = only_legal(self.relations(words, heads), self.carried(heads, slots.lengths, slots.domains)).argmax(
            -1
        )
        positions = torch.arange(words.size(1), device=words.device)
        is_word = (positions < slots.lengths[:, None]).long()
        return is_word * (heads - positions), is_word * relations

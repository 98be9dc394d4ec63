"""The decoders of the Sentence Transformer, which reads once, and of models that read again after each action.

R hypotheses, N states, L slots (see `encoder.Slots`), P words and root. Source: Mohammadshahi and Henderson 2020
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import torch
import torch.nn.functional as F
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
from transition_parser.modules.action_scores import BiaffineHeads, FactoredScores, Kinds, RelationsOfHeads, places
from transition_parser.modules.contract import ActionScores, MemorylessDecoder, SearchState, StateDecoder, only_legal
from transition_parser.modules.encoder import EncoderOut
from transition_parser.modules.layers import gather_rows
from transition_parser.modules.layouts import Visible
from transition_parser.modules.tree_decoder import TreeDecoder, other_words
from transition_parser.states.machine import Machine
from transition_parser.states.states import RANKS, TREE, States
from transition_parser.states.table import ActionTable

STACK, BUFFER, DELETED = SEGMENTS = range(3)


class FactoredDecoder(StateDecoder):
    """A decoder that chooses the kind of an action and then its relation, each among the legal ones."""

    shifts_are_alike = True

    def __init__(self, table: ActionTable) -> None:
        super().__init__(table)
        self.kinds = Kinds(table)

    def action_scores(self, factored: FactoredScores, search: SearchState, rows: Tensor | None) -> ActionScores:
        """Return the scores of `rows` (None: all). A greedy search takes the best kind, then its best label."""
        legal = search.machine.legality()
        some = legal if rows is None else legal.index_select(0, rows)
        scores = self.kinds.log_probabilities(factored, some)
        if search.greedy:
            only = self.kinds.only_of(self.kinds.first(factored.kinds, some), some)
            legal = only if rows is None else legal.index_copy(0, rows, only)
        return ActionScores(scores, rows, legal)


class SentenceDecoder(FactoredDecoder, MemorylessDecoder):
    """The decoder of the plain Sentence Transformer, which scores actions from words that the encoder has read once."""

    needs = RANKS

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

    def step(self, tokens: Tensor, search: SearchState, alive: Tensor | None = None) -> ActionScores:
        factored = self._factored_scores(search.encoder_out.words, search.sentence_of_row(), search.machine.observe())
        return self.action_scores(factored, search, None)


class FeedbackMemory(NamedTuple):
    """The tensors that search remembers of R hypotheses; None for tensors that the model does not have."""

    composed: Composed | None = None  # words composed with their dependents
    hidden: Tensor | None = None  # (R, layers, width); of the history's LSTM
    cell: Tensor | None = None  # likewise
    encoded: Tensor | None = None  # (R, P, dim); the Transformer's output for words when it last read them
    stale: Tensor | None = None  # (R,) bool; True where `encoded` is missing or an arc was made since

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
    """A decoder that reads the sentence again in each state; with `graph` it reads the arcs so far, too (eqs 3, 4)."""

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
        self.transformer, self.history = transformer, history
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
        vectors = self._training_vectors(encoder_out, states, sentence, step, some, sampled_steps is None)
        legal = self.legality(some)
        found = self.kinds.log_probabilities(self.classifiers(vectors, history), legal)
        if sampled_steps is None:
            return found.unflatten(0, actions.shape)
        every = found.new_zeros(*actions.shape, found.size(1))
        return every.index_put((sentence, step), found)

    def _training_vectors(
        self, slots: Slots, states: States, sentence: Tensor, step: Tensor, some: States, every: bool
    ) -> Tensor:
        """Return the vectors that the classifiers read in the states `some`, (N, …), of `states`, (B, T, …)."""
        return self._of_places(slots.rows(sentence), some, None)

    # --- search -----------------------------------------------------------------------------

    def start(self, encoder_out: EncoderOut) -> FeedbackSearch:
        assert isinstance(encoder_out, Slots)
        memory = self.first_memory(encoder_out)
        if self.history is not None:
            lstm = self.history.lstm
            empty = encoder_out.words.new_zeros(len(encoder_out.lengths), lstm.num_layers, lstm.hidden_size)
            memory = memory._replace(hidden=empty, cell=empty)
        return FeedbackSearch(self.machine(encoder_out, in_search=True), encoder_out, memory)

    def first_memory(self, slots: Slots) -> FeedbackMemory:
        return FeedbackMemory()

    def step(self, tokens: Tensor, search: SearchState, alive: Tensor | None = None) -> ActionScores:
        assert isinstance(search, FeedbackSearch)
        states = search.machine.observe()
        history = self._remember(tokens, search)
        self.follow(tokens, search, states)
        rows = None
        if search.sentences.device.type == "cpu":  # only rows with a choice are read; elsewhere the host would wait
            legal = search.machine.legality()
            matter = (legal != 0).sum(1) > 1
            rows = (matter if alive is None else matter & alive).nonzero()[:, 0]
            if not len(rows):
                return ActionScores(legal.new_zeros(0, legal.size(1)), rows, legal)
            states, history = states.at(rows), None if history is None else history[rows]
        factored = self.classifiers(self.search_vectors(search, states, rows), history)
        return self.action_scores(factored, search, rows)

    def _remember(self, tokens: Tensor, search: FeedbackSearch) -> Tensor | None:
        """Add the last actions to the history, and return (R, width), the vectors of the actions so far."""
        memory = search.memory
        if self.history is None or memory.hidden is None or memory.cell is None:
            return None
        before = tuple(state.transpose(0, 1).contiguous() for state in (memory.hidden, memory.cell))
        found, (hidden, cell) = self.history(tokens[:, None], before)
        search.memory = memory._replace(hidden=hidden.transpose(0, 1), cell=cell.transpose(0, 1))
        return found[:, 0]

    def follow(self, tokens: Tensor, search: FeedbackSearch, states: States) -> None:
        """Update `search.memory`, except for the history, to the states after the last actions."""

    def search_vectors(self, search: FeedbackSearch, states: States, rows: Tensor | None) -> Tensor:
        """Return the vectors that the classifiers read in the states of the rows `rows`; None: all rows."""
        slots = _slots_of(search, rows)
        composed = search.memory.composed
        words = None if composed is None else composed.words if rows is None else composed.words[rows]
        return self._of_places(slots, states, words)


def _slots_of(search: FeedbackSearch, rows: Tensor | None) -> Slots:
    sentence = search.sentence_of_row()
    return search.slots.rows(sentence if rows is None else sentence[rows])


class SentenceG2gDecoder(FeedbackDecoder):
    """The decoder of the Sentence Transformer with a graph as input; a reading is valid until the next arc."""

    def _words(self, slots: Slots, states: States) -> Tensor:
        wanted = torch.arange(slots.words.size(1), device=slots.position.device).expand(len(slots.position), -1)
        return self.vectors(slots, states, None, wanted)

    def _training_vectors(
        self, slots: Slots, states: States, sentence: Tensor, step: Tensor, some: States, every: bool
    ) -> Tensor:
        if not every:
            return super()._training_vectors(slots, states, sentence, step, some, every)
        assert states.head is not None
        graphs = states.head
        changed = F.pad((graphs[:, 1:] != graphs[:, :-1]).any(2), (1, 0), value=True)
        of_sentence, at_step = changed.nonzero(as_tuple=True)
        different = states.at(of_sentence, at_step)
        read = self._words(slots.rows(of_sentence), different)
        return _at_places(read[changed.flatten().cumsum(0) - 1], some)

    def first_memory(self, slots: Slots) -> FeedbackMemory:
        stale = torch.ones_like(slots.lengths, dtype=torch.bool)
        return FeedbackMemory(encoded=torch.zeros_like(slots.words), stale=stale)

    def follow(self, tokens: Tensor, search: FeedbackSearch, states: States) -> None:
        memory = search.memory
        assert memory.stale is not None
        arc = self.device_table.relation[tokens] > 0
        search.memory = memory._replace(stale=memory.stale | arc)

    def search_vectors(self, search: FeedbackSearch, states: States, rows: Tensor | None) -> Tensor:
        memory = search.memory
        assert memory.encoded is not None and memory.stale is not None
        if rows is None:
            return _at_places(self._words(_slots_of(search, rows), states), states)
        again = memory.stale[rows].nonzero()[:, 0]
        if len(again):
            some = states.at(again)
            read = self._words(_slots_of(search, rows[again]), some)
            search.memory = memory = memory._replace(
                encoded=memory.encoded.index_copy(0, rows[again], read.to(memory.encoded.dtype)),
                stale=memory.stale.index_fill(0, rows[again], False),
            )
        assert memory.encoded is not None
        return _at_places(memory.encoded[rows], states)


def _at_places(words: Tensor, states: States) -> Tensor:
    """Return (N, 3, dim), the vectors of S0, S1 and B0 among the words (N, P, dim), 0 for none."""
    position, some = places(states)
    return gather_rows(words, position) * some[..., None].to(words.dtype)


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
        self.deleted_too, self.composition = graph, None
        if options.composition or not graph:
            self.composition = Composition(
                transformer.width, options.composition_width, len(table.relations), not options.no_composition_skip
            )
        elif options.no_composition_skip:
            raise InputError("--no-composition-skip is for words that are composed: give --composition, too")
        self.segment_positions, self.root_at_bottom = options.segment_positions, options.root_at_bottom
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

    def _of_places(self, slots: Slots, states: States, words: Tensor | None) -> Tensor:
        if self.root_at_bottom:
            states = with_root_at_bottom(states, slots.lengths)
        return super()._of_places(slots, states, words)

    def _training_vectors(
        self, slots: Slots, states: States, sentence: Tensor, step: Tensor, some: States, every: bool
    ) -> Tensor:
        words = None
        if self.composition is not None:
            words = self.composition.all_steps(slots.words, states)[sentence, step]
        return self._of_places(slots.rows(sentence), some, words)

    def first_memory(self, slots: Slots) -> FeedbackMemory:
        return FeedbackMemory() if self.composition is None else FeedbackMemory(self.composition.start(slots.words))

    def follow(self, tokens: Tensor, search: FeedbackSearch, states: States) -> None:
        if self.composition is not None and search.steps:
            assert search.memory.composed is not None
            search.memory = search.memory._replace(composed=self.composition(search.memory.composed, states))


def with_root_at_bottom(states: States, root: Tensor) -> States:
    """Return the states as if the root had been at the bottom of the stack from the first step on (sec. 4.1.1)."""
    assert states.stack is not None and states.buffer is not None
    here = root[..., None]
    rank = states.stack.gather(-1, here)
    below_root = (rank > 0) & (states.stack > rank)
    stack = (states.stack - below_root.to(rank.dtype)).scatter(-1, here, 0)
    bottom = stack.amax(-1, keepdim=True) + 1
    return replace(states, stack=stack.scatter(-1, here, bottom), buffer=states.buffer.scatter(-1, here, 0))


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

"""The decoders of the Sentence Transformer, which reads once, and of models that read again after each action.

B derivations of T steps, R hypotheses, N states, L slots (see `encoder.Slots`), P words and root. Source: Mohammadshahi
and Henderson 2020, sec. 4.1, appendix B
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor, nn

from transition_parser.base.errors import InputError
from transition_parser.models.graph2graph.encoder import (
    CLS,
    SECOND_SEP,
    ActionOptions,
    FeedbackOptions,
    RefiningOptions,
    SentenceEncoder,
    Slots,
    StateTransformerOptions,
    Transformer,
    add_graph_inputs,
    label_embeddings,
)
from transition_parser.modules.action_scores import (
    ARC_KINDS,
    B0,
    S0,
    S1,
    ArcActions,
    BiaffineHeads,
    FactoredDecoder,
    FactoredScores,
    Kinds,
    RelationsOfHeads,
    places,
)
from transition_parser.modules.bert import Visible
from transition_parser.modules.contract import ActionScores, MemorylessDecoder, SearchState, only_legal
from transition_parser.modules.encoder import LSTM, EncoderOut
from transition_parser.modules.layers import HiddenLayer, gather_rows, linear
from transition_parser.modules.tree_decoder import TreeDecoder, other_words
from transition_parser.states.machine import Machine
from transition_parser.states.states import RANKS, TREE, States
from transition_parser.states.table import ActionTable

STACK, BUFFER, DELETED = SEGMENTS = range(3)


class Composed(NamedTuple):
    """The words of R hypotheses, composed with their dependents."""

    words: Tensor  # (R, P, dim); the vectors C of eq. 11
    head: Tensor  # (R, P); the offset to the head, as in `States`
    dependent: Tensor  # (R, P); the most recent dependent of each word, −1 for none
    label: Tensor  # (R, P); the relation and direction of that dependent's arc, 0 for none

    def rows(self, rows: Tensor) -> Composed:
        return Composed(*(field.index_select(0, rows) for field in self))


class Composition(nn.Module):
    """A module that composes words after each action: C' = Comp(C, C of the latest dependent, its label) + C (eq. 11).

    Comp starts at zero, for the sake of a pretrained Transformer; without the summand C (`skip`, appendix A) at random.
    """

    def __init__(self, dim: int, width: int, relations: int, skip: bool = True) -> None:
        super().__init__()
        self.relations, self.skip = relations, skip
        self.labels = nn.Embedding(2 * relations, dim)
        self.no_dependent = nn.Parameter(torch.zeros(dim))
        nn.init.normal_(self.labels.weight, std=0.02)
        self.head, self.dependent, self.label = linear(dim, width), linear(dim, width), linear(dim, width)
        self.output = linear(width, dim)
        if skip:
            nn.init.zeros_(self.output.weight)

    def start(self, words: Tensor) -> Composed:
        """Return the words (R, P, dim) before the first action, which are not yet composed."""
        none = torch.zeros(words.shape[:2], dtype=torch.long, device=words.device)
        return Composed(words, none, none - 1, none)

    def forward(self, before: Composed, states: States) -> Composed:
        """Return the words after one more action, which led to `states` (R, …)."""
        assert states.head is not None and states.relation is not None
        assert states.stack is not None and states.buffer is not None
        head = states.head.long()
        new, attached = ((head != 0) & (before.head == 0)).byte().max(1)
        attached = attached[:, None]
        offset = head.gather(1, attached)
        receiver = attached + offset
        label = states.relation.long().gather(1, attached) + self.relations * (offset > 0)
        is_new = new[:, None] > 0
        positions = torch.arange(head.size(1), device=head.device)
        gets = is_new & (positions == receiver)
        dependent, labels = torch.where(gets, attached, before.dependent), torch.where(gets, label, before.label)
        words = before.words
        of_dependents = gather_rows(words, dependent.clamp_min(0))
        of_dependents = torch.where(dependent[..., None] >= 0, of_dependents, self.no_dependent.to(words.dtype))
        hidden = self.head(words) + self.dependent(of_dependents)
        hidden = hidden + self.label(self.labels.weight)[labels].to(hidden.dtype)
        there = ((states.stack > 0) | (states.buffer > 0))[..., None]
        found = self.output(hidden.tanh()).to(words.dtype)
        if self.skip:
            found = words + found
        return Composed(torch.where(there, found, words), head, dependent, labels)

    def all_steps(self, words: Tensor, states: States) -> Tensor:
        """Return (B, T, P, dim), the words (B, P, dim) composed before each action of `states` (B, T, …)."""
        now, found = self.start(words), [words]
        for step in range(1, states.columns.size(1)):
            now = self(now, states.at(slice(None), step))
            found.append(now.words)
        return torch.stack(found, 1)


class History(nn.Module):
    """An LSTM over the actions so far, each embedded as the sum of its kind's and its relation's embedding (eq. 8)."""

    kind: Tensor
    relation: Tensor

    def __init__(self, table: ActionTable, kinds: Kinds, options: StateTransformerOptions) -> None:
        super().__init__()
        self.width = options.history_width
        self.of_kind = nn.Embedding(len(kinds.names), self.width)
        self.of_relation = nn.Embedding(len(table.relations), self.width)
        self.register_buffer("kind", kinds.kind.clone(), persistent=False)
        self.register_buffer("relation", torch.from_numpy(table.relation).long(), persistent=False)
        self.lstm = LSTM(self.width, self.width, options.history_layers, batch_first=True)

    def forward(self, tokens: Tensor, memory: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, tuple]:
        """Return the LSTM's output (B, T, width) for the action before each step, and its memory after the last one."""
        return self.lstm(self.of_kind(self.kind[tokens]) + self.of_relation(self.relation[tokens]), memory)


_PLACES = (S0, S1, B0)
_DEEPEST_FIRST = (S1, S0, B0)


class Classifiers(nn.Module):
    """The classifiers of kinds (Exist: s1, s0, b0) and relations (the words of an arc); `together` both read CLS."""

    def __init__(
        self, table: ActionTable, kinds: Kinds, dim: int, options: ActionOptions, history: int, together: bool
    ) -> None:
        super().__init__()
        self.arcs, self.together = ArcActions(table), together
        dropout = options.classifier_dropout
        width = dim if together else len(_PLACES) * dim
        self.exist = HiddenLayer(width + history, options.exist_width, len(kinds.names), dropout)
        width = dim if together else 2 * dim
        outputs = len(ARC_KINDS) * len(table.relations)
        self.relation = HiddenLayer(width + history, options.relation_width, outputs, dropout)
        ends = zip(self.arcs.heads, self.arcs.dependents, strict=True)
        self.pairs = [tuple(sorted(pair, key=_DEEPEST_FIRST.index)) for pair in ends]

    def forward(self, vectors: Tensor, history: Tensor | None) -> FactoredScores:
        known = [] if history is None else [history.to(vectors.dtype)]
        if self.together:
            x = torch.cat([vectors[:, 0], *known], 1)
            return FactoredScores(
                self.exist(x), self.arcs.of_tokens(self.relation(x).unflatten(1, (len(ARC_KINDS), -1)))
            )
        kinds = self.exist(torch.cat([*(vectors[:, place] for place in _DEEPEST_FIRST), *known], 1))
        found: dict[tuple[int, ...], Tensor] = {}
        scores = []
        for number, pair in enumerate(self.pairs):
            if pair not in found:
                x = torch.cat([*(vectors[:, place] for place in pair), *known], 1)
                found[pair] = self.relation(x).unflatten(1, (len(ARC_KINDS), -1))
            scores.append(found[pair][:, number])
        return FactoredScores(kinds, self.arcs.of_tokens(torch.stack(scores, 1)))


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


class FeedbackSearch(SearchState):
    """The state of a search: the words as composed so far, and the memory of the history; None without them."""

    def __init__(self, machine: Machine, slots: Slots, composed: Composed | None) -> None:
        super().__init__(machine, slots)
        self.slots, self.composed = slots, composed
        self.memory: tuple[Tensor, Tensor] | None = None  # (layers, R, width) each

    def move_rows(self, rows: Tensor, origin: Tensor | None, sentences: Tensor | None) -> None:
        if self.composed is not None:
            self.composed = self.composed.rows(rows)
        if self.memory is not None:
            hidden, cell = self.memory
            self.memory = hidden.index_select(1, rows), cell.index_select(1, rows)


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
        composed = None if self.composition is None else self.composition.start(encoder_out.words)
        return FeedbackSearch(self.machine(encoder_out, in_search=True), encoder_out, composed)

    def step(self, tokens: Tensor, search: SearchState) -> ActionScores:
        assert isinstance(search, FeedbackSearch)
        states, words, history = search.machine.observe(), None, None
        if self.history is not None:
            found, search.memory = self.history(tokens[:, None], search.memory)
            history = found[:, 0]
        if self.composition is not None and search.composed is not None:
            if search.steps:
                search.composed = self.composition(search.composed, states)
            words = search.composed.words
        vectors = self._of_places(search.slots.rows(search.sentence_of_row()), states, words)
        return self.action_scores(self.classifiers(vectors, history), search)


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

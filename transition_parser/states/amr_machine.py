"""The AMR machine of a whole batch as tensors; its pure-Python twin is `transitions/amr.py`.

All tensors have fixed shapes. R rows (hypotheses), P positions (the words of the longest sentence and `</s>`), M slots
of nodes, V action tokens, C columns of `ActionTable`.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from transition_parser.kernels import loader
from transition_parser.kernels.searches import unroll_amrs
from transition_parser.states.states import FRAMES, RANKS, BatchedMachine, DeviceTable, States
from transition_parser.states.table import (
    EVOKED,
    FIRST_SPAN,
    LAST_CHANCE,
    LEMMA,
    NOT_PLAIN,
    NUMBER,
    NUMBER_BIT,
    PLAIN,
    SHIFT_ID,
    STRING_BIT,
    TEXT,
    TOP_ONLY,
    TOPPED,
    UNBOUND,
    UNSEEN,
    ActionClass,
)
from transition_parser.transitions.amr import ARCS_IN_A_ROW
from transition_parser.transitions.amr_limits import REPEATS, SearchLimits
from transition_parser.transitions.amr_state import limits_of

_CONCEPTS = (ActionClass.PRED, ActionClass.COPY_LEMMA, ActionClass.ENTITY, ActionClass.COPY_ENTITY)
_CONSTANTS = (ActionClass.VALUE, ActionClass.COPY_WORD)


class Rows(NamedTuple):
    """The configuration of each row apart from its nodes (compare `AmrState`), (R,) int64 each; a flag is 0 or 1."""

    sentence: Tensor  # the sentence of the row, as an index into the features
    length: Tensor  # the number of words of the sentence
    position: Tensor  # the number of the next word in the buffer
    first: Tensor  # the number of the first word of the current span
    named: Tensor  # flag; 1 where the current span has a node, and before the first SHIFT
    made: Tensor  # the number of nodes made so far
    depth: Tensor  # the number of nodes that are on the stack or were set aside (by SWAP)
    below: Tensor  # the number of nodes on the stack below the newest node
    has_concept: Tensor  # flag; 1 where a concept was made
    topped: Tensor  # flag; 1 after ROOT
    closed: Tensor  # flag; 1 after CLOSE
    arcs: Tensor  # the number of LA and RA since the last other action, or since a constant left the stack
    arcs_left: Tensor  # the number of edges that may still be made inside a component
    swaps_left: Tensor  # the number of SWAPs that may still be taken
    nodes_left: Tensor  # the number of nodes that may still be made
    in_span: Tensor  # the number of nodes of the current span, including nodes made by DEPENDENT

    def is_free(self) -> Tensor:
        """Return (R,) bool, True where no limit of the span applies: no concept, and no word left."""
        return (self.position == self.length) & (self.has_concept == 0)


def initial_rows(lengths: Tensor, limits: SearchLimits | None) -> tuple[Tensor, int]:
    """Return the fields of `Rows` before the first action, (R, 16) int64, and the largest number of nodes of a span."""
    zero = torch.zeros_like(lengths)
    arcs, swaps, nodes = limits_of(lengths)
    if limits is not None:
        swaps, nodes = map(torch.minimum, (swaps, nodes), limits.of_sentence(lengths))
    known = {
        "sentence": torch.arange(len(lengths), device=lengths.device),
        "length": lengths,
        "named": zero + 1,
        "arcs_left": arcs,
        "swaps_left": swaps,
        "nodes_left": nodes,
    }
    most = int(torch.as_tensor(nodes).max())
    rows = torch.stack([known.get(name, zero) for name in Rows._fields], 1)
    return rows, most if limits is None else min(most, limits.span)


class Nodes(NamedTuple):
    """The nodes that are on the stack or were set aside, (R, M) int64 each, in the order in which they were made.

    The nodes on the stack below the newest node come first, then the nodes that were set aside, then the newest node,
    then free slots. `roles` and `sort` are 0 outside search, `frame` where the model does not need frames.
    """

    word: Tensor  # the last word of the node's span
    group: Tensor  # the connected component of the node
    constant: Tensor  # 1 for constants, 0 for concepts
    roles: Tensor  # the roles of `SearchLimits.once` that the node has or never gets, as bits
    sort: Tensor  # the `Sort` of the node, as bits (`table.SORT_BITS`)
    frame: Tensor  # the class of the node's frame, see `ActionTable.frame_classes`

    def at(self, slot: Tensor) -> Nodes:
        """Return the node in the given slot (R,) of each row; each field is (R,). Negative slots read slot 0."""
        slot = slot.clamp_min(0)[:, None]
        return Nodes(*(values.gather(1, slot)[:, 0] for values in self))


class SpanActions(NamedTuple):
    """The tokens that made the nodes of the current span, (R, N) each for at most N nodes. Only search needs them."""

    tokens: Tensor  # in the order in which they were taken; −1 for unused entries
    spent: Tensor  # the entries of `tokens` that may make no more nodes of the span; −1 for all other entries

    def taken(self, rows: Rows, tokens: Tensor, column: Tensor) -> SpanActions:
        """Return the `SpanActions` after the rows took their tokens (R,)."""
        slots = torch.arange(self.tokens.size(1), device=tokens.device)
        made = _any_of((*_CONCEPTS, *_CONSTANTS, ActionClass.DEPENDENT), column)
        here = made[:, None] & (slots == rows.in_span[:, None])
        times = (self.tokens == tokens[:, None]).sum(1) + 1
        values = SpanActions(tokens, torch.where(times >= REPEATS, tokens, -1))
        shift = (column == ActionClass.SHIFT)[:, None]
        return SpanActions(
            *(
                torch.where(shift, -1, torch.where(here, value[:, None], old))
                for value, old in zip(values, self, strict=True)
            )
        )


def take_actions(rows: Rows, nodes: Nodes, column: Tensor, new: Mapping[str, Tensor]) -> tuple[Rows, Nodes]:
    """Return the configurations after each row took its action; each row has a free slot. NEVER changes nothing.

    new: values of fields of the node that each row's action makes, (R,) each: in search `roles`, those that search
        never gives it, and `sort`; where the model needs frames, `frame`
    """
    rows, nodes = _take_arc(rows, nodes, column)
    rows, nodes = _drop_second(rows, nodes, column == ActionClass.REDUCE)
    swap = (column == ActionClass.SWAP).long()
    rows = rows._replace(below=rows.below - swap, swaps_left=rows.swaps_left - swap)
    rows, nodes = _make_node(rows, nodes, column, new)
    shift, close = column == ActionClass.SHIFT, column == ActionClass.CLOSE
    read = shift | (column == ActionClass.MERGE)
    below = torch.where(read, (rows.depth - 1).clamp_min(0), rows.below)
    rows = rows._replace(
        first=torch.where(shift, rows.position, rows.first),
        position=rows.position + read,
        named=torch.where(shift, 0, rows.named),
        in_span=torch.where(shift, 0, rows.in_span),
        depth=torch.where(close, 0, rows.depth),
        below=torch.where(close, 0, below),
        topped=rows.topped | (column == ActionClass.ROOT),
        closed=rows.closed | close,
    )
    return rows, nodes


def give_roles(rows: Rows, nodes: Nodes, column: Tensor, top: Tensor, second: Tensor) -> Nodes:
    """Return the nodes with the roles, as bits, that each row's action gives to the top and to the second node."""
    slots = torch.arange(nodes.word.size(1), device=column.device)
    roles = nodes.roles
    for place, more in ((rows.depth, top), (rows.below, second)):
        here = (column != ActionClass.NEVER)[:, None] & (slots == place[:, None] - 1)
        roles = torch.where(here, roles | more[:, None], roles)
    return nodes._replace(roles=roles)


def on_top(rows: Rows, nodes: Nodes, may_close: Tensor) -> list[Tensor]:
    """Return the roles of the node on top and of the second node, then their sorts for search, (R,) each."""
    found = [(place > 0, nodes.at(place - 1)) for place in (rows.depth, rows.below)]
    roles = [torch.where(there, node.roles, 0) for there, node in found]
    sorts = [torch.where(there, node.sort, 0) for there, node in found]
    last_chance = (rows.position == rows.length) & ~may_close
    sorts = [torch.where(last_chance, sort << LAST_CHANCE, sort) for sort in sorts]
    return [*roles, sorts[0] | rows.topped * TOPPED, sorts[1]]


def _take_arc(rows: Rows, nodes: Nodes, column: Tensor) -> tuple[Rows, Nodes]:
    """Take LA and RA: two components become one, and a dependent that is a constant leaves the stack."""
    left, right = column == ActionClass.LA, column == ActionClass.RA
    arc = left | right
    top, second = nodes.at(rows.depth - 1), nodes.at(rows.below - 1)
    joins = arc & (top.group != second.group)
    merged = joins[:, None] & (nodes.group == second.group[:, None])
    nodes = nodes._replace(group=torch.where(merged, top.group[:, None], nodes.group))
    drop_second, drop_top = left & (second.constant > 0), right & (top.constant > 0)
    arcs = torch.where(column == ActionClass.NEVER, rows.arcs, 0)
    rows = rows._replace(
        arcs_left=rows.arcs_left - (arc & ~joins).long(),
        arcs=torch.where(arc & ~drop_second & ~drop_top, rows.arcs + 1, arcs),
    )
    rows, nodes = _drop_second(rows, nodes, drop_second)
    depth = rows.depth - drop_top.long()  # the nodes that were set aside are back on the stack
    return rows._replace(depth=depth, below=torch.where(drop_top, (depth - 1).clamp_min(0), rows.below)), nodes


def _drop_second(rows: Rows, nodes: Nodes, dropped: Tensor) -> tuple[Rows, Nodes]:
    slots = torch.arange(nodes.word.size(1), device=dropped.device)
    after = dropped[:, None] & (slots >= rows.below[:, None] - 1)
    source = (slots + after.long()).clamp_max(slots.size(0) - 1)
    nodes = Nodes(*(values.gather(1, source) for values in nodes))
    return rows._replace(depth=rows.depth - dropped.long(), below=rows.below - dropped.long()), nodes


def _make_node(rows: Rows, nodes: Nodes, column: Tensor, new_values: Mapping[str, Tensor]) -> tuple[Rows, Nodes]:
    """Put a new node on top of the stack, and move the nodes aside back to it. A node of DEPENDENT gets no slot."""
    concept, constant = _any_of(_CONCEPTS, column), _any_of(_CONSTANTS, column)
    new = concept | constant
    counted = (new | (column == ActionClass.DEPENDENT)).long()
    slots = torch.arange(nodes.word.size(1), device=column.device)
    here = new[:, None] & (slots == rows.depth[:, None])
    zero = torch.zeros_like(rows.made)
    others = (new_values.get(name, zero) for name in Nodes._fields[3:])
    values = Nodes(rows.position - 1, rows.made, constant.long(), *others)
    nodes = Nodes(*(torch.where(here, value[:, None], old) for value, old in zip(values, nodes, strict=True)))
    rows = rows._replace(
        nodes_left=rows.nodes_left - counted,
        in_span=rows.in_span + counted,
        below=torch.where(new, rows.depth, rows.below),
        depth=rows.depth + new,
        made=rows.made + new,
        named=rows.named | new,
        has_concept=rows.has_concept | concept,
    )
    return rows, nodes


def _any_of(columns: tuple[ActionClass, ...], column: Tensor) -> Tensor:
    return functools.reduce(torch.logical_or, (column == one for one in columns))


def find_legal_columns(rows: Rows, nodes: Nodes, lemma: Tensor, plain: Tensor, most: int) -> Tensor:
    """Return (R, C) bool, True for legal columns, given where COPY_LEMMA and COPY_WORD can copy, (R,) each."""
    more = rows.position < rows.length
    top, second = nodes.at(rows.depth - 1), nodes.at(rows.below - 1)
    some, two = rows.depth > 0, rows.below > 0
    constant_top = top.constant > 0
    concept_top, concept_second = some & ~constant_top, two & (second.constant == 0)
    same = top.group == second.group
    concept_below, mate, mate_below, connected = _concepts_around(rows, nodes, second.group)
    stays = same | mate_below
    named, has_concept = rows.named > 0, rows.has_concept > 0
    node_left = (rows.nodes_left > 0) & ((rows.in_span < most) | rows.is_free())
    node = (rows.position > 0) & node_left
    value = node & (has_concept | (more & (rows.nodes_left > 1)))
    arc = two & (rows.arcs < ARCS_IN_A_ROW) & ((rows.arcs_left > 0) | ~same)
    swap_at_end = torch.where(constant_top, concept_below, stays) | ~concept_second
    columns = {
        ActionClass.SHIFT: more,
        ActionClass.MERGE: more & ~named,
        ActionClass.PRED: node,
        ActionClass.COPY_LEMMA: node & lemma,
        ActionClass.VALUE: value,
        ActionClass.COPY_WORD: value & plain,
        ActionClass.ENTITY: node & ~named,
        ActionClass.COPY_ENTITY: node & ~named & plain,
        ActionClass.DEPENDENT: concept_top & node_left,
        ActionClass.LA: arc & concept_top,
        ActionClass.RA: arc & concept_second,
        ActionClass.REDUCE: two & (~concept_second | torch.where(more, mate, stays)),
        ActionClass.SWAP: two & (rows.swaps_left > 0) & (more | swap_at_end),
        ActionClass.ROOT: concept_top & (rows.topped == 0),
        ActionClass.CLOSE: ~more & (rows.topped > 0) & connected,
    }
    closed = rows.closed > 0
    never = torch.zeros_like(more)
    due = some & (top.sort & TOP_ONLY > 0) & (rows.topped == 0)  # the node on top must become the top of the graph now
    meanwhile = (ActionClass.DEPENDENT, ActionClass.ROOT)
    columns = {column: legal if column in meanwhile else legal & ~due for column, legal in columns.items()}
    legal = torch.stack([columns.get(column, never) for column in ActionClass], 1) & ~closed[:, None]
    legal[:, ActionClass.END] = closed
    return legal


def _concepts_around(rows: Rows, nodes: Nodes, group_second: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return four facts about the concepts that are on the stack or were set aside, (R,) bool each.

    A concept is below the second node; another concept is in the component of the second node, and one is so below it;
    there are concepts, and all of them are in one component.
    """
    slots = torch.arange(nodes.word.size(1), device=group_second.device)
    concepts = (slots < rows.depth[:, None]) & (nodes.constant == 0)
    mates = concepts & (nodes.group == group_second[:, None])
    second = rows.below[:, None] - 1
    lowest = torch.where(concepts, nodes.group, torch.iinfo(torch.long).max).amin(1)
    highest = torch.where(concepts, nodes.group, -1).amax(1)
    below = slots < second
    return (concepts & below).any(1), (mates & (slots != second)).any(1), (mates & below).any(1), lowest == highest


# The initial number of slots for nodes, and the number of slots that are added when they run out. It is small because
# the stack holds far fewer nodes than the graph.
_FEW = 8


class AmrMachine(BatchedMachine):
    """The batched machine of AMR: all rows take their actions at once. An illegal token leaves its row unchanged."""

    per_row = ("numbers", "nodes", "named", "_columns", "_context")
    top_ranks = 3  # rank 1 is the current span, ranks 2 and 3 are the two nodes on top

    def __init__(
        self,
        table: DeviceTable,
        lengths: Tensor,
        features: Tensor,
        needs: Collection[str] = (),
        in_search: bool = False,
    ) -> None:
        super().__init__(needs)
        self.table, self.features = table, features.contiguous()
        self.width = int(lengths.max()) + 1
        self.positions = torch.arange(self.width, device=lengths.device)
        self.limits = table.limits if in_search else None
        self.numbers, self.most_in_span = initial_rows(lengths, self.limits)  # (R, fields of `Rows`)
        self.named: Tensor | None = None  # (R, 2, N); the fields of `SpanActions` for at most N nodes, in search
        if self.limits is not None:
            self.named = lengths.new_full((len(lengths), len(SpanActions._fields), self.most_in_span), -1)
        self.nodes = self.numbers.new_zeros(len(lengths), _FEW, len(Nodes._fields))  # (R, M, fields of `Nodes`)
        self._most_nodes = 0  # an upper bound of `Rows.depth` over all rows
        lemma, plain = features[:, :, LEMMA], features[:, :, PLAIN]
        unfit = torch.stack([lemma == 0, plain == NOT_PLAIN, plain == TEXT], 2)
        self._unfit_before = F.pad(unfit.long().cumsum(1), (0, 0, 1, 0))  # unfit words before each position
        self._read(*self._unbound())
        self.follow()

    def unroll(self, actions: Tensor) -> States:
        """Return the states of derivations; on CPUs by the kernel, where a network needs ranks and frames at most."""
        fresh = self.steps == 0 and self.limits is None and self.needs - {FRAMES} in (frozenset(), frozenset(RANKS))
        if not (fresh and self.features.is_cpu and loader.library() is not None):
            return super().unroll(actions)
        ranks, frames = "stack" in self.needs, FRAMES in self.needs
        columns, context, stack, buffer, found = unroll_amrs(
            self.table, self.features, self.numbers, actions.contiguous(), ranks, frames
        )
        return States(columns, context, stack, buffer, frames=found)

    def stack_ranks(self) -> Tensor:
        """Return ranks (R, P): 1 for the current span, k + 1 for the word of the k-th node from the top, 0 for others.

        A word with several nodes has the smallest rank. Nodes that were set aside do not count.
        """
        rows, nodes = self._unbound()
        slots = torch.arange(nodes.word.size(1), device=nodes.word.device)
        below, depth = rows.below[:, None], rows.depth[:, None]
        far = slots.size(0) + 2
        rank = torch.where(slots < below, below - slots + 2, torch.where(slots == depth - 1, 2, far))
        ranks = torch.full_like(self.positions.expand(len(below), -1), far)
        ranks = ranks.scatter_reduce(1, nodes.word, rank, "amin")
        ranks = torch.where(ranks == far, 0, ranks)
        current = (self.positions >= rows.first[:, None]) & (self.positions < rows.position[:, None])
        return torch.where(current, 1, ranks)

    def buffer_ranks(self) -> Tensor:
        """Return ranks (R, P): k for the k-th word of the buffer, `</s>` last, then nodes set aside; 0 for others."""
        rows, nodes = self._unbound()
        slots = torch.arange(nodes.word.size(1), device=nodes.word.device)
        ahead = self.positions - rows.position[:, None] + 1
        ranks = torch.where(self.positions <= rows.length[:, None], ahead.clamp_min(0), 0)
        last = (rows.length - rows.position + 2)[:, None]
        aside = (slots >= rows.below[:, None]) & (slots < rows.depth[:, None] - 1)
        return ranks.scatter_reduce(1, nodes.word, torch.where(aside, last, 0), "amax")

    def frames(self) -> Tensor:
        rows, nodes = self._unbound()
        places = (rows.depth, rows.below)
        return torch.stack([torch.where(place > 0, nodes.at(place - 1).frame, 0) for place in places], 1)

    def context(self) -> Tensor:
        """Return what legality depends on besides the columns, (R, 2), or (R, 6 + N) in search."""
        return self._context

    def _apply(self, tokens: Tensor) -> None:
        self._make_room()
        table = self.table
        legal = table.token_legal(tokens, self._columns, self._context)
        column = torch.where(legal, table.column[tokens], ActionClass.NEVER)
        before, nodes = self._unbound()
        word = self.features[before.sentence, (before.position - 1).clamp_min(0)]  # the last word of the span
        new: dict[str, Tensor] = {}
        if self.named is not None:
            nodes = give_roles(before, nodes, column, table.top_roles[tokens], table.second_roles[tokens])
            lacked = self._of_frame(before, word, tokens, table.lacked)
            new = {"roles": table.new_roles[tokens] | lacked, "sort": self._new_sort(before, word, tokens, column)}
        if FRAMES in self.needs:
            of_frames, of_tokens = table.frame_classes
            new["frame"] = of_tokens[tokens] + self._of_frame(before, word, tokens, of_frames)
        rows, nodes = take_actions(before, nodes, column, new)
        if self.named is not None:
            named = SpanActions(*self.named.unbind(1)).taken(before, tokens, column)
            self.named = torch.stack(named, 1)
        self.numbers, self.nodes = torch.stack(rows, 1), torch.stack(nodes, 2)
        self._read(rows, nodes)

    def _new_sort(self, rows: Rows, word: Tensor, tokens: Tensor, column: Tensor) -> Tensor:
        """Return the sort of the node that each row's action makes, (R,)."""
        one_word = rows.position - rows.first == 1
        *_, text = self._unfit(rows)
        number = one_word & (word[:, PLAIN] == NUMBER)
        # 0 where several words are copied that may be a number
        copied = torch.where(number, NUMBER_BIT, torch.where(one_word | text, STRING_BIT, 0))
        return torch.where(column == ActionClass.COPY_WORD, copied, self.table.new_sort[tokens])

    def _of_frame(self, rows: Rows, word: Tensor, tokens: Tensor, values: Tensor) -> Tensor:
        """Return the value of the frame of each row's action, (R,), of (lemmas, senses); 0 unless of a single word."""
        route = self.table.route[tokens]
        named = (rows.position - rows.first == 1) & (route >= 0)
        lemma = word[:, EVOKED:FIRST_SPAN].gather(1, route.clamp_min(0)[:, None])[:, 0]
        return torch.where(named, values[lemma, self.table.sense[tokens]], 0)

    def _make_room(self) -> None:
        """Ensure that each row has a free slot. The rows are read only where one of them may be full."""
        slots = self.nodes.size(1)
        if self._most_nodes == slots:
            self._most_nodes = int(Rows(*self.numbers.unbind(1)).depth.max())
            if self._most_nodes == slots:
                self.nodes = F.pad(self.nodes, (0, 0, 0, _FEW))
        self._most_nodes += 1

    def _unbound(self) -> tuple[Rows, Nodes]:
        return Rows(*self.numbers.unbind(1)), Nodes(*self.nodes.unbind(2))

    def _read(self, rows: Rows, nodes: Nodes) -> None:
        """Compute from the state, and store, what `legal_columns` and `context` return."""
        lemma, plain, _ = self._unfit(rows)
        self._columns = find_legal_columns(rows, nodes, ~lemma, ~plain, self.most_in_span)
        self._context = self._read_context(rows, nodes)

    def _unfit(self, rows: Rows) -> tuple[Tensor, ...]:
        """Return if the span has a word that COPY_LEMMA or COPY_WORD can't copy, or a `TEXT`, (R,) bool each."""
        unfit = self._unfit_before[rows.sentence, rows.position] != self._unfit_before[rows.sentence, rows.first]
        return unfit.unbind(1)

    def _read_context(self, rows: Rows, nodes: Nodes) -> Tensor:
        front = rows.position.clamp_max(self.features.size(1) - 1)
        shift = self.features[rows.sentence, front, SHIFT_ID]
        spans = self.features.size(2) - FIRST_SPAN
        length = rows.position - rows.first
        last = (rows.position - 1).clamp_min(0)
        seen = self.features[rows.sentence, last, FIRST_SPAN + (length - 1).clamp(0, spans - 1)]
        seen = torch.where(length > spans, UNSEEN, seen)
        free = rows.is_free()
        unbound = free & ~self._columns[:, ActionClass.COPY_LEMMA]
        context = torch.stack([shift, torch.where(unbound, UNBOUND, seen)], 1)
        if self.named is None:
            return context
        nodes_on_top = torch.stack(on_top(rows, nodes, self._columns[:, ActionClass.CLOSE]), 1)
        spent = SpanActions(*self.named.unbind(1)).spent
        return torch.cat([context, nodes_on_top, torch.where(free[:, None], -1, spent)], 1)

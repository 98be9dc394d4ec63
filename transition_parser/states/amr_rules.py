"""The effects of the actions of the AMR machine on all rows at once, and the legality of these actions.

All tensors have fixed shapes. R rows (hypotheses), M slots of nodes, C columns of `ActionTable`.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from transition_parser.states.table import (
    LAST_CHANCE,
    NAMED_BY_WORD,
    NUMBER_BIT,
    STRING_BIT,
    TOP_ONLY,
    TOPPED,
    ActionClass,
)
from transition_parser.transitions.amr import ARCS_IN_A_ROW
from transition_parser.transitions.amr_limits import SearchLimits
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
        """Return (R,) bool, True where no lexicon or limit of the span applies: no concept, and no word left."""
        return (self.position == self.length) & (self.has_concept == 0)


def initial(lengths: Tensor, limits: SearchLimits | None) -> tuple[Tensor, int]:
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
    then free slots. The last three fields are 0 outside search.
    """

    word: Tensor  # the last word of the node's span
    group: Tensor  # the connected component of the node
    constant: Tensor  # 1 for constants, 0 for concepts
    roles: Tensor  # the roles of `ActionTable.once` that the node has and may not bear again, as bits
    sort: Tensor  # the `Sort` of the node, as bits (`table.SORT_BITS`)
    several: Tensor  # the roles of `ActionTable.once` that the node may bear several times, as bits

    def at(self, slot: Tensor) -> Nodes:
        """Return the node in the given slot (R,) of each row; each field is (R,). Negative slots read slot 0."""
        slot = slot.clamp_min(0)[:, None]
        return Nodes(*(values.gather(1, slot)[:, 0] for values in self))


class SpanActions(NamedTuple):
    """The tokens that made the nodes of the current span, (R, N) each for at most N nodes. Only search needs them."""

    tokens: Tensor  # in the order in which they were taken; −1 for unused entries
    spent: Tensor  # the entries of `tokens` that may make no more nodes of the span; −1 for all other entries

    def taken(self, rows: Rows, tokens: Tensor, column: Tensor, most: Tensor) -> SpanActions:
        """Return the `SpanActions` after the rows took their tokens (R,); most: see `TokenArrays`."""
        slots = torch.arange(self.tokens.size(1), device=tokens.device)
        made = _any_of((*_CONCEPTS, *_CONSTANTS, ActionClass.DEPENDENT), column)
        here = made[:, None] & (slots == rows.in_span[:, None])
        times = (self.tokens == tokens[:, None]).sum(1) + 1
        values = SpanActions(tokens, torch.where(times >= most[tokens], tokens, -1))
        shift = (column == ActionClass.SHIFT)[:, None]
        return SpanActions(
            *(
                torch.where(shift, -1, torch.where(here, value[:, None], old))
                for value, old in zip(values, self, strict=True)
            )
        )


class GivenRoles(NamedTuple):
    """The roles and sorts, as bits, that each row's action gives to nodes, (R,) each."""

    top: Tensor  # the roles that the node on top gets
    second: Tensor  # the roles that the second node gets
    new: Tensor  # the roles that search never gives the new node, see `TokenArrays.new_roles`
    sort: Tensor  # the sort of the new node
    several: Tensor  # the roles that the new node may bear several times


def sorts_made(rows: Rows, column: Tensor, text: Tensor, number: Tensor, sort: Tensor) -> Tensor:
    """Return the sort of the node that each row's action makes, as bits, (R,).

    COPY_WORD makes a number or a string. If several words together may be a number, the sort is unknown (0).

    text: (R,) bool; True where a word of the span has the feature `TEXT`
    number: (R,) bool; True where the last word of the span has the feature `NUMBER`
    sort: (R,); `TokenArrays.new_sort` of each action
    """
    alone = rows.position - rows.first == 1
    copied = torch.where(alone & number, NUMBER_BIT, torch.where(alone | text, STRING_BIT, 0))
    return torch.where(column == ActionClass.COPY_WORD, copied, sort)


def several_made(rows: Rows, by_word: Tensor, several: Tensor) -> Tensor:
    """Return the roles that the node made by each row's action may bear several times, as bits, (R,).

    by_word: (R,); the feature `SEVERAL` of the last word of the span
    several: (R,); `TokenArrays.new_several` of each action
    """
    alone = rows.position - rows.first == 1
    return torch.where(several == NAMED_BY_WORD, torch.where(alone, by_word, 0), several)


def roles_lacked(rows: Rows, evoked: Tensor, route: Tensor, sense: Tensor, lacked: Tensor) -> Tensor:
    """Return the roles that the frame of each row's action lacks, as bits, (R,); 0 except for FRAMEs of a single word.

    evoked: (R, routes); for the last word of the span, the features from index `EVOKED` on
    """
    named = (rows.position - rows.first == 1) & (route >= 0)
    lemma = evoked.gather(1, route.clamp_min(0)[:, None])[:, 0]
    return torch.where(named, lacked[lemma, sense], 0)


def apply(rows: Rows, nodes: Nodes, column: Tensor, given: GivenRoles | None = None) -> tuple[Rows, Nodes]:
    """Return the configurations after each row took its action; each row has a free slot. NEVER changes nothing."""
    if given is not None:
        nodes = _give_roles(rows, nodes, column, given)
    rows, nodes = _take_arc(rows, nodes, column)
    rows, nodes = _drop_second(rows, nodes, column == ActionClass.REDUCE)
    swap = (column == ActionClass.SWAP).long()
    rows = rows._replace(below=rows.below - swap, swaps_left=rows.swaps_left - swap)
    rows, nodes = _make_node(rows, nodes, column, given)
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


def _give_roles(rows: Rows, nodes: Nodes, column: Tensor, given: GivenRoles) -> Nodes:
    slots = torch.arange(nodes.word.size(1), device=column.device)
    roles = nodes.roles
    for place, more in ((rows.depth, given.top), (rows.below, given.second)):
        here = (column != ActionClass.NEVER)[:, None] & (slots == place[:, None] - 1)
        roles = torch.where(here, roles | (more[:, None] & ~nodes.several), roles)
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


def _make_node(rows: Rows, nodes: Nodes, column: Tensor, given: GivenRoles | None) -> tuple[Rows, Nodes]:
    """Put a new node on top of the stack, and move the nodes aside back to it. A node of DEPENDENT gets no slot."""
    concept, constant = _any_of(_CONCEPTS, column), _any_of(_CONSTANTS, column)
    new = concept | constant
    counted = (new | (column == ActionClass.DEPENDENT)).long()
    slots = torch.arange(nodes.word.size(1), device=column.device)
    here = new[:, None] & (slots == rows.depth[:, None])
    zero = torch.zeros_like(rows.made)
    in_search = (zero, zero, zero) if given is None else (given.new, given.sort, given.several)
    values = Nodes(rows.position - 1, rows.made, constant.long(), *in_search)
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
    listed = column == columns[0]
    for other in columns[1:]:
        listed = listed | (column == other)
    return listed


def legal_columns(rows: Rows, nodes: Nodes, lemma: Tensor, plain: Tensor, most: int) -> Tensor:
    """Return (R, C) bool, True for legal columns.

    lemma, plain: (R,) bool; True where COPY_LEMMA, or COPY_WORD, can copy the current span
    most: how many nodes a span may have
    """
    more = rows.position < rows.length
    top, second = nodes.at(rows.depth - 1), nodes.at(rows.below - 1)
    some, two = rows.depth > 0, rows.below > 0
    constant_top = top.constant > 0
    concept_top, concept_second = some & ~constant_top, two & (second.constant == 0)
    same = top.group == second.group
    others = _Others.from_rows(rows, nodes, second.group)
    stays = same | others.mate_below
    named, has_concept = rows.named > 0, rows.has_concept > 0
    node_left = (rows.nodes_left > 0) & ((rows.in_span < most) | rows.is_free())
    node = (rows.position > 0) & node_left
    value = node & (has_concept | (more & (rows.nodes_left > 1)))
    arc = two & (rows.arcs < ARCS_IN_A_ROW) & ((rows.arcs_left > 0) | ~same)
    swap_at_end = torch.where(constant_top, others.below, stays) | ~concept_second
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
        ActionClass.REDUCE: two & (~concept_second | torch.where(more, others.mate, stays)),
        ActionClass.SWAP: two & (rows.swaps_left > 0) & (more | swap_at_end),
        ActionClass.ROOT: concept_top & (rows.topped == 0),
        ActionClass.CLOSE: ~more & (rows.topped > 0) & others.connected,
    }
    closed = rows.closed > 0
    never = torch.zeros_like(more)
    due = some & (top.sort & TOP_ONLY > 0) & (rows.topped == 0)  # the node on top must become the top of the graph now
    meanwhile = (ActionClass.DEPENDENT, ActionClass.ROOT)
    columns = {column: legal if column in meanwhile else legal & ~due for column, legal in columns.items()}
    legal = torch.stack([columns.get(column, never) for column in ActionClass], 1) & ~closed[:, None]
    legal[:, ActionClass.END] = closed
    return legal


class _Others(NamedTuple):
    """Facts about the concepts that are on the stack or were set aside, (R,) bool each."""

    below: Tensor  # a concept is below the second node
    mate: Tensor  # another concept is in the component of the second node
    mate_below: Tensor  # a concept below the second node is in the component of the second node
    connected: Tensor  # there are concepts, and all of them are in one component

    @classmethod
    def from_rows(cls, rows: Rows, nodes: Nodes, group_second: Tensor) -> _Others:
        slots = torch.arange(nodes.word.size(1), device=group_second.device)
        concepts = (slots < rows.depth[:, None]) & (nodes.constant == 0)
        mates = concepts & (nodes.group == group_second[:, None])
        second = rows.below[:, None] - 1
        lowest = torch.where(concepts, nodes.group, torch.iinfo(torch.long).max).amin(1)
        highest = torch.where(concepts, nodes.group, -1).amax(1)
        below = slots < second
        return cls(
            (concepts & below).any(1), (mates & (slots != second)).any(1), (mates & below).any(1), lowest == highest
        )

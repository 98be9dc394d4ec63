"""The AMR machine of a whole batch as tensors; its pure-Python twin is `transitions/amr.py`.

Shapes: R rows (hypotheses), P positions (the words of the longest sentence and `</s>`), M slots of nodes, V action
tokens, C columns of `ActionTable`.
"""

from __future__ import annotations

from collections.abc import Collection

import torch
from torch import Tensor

from transition_parser.states.batched import BatchedMachine
from transition_parser.states.device_table import DeviceTable
from transition_parser.states.table import FIRST_SPAN, LEMMA, PLAIN, SHIFT_ID, UNBOUND, UNSEEN, Column
from transition_parser.transitions.amr import ARCS_IN_A_ROW
from transition_parser.transitions.amr_state import limits_of

_PER_SENTENCE = ("length", "features", "bad")  # alike in all rows of a sentence
_PER_ROW = (
    *("position", "first", "named", "alive", "constant", "where", "group", "count", "newest", "limit"),
    *("has_concept", "topped", "closed", "arcs", "arcs_left", "swaps_left", "nodes_left"),
)
_READ = (
    *("_second", "_group_top", "_constant_top", "_group_second", "_constant_second"),
    *("_columns", "_context"),
)  # from the others, by `_look`
_PER_SLOT = {"where": 0, "group": 0, "alive": False, "constant": False}  # with what is in free slots
_FEW = 8  # slots at first, and what are added: far fewer are in use than the limit of nodes
_NODES = (Column.PRED, Column.COPY_LEMMA, Column.VALUE, Column.COPY_WORD, Column.ENTITY, Column.COPY_ENTITY)


class AmrMachine(BatchedMachine):
    """Every row takes its step at once. An illegal token leaves its row as it is.

    lengths: words of each row's sentence, (R,). features: (R, P, F), see `ActionTable.features`. needs: see
    `BatchedMachine`; `head` and `relation` are of trees alone.
    """

    per_sentence = _PER_SENTENCE
    per_row = (*_PER_ROW, *_READ)
    top_ranks = 3  # of the current span and the two nodes on top

    def __init__(self, table: DeviceTable, lengths: Tensor, features: Tensor, needs: Collection[str] = ()) -> None:
        super().__init__(needs)
        self.table, self.length, self.features = table, lengths, features
        rows, device = len(lengths), lengths.device
        self.width = int(lengths.max()) + 1
        self.ids = torch.arange(_FEW, device=device)
        self.places = torch.arange(self.width, device=device)
        self.is_node = torch.tensor([column in _NODES for column in Column], device=device)

        def zeros(*shape: int) -> Tensor:
            return torch.zeros(rows, *shape, dtype=torch.long, device=device)

        self.position, self.first, self.count, self.arcs = zeros(), zeros(), zeros(), zeros()
        self.newest = self.limit = zeros() - 1
        # a slot more than ids: writes that do not count go there
        self.where, self.group = zeros(_FEW + 1), torch.arange(_FEW + 1, device=device).repeat(rows, 1)
        self.alive, self.constant = zeros(_FEW + 1).bool(), zeros(_FEW + 1).bool()
        self.named, self.has_concept, self.topped, self.closed = ~zeros().bool(), *(zeros().bool() for _ in range(3))
        self.arcs_left, self.swaps_left, self.nodes_left = limits_of(lengths)
        ok = features[:, :, [LEMMA, PLAIN]] == 0
        self.bad = torch.nn.functional.pad(ok.long().cumsum(1), (0, 0, 1, 0))  # words before each that are unfit
        self._look()
        self.follow()

    # --- what a network sees ----------------------------------------------------------------

    def stack_ranks(self) -> Tensor:
        """(R, P): 1 for the words of the current span, k + 1 for the word of the k-th node of the stack from the
        top (the smallest k where it has several), 0 for the others. Nodes that were set aside are left out."""
        alive = self.alive[:, :-1]
        seen = alive & ((self.ids < self.limit[:, None]) | (self.ids == self.newest[:, None]))
        rank = seen.long().flip(1).cumsum(1).flip(1) + 1
        far = self.ids.size(0) + 2
        place = torch.full_like(self.position[:, None].expand(-1, self.width), far)
        place = place.scatter_reduce(1, self.where[:, :-1], torch.where(seen, rank, far), "amin")
        place = torch.where(place == far, 0, place)
        current = (self.places >= self.first[:, None]) & (self.places < self.position[:, None])
        return torch.where(current, 1, place)

    def buffer_ranks(self) -> Tensor:
        """(R, P): k for the k-th word of the buffer (`</s>` is its last), one more than all of them for the words
        of nodes that were set aside, 0 for the others."""
        ahead = self.places - self.position[:, None] + 1
        place = torch.where(self.places <= self.length[:, None], ahead.clamp_min(0), 0)
        last = (self.length - self.position + 2)[:, None]
        aside = self.alive[:, :-1] & (self.ids >= self.limit[:, None]) & (self.ids < self.newest[:, None])
        return place.scatter_reduce(1, self.where[:, :-1], torch.where(aside, last, 0), "amax")

    def legal_columns(self) -> Tensor:
        """(R, C) bool: which columns of the `ActionTable` are legal."""
        return self._columns

    def context(self) -> Tensor:
        """(R, 2): the shift id of the next word, and the lexicon row of the current span."""
        return self._context

    def is_final(self) -> Tensor:
        """(R,) bool."""
        return self.closed.clone()

    def closing(self) -> Tensor:
        """(R,) bool: the rows that are final, or that some legal action makes final."""
        return self.closed | self._columns[:, Column.CLOSE]

    # --- what search does to it -------------------------------------------------------------

    def take(self, tokens: Tensor) -> None:
        column = self.table.column[tokens]
        legal = self.table.token_legal(tokens, self._columns, self._context)
        column = torch.where(legal, column, Column.NEVER)
        if int(self.count.max()) == len(self.ids):
            self._add_slots()
        self._arc(column)
        self._pass(column)
        self._add(column)
        self._read(column)
        self.topped = self.topped | (column == Column.ROOT)
        self.closed = self.closed | (column == Column.CLOSE)
        self.alive = self.alive & ~self.closed[:, None]
        self._look()

    def _add_slots(self) -> None:
        size = len(self.ids) + _FEW
        for name, free in _PER_SLOT.items():
            array = getattr(self, name)
            array[:, -1] = free  # what did not count
            setattr(self, name, torch.nn.functional.pad(array, (0, _FEW), value=free))
        self.ids = torch.arange(size, device=self.ids.device)
        self.group[:, -_FEW - 1 :] = torch.arange(size - _FEW, size + 1, device=self.ids.device)

    def _arc(self, column: Tensor) -> None:
        """LA and RA: two components become one; a constant leaves the stack."""
        left, right = column == Column.LA, column == Column.RA
        arc = left | right
        joined = arc & (self._group_top != self._group_second)
        merge = joined[:, None] & (self.group == self._group_second[:, None])
        self.group = torch.where(merge, self._group_top[:, None], self.group)
        self.arcs_left = self.arcs_left - (arc & ~joined).long()
        drop_second, drop_top = left & self._constant_second, right & self._constant_top
        self.arcs = torch.where(arc & ~drop_second & ~drop_top, self.arcs + 1, torch.where(column > 0, 0, self.arcs))
        self._drop(self._second, drop_second)
        self.limit = torch.where(drop_second, self._second, self.limit)
        self._drop(self.newest, drop_top)
        newest = torch.where(self.alive[:, :-1], self.ids, -1).max(1).values
        self.newest = torch.where(drop_top, newest, self.newest)
        self.limit = torch.where(drop_top, newest, self.limit)

    def _drop(self, slot: Tensor, where: Tensor) -> None:
        slot = torch.where(where, slot, self.ids.size(0))
        self.alive = self.alive.scatter(1, slot[:, None], False)

    def _pass(self, column: Tensor) -> None:
        """REDUCE and SWAP: what is below the second comes next."""
        reduce, swap = column == Column.REDUCE, column == Column.SWAP
        self._drop(self._second, reduce)
        self.limit = torch.where(reduce | swap, self._second, self.limit)
        self.swaps_left = self.swaps_left - swap.long()

    def _add(self, column: Tensor) -> None:
        """A new node on top of the stack; what was set aside returns."""
        value = (column == Column.VALUE) | (column == Column.COPY_WORD)
        new = self.is_node[column]
        slot = torch.where(new, self.count, self.ids.size(0))[:, None]
        self.alive = self.alive.scatter(1, slot, new[:, None])
        self.constant = self.constant.scatter(1, slot, value[:, None])
        self.where = self.where.scatter(1, slot, (self.position - 1)[:, None])
        self.nodes_left = self.nodes_left - (new | (column == Column.DEPENDENT)).long()
        self.newest = torch.where(new, self.count, self.newest)
        self.limit = torch.where(new, self.count, self.limit)
        self.count = self.count + new.long()
        self.named = self.named | new
        self.has_concept = self.has_concept | (new & ~value)

    def _read(self, column: Tensor) -> None:
        """SHIFT and MERGE."""
        shift = column == Column.SHIFT
        read = shift | (column == Column.MERGE)
        self.first = torch.where(shift, self.position, self.first)
        self.position = self.position + read.long()
        self.named = self.named & ~shift
        self.limit = torch.where(read, self.newest, self.limit)

    # --- reading the state ------------------------------------------------------------------

    def _look(self) -> None:
        """Reads the second node, and what is legal."""
        alive, ids = self.alive[:, :-1], self.ids
        self._second = torch.where(alive & (ids < self.limit[:, None]), ids, -1).max(1).values
        self._group_top, self._constant_top = self._of(self.newest)
        self._group_second, self._constant_second = self._of(self._second)
        self._columns = self._legal(alive)
        self._context = self._read_context()

    def _of(self, slot: Tensor) -> tuple[Tensor, Tensor]:
        slot = slot.clamp_min(0)[:, None]
        return self.group.gather(1, slot)[:, 0], self.constant.gather(1, slot)[:, 0]

    def _legal(self, alive: Tensor) -> Tensor:
        more = self.position < self.length
        top, two = self.newest >= 0, self._second >= 0
        concept_top, concept_second = top & ~self._constant_top, two & ~self._constant_second
        group, concepts = self.group[:, :-1], alive & ~self.constant[:, :-1]
        mates = concepts & (group == self._group_second[:, None])
        below = self.ids < self._second[:, None]
        same = self._group_top == self._group_second
        stays = same | (mates & below).any(1)
        shared = (mates & (self.ids != self._second[:, None])).any(1)
        # components: 1 where all living concepts have the group of the newest of them
        lowest = torch.where(concepts, group, group.size(1)).min(1).values
        highest = torch.where(concepts, group, -1).max(1).values
        node = (self.position > 0) & (self.nodes_left > 0)
        value = node & (self.has_concept | (more & (self.nodes_left > 1)))
        lemma, plain = self._fit()
        arc = two & (self.arcs < ARCS_IN_A_ROW) & ((self.arcs_left > 0) | ~same)
        other_head = (concepts & below).any(1)
        swap_at_end = torch.where(self._constant_top, other_head, stays) | ~concept_second
        columns = {
            Column.SHIFT: more,
            Column.MERGE: more & ~self.named,
            Column.PRED: node,
            Column.COPY_LEMMA: node & lemma,
            Column.VALUE: value,
            Column.COPY_WORD: value & plain,
            Column.ENTITY: node & ~self.named,
            Column.COPY_ENTITY: node & ~self.named & plain,
            Column.DEPENDENT: concept_top & (self.nodes_left > 0),
            Column.LA: arc & concept_top,
            Column.RA: arc & concept_second,
            Column.REDUCE: two & (~concept_second | torch.where(more, shared, stays)),
            Column.SWAP: two & (self.swaps_left > 0) & (more | swap_at_end),
            Column.ROOT: concept_top & ~self.topped,
            Column.CLOSE: ~more & self.topped & (lowest == highest),
        }
        never = torch.zeros_like(more)
        legal = torch.stack([columns.get(column, never) for column in Column], 1) & ~self.closed[:, None]
        legal[:, Column.END] = self.closed
        return legal

    def _fit(self) -> tuple[Tensor, Tensor]:
        """Whether COPY_LEMMA and COPY_WORD can take the current span."""
        ends = torch.stack([self.first, self.position], 1)[..., None].expand(-1, -1, 2)
        before, after = self.bad.gather(1, ends).unbind(1)
        fit = before == after
        return fit[:, 0], fit[:, 1]

    def _read_context(self) -> Tensor:
        rows = torch.arange(len(self.position), device=self.position.device)
        front = self.position.clamp_max(self.features.size(1) - 1)
        shift = self.features[rows, front, SHIFT_ID]
        spans = self.features.size(2) - FIRST_SPAN
        length = self.position - self.first
        last = (self.position - 1).clamp_min(0)
        seen = self.features[rows, last, FIRST_SPAN + (length - 1).clamp(0, spans - 1)]
        seen = torch.where(length > spans, UNSEEN, seen)
        free = (self.position == self.length) & ~self.has_concept
        return torch.stack([shift, torch.where(free, UNBOUND, seen)], 1)

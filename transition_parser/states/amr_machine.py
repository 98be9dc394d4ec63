"""The AMR machine of a whole batch as tensors; its pure-Python twin is `transitions/amr.py`.

Shapes: R rows (hypotheses), P positions (the words of the longest sentence and `</s>`), M slots of nodes, V action
tokens, C columns of `ActionTable`.
"""

from __future__ import annotations

from collections.abc import Collection

import torch
import torch.nn.functional as F
from torch import Tensor

from transition_parser.kernels import loader
from transition_parser.kernels.amrs import unroll_amrs
from transition_parser.states import amr_rules
from transition_parser.states.amr_rules import GivenRoles, Nodes, Rows, SpanActions
from transition_parser.states.device_table import DeviceTable
from transition_parser.states.states import RANKS, BatchedMachine, States
from transition_parser.states.table import (
    EVOKED,
    FIRST_SPAN,
    LEMMA,
    NOT_PLAIN,
    NUMBER,
    PLAIN,
    SEVERAL,
    SHIFT_ID,
    TEXT,
    UNBOUND,
    UNSEEN,
    ActionClass,
)

# The initial number of slots for nodes, and the number of slots that are added when they run out. It is small because
# the stack holds far fewer nodes than the graph.
_FEW = 8


class AmrMachine(BatchedMachine):
    """The batched machine of AMR: all rows take their actions at once. An illegal token leaves its row unchanged.

    lengths: (R,); the number of words of each row's sentence
    features: (R, P, F); the F features of each word, see `ActionTable.features`
    in_search: True to apply the search limits of the table
    """

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
        self.numbers, self.most_in_span = amr_rules.initial(lengths, self.limits)  # (R, fields of `Rows`)
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
        """Return the states of derivations; on CPUs by the kernel, where a network needs no other fields than ranks."""
        fresh = self.steps == 0 and self.limits is None and self.needs in (frozenset(), frozenset(RANKS))
        if not (fresh and self.features.is_cpu and loader.library() is not None):
            return super().unroll(actions)
        columns, context, stack, buffer = unroll_amrs(
            self.table, self.features, self.numbers, actions.contiguous(), bool(self.needs)
        )
        return States(columns, context, stack, buffer)

    # --- what a network sees ----------------------------------------------------------------

    def stack_ranks(self) -> Tensor:
        """Return the ranks of words on the stack, (R, P).

        The words of the current span have rank 1. The word of the k-th node from the top of the stack has rank k + 1;
        a word with several nodes has the smallest rank. Other words have 0. Nodes that were set aside do not count.
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
        """Return the ranks of words in the buffer, (R, P).

        The k-th word of the buffer has rank k; the last word of the buffer is `</s>`. The words of nodes that were set
        aside have the rank after `</s>`. Other words have 0.
        """
        rows, nodes = self._unbound()
        slots = torch.arange(nodes.word.size(1), device=nodes.word.device)
        ahead = self.positions - rows.position[:, None] + 1
        ranks = torch.where(self.positions <= rows.length[:, None], ahead.clamp_min(0), 0)
        last = (rows.length - rows.position + 2)[:, None]
        aside = (slots >= rows.below[:, None]) & (slots < rows.depth[:, None] - 1)
        return ranks.scatter_reduce(1, nodes.word, torch.where(aside, last, 0), "amax")

    def legal_columns(self) -> Tensor:
        return self._columns

    def context(self) -> Tensor:
        """Return what legality depends on besides the columns, (R, 2), or (R, 6 + N) in search."""
        return self._context

    def is_final(self) -> Tensor:
        return self._columns[:, ActionClass.END].clone()

    # --- taking actions ---------------------------------------------------------------------

    def _apply(self, tokens: Tensor) -> None:
        self._make_room()
        table = self.table
        legal = table.token_legal(tokens, self._columns, self._context)
        column = torch.where(legal, table.column[tokens], ActionClass.NEVER)
        before, nodes = self._unbound()
        given = None if self.named is None else self._given(before, tokens, column)
        rows, nodes = amr_rules.apply(before, nodes, column, given)
        if self.named is not None:
            named = SpanActions(*self.named.unbind(1)).taken(before, tokens, column, table.most)
            self.named = torch.stack(named, 1)
        self.numbers, self.nodes = torch.stack(rows, 1), torch.stack(nodes, 2)
        self._read(rows, nodes)

    def _given(self, rows: Rows, tokens: Tensor, column: Tensor) -> GivenRoles:
        table = self.table
        word = self.features[rows.sentence, (rows.position - 1).clamp_min(0)]
        *_, text = self._unfit(rows)
        sort = amr_rules.sorts_made(rows, column, text, word[:, PLAIN] == NUMBER, table.new_sort[tokens])
        several = amr_rules.several_made(rows, word[:, SEVERAL], table.new_several[tokens])
        of_top, of_second = table.top_roles[tokens], table.second_roles[tokens]
        evoked, route, sense = word[:, EVOKED:FIRST_SPAN], table.route[tokens], table.sense[tokens]
        lacked = amr_rules.roles_lacked(rows, evoked, route, sense, table.lacked)
        return GivenRoles(of_top, of_second, table.new_roles[tokens] | lacked, sort, several)

    def _make_room(self) -> None:
        """Ensure that each row has a free slot. The rows are read only where one of them may be full."""
        slots = self.nodes.size(1)
        if self._most_nodes == slots:
            self._most_nodes = int(Rows(*self.numbers.unbind(1)).depth.max())
            if self._most_nodes == slots:
                self.nodes = F.pad(self.nodes, (0, 0, 0, _FEW))
        self._most_nodes += 1

    # --- reading the state ------------------------------------------------------------------

    def _unbound(self) -> tuple[Rows, Nodes]:
        return Rows(*self.numbers.unbind(1)), Nodes(*self.nodes.unbind(2))

    def _read(self, rows: Rows, nodes: Nodes) -> None:
        """Compute from the state, and store, what `legal_columns` and `context` return."""
        lemma, plain, _ = self._unfit(rows)
        self._columns = amr_rules.legal_columns(rows, nodes, ~lemma, ~plain, self.most_in_span)
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
        context = torch.stack([shift, torch.where(free, UNBOUND, seen)], 1)
        if self.named is None:
            return context
        nodes_on_top = torch.stack(amr_rules.on_top(rows, nodes, self._columns[:, ActionClass.CLOSE]), 1)
        spent = SpanActions(*self.named.unbind(1)).spent
        return torch.cat([context, nodes_on_top, torch.where(free[:, None], -1, spent)], 1)

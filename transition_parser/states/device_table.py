"""The action vocabulary as tensors, and the legality of its tokens in given states."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from transition_parser.states.table import (
    ARRAYS,
    KIND_OF_CLASS,
    NO_WORD,
    UNBOUND,
    ActionClass,
    ActionTable,
    RaggedRows,
    TokenArrays,
)
from transition_parser.transitions.amr_limits import SearchLimits

_CONTEXT = 2  # index in a context (`DeviceTable.legality`) from which the roles of the two nodes on top follow
_SORTS = _CONTEXT + 2  # index in a context from which the sorts of the two nodes on top follow
_GONE = _SORTS + 2  # index in a context from which the tokens that are no longer legal follow
_LISTED = (ActionClass.PRED, ActionClass.VALUE, ActionClass.ENTITY, ActionClass.DEPENDENT)  # columns of the lexicon


class LexiconTable:
    """The tokens that the lexicon allows for each span, as tensors. No shape depends on the contents of a batch."""

    def __init__(self, lexicon: RaggedRows, members: Tensor, limited: Tensor) -> None:
        """members: (C, V) float; 1 where a token belongs to a column. limited: (V,); see `TokenArrays`."""
        self.offsets, tokens = (torch.from_numpy(array).to(members.device) for array in lexicon)
        self.tokens = F.pad(tokens, (0, 1))  # the 0 at the end keeps the tensor from being empty
        self.numbers = torch.arange(int(np.diff(lexicon.starts).max()), device=members.device)
        self.listed = torch.tensor(_LISTED, device=members.device)
        # (C + 4, V): the tokens of each column that are not limited, then the limited tokens of `_LISTED`
        self.members = torch.cat([members * ~limited, members[self.listed] * limited])

    def legality(self, columns: Tensor, rows: Tensor, column: Tensor) -> Tensor:
        """Return (N, V) float, 1 for legal tokens, from legal columns (N, C), lexicon rows (N,) and columns (V,)."""
        unbound = (rows == UNBOUND)[:, None]  # only there the tokens of the last columns are legal
        legal = torch.cat([columns, columns.index_select(1, self.listed) * unbound], 1) @ self.members
        index = self.offsets[rows][:, None] + self.numbers
        token = self.tokens[index.clamp_max(len(self.tokens) - 1)]
        inside = (index < self.offsets[rows + 1][:, None]) & (columns.gather(1, column[token]) > 0)
        return legal.scatter_add_(1, token, inside.float())


class DeviceTable(TokenArrays[Tensor]):
    """The arrays of an `ActionTable` as tensors on one device.

    kind: (V,); LEFT_ARC for all left arcs, else the column; tokens of one kind differ in their relation only
    bearing: the tokens that roles or sorts of the two nodes on top can forbid
    """

    def __init__(self, table: ActionTable, device: torch.device | str = "cpu") -> None:
        for name in ARRAYS:
            setattr(self, name, torch.from_numpy(getattr(table, name)).to(device))
        self.system, self.end, self.labelled_shift = table.system.name, table.end, table.labelled_shift
        self.kind = self.column.clone()
        for of_some, of_all in KIND_OF_CLASS.items():
            self.kind[self.column == of_some] = of_all
        self.members = F.one_hot(self.column, len(ActionClass)).t().float().contiguous()
        self.shifts = (self.shift_word >= 0).nonzero()[:, 0]
        self.lexicon = None if table.lexicon is None else LexiconTable(table.lexicon, self.members, self.limited)
        self.limits: SearchLimits | None = getattr(table.system, "limits", None)
        bearing = self.top_roles | self.second_roles | self.top_sorts | self.second_sorts
        self.bearing = bearing.nonzero()[:, 0]
        self._actions = table

    @cached_property
    def frame_classes(self) -> tuple[Tensor, Tensor]:
        """The arrays of `ActionTable.frame_classes`, which few models need."""
        of_frames, of_tokens = map(torch.from_numpy, self._actions.frame_classes)
        return of_frames.to(self.column.device), of_tokens.to(self.column.device)

    def legality(self, columns: Tensor, context: Tensor | None, any_shift: bool = False) -> Tensor:
        """Return the legality of tokens, (..., V) float: 1 for legal tokens, 0 for illegal tokens, or −1.

        −1 stands for an action that would give a node a role that it may not get, or that the sorts of the two nodes on
        top forbid. Search may not take such an action, but the softmax includes it. If the softmax left it out, its
        probability would go to the legal actions, and an earlier role of a wrong neighbor would not be penalised.

        columns: (..., C) bool; the legal columns
        context: (..., K); what legality depends on besides the columns: the shift id of the front word (`NO_WORD` for
            the root); for AMR the row of the lexicon for the current span; in search the roles of the node on top and
            of the second node, the sorts of both, and then tokens that are no longer legal (−1 for none)
        any_shift: True to make labelled SHIFTs legal whatever their word is, but not where the root is in front
        """
        flat = columns.flatten(0, -2).float()
        rows = None if context is None else context.flatten(0, -2)
        with torch.autocast(flat.device.type, enabled=False):  # products are many times faster than indexing
            if rows is None or self.lexicon is None:
                legal = flat @ self.members
            else:
                legal = self.lexicon.legality(flat, rows[:, 1], self.column)
        if rows is not None and self.labelled_shift:
            legal[:, self.shifts] *= _names_front(self.shift_word[self.shifts], rows[:, :1], any_shift)
        if rows is not None and rows.size(1) > _CONTEXT:
            spent = rows[:, _GONE:]  # tokens; −1 for none
            legal.scatter_reduce_(1, spent.clamp_min(0), (spent < 0).float(), "amin")
            some, (top, second, top_sort, second_sort) = self.bearing, rows[:, _CONTEXT:_GONE].split(1, 1)
            forbidden = (top & self.top_roles[some]) | (second & self.second_roles[some])
            forbidden = forbidden | (top_sort & self.top_sorts[some]) | (second_sort & self.second_sorts[some])
            legal[:, some] -= 2 * legal[:, some] * (forbidden != 0)
        return legal.view(*columns.shape[:-1], -1)

    def token_legal(self, tokens: Tensor, columns: Tensor, context: Tensor | None) -> Tensor:
        """Return (R,) bool, True where a row may take its token (R,), whatever the lexicon says: gold may differ."""
        legal = columns.gather(1, self.column[tokens][:, None])[:, 0]
        if context is not None and self.labelled_shift:
            legal = legal & _names_front(self.shift_word[tokens], context[:, 0], any_shift=False)
        return legal


def _names_front(shift_word: Tensor, front: Tensor, any_shift: bool) -> Tensor:
    """Return True for SHIFTs that fit the front word (or any word, with `any_shift`), and for all other tokens."""
    fits = (front != NO_WORD) | (shift_word == 0) if any_shift else shift_word == front.clamp_min(0)
    return (shift_word < 0) | fits

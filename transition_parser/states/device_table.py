"""The action vocabulary as tensors, and the legality of its tokens in given states."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from transition_parser.states.table import KIND_OF_CLASS, NO_WORD, UNBOUND, ActionClass, ActionTable
from transition_parser.transitions.amr_limits import SearchLimits

_CONTEXT = 2  # index in a context (`DeviceTable.legality`) from which the roles of the two nodes on top follow
_SORTS = _CONTEXT + 2  # index in a context from which the sorts of the two nodes on top follow
_GONE = _SORTS + 2  # index in a context from which the tokens that are no longer legal follow
_LISTED = (
    ActionClass.PRED,
    ActionClass.VALUE,
    ActionClass.ENTITY,
    ActionClass.DEPENDENT,
)  # the columns that the lexicon limits


@dataclass
class LexiconTable:
    """The tokens that the lexicon allows for each span, as tensors on one device. V tokens and C columns of a table.

    No shape depends on the contents of a batch, so that the host need not wait for a GPU.

    members: (C + 4, V) float; 1 where a token belongs to a column. The first C rows are for the tokens that the lexicon
        does not limit. The last rows are for the tokens that it limits, one row for each column of `_LISTED`.
    listed: (4,); the numbers of the columns in `_LISTED`
    offsets: (rows + 1,); the index in `tokens` at which the tokens of each lexicon row begin
    tokens: the tokens that each lexicon row allows, row after row
    numbers: (K,); 0, 1, …, K − 1, where K is the largest number of tokens of a row
    limited: (V,) bool; True for the tokens that the lexicon limits
    """

    members: Tensor
    listed: Tensor
    offsets: Tensor
    tokens: Tensor
    numbers: Tensor
    limited: Tensor

    @classmethod
    def from_table(cls, table: ActionTable, members: Tensor) -> LexiconTable | None:
        """Return the lexicon of an action table, or None if the table has no lexicon.

        members: (C, V) float; 1 where a token belongs to a column
        """
        if table.lexicon is None:
            return None
        device = members.device
        starts, tokens = (torch.from_numpy(array).to(device) for array in table.lexicon)
        limited = torch.from_numpy(table.limited).to(device)
        listed = torch.tensor(_LISTED, device=device)
        return cls(
            torch.cat([members * ~limited, members[listed] * limited]),
            listed,
            starts,
            F.pad(tokens, (0, 1)),  # the 0 at the end keeps the tensor from being empty
            torch.arange(int(np.diff(table.lexicon.starts).max()), device=device),
            limited,
        )

    def legality(self, columns: Tensor, rows: Tensor, column: Tensor) -> Tensor:
        """Return the legality of tokens, (N, V) float: 1 for legal tokens, else 0.

        columns: (N, C) float; 1 for the legal columns of each of N configurations
        rows: (N,); the lexicon row of each configuration's current span
        column: (V,); the column of each token
        """
        unbound = (rows == UNBOUND)[:, None]  # only there the tokens of the last columns are legal
        legal = torch.cat([columns, columns.index_select(1, self.listed) * unbound], 1) @ self.members
        index = self.offsets[rows][:, None] + self.numbers
        token = self.tokens[index.clamp_max(len(self.tokens) - 1)]
        inside = (index < self.offsets[rows + 1][:, None]) & (columns.gather(1, column[token]) > 0)
        return legal.scatter_add_(1, token, inside.float())


@dataclass
class DeviceTable:
    """The arrays of an `ActionTable` as tensors on one device."""

    system: str
    end: int
    labelled_shift: bool
    column: Tensor  # (V,)
    kind: Tensor  # (V,); LEFT_ARC for all left arcs, else the column; tokens of one kind differ in their relation only
    shift_word: Tensor  # (V,)
    relation: Tensor  # (V,)
    members: Tensor  # (C, V) float; 1 where the token belongs to the column
    shifts: Tensor  # (number of SHIFTs,); the SHIFT tokens
    lexicon: LexiconTable | None
    limits: SearchLimits | None  # the limits of search, for AMR
    most_in_span: Tensor  # (V,); how often the token may make a node of one span
    top_roles: Tensor  # (V,), see `ActionTable`
    second_roles: Tensor  # (V,), see `ActionTable`
    new_roles: Tensor  # (V,), see `ActionTable`
    new_several: Tensor  # (V,), see `ActionTable`
    route: Tensor  # (V,), see `ActionTable`
    sense: Tensor  # (V,), see `ActionTable`
    lacked: Tensor  # (lemmas, senses), see `ActionTable`
    new_sort: Tensor  # (V,), see `ActionTable`
    top_sorts: Tensor  # (V,), see `ActionTable`
    second_sorts: Tensor  # (V,), see `ActionTable`
    bearing: Tensor  # 1-dimensional; the tokens that roles or sorts of the two nodes on top can forbid

    @classmethod
    def from_table(cls, table: ActionTable, device: torch.device | str = "cpu") -> DeviceTable:
        """Return the arrays of an action table as tensors on a device."""
        column = torch.from_numpy(table.column).to(device)
        kind = column.clone()
        for of_some, of_all in KIND_OF_CLASS.items():
            kind[column == of_some] = of_all
        shift_word = torch.from_numpy(table.shift_word).to(device)
        relation = torch.from_numpy(table.relation).to(device)
        members = torch.nn.functional.one_hot(column, len(ActionClass)).t().float().contiguous()
        shifts = (shift_word >= 0).nonzero()[:, 0]
        lexicon = LexiconTable.from_table(table, members)
        limits = getattr(table.system, "limits", None)
        most = torch.from_numpy(table.most).to(device)
        of_frames = (table.route, table.sense, table.lacked)
        of_roles = (table.top_roles, table.second_roles, table.new_roles, table.new_several, *of_frames)
        of_sorts = (table.new_sort, table.top_sorts, table.second_sorts)
        of_nodes = [torch.from_numpy(bits).to(device) for bits in (*of_roles, *of_sorts)]
        top_roles, second_roles, *_, top_sorts, second_sorts = of_nodes
        bearing = (top_roles | second_roles | top_sorts | second_sorts).nonzero()[:, 0]
        named = (table.system.name, table.end, table.labelled_shift)
        return cls(
            *(*named, column, kind, shift_word, relation, members, shifts, lexicon, limits, most),
            *(*of_nodes, bearing),
        )

    def legality(self, columns: Tensor, context: Tensor | None, any_shift: bool = False) -> Tensor:
        """Return the legality of tokens, (..., V) float: 1 for legal tokens, 0 for illegal tokens, or −1.

        −1 stands for an action that would give a node a role that the node already has, or that the sorts of the two
        nodes on top forbid. Search may not take such an action, but the softmax includes it. If the softmax
        left it out, its probability would go to the legal actions, and a hypothesis that gave the role to a wrong
        neighbour earlier would not be penalised.

        The tensor operations multiply matrices, because on large vocabularies this is many times faster than indexing.

        columns: (..., C) bool; the legal columns
        context: (..., K); what legality depends on besides the columns. First comes the shift id of the front word:
            k for the k-th word that has a labelled SHIFT, 0 for other words, `NO_WORD` for the root. For AMR the row of
            the lexicon for the current span follows. In search four more values follow, as bits: the roles of the node
            on top and of the second node, and the sorts of both (`table.SORT_BITS`). The rest are tokens that are no
            longer legal (−1 for none).
        any_shift: True to make labelled SHIFTs legal whatever their word is, but not where the root is in front
        """
        flat = columns.flatten(0, -2).float()
        rows = None if context is None else context.flatten(0, -2)
        with torch.autocast(flat.device.type, enabled=False):
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
        """Return (R,) bool, True where a row may take its token (R,).

        The lexicon is ignored, because gold derivations of validation data may contain actions outside it.
        """
        legal = columns.gather(1, self.column[tokens][:, None])[:, 0]
        if context is not None and self.labelled_shift:
            legal = legal & _names_front(self.shift_word[tokens], context[:, 0], any_shift=False)
        return legal


def _names_front(shift_word: Tensor, front: Tensor, any_shift: bool) -> Tensor:
    """Return True for tokens that fit the word at the front of the buffer. Tokens other than SHIFT always fit.

    shift_word: the shift id of each token, −1 for tokens other than SHIFT
    front: the shift id of the word in front, `NO_WORD` for the root, which takes a plain SHIFT only
    any_shift: True if a SHIFT may name any word where a word is in front
    """
    fits = (front != NO_WORD) | (shift_word == 0) if any_shift else shift_word == front.clamp_min(0)
    return (shift_word < 0) | fits

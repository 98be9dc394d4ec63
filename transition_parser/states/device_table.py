"""The action vocabulary as tensors, and which of its tokens a state allows."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from transition_parser.kernels import legality_kernels
from transition_parser.kernels.legality_kernels import Vocabulary
from transition_parser.states.table import UNBOUND, ActionTable
from transition_parser.transitions.amr_limits import SearchLimits
from transition_parser.transitions.amr_naming import is_listed
from transition_parser.transitions.spec import Column

_CONTEXT = 2  # what stands in a context before the roles that the two nodes on top have
_ROLES = _CONTEXT + 2  # what stands there before the tokens that are not legal any more
_LISTED = (Column.PRED, Column.VALUE, Column.ENTITY, Column.DEPENDENT)  # the columns that the lexicon limits


@dataclass
class LexiconTable:
    """Which tokens each span allows, as tensors on one device. Shapes never depend on what a batch holds: a GPU need
    not wait.

    members: (C + 4, V) float, 1 where the token is of the column: for all columns the tokens that the lexicon does not
    limit, and then for each of `_LISTED` those that it limits. listed: the numbers of these columns. offsets:
    (rows + 1,), where the tokens of each lexicon row begin in `tokens`. numbers: (K,), 0, 1, … up to the most tokens
    of a row. limited: (V,) bool, which tokens it limits.
    """

    members: Tensor
    listed: Tensor
    offsets: Tensor
    tokens: Tensor
    numbers: Tensor
    limited: Tensor

    @classmethod
    def of(cls, table: ActionTable, members: Tensor) -> LexiconTable | None:
        """That of the action table, where it has a lexicon. members: (C, V)."""
        if table.lexicon is None:
            return None
        device = members.device
        rows = [[], [], *map(sorted, map(set, table.lexicon))]
        limited = torch.tensor([a is not None and is_listed(a) for a in table.actions], device=device)
        listed = torch.tensor(_LISTED, device=device)
        return cls(
            torch.cat([members * ~limited, members[listed] * limited]),
            listed,
            torch.tensor([0, *map(len, rows)], device=device).cumsum(0),
            torch.tensor([*(token for row in rows for token in row), 0], device=device),  # never empty
            torch.arange(max(map(len, rows)), device=device),
            limited,
        )

    def legality(self, columns: Tensor, rows: Tensor, column: Tensor, tokens: Tensor | None) -> Tensor:
        """(N, V) float, or (N, U), from legal columns (N, C), lexicon rows (N,), and the column of each token (V,)."""
        legal = self._columns(columns, rows) @ _some(self.members, tokens)
        token, inside = self._spans(rows)
        if tokens is not None:
            index_of = _index_of(tokens, column)
            inside &= index_of[token] >= 0
        inside &= columns.gather(1, column[token]) > 0
        index = token if tokens is None else index_of[token].clamp_min(0)
        return legal.scatter_add_(1, index, inside.float())

    def anywhere(self, columns: Tensor, rows: Tensor, column: Tensor) -> Tensor:
        """(V,) float, above 0 for tokens that are legal in any row; see `legality`."""
        legal = self._columns(columns, rows).amax(0) @ self.members
        token, inside = self._spans(rows)
        inside &= columns.gather(1, column[token]) > 0
        return legal.scatter_add_(0, token.flatten(), inside.flatten().float())

    def _columns(self, columns: Tensor, rows: Tensor) -> Tensor:
        """(N, C + 4): the columns of `members`; the last are open where the lexicon does not bind."""
        unbound = (rows == UNBOUND)[:, None]
        return torch.cat([columns, columns.index_select(1, self.listed) * unbound], 1)

    def _spans(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """(N, K) each: the tokens that the lexicon has for its rows (N,), and where there is one."""
        index = self.offsets[rows][:, None] + self.numbers
        inside = index < self.offsets[rows + 1][:, None]
        return self.tokens[index.clamp_max(len(self.tokens) - 1)], inside


@dataclass
class DeviceTable:
    """The arrays of an `ActionTable` as tensors on one device."""

    system: str
    end: int
    labelled_shift: bool
    column: Tensor  # (V,)
    shift_word: Tensor  # (V,)
    relation: Tensor  # (V,)
    members: Tensor  # (C, V) float: 1 where the token is of the column
    shifts: Tensor  # the tokens that are SHIFTs
    lexicon: LexiconTable | None
    limits: SearchLimits | None  # of search, for AMR
    most_in_span: Tensor  # (V,): how often the token may make a node of one span
    top_roles: Tensor  # (V,), as `ActionTable` has them
    second_roles: Tensor  # (V,)
    name_role: int
    bearing: Tensor  # the tokens that give a node such a role

    @classmethod
    def of(cls, table: ActionTable, device: torch.device | str = "cpu") -> DeviceTable:
        """That of the action table."""
        column = torch.from_numpy(table.column).to(device)
        shift_word = torch.from_numpy(table.shift_word).to(device)
        relation = torch.from_numpy(table.relation).to(device)
        members = torch.nn.functional.one_hot(column, len(Column)).t().float().contiguous()
        shifts = (shift_word >= 0).nonzero()[:, 0]
        lexicon = LexiconTable.of(table, members)
        limits = getattr(table.system, "limits", None)
        most = torch.tensor(
            [0 if limits is None or a is None else limits.most(a) for a in table.actions], device=device
        )
        top_roles, second_roles = (
            torch.from_numpy(roles).to(device) for roles in (table.top_roles, table.second_roles)
        )
        bearing = (top_roles | second_roles).nonzero()[:, 0]
        named = (table.system.name, table.end, table.labelled_shift)
        return cls(
            *(*named, column, shift_word, relation, members, shifts, lexicon, limits, most),
            *(top_roles, second_roles, table.name_role, bearing),
        )

    def legality(
        self, columns: Tensor, context: Tensor | None, any_shift: bool = False, tokens: Tensor | None = None
    ) -> Tensor:
        """(..., V) float, 1 for legal tokens and 0 for others, from the legal columns (..., C) and the context that
        a machine gives (..., K): the shift id of the front word, and for AMR the lexicon row; in search, too, the roles
        that the node on top and the second have, and tokens that are not legal any more (−1 for none).

        −1 stands for an action that would give a node a role that it has: search may not take it, but its probability
        counts. Were it shared out among the other actions, as that of illegal ones, a hypothesis that had given the
        role to the wrong neighbour would pay nothing for it.

        any_shift: do not compare the words of labelled SHIFTs. tokens: only these, (U,), one at least;
        the result is the part of all tokens' that is theirs.
        A product of matrices, because on large vocabularies it is many times faster than indexing.
        """
        compare = self.labelled_shift and not any_shift
        if legality_kernels.supports(columns):
            rows = columns.flatten(0, -2), None if context is None else context.flatten(0, -2)
            legal = legality_kernels.legality(self._vocabulary(), *rows, tokens, compare)
            return legal.view(*columns.shape[:-1], -1)
        flat = columns.flatten(0, -2).float()
        with torch.autocast(flat.device.type, enabled=False):
            if context is None or self.lexicon is None:
                legal = flat @ _some(self.members, tokens)
            else:
                legal = self.lexicon.legality(flat, context[..., 1].flatten(), self.column, tokens)
        if context is not None and compare:
            front = context[..., :1].flatten(0, -2)
            if tokens is None:
                legal[:, self.shifts] *= self.shift_word[self.shifts] == front
            else:
                words = self.shift_word[tokens]
                legal *= (words < 0) | (words == front)
        if context is not None and context.size(-1) > _CONTEXT:
            rows = context.flatten(0, -2)
            self._forbid(legal, rows[:, _ROLES:], tokens)
            self._forbid_roles(legal, rows[:, _CONTEXT:_ROLES], tokens)
        return legal.view(*columns.shape[:-1], -1)

    def _forbid_roles(self, legal: Tensor, borne: Tensor, tokens: Tensor | None) -> None:
        """Makes −1 of 1 for the tokens that would give a role to a node that has it. borne: (N, 2), the roles that the
        node on top and the second have."""
        some = self.bearing if tokens is None else tokens
        top, second = borne[:, :1], borne[:, 1:]
        doubled = (top & self.top_roles[some]) | (second & self.second_roles[some])
        if tokens is None:
            legal[:, some] -= 2 * legal[:, some] * (doubled != 0)
        else:
            legal -= 2 * legal * (doubled != 0)

    def _forbid(self, legal: Tensor, forbidden: Tensor, tokens: Tensor | None) -> None:
        """Makes what stands in the rows of `forbidden` (N, K), −1 for nothing, illegal."""
        there = forbidden >= 0
        index = forbidden.clamp_min(0)
        if tokens is not None:
            index = _index_of(tokens, self.column)[index]
            there, index = there & (index >= 0), index.clamp_min(0)
        legal.scatter_reduce_(1, index, (~there).float(), "amin")

    def legal_anywhere(self, columns: Tensor, context: Tensor | None) -> Tensor:
        """(U,) tokens: all that are legal in any of the rows of columns (R, C) and context (R, K), and perhaps some
        that are not (labelled SHIFTs are not compared, nor what is not legal any more), in their order."""
        if legality_kernels.supports(columns):
            return legality_kernels.legal_anywhere(self._vocabulary(), columns, context)
        if context is None or self.lexicon is None:
            legal = columns.any(0).float() @ self.members
        else:
            legal = self.lexicon.anywhere(columns.float(), context[:, 1], self.column)
        return legal.nonzero()[:, 0]

    def _vocabulary(self) -> Vocabulary:
        tokens = (self.column, self.shift_word, self.top_roles, self.second_roles)
        if self.lexicon is None:
            return Vocabulary(*tokens)
        return Vocabulary(*tokens, self.lexicon.limited, self.lexicon.offsets, self.lexicon.tokens)

    def token_legal(self, tokens: Tensor, columns: Tensor, context: Tensor | None) -> Tensor:
        """(R,) bool: whether each row may take its token (R,), the lexicon aside: gold derivations of validation data
        may go beyond it."""
        legal = columns.gather(1, self.column[tokens][:, None])[:, 0]
        if context is not None and self.labelled_shift:
            wanted = self.shift_word[tokens]
            legal = legal & ((wanted < 0) | (wanted == context[:, 0]))
        return legal


def _index_of(tokens: Tensor, column: Tensor) -> Tensor:
    """(V,): where each token stands in `tokens` (U,), -1 if it does not; column: (V,), for its shape."""
    return torch.full_like(column, -1).scatter_(0, tokens, torch.arange(len(tokens), device=tokens.device))


def _some(members: Tensor, tokens: Tensor | None) -> Tensor:
    return members if tokens is None else members.index_select(1, tokens)

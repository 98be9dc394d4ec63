"""The action vocabulary as tensors, and which of its tokens a state allows."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from transition_parser.states.table import UNBOUND, ActionTable, Column
from transition_parser.transitions.amr_naming import is_listed


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
    free_members: Tensor | None  # `members` without what the lexicon limits; None without lexicon
    offsets: Tensor | None  # (rows + 1,): where the tokens of each lexicon row begin in `allowed`
    allowed: Tensor | None

    @classmethod
    def of(cls, table: ActionTable, device: torch.device | str = "cpu") -> DeviceTable:
        arrays = [torch.from_numpy(a).to(device) for a in (table.column, table.shift_word, table.relation)]
        members = torch.nn.functional.one_hot(arrays[0], len(Column)).t().float().contiguous()
        shifts = (arrays[1] >= 0).nonzero()[:, 0]
        lexicon: list[Tensor | None] = [None, None, None]
        if table.lexicon is not None:
            rows = [[], [], *table.lexicon]
            sizes = torch.tensor([0, *map(len, rows)], device=device)
            listed = torch.tensor([a is not None and is_listed(a) for a in table.actions], device=device)
            lexicon = [
                members * ~listed,
                sizes.cumsum(0),
                torch.tensor([token for row in rows for token in row], dtype=torch.long, device=device),
            ]
        return cls(table.system.name, table.end, table.labelled_shift, *arrays, members, shifts, *lexicon)

    def legality(
        self, columns: Tensor, context: Tensor | None, any_shift: bool = False, tokens: Tensor | None = None
    ) -> Tensor:
        """(..., V) float, 1 for legal tokens and 0 for others, from the legal columns (..., C) and the context that
        a machine gives (..., K): the shift id of the front word, and for AMR the lexicon row.

        any_shift: do not compare the words of labelled SHIFTs. tokens: only these, (U,), from `legal_anywhere`.
        A product of matrices, because on large vocabularies it is many times faster than indexing.
        """
        flat = columns.flatten(0, -2).float()
        with torch.autocast(flat.device.type, enabled=False):
            if context is None or self.free_members is None:
                legal = flat @ _some(self.members, tokens)
            else:
                legal = self._within_lexicon(flat, context[..., 1].flatten(), tokens)
        if context is not None and self.labelled_shift and not any_shift:
            front = context[..., :1].flatten(0, -2)
            if tokens is None:
                legal[:, self.shifts] *= self.shift_word[self.shifts] == front
            else:
                words = self.shift_word[tokens]
                legal *= (words < 0) | (words == front)
        return legal.view(*columns.shape[:-1], -1)

    def legal_anywhere(self, columns: Tensor, context: Tensor | None) -> Tensor:
        """(U,) tokens: all that are legal in any of the rows of columns (R, C) and context (R, K), and perhaps some
        that are not (labelled SHIFTs are not compared)."""
        some = columns.any(0).float()
        if context is None or self.free_members is None:
            return (some @ self.members).nonzero()[:, 0]
        rows = context[:, 1].unique()
        if bool((rows == UNBOUND).any()):
            return (some @ self.members).nonzero()[:, 0]
        legal = some @ self.free_members
        legal[self._listed(rows)[1]] = 1
        return legal.nonzero()[:, 0]

    def token_legal(self, tokens: Tensor, columns: Tensor, context: Tensor | None) -> Tensor:
        """(R,) bool: whether each row may take its token (R,), the lexicon aside: gold derivations of validation data
        may go beyond it."""
        legal = columns.gather(1, self.column[tokens][:, None])[:, 0]
        if context is not None and self.labelled_shift:
            wanted = self.shift_word[tokens]
            legal = legal & ((wanted < 0) | (wanted == context[:, 0]))
        return legal

    def _within_lexicon(self, columns: Tensor, rows: Tensor, tokens: Tensor | None) -> Tensor:
        """`legality` from columns (N, C) and lexicon rows (N,)."""
        legal = columns @ _some(self.free_members, tokens)
        row, token = self._listed(rows)
        place = token
        if tokens is not None:
            places = torch.zeros_like(self.column)
            places[tokens] = torch.arange(len(tokens), device=tokens.device)
            place = places[token]
        legal[row, place] = columns[row, self.column[token]]
        unbound = (rows == UNBOUND).nonzero()[:, 0]
        if len(unbound):
            legal[unbound] = columns[unbound] @ _some(self.members, tokens)
        return legal

    def _listed(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """What the lexicon allows: pairs of an index into lexicon rows (N,), and a token, (K,) each."""
        start = self.offsets[rows]
        sizes = self.offsets[rows + 1] - start
        row = torch.repeat_interleave(torch.arange(len(rows), device=rows.device), sizes)
        place = torch.arange(len(row), device=rows.device) - (sizes.cumsum(0) - sizes)[row] + start[row]
        return row, self.allowed[place]


def _some(members: Tensor, tokens: Tensor | None) -> Tensor:
    return members if tokens is None else members.index_select(1, tokens)

"""The action vocabulary as tensors, and which of its tokens a state allows."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from transition_parser.states.table import UNBOUND, ActionTable
from transition_parser.transitions.amr import is_listed


@dataclass
class DeviceTable:
    """The arrays of an `ActionTable` as tensors on one device."""

    system: str
    end: int
    labelled_shift: bool
    column: Tensor  # (V,)
    shift_word: Tensor  # (V,)
    relation: Tensor  # (V,)
    listed: Tensor | None  # (V,) bool: what the lexicon limits; None without lexicon
    offsets: Tensor | None  # (rows + 1,): where the tokens of each lexicon row begin in `allowed`
    allowed: Tensor | None

    @classmethod
    def of(cls, table: ActionTable, device: torch.device | str = "cpu") -> DeviceTable:
        arrays = [torch.from_numpy(a).to(device) for a in (table.column, table.shift_word, table.relation)]
        lexicon: list[Tensor | None] = [None, None, None]
        if table.lexicon is not None:
            rows = [[], [], *table.lexicon]
            sizes = torch.tensor([0, *map(len, rows)], device=device)
            lexicon = [
                torch.tensor([a is not None and is_listed(a) for a in table.actions], device=device),
                sizes.cumsum(0),
                torch.tensor([token for row in rows for token in row], dtype=torch.long, device=device),
            ]
        return cls(table.system.name, table.end, table.labelled_shift, *arrays, *lexicon)

    def legal_tokens(self, columns: Tensor, context: Tensor | None, any_shift: bool = False) -> Tensor:
        """(..., V) bool from the legal columns (..., C) and the context that a machine gives (..., K): the shift id
        of the front word, and for AMR the lexicon row. any_shift: do not compare the words of labelled SHIFTs."""
        legal = columns[..., self.column]
        if context is not None and self.labelled_shift and not any_shift:
            legal &= (self.shift_word < 0) | (self.shift_word == context[..., :1])
        if context is not None and self.listed is not None:
            legal &= self._allowed(context[..., 1])
        return legal

    def token_legal(self, tokens: Tensor, columns: Tensor, context: Tensor | None) -> Tensor:
        """(R,) bool: whether each row may take its token (R,), the lexicon aside: gold derivations of validation data
        may go beyond it."""
        legal = columns.gather(1, self.column[tokens][:, None])[:, 0]
        if context is not None and self.labelled_shift:
            wanted = self.shift_word[tokens]
            legal = legal & ((wanted < 0) | (wanted == context[:, 0]))
        return legal

    def _allowed(self, rows: Tensor) -> Tensor:
        flat = rows.reshape(-1)
        legal = (~self.listed).expand(len(flat), -1) | (flat == UNBOUND)[:, None]
        start = self.offsets[flat]
        sizes = self.offsets[flat + 1] - start
        row = torch.repeat_interleave(torch.arange(len(flat), device=flat.device), sizes)
        ends = sizes.cumsum(0)
        place = torch.arange(len(row), device=flat.device) - (ends - sizes)[row] + start[row]
        legal[row, self.allowed[place]] = True
        return legal.view(*rows.shape, -1)

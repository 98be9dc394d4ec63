"""The action vocabulary as tensors, what networks can see of parser states, and the base of the batched machines."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import ClassVar

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
        self.system, self.end, self.labeled_shift = table.system.name, table.end, table.labeled_shift
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
        any_shift: True to make labeled SHIFTs legal whatever their word is, but not where the root is in front
        """
        flat = columns.flatten(0, -2).float()
        rows = None if context is None else context.flatten(0, -2)
        with torch.autocast(flat.device.type, enabled=False):  # products are many times faster than indexing
            if rows is None or self.lexicon is None:
                legal = flat @ self.members
            else:
                legal = self.lexicon.legality(flat, rows[:, 1], self.column)
        if rows is not None and self.labeled_shift:
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
        if context is not None and self.labeled_shift:
            legal = legal & _names_front(self.shift_word[tokens], context[:, 0], any_shift=False)
        return legal


def _names_front(shift_word: Tensor, front: Tensor, any_shift: bool) -> Tensor:
    """Return True for SHIFTs that fit the front word (or any word, with `any_shift`), and for all other tokens."""
    fits = (front != NO_WORD) | (shift_word == 0) if any_shift else shift_word == front.clamp_min(0)
    return (shift_word < 0) | fits


# The names of fields of `States` that a model may list in its `needs`.
RANKS = ("stack", "buffer")
STEPS_SINCE = ("steps_since_stack", "steps_since_buffer")
TREE = ("head", "relation")
FIELDS = (*RANKS, *STEPS_SINCE, *TREE)
FRAMES = "frames"  # a model may need this field, too; it is not of words


@dataclass(frozen=True)
class States:
    """Configurations before an action.

    The leading dimensions are (R,) in search, for one step of R hypotheses, and (B, T) in training, for all T steps of
    B derivations. There are P positions, for the words of the longest sentence and the root. The root of a sentence of
    n words is position n. Fields that no model needs are None.

    columns: (…, C) bool; the legal columns of `ActionTable`
    context: (…, K); the values that legality depends on besides the columns; None if there are none
    stack: (…, P); k > 0 for the k-th word from the top of the stack, 0 for words that are not on the stack; for AMR see
        `AmrMachine`
    buffer: (…, P); k > 0 for the k-th word from the front of the buffer, 0 for words that are not in the buffer; for
        AMR see `AmrMachine`
    steps_since_stack: (…, P); s > 0 for a word that left the stack s actions ago and is not on the stack now, else 0
    steps_since_buffer: (…, P); s > 0 for a word that left the buffer s actions ago and is not in the buffer now, else 0
    head: (…, P); the offset from each word to its head, 0 for words without a head
    relation: (…, P); the id of each word's relation (`ActionTable.relations`), 0 for words without a head
    frames: (…, 2); for AMR, the classes (`RoleFunctions`) of the frames of the node on top and of the second node
    """

    columns: Tensor
    context: Tensor | None = None
    stack: Tensor | None = None
    buffer: Tensor | None = None
    steps_since_stack: Tensor | None = None
    steps_since_buffer: Tensor | None = None
    head: Tensor | None = None
    relation: Tensor | None = None
    frames: Tensor | None = None

    def tensors(self) -> dict[str, Tensor]:
        """Return the fields that are not None, by name, for batches of fairseq."""
        named = ((field.name, getattr(self, field.name)) for field in fields(self))
        return {name: value for name, value in named if value is not None}

    def flattened(self) -> States:
        """Return the states with the dimensions (B, T) merged into one dimension of B · T rows."""
        return States(**{name: value.flatten(0, 1) for name, value in self.tensors().items()})

    def at(self, *index: Tensor | int | slice | None) -> States:
        """Return the states at the given index of the leading dimensions; None adds a dimension."""
        return States(**{name: value[index] for name, value in self.tensors().items()})

    def has(self, needs: Collection[str]) -> bool:
        """Return True if none of the named fields is None."""
        return all(getattr(self, name) is not None for name in needs)

    @staticmethod
    def of_steps(steps: Sequence[States]) -> States:
        """Return states (R, T, …) from T states of one step each, (R, …); those that models need become int16."""
        first = steps[0].tensors()
        stacked = {name: torch.stack([getattr(step, name) for step in steps], 1) for name in first}
        small = (*FIELDS, FRAMES)
        return States(**{name: value.short() if name in small else value for name, value in stacked.items()})


class BatchedMachine(ABC):
    """The configurations of R rows (hypotheses), which take their actions at once. `table` has V tokens, C columns.

    per_sentence: names of the tensors that are equal in all rows of a sentence
    per_row: names of the other tensors with one row for each hypothesis
    top_ranks: the highest rank in `stack_ranks` that the two words (in AMR, nodes) on top of the stack have
    width: P, the number of words of the longest sentence plus one
    needs: names of the fields of `States` that `observe` returns; their history is recorded from the first action on
    """

    per_sentence: ClassVar[Sequence[str]] = ()
    per_row: ClassVar[Sequence[str]] = ()
    top_ranks: ClassVar[int] = 2
    table: DeviceTable
    width: int
    _columns: Tensor  # the result of `legal_columns`, which subclasses compute after each action

    def __init__(self, needs: Collection[str] = ()) -> None:
        self.needs = frozenset(needs)
        self.steps = 0
        # For `stack` and `buffer`: (R, P), the value of `steps` when each word was last on the stack or in the buffer;
        # −1 for never.
        self._last: dict[str, Tensor] = {}

    @abstractmethod
    def stack_ranks(self) -> Tensor:
        """Return the field `stack` of `States`, (R, P)."""

    @abstractmethod
    def buffer_ranks(self) -> Tensor:
        """Return the field `buffer` of `States`, (R, P)."""

    def tree(self) -> tuple[Tensor, Tensor]:
        """Return the fields `head` and `relation` of `States`, (R, P) each. Raises `ValueError` if there is no tree."""
        raise ValueError(f"{self.table.system} builds no tree")

    def frames(self) -> Tensor:
        """Return the field `frames` of `States`, (R, 2). Raises `ValueError` if nodes have no frames."""
        raise ValueError(f"{self.table.system} has no frames")

    def observe(self) -> States:
        """Return the configurations before the next action, with the fields in `needs`."""
        seen = dict(zip(RANKS, (self.stack_ranks, self.buffer_ranks), strict=True))
        values = {name: rank() for name, rank in seen.items() if name in self.needs}
        for name, there in zip(STEPS_SINCE, RANKS, strict=True):
            if name in self.needs:
                last = self._last[there]
                values[name] = torch.where(last >= 0, self.steps - last, 0)
        if self.needs.intersection(TREE):
            values |= {name: value for name, value in zip(TREE, self.tree(), strict=True) if name in self.needs}
        if FRAMES in self.needs:
            values[FRAMES] = self.frames()
        return States(self.legal_columns(), self.context(), **values)

    def legal_columns(self) -> Tensor:
        """Return (R, C) bool, True for the legal columns of the `ActionTable`."""
        return self._columns

    @abstractmethod
    def context(self) -> Tensor | None:
        """Return the values that legality depends on besides the columns, (R, K), or None (`DeviceTable.legality`)."""

    def is_final(self) -> Tensor:
        """Return (R,) bool, True for final rows."""
        return self._columns[:, ActionClass.END].clone()

    def legal(self) -> Tensor:
        """Return (R, V) bool, True for legal tokens. `</s>` is legal exactly in final states."""
        return self.legality() > 0

    def legality(self) -> Tensor:
        """Return the legality of tokens, (R, V) float: 1, 0 or −1, see `DeviceTable.legality`."""
        return self.table.legality(self.legal_columns(), self.context())

    def apply(self, tokens: Tensor) -> None:
        """Take the action of each row's token, (R,). An illegal token leaves its row unchanged."""
        self._apply(tokens)
        self.steps += 1
        self.follow()

    @abstractmethod
    def _apply(self, tokens: Tensor) -> None:
        """Change the configurations as `apply` does, without counting the step or recording the history."""

    def reorder(self, rows: Tensor, same_sentences: bool = False) -> None:
        """Replace each row i by a copy of row `rows[i]`; if all rows keep their sentences, less is copied."""
        for name in (*self.per_row, *(() if same_sentences else self.per_sentence)):
            value = getattr(self, name)
            if value is not None:
                setattr(self, name, value.index_select(0, rows))
        self._last = {name: last.index_select(0, rows) for name, last in self._last.items()}

    def follow(self) -> None:
        """Record which words are on the stack and in the buffer. This must run before the first action, too."""
        for name, there, ranks in zip(STEPS_SINCE, RANKS, (self.stack_ranks, self.buffer_ranks), strict=True):
            if name in self.needs:
                rank = ranks()
                before = self._last.get(there, torch.full_like(rank, -1))
                self._last[there] = torch.where(rank > 0, self.steps, before)

    def unroll(self, actions: Tensor) -> States:
        """Return the states (B, T, …) before each token of `actions` (B, T). The last action is not taken."""
        steps = []
        for step in range(actions.size(1)):
            if step:
                self.apply(actions[:, step - 1])
            steps.append(self.observe())
        return States.of_steps(steps)

    def last_states(self, actions: Tensor) -> States:
        """Return the last of the states that `unroll` returns, (B, 1, …)."""
        for step in range(actions.size(1) - 1):
            self.apply(actions[:, step])
        return States.of_steps([self.observe()])

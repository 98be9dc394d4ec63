"""What a state machine over token ids needs to know of each token of the action vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

import numpy as np

from transition_parser.errors import InputError
from transition_parser.transitions import Action, Kind, TransitionSystem


class Column(IntEnum):
    """Legality is decided for these groups of tokens; all tokens of a column are legal or illegal
    together (but for labelled SHIFTs, of which only that of the word in front is)."""

    NEVER = 0
    END = 1
    SHIFT = 2
    REDUCE = 3
    LEFT_ARC = 4
    LEFT_ARC_ROOT = 5
    RIGHT_ARC = 6
    SWAP = 7


_COLUMN_OF_KIND = {kind: Column[kind.name] for kind in Kind}


class ActionTable:
    """Arrays over the action vocabulary, in the order of its tokens.

    column: the `Column` of each token. shift_word: for SHIFT 0 if plain, k for the k-th of the
    sorted labelled-SHIFT words; −1 for all other tokens. relation: id of the label of an arc
    (1, 2, … in sorted order), 0 for none.
    """

    def __init__(self, system: TransitionSystem, tokens: Sequence[str], end: str = "</s>") -> None:
        self.system = system
        self.tokens = list(tokens)
        self.end = self.tokens.index(end)
        self.shift_words = sorted(system.shift_words)
        self.actions = [_parse(token, system) for token in tokens]
        arcs = {a.label for a in self.actions if a and _is_arc(a)}
        self.relations = ["", *sorted(str(label) for label in arcs)]
        self.column = np.array([self._column(a) for a in self.actions], np.int64)
        self.column[self.end] = Column.END
        self.shift_word = np.array([self._shift_word(a) for a in self.actions], np.int64)
        relation_ids = {label: i for i, label in enumerate(self.relations)}
        self.relation = np.array([relation_ids[a.label] if a and _is_arc(a) else 0 for a in self.actions], np.int64)
        self._check_columns()

    @property
    def labelled_shift(self) -> bool:
        """True where some words decorate their SHIFT."""
        return bool(self.shift_words)

    def shift_ids(self, words: Sequence[str]) -> list[int]:
        """For each word the `shift_word` of its SHIFT."""
        ids = {word: i for i, word in enumerate(self.shift_words, 1)}
        return [ids.get(word, 0) for word in words]

    def _column(self, action: Action | None) -> Column:
        if action is None:
            return Column.NEVER
        if action == Action(Kind.LEFT_ARC, self.system.root):
            return Column.LEFT_ARC_ROOT
        return _COLUMN_OF_KIND[action.kind]

    def _shift_word(self, action: Action | None) -> int:
        if action is None or action.kind is not Kind.SHIFT:
            return -1
        return 0 if action.label is None else self.shift_words.index(action.label) + 1

    def _check_columns(self) -> None:
        """A column that the machine may need must have a token, or search could find no legal one."""
        needed = [Column.LEFT_ARC_ROOT, *(_COLUMN_OF_KIND[kind] for kind in self.system.kinds)]
        for column in needed:
            if column is not Column.SWAP and column not in self.column:
                raise InputError(
                    f"the action vocabulary has no {column.name} for {self.system.name}: "
                    "make it with `transition-parser preprocess` and `fairseq-preprocess --task "
                    "transition_parsing` from one treebank"
                )


def _parse(token: str, system: TransitionSystem) -> Action | None:
    try:
        action = Action.parse(token)
    except ValueError:
        return None
    known = action.kind in system.kinds
    if known and action.kind is Kind.SHIFT and action.label is not None:
        known = action.label in system.shift_words
    return action if known else None


def _is_arc(action: Action) -> bool:
    return action.kind in (Kind.LEFT_ARC, Kind.RIGHT_ARC)

"""The properties of the tokens of the action vocabulary that a state machine over token ids needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

import numpy as np

from transition_parser.base.errors import InputError
from transition_parser.transitions import Action, Kind, RootRelations, TransitionSystem, TreeSystem
from transition_parser.transitions.amr import AmrSystem
from transition_parser.transitions.amr_frames import FrameActions
from transition_parser.transitions.amr_naming import Word, is_listed, key
from transition_parser.transitions.amr_roles import SECOND, TOP, role_given
from transition_parser.transitions.amr_sorts import Sort, made_sort
from transition_parser.transitions.spec import ActionClass

# The indices of the features of a word, see `ActionTable.features`.
SHIFT_ID, LEMMA, PLAIN, FIRST_SPAN = range(4)
# The values of the feature `PLAIN`. TEXT: no number holds this word. NUMBER: the word alone is a number. PART: a number
# may hold this word beside others.
NOT_PLAIN, TEXT, NUMBER, PART = range(4)
# The first rows of the lexicon. UNBOUND: the lexicon does not limit the tokens. UNSEEN: the span is not in the lexicon.
# FIRST_ROW: the row of the first span of the lexicon.
UNBOUND, UNSEEN, FIRST_ROW = range(3)


# The sort of a node as bits: one bit for each `Sort`, and TOP_ONLY for a node that must be the top of the graph. A node
# whose sort is not known has no bit. Where CLOSE is not legal and no word is left, the bits of sorts are LAST_CHANCE
# bits further up.
SORT_BITS: dict[Sort | None, int] = {None: 0, **{sort: 1 << bit for bit, sort in enumerate(Sort)}}
STRING_BIT, NUMBER_BIT = SORT_BITS[Sort.STRING], SORT_BITS[Sort.NUMBER]
TOP_ONLY = 1 << len(Sort)
LAST_CHANCE = 16
TOPPED = 1 << 2 * LAST_CHANCE  # beside the sort of the node on top, where the graph has a top

_LIKE = {Kind.COPY_SENSE01: Kind.COPY_LEMMA, Kind.FRAME: Kind.PRED}  # kinds that are legal and act like another one
_COLUMN_OF_KIND: dict[Kind, ActionClass] = {kind: ActionClass[_LIKE.get(kind, kind).name] for kind in Kind}
_OTHER = None  # stands for the spans that are not in the lexicon
# A vocabulary without tokens of these columns is complete if it has tokens of LEFT_ARC_ANY.
_INSTEAD = {ActionClass.LEFT_ARC: ActionClass.LEFT_ARC_ANY, ActionClass.LEFT_ARC_ROOT: ActionClass.LEFT_ARC_ANY}
# A vocabulary without tokens of these columns is complete.
_OPTIONAL = (ActionClass.SWAP, ActionClass.VALUE, ActionClass.ENTITY, ActionClass.DEPENDENT)


class ActionTable:
    """Arrays over the action vocabulary, in the order of its tokens.

    column: (V,) int64; the `ActionClass` of each token
    shift_word: (V,) int64; 0 for a plain SHIFT, k for a SHIFT labelled with the k-th of the sorted SHIFT words, −1 for
        other tokens
    relation: (V,) int64; the id of the label of a dependency arc (1, 2, … in sorted order), 0 for other tokens
    lexicon: for each row, in order, the tokens that a span allows; None without a lexicon. The rows are the spans of
        the system's lexicon in sorted order. With frames a span has a row for each set of FRAME actions that it may
        have, and so have the spans outside the lexicon together.
    once: the roles that search gives a node at most once, see `SearchLimits`; empty if no RA of the vocabulary gives
        another role, because such an RA must remain to connect the last two nodes
    top_roles: (V,) int64; the roles of `once` that each token gives the node on top, as bits
    second_roles: (V,) int64; the roles of `once` that each token gives the second node, as bits
    new_roles: (V,) int64; the roles of `once` that the node which a token makes has from the start, as bits, so that
        search never gives it these roles; 0 for tokens that put no node on the stack
    new_sort: (V,) int64; the sort of the node that a token puts on the stack, as bits
    top_sorts: (V,) int64; the sorts that the node on top may not have where search takes the token, as bits
    second_sorts: (V,) int64; the same for the second node

    Raises `InputError` for a vocabulary that lacks a column that the system needs.
    """

    def __init__(self, system: TransitionSystem, tokens: Sequence[str], end: str = "</s>") -> None:
        self.system = system
        self._frames = system.frames if isinstance(system, AmrSystem) else None
        self.tokens = list(tokens)
        self.end = self.tokens.index(end)
        self.shift_words = sorted(system.shift_words)
        self.actions = [_parse(token, system) for token in tokens]
        arcs = {a.label for a in self.actions if a and _is_arc(a)}
        self.relations = ["", *sorted(str(label) for label in arcs)]
        self.column = np.array([self._column(a) for a in self.actions], np.int64)
        self.column[self.end] = ActionClass.END
        self.shift_word = np.array([self._shift_word(a) for a in self.actions], np.int64)
        relation_ids: dict[str | None, int] = {label: i for i, label in enumerate(self.relations)}
        self.relation = np.array([relation_ids[a.label] if a and _is_arc(a) else 0 for a in self.actions], np.int64)
        self._check_columns()
        self._read_lexicon()
        self._read_roles()
        self._read_sorts()

    def __deepcopy__(self, memo: object) -> Self:
        """Return the table itself: nothing changes it, and copies of a model share it."""
        return self

    @property
    def labelled_shift(self) -> bool:
        """True if some words label their SHIFT."""
        return bool(self.shift_words)

    @property
    def has_features(self) -> bool:
        """True if the machine needs features of the words."""
        return self.labelled_shift or isinstance(self.system, AmrSystem)

    def features(self, words: Sequence[str]) -> list[list[int]]:
        """Return the features of each word, and of `</s>` behind the words.

        The first feature of a word is the `shift_word` of its SHIFT. For AMR three kinds of features follow: 1 if the
        lemma is a symbol, else 0; `NOT_PLAIN`, `TEXT`, `NUMBER` or `PART`; and the lexicon rows of the spans of 1, 2,
        … words that end with this word.
        """
        shift = {word: i for i, word in enumerate(self.shift_words, 1)}
        columns = [[shift.get(word, 0)] for word in words]
        if isinstance(self.system, AmrSystem):
            read = self.system.read(words)
            row_of = self._row_of_frames if self._frames else self._row_of
            for end, (word, row) in enumerate(zip(read, columns, strict=True), 1):
                row += [int(word.lemma_is_symbol), _plain(word)]
                row += [row_of(read, end - length, end) if length <= end else UNSEEN for length in self.span_lengths]
        columns.append([0] * len(columns[0]))
        return columns

    def _column(self, action: Action | None) -> ActionClass:
        if action is None:
            return ActionClass.NEVER
        if isinstance(self.system, TreeSystem) and _is_arc(action):
            return _arc_column(action, self.system.roots)
        if action.kind is Kind.ENTITY and not is_listed(action):
            return ActionClass.COPY_ENTITY
        return _COLUMN_OF_KIND[action.kind]

    def _shift_word(self, action: Action | None) -> int:
        if action is None or action.kind is not Kind.SHIFT:
            return -1
        return 0 if action.label is None else self.shift_words.index(action.label) + 1

    def _check_columns(self) -> None:
        """Raise `InputError` if a column that the machine needs has no token, because search could get stuck there."""
        needed = {_COLUMN_OF_KIND[kind] for kind in self.system.kinds}
        if ActionClass.LEFT_ARC in needed:
            needed.add(ActionClass.LEFT_ARC_ROOT)
        present = set(self.column.tolist())
        for column in sorted(needed.difference(_OPTIONAL)):
            if not {column, _INSTEAD.get(column, column)} & present:
                raise _lacks(column.name, self.system)

    def _read_lexicon(self) -> None:
        lexicon = getattr(self.system, "lexicon", None)
        self._rows: dict[str, int] = {}
        self._rows_of_frames: dict[tuple[str | None, frozenset[Action]], int] = {}
        self.lexicon: list[list[int]] | None = None
        self.span_lengths = range(1, 2)
        if lexicon is None:
            if self._frames is not None:
                raise ValueError("a system with frames needs a lexicon")
            return
        ids = {action: i for i, action in enumerate(self.actions) if action is not None}
        spans = sorted(lexicon)
        tokens = [sorted(ids[a] for a in lexicon[span] if a in ids) for span in spans]
        if self._frames is not None:
            self._read_frames(self._frames, ids, dict(zip(spans, tokens, strict=True)))
            return
        self._rows = {span: row for row, span in enumerate(spans, FIRST_ROW)}
        self.lexicon = tokens
        self.span_lengths = range(1, 2 + max((span.count(" ") for span in spans), default=0))

    def _read_frames(self, frames: FrameActions, ids: Mapping[Action, int], lexicon: Mapping[str, list[int]]) -> None:
        """Make a row for each set of FRAME actions that a span may have, together with its tokens in the lexicon.

        Raises `InputError` for a vocabulary that lacks a FRAME action of the table.
        """
        lacking = sorted(str(action) for action in frames.all if action not in ids)
        if lacking:
            raise _lacks(lacking[0], self.system)
        tokens_of = {actions: tuple(sorted(map(ids.__getitem__, actions))) for actions in frames.sets}
        self.lexicon = []
        for span, seen in [(_OTHER, []), *lexicon.items()]:
            possible = frames.sets if span is _OTHER else frames.sets_of(span)
            for actions in sorted(possible, key=tokens_of.__getitem__):
                self._rows_of_frames[span, actions] = FIRST_ROW + len(self.lexicon)
                self.lexicon.append(sorted((*seen, *tokens_of[actions])))
        longest = max(map(str.split, (*frames.spans, *lexicon)), key=len)
        self.span_lengths = range(1, 1 + len(longest))
        self._spans = frozenset((*frames.spans, *lexicon))

    def _row_of(self, words: Sequence[Word], start: int, end: int) -> int:
        return self._rows.get(key(words[start:end]), UNSEEN)

    def _row_of_frames(self, words: Sequence[Word], start: int, end: int) -> int:
        span = words[start:end]
        actions: frozenset[Action] = frozenset()
        seen = key(span)
        if len(span) == 1 or seen in self._spans:
            assert self._frames is not None
            actions = self._frames.of_span(span, words[end:])
        row = self._rows_of_frames.get((seen, actions))
        return self._rows_of_frames[_OTHER, actions] if row is None else row

    def _read_roles(self) -> None:
        given = [role_given(a) if a else None for a in self.actions]
        limits = getattr(self.system, "limits", None)
        once = frozenset() if limits is None else limits.once
        may_repeat = (role is not None and role[1] not in once for role in given)
        arcs = self.column == ActionClass.RA
        self.once = once if any(free and arc for free, arc in zip(may_repeat, arcs, strict=True)) else frozenset()
        bits = {role: 1 << bit for bit, role in enumerate(sorted(self.once))}
        self.top_roles, self.second_roles = (
            np.array([bits.get(role[1], 0) if role and role[0] == place else 0 for role in given], np.int64)
            for place in (TOP, SECOND)
        )
        entities = np.isin(self.column, (ActionClass.ENTITY, ActionClass.COPY_ENTITY))
        self.new_roles = np.where(entities, bits.get("name", 0), 0)

    def _read_sorts(self) -> None:
        """Read the sorts of nodes that search compares.

        Search must never get stuck: where no word is left and the graph can't be closed, one RA is legal for any two
        nodes. This RA gives the most frequent of the roles that may come twice.
        """
        self.new_sort, self.top_sorts, self.second_sorts = np.zeros((3, len(self.actions)), np.int64)
        limits = getattr(self.system, "limits", None)
        if limits is None:
            return
        for token, action in enumerate(self.actions):
            if action is None:
                continue
            self.new_sort[token] = SORT_BITS[made_sort(action)]
            sorts = (sum(SORT_BITS[sort] for sort in barred) for barred in limits.barred(action))
            self.top_sorts[token], self.second_sorts[token] = (bits | bits << LAST_CHANCE for bits in sorts)
        self._keep_one_arc()
        if limits.sentences_on_top:
            sentences = self.new_sort == SORT_BITS[Sort.SENTENCES]
            self.new_sort[sentences] |= TOP_ONLY
            self.top_sorts[sentences] = TOPPED

    def _keep_one_arc(self) -> None:
        """Make one RA legal for any two nodes where CLOSE is not legal and no word is left."""
        arcs = (self.column == ActionClass.RA).nonzero()[0]
        free = [token for token in arcs if not self.top_roles[token] | self.second_roles[token]]
        for sorts in (self.top_sorts, self.second_sorts):
            sorts[free[:1]] &= (1 << LAST_CHANCE) - 1


def _lacks(action: str, system: TransitionSystem) -> InputError:
    return InputError(
        f"the action vocabulary has no {action} for {system.name}: make it with `transition-parser preprocess` and "
        "`fairseq-preprocess --task transition_parsing` from one corpus"
    )


def _plain(word: Word) -> int:
    if not word.form_is_plain:
        return NOT_PLAIN
    if word.is_number:
        return NUMBER
    return PART if word.is_part_of_number else TEXT


def _arc_column(action: Action, roots: RootRelations) -> ActionClass:
    root, other = (roots.allow(str(action.label), from_root) for from_root in (True, False))
    if action.kind is Kind.RIGHT_ARC:  # the root stands behind all words, so that no right arc leaves it
        return ActionClass.RIGHT_ARC if other else ActionClass.NEVER
    if not root:
        return ActionClass.LEFT_ARC
    return ActionClass.LEFT_ARC_ANY if other else ActionClass.LEFT_ARC_ROOT


def _parse(token: str, system: TransitionSystem) -> Action | None:
    try:
        action = Action.parse(token)
    except ValueError:
        return None
    known = action.kind in system.kinds
    if known and action.kind is Kind.FRAME:
        known = isinstance(system, AmrSystem) and system.frames is not None and action in system.frames
    if known and action.kind is Kind.SHIFT and action.label is not None:
        known = action.label in system.shift_words
    if known and _is_arc(action):
        known = action.label is not None
    return action if known else None


def _is_arc(action: Action) -> bool:
    return action.kind in (Kind.LEFT_ARC, Kind.RIGHT_ARC)

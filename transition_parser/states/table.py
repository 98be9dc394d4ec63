"""The properties of the tokens of the action vocabulary that a state machine over token ids needs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from functools import cached_property
from itertools import chain, repeat
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, Self, TypeVar

import numpy as np

from transition_parser.base.errors import InputError
from transition_parser.graphs.amr import LISTS
from transition_parser.text.frames import WINDOW, role_functions
from transition_parser.text.names import names_inside
from transition_parser.transitions import Action, Kind, RootRelations, TransitionSystem, TreeSystem
from transition_parser.transitions.amr import AmrSystem
from transition_parser.transitions.amr_frames import ROUTES, parts_of
from transition_parser.transitions.amr_limits import TOP, Sort, made_sort, role_given
from transition_parser.transitions.amr_state import AmrWord, is_listed, key
from transition_parser.transitions.config import Counts

A = TypeVar("A")


class ActionClass(IntEnum):
    """The columns of `ActionTable`: tokens legal together, except for labels of SHIFT and the lexicon."""

    NEVER = 0
    END = 1
    SHIFT = 2
    REDUCE = 3
    LEFT_ARC = 4
    LEFT_ARC_ROOT = 5
    RIGHT_ARC = 6
    SWAP = 7
    MERGE = 8
    PRED = 9
    COPY_LEMMA = 10
    VALUE = 11
    COPY_WORD = 12
    ENTITY = 13
    COPY_ENTITY = 14
    DEPENDENT = 15
    LA = 16
    RA = 17
    ROOT = 18
    CLOSE = 19
    LEFT_ARC_ANY = 20  # left arcs whose relation both the root and other heads may give


# LEFT-ARC has three classes, by the heads that may give the relation. This maps two of them to the third, LEFT_ARC.
KIND_OF_CLASS = {ActionClass.LEFT_ARC_ROOT: ActionClass.LEFT_ARC, ActionClass.LEFT_ARC_ANY: ActionClass.LEFT_ARC}

# The indices of the features of a word, see `ActionTable.features`.
SHIFT_ID, LEMMA, PLAIN, EVOKED = range(4)  # EVOKED: the first of one feature for each route to a frame
FIRST_SPAN = EVOKED + len(ROUTES)
NO_WORD = -1  # the shift id where the root is in front: the SHIFT of the root has no label
# The values of the feature `PLAIN`. NOT_PLAIN: COPY_WORD cannot copy the word (`AmrWord.form_is_plain`). TEXT: the word
# cannot be in a number. NUMBER: the word alone is a number. PART: the word may form a number with other words.
NOT_PLAIN, TEXT, NUMBER, PART = range(4)
# The first rows of the lexicon. UNBOUND: the lexicon does not limit the tokens. UNSEEN: the span is not in the lexicon.
# FIRST_ROW: the row of the first span of the lexicon.
UNBOUND, UNSEEN, FIRST_ROW = range(3)


# The sort of a node as bits: one bit for each `Sort`, and TOP_ONLY for a node that must be the top of the graph. A node
# of unknown sort has no bit. Where no word is left and CLOSE is not legal, `amr_machine.on_top` shifts the bits left by
# LAST_CHANCE, so that other rules apply (`_read_nodes`).
SORT_BITS: dict[Sort | None, int] = {None: 0, **{sort: 1 << bit for bit, sort in enumerate(Sort)}}
STRING_BIT, NUMBER_BIT = SORT_BITS[Sort.STRING], SORT_BITS[Sort.NUMBER]
TOP_ONLY = 1 << len(Sort)
LAST_CHANCE = 16
TOPPED = 1 << 2 * LAST_CHANCE  # added to the sort of the node on top of the stack after ROOT: the graph has a top

_LIKE = {Kind.FRAME: Kind.PRED}  # kind → a kind of equal legality and effect
_COLUMN_OF_KIND: dict[Kind, ActionClass] = {kind: ActionClass[_LIKE.get(kind, kind).name] for kind in Kind}
# A vocabulary without tokens of these columns is complete if it has tokens of LEFT_ARC_ANY.
_INSTEAD = {ActionClass.LEFT_ARC: ActionClass.LEFT_ARC_ANY, ActionClass.LEFT_ARC_ROOT: ActionClass.LEFT_ARC_ANY}
# A vocabulary without tokens of these columns is complete.
_OPTIONAL = (ActionClass.SWAP, ActionClass.VALUE, ActionClass.ENTITY, ActionClass.DEPENDENT)


VERSION = "2"  # of the arrays in `ActionTable.arrays`; another one for each change of what they hold
_ROWS = ("lexicon", "prior", "sets")
_MOST_WORDS = 1 << 14  # whose features are kept: words come again and again
_OTHERS = ("prior_values", "span_rows", "row_sets")


class RaggedRows(NamedTuple):
    """Rows of numbers of different lengths, one after another. `rows[i]` are the numbers of row i."""

    starts: np.ndarray  # (rows + 1,); the index in `numbers` at which each row starts
    numbers: np.ndarray

    @classmethod
    def of(cls, rows: Iterable[Sequence[int]]) -> RaggedRows:
        rows = [*rows]
        starts = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        return cls(starts, np.fromiter(chain.from_iterable(rows), np.int64, int(starts[-1])))

    def __getitem__(self, row: int) -> np.ndarray:  # type: ignore[override]
        return self.numbers[self.starts[row] : self.starts[row + 1]]


class TokenArrays(Generic[A]):
    """Properties of the V tokens of the action vocabulary: numpy arrays, or tensors on a device.

    All are (V,) int64 unless stated otherwise. Sets of roles and of sorts are bits, of the sorted roles in
    `SearchLimits.once` and of `SORT_BITS`. The values from `limited` on are for AMR.
    """

    column: A  # the `ActionClass`
    shift_word: A  # 0 for a plain SHIFT, k for a SHIFT labeled with the k-th of the sorted SHIFT words, −1 for others
    relation: A  # the id of the label of a dependency arc (1, 2, … in sorted order), 0 for other tokens
    limited: A  # bool; True for the tokens that the lexicon limits
    top_roles: A  # the roles that a token gives the node on top
    second_roles: A  # the roles that a token gives the second node
    new_roles: A  # the roles that search never gives the new node; for a FRAME of a single word also those in `lacked`
    route: A  # the index in `ROUTES` of the route of a FRAME, −1 for other tokens
    sense: A  # the column in `lacked` of the sense of a FRAME, 0 for other tokens
    new_sort: A  # the sort of the node that a token puts on the stack
    top_sorts: A  # the sorts of the node on top for which search may not take the token
    second_sorts: A  # the sorts of the second node for which search may not take the token
    lacked: A  # (lemmas, senses); the roles that each frame does not have; row 0 is for lemmas without a frame


ARRAYS = tuple(TokenArrays.__annotations__)
_OF_TOKENS = ARRAYS[:-1]


class ActionTable(TokenArrays[np.ndarray]):
    """The action vocabulary as arrays, in the order of the tokens.

    lexicon: the tokens that each row allows, sorted; the rows before FIRST_ROW are empty. None for trees. Each span of
        the lexicon or the counts, in sorted order, has one row for each set of FRAME actions that it may have. Before
        these rows stands one for each set, which serves all other spans.
    prior: the tokens of each row of `lexicon` that have a prior, and all other tokens that the counts have for its span
    prior_values: log (p · n) for each of the n tokens of a row of `prior`; p is its share of the counts of all n, each
        plus one (smoothing)
    sets: the sets of FRAME tokens that a span may have
    span_rows: the first row of all other spans (0), and of each span; then the number of rows. Without
        FIRST_ROW, as `row_sets`
    row_sets: the index in `sets` of the FRAME tokens of each row

    Raises `InputError` for a vocabulary that lacks a column that the system needs.
    """

    def __init__(
        self,
        system: TransitionSystem,
        tokens: Sequence[str],
        counts: Counts = MappingProxyType({}),
        stored: Mapping[str, np.ndarray] | None = None,
    ) -> None:
        self.system = system
        self._frames = system.frames if isinstance(system, AmrSystem) else None
        self.tokens = list(tokens)
        self.end = self.tokens.index("</s>")
        self.shift_words = sorted(system.shift_words)
        self._taken: dict[int, Action] = {}  # the actions that `action` has returned
        self._of_words: dict[tuple[AmrWord, str | None], list[int]] = {}  # what `_of_word` has returned
        lexicon = getattr(system, "lexicon", None)
        if lexicon is None and self._frames is not None:
            raise ValueError("the table of AMR needs a lexicon")
        spans = sorted({*(lexicon or ()), *counts})
        lemmas = self._frames.table.rolesets if self._frames is not None else ()
        self._lemmas = {lemma: row for row, lemma in enumerate(lemmas, 1)}
        if stored is None:
            self._make(spans, lexicon, counts)
        else:
            self._take(stored)
        long_spans = {span for span in spans if " " in span}
        if self._frames is not None:
            long_spans |= self._frames.long_spans
            sets = enumerate(map(self.sets.__getitem__, range(len(self.sets.starts) - 1)))
            self._set_of = {frozenset(map(self.tokens.__getitem__, tokens)): number for number, tokens in sets}
            self._known_sets: dict[frozenset[Action], int] = {}
            self._rows_of_spans, self._sets_of_rows = self.span_rows.tolist(), self.row_sets.tolist()
        self._long_spans, self._places = long_spans, {span: place for place, span in enumerate(spans)}
        self._ends = {span.rpartition(" ")[2] for span in long_spans}
        self.span_lengths = range(1, 2 + max(map(str.count, long_spans, repeat(" ")), default=0))

    def _make(self, spans: Sequence[str], lexicon: Mapping | None, counts: Counts) -> None:
        self.actions = [_parse(token, self.system) for token in self.tokens]
        for name in _OF_TOKENS:
            setattr(self, name, np.zeros(len(self.tokens), np.int64))
        self.lacked = np.zeros((len(self._lemmas) + 1, 1), np.int64)
        self.shift_word -= 1
        self.route -= 1
        relation_ids = {label: i for i, label in enumerate(self.relations)}
        shift_ids = {word: i for i, word in enumerate(("", *self.shift_words))}
        columns = _columns_of_arcs(self.system.roots, self.relations) if isinstance(self.system, TreeSystem) else {}
        for token, action in enumerate(self.actions):
            if action is not None:
                copied = action.kind is Kind.ENTITY and not is_listed(action)
                column = ActionClass.COPY_ENTITY if copied else _COLUMN_OF_KIND[action.kind]
                self.column[token] = columns.get(action, column)
                if action.kind is Kind.SHIFT:
                    self.shift_word[token] = shift_ids[action.label or ""]
                elif action in columns:
                    self.relation[token] = relation_ids[str(action.label)]
        self.column[self.end] = ActionClass.END
        self._check_columns()
        self._read_lexicon(spans, lexicon, counts)
        if isinstance(self.system, AmrSystem):
            self._read_nodes(self.system)
        self.limited = self.limited > 0

    def arrays(self) -> dict[str, np.ndarray]:
        """Return all arrays of a table of AMR by name, in the smallest types, to make the same table by `stored`."""
        arrays = {name: getattr(self, name) for name in (*ARRAYS, *_OTHERS)}
        for name in _ROWS:
            arrays |= {f"{name}.{part}": array for part, array in getattr(self, name)._asdict().items()}
        return {name: _smallest(array) for name, array in arrays.items()}

    def _take(self, stored: Mapping[str, np.ndarray]) -> None:
        """Take the arrays as `arrays` returned them for the same system and tokens."""
        arrays = {name: a if a.dtype.kind in "fb" else a.astype(np.int64) for name, a in stored.items()}
        rows = {name: RaggedRows(*(arrays[f"{name}.{part}"] for part in RaggedRows._fields)) for name in _ROWS}
        vars(self).update({name: arrays[name] for name in (*ARRAYS, *_OTHERS)}, **rows)

    @cached_property
    def actions(self) -> list[Action | None]:
        """The action of each token, None for a token that is not an action of the system."""
        known = self.column != ActionClass.NEVER
        known[self.end] = False
        return [
            Action.parse(token) if there else None for token, there in zip(self.tokens, known.tolist(), strict=True)
        ]

    @cached_property
    def relations(self) -> list[str]:
        """The labels of dependency arcs by their ids; the first is empty."""
        return ["", *sorted({str(a.label) for a in self.actions if a and _is_arc(a)})]

    def __deepcopy__(self, memo: object) -> Self:
        """Return the table itself: nothing changes it, and copies of a model share it."""
        return self

    @cached_property
    def frame_classes(self) -> tuple[np.ndarray, np.ndarray]:
        """The class (`RoleFunctions`) of each frame, as in `lacked`, and of the concept of each PRED, (V,)."""
        classes = role_functions().classes
        of_tokens = [classes.get(token[5:-1], 0) if token.startswith("PRED(") else 0 for token in self.tokens]
        frames = (self.route >= 0).nonzero()[0].tolist()
        senses = {parts_of(self.action(token))[0]: int(self.sense[token]) for token in frames}
        of_frames = np.zeros_like(self.lacked)
        for concept, number in classes.items():
            lemma, _, sense = concept.rpartition("-")
            if lemma in self._lemmas and sense in senses:
                of_frames[self._lemmas[lemma], senses[sense]] = number
        return of_frames, np.array(of_tokens, np.int64)

    @property
    def labeled_shift(self) -> bool:
        """True if some words label their SHIFT."""
        return bool(self.shift_words)

    def action(self, token: int) -> Action:
        """Return the action of a token. Raises `ValueError` for a token that is not an action."""
        action = self._taken.get(token)
        if action is None:
            if self.column[token] in (ActionClass.NEVER, ActionClass.END) and self.actions[token] is None:
                raise ValueError(f"{self.tokens[token]} is not an action")
            action = self._taken[token] = Action.parse(self.tokens[token])
        return action

    def actions_of(self, tokens: Sequence[int]) -> tuple[Action, ...]:
        """Return the actions of tokens; see `action`."""
        for token in {*tokens} - self._taken.keys():
            self.action(token)
        return tuple(map(self._taken.__getitem__, tokens))

    def graph_of(self, words: Sequence[str], tokens: Sequence[int]) -> Any:
        """Return the graph that a derivation builds from normalized words; each step is checked."""
        return self.system.replay(self.system.read(words), self.actions_of(tokens))

    def features(self, words: Sequence[str], in_search: bool = False) -> list[list[int]]:
        """Return the features of each word, and of `</s>` after the words.

        in_search: True if words of `names_inside` that are sure or new to training must not make concepts of lemmas
        SHIFT_ID: the `shift_word` of the word's SHIFT; the other features exist for AMR only
        LEMMA: 1 if the lemma is a symbol, else 0
        PLAIN: `NOT_PLAIN`, `TEXT`, `NUMBER` or `PART`
        from EVOKED on: for each route, the row in `lacked` of the lemma that it gives (`FrameActions.lemmas`)
        from FIRST_SPAN on: the lexicon rows of the spans of 1, 2, … words that end with this word
        """
        shift = {word: i for i, word in enumerate(self.shift_words, 1)}
        columns = [[shift.get(word, 0)] for word in words]
        if isinstance(self.system, AmrSystem):
            read = self.system.read(words)
            for end, (word, row) in enumerate(zip(read, columns, strict=True), 1):
                row += self._of_word(self.system, word, read[end : end + WINDOW])
                ends_span = word.lemma in self._ends
                for length in self.span_lengths[1:]:
                    if length > end:
                        row.append(UNSEEN)
                    else:
                        row.append(self._row_of(self.system, read, end - length, end) if ends_span else FIRST_ROW)
            for place, is_certain in names_inside(words).items() if in_search else ():
                if is_certain or key(read[place : place + 1]) not in self._places:
                    columns[place][LEMMA], columns[place][FIRST_SPAN] = 0, FIRST_ROW
        columns.append([0] * len(columns[0]))
        return columns

    def _of_word(self, system: AmrSystem, word: AmrWord, following: Sequence[AmrWord]) -> list[int]:
        """Return the features of a word from LEMMA to its own lexicon row. Only a particle that follows matters."""
        particle = system.frames.table.particle_of(word.lemma, (other.lemma for other in following))
        found = self._of_words.get((word, particle))
        if found is None:
            span = [word, *following]
            evoked = [self._lemmas.get(str(lemma), 0) for lemma in system.frames.lemmas([word], following)]
            plain = NUMBER if word.is_number else PART if word.is_part_of_number else TEXT
            plain = plain if word.form_is_plain else NOT_PLAIN
            found = [int(word.lemma_is_symbol), plain, *evoked, self._row_of(system, span, 0, 1)]
            if len(self._of_words) < _MOST_WORDS:
                self._of_words[word, particle] = found
        return found

    def _check_columns(self) -> None:
        """Raise `InputError` if the machine needs a column without tokens, because search could get stuck."""
        needed = {_COLUMN_OF_KIND[kind] for kind in self.system.kinds}
        if ActionClass.LEFT_ARC in needed:
            needed.add(ActionClass.LEFT_ARC_ROOT)
        present = set(self.column.tolist())
        for column in sorted(needed.difference(_OPTIONAL)):
            if not {column, _INSTEAD.get(column, column)} & present:
                raise _lacks(column.name, self.system)

    def _read_lexicon(self, spans: Sequence[str], lexicon: Mapping | None, counts: Counts) -> None:
        """Compute `lexicon`, `prior`, and where the rows of a span are."""
        none: list[list[int]] = [[]] * FIRST_ROW
        self.lexicon: RaggedRows | None = None
        self.prior, self.prior_values, self.sets = RaggedRows.of([]), np.zeros(0, np.float32), RaggedRows.of([])
        self.span_rows = self.row_sets = np.zeros(0, np.int64)
        if lexicon is None or self._frames is None:
            return
        ids = {token: i for i, token in enumerate(self.tokens) if self.actions[i] is not None}
        seen = [[ids[token] for token in lexicon.get(span, ()) if token in ids] for span in spans]
        lacking = sorted(token for token in map(str, self._frames.all) if token not in ids)
        if lacking:
            raise _lacks(lacking[0], self.system)
        tokens_of = {actions: tuple(sorted(ids[str(action)] for action in actions)) for actions in self._frames.sets}
        sets = sorted(tokens_of.values())
        number = {tokens: i for i, tokens in enumerate(sets)}
        self.sets = RaggedRows.of(sets)
        possible = [[*range(len(sets))]]
        possible += (sorted({number[tokens_of[a]] for a in self._frames.sets_of(span)}) for span in spans)
        rows = [sorted({*row, *sets[i]}) for row, some in zip([[], *seen], possible, strict=True) for i in some]
        of_row = [span for span, some in zip(["", *spans], possible, strict=True) for _ in some]
        self.span_rows, self.row_sets = RaggedRows.of(possible)
        self.lexicon = RaggedRows.of([*none, *rows])
        if counts:
            prior = []
            for span, row in zip(of_row, rows, strict=True):
                counted = {ids[token]: count for token, count in counts.get(span, {}).items() if token in ids}
                weights = {token: counted.get(token, 0) + 1 for token in (*row, *counted)} if counted else {}
                total = sum(weights.values())
                prior.append({token: math.log(one / total * len(weights)) for token, one in weights.items()})
            self.prior = RaggedRows.of([*none, *map(list, prior)])
            self.prior_values = np.array([value for row in prior for value in row.values()], np.float32)

    def _row_of(self, system: AmrSystem, words: Sequence[AmrWord], start: int, end: int) -> int:
        """Return the row of the lexicon for the span of the words from `start` up to `end`."""
        span = words[start:end]
        seen = key(span)
        if len(span) > 1 and seen not in self._long_spans:
            return FIRST_ROW  # the empty set comes first
        actions = system.frames.of_span(span, words[end : end + WINDOW])
        number = self._known_sets.get(actions)
        if number is None:
            number = self._set_of.get(frozenset(map(str, actions)))
            if number is None:
                raise InputError("table.safetensors lacks a set of frames: export the model again")
            self._known_sets[actions] = number
        place = self._places.get(seen)
        if place is not None:
            for row in range(*self._rows_of_spans[place + 1 : place + 3]):
                if self._sets_of_rows[row] == number:
                    return FIRST_ROW + row
        return FIRST_ROW + number

    def _read_nodes(self, system: AmrSystem) -> None:
        """Compute what search must know of the nodes that tokens make and join.

        Search must never get stuck: where no word is left and the graph can't be closed, one RA is legal for any two
        nodes. It is the first RA of the vocabulary (the most frequent one) whose role is not in `once`, if possible not
        in `LISTS`, which few nodes bear.
        """
        limits, frames = system.limits, system.frames
        bits = {role: 1 << bit for bit, role in enumerate(sorted(limits.once))}
        last_arcs: list[tuple[bool, bool, int]] = []
        senses: dict[str, int] = {}
        for token, action in enumerate(self.actions):
            if action is None:
                continue
            self.limited[token] = action.kind is Kind.FRAME or is_listed(action)
            if (given := role_given(action)) is not None:
                place, role = given
                (self.top_roles if place == TOP else self.second_roles)[token] = bits.get(role, 0)
                if action.kind is Kind.RA:
                    last_arcs.append((role in bits, role in LISTS, token))
            if action.kind is Kind.ENTITY:
                self.new_roles[token] = bits.get("name", 0)
            elif action.kind is Kind.FRAME:
                sense, route = parts_of(action)
                self.route[token], self.sense[token] = ROUTES.index(route), senses.setdefault(sense, len(senses))
            elif action.kind is Kind.PRED:
                self.new_roles[token] = sum(bits.get(role, 0) for role in frames.lacked(str(action.label)))
            self.new_sort[token] = SORT_BITS[made_sort(action)]
            barred = (sum(SORT_BITS[sort] for sort in sorts) for sorts in limits.barred(action))
            self.top_sorts[token], self.second_sorts[token] = (sorts | sorts << LAST_CHANCE for sorts in barred)
        *_, last_arc = min(last_arcs)
        self.top_roles[last_arc] = self.second_roles[last_arc] = 0
        self.top_sorts[last_arc] &= (1 << LAST_CHANCE) - 1
        self.second_sorts[last_arc] &= (1 << LAST_CHANCE) - 1
        sentences = self.new_sort == SORT_BITS[Sort.SENTENCES]
        self.new_sort[sentences] |= TOP_ONLY
        self.top_sorts[sentences] = TOPPED
        self.lacked = np.zeros((len(self._lemmas) + 1, max(len(senses), 1)), np.int64)
        for lemma, row in self._lemmas.items():
            for sense in set(frames.table.senses(lemma)).intersection(senses):
                lacked = frames.lacked(f"{lemma}-{sense}")
                self.lacked[row, senses[sense]] = sum(bits.get(role, 0) for role in lacked)


def _smallest(array: np.ndarray) -> np.ndarray:
    kinds = (np.int8, np.int16, np.int32) if array.dtype == np.int64 else ()
    return next((small for kind in kinds if np.array_equal(small := array.astype(kind), array)), array)


def _lacks(action: str, system: TransitionSystem) -> InputError:
    return InputError(
        f"the action vocabulary has no {action} for {system.name}: make it with `transition-parser preprocess` and "
        "`fairseq-preprocess --task transition_parsing` from one corpus"
    )


def _columns_of_arcs(roots: RootRelations, relations: Sequence[str]) -> dict[Action, ActionClass]:
    """Return the column of each arc. The root stands after all words, so that no right arc leaves it."""
    columns: dict[Action, ActionClass] = {}
    for label in relations:
        root, other = label in roots.labels, label not in roots.labels or label in roots.shared
        of_root = ActionClass.LEFT_ARC_ANY if other else ActionClass.LEFT_ARC_ROOT
        columns[Action(Kind.LEFT_ARC, label)] = of_root if root else ActionClass.LEFT_ARC
        columns[Action(Kind.RIGHT_ARC, label)] = ActionClass.RIGHT_ARC if other else ActionClass.NEVER
    return columns


def _parse(token: str, system: TransitionSystem) -> Action | None:
    try:
        action = Action.parse(token)
    except ValueError:
        return None
    known = action.kind in system.kinds
    if known and action.kind is Kind.FRAME:
        known = isinstance(system, AmrSystem) and action in system.frames.known
    if known and action.kind is Kind.SHIFT and action.label is not None:
        known = action.label in system.shift_words
    if known and _is_arc(action):
        known = action.label is not None
    return action if known else None


def _is_arc(action: Action) -> bool:
    return action.kind in (Kind.LEFT_ARC, Kind.RIGHT_ARC)

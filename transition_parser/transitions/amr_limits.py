"""What search may build of an AMR: the sorts of nodes, the roles that nodes bear, and how many nodes come of a span.

A node bears the roles of the edges that lead from it. A model that has not learned when to stop makes node after node
of one word, gives a verb two :ARG0, or puts a number under :polarity. So search keeps to limits: some are constants
here, and training graphs teach others. The machine itself and the oracle have no such limits: every graph has a
derivation.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

from transition_parser.graphs.amr import LISTS, edge_of, is_number
from transition_parser.transitions.amr_state import MODES, is_constant
from transition_parser.transitions.system import Action, Kind

MOST_ROLES = 63  # search keeps the roles of a node as the bits of one number
TOP, SECOND = -1, -2  # indices into the stack
SWAPS_PER_WORD = 2
REPEATS = 2  # how many nodes of one span an action may make


class Sort(Enum):
    """The sorts of nodes."""

    CONCEPT = "concept"  # without a frame
    FRAME = "frame"
    SENTENCES = "multi-sentence"
    NAME = "name"
    MINUS = "-"
    PLUS = "+"
    IMPERATIVE = "imperative"
    EXPRESSIVE = "expressive"
    INTERROGATIVE = "interrogative"
    NUMBER = "number"
    STRING = "string"
    SYMBOL = "symbol"
    UNKNOWN = "amr-unknown"


CONCEPT_SORTS = frozenset({Sort.CONCEPT, Sort.FRAME, Sort.SENTENCES, Sort.NAME, Sort.UNKNOWN})
CONSTANT_SORTS = frozenset(Sort) - CONCEPT_SORTS
# Family of numbered roles (`family`) → the sorts of concepts that may bear its roles; all may bear other roles
BEARERS = {
    "ARG": frozenset({Sort.FRAME}),
    "op": frozenset({Sort.CONCEPT, Sort.NAME}),
    "snt": frozenset({Sort.SENTENCES}),
}

_FRAME = re.compile(r".*-\d\d+")
_ALONE = {sort.value: sort for sort in (Sort.SENTENCES, Sort.NAME, Sort.UNKNOWN)}
_WRITTEN = {"-": Sort.MINUS, "+": Sort.PLUS, **{mode: Sort(mode) for mode in MODES}}


def sort_of(label: str, constant: bool) -> Sort:
    """Return the sort of a node."""
    if not constant:
        return _ALONE.get(label, Sort.FRAME if _FRAME.fullmatch(label) else Sort.CONCEPT)
    if label.startswith('"'):
        return Sort.STRING
    return Sort.NUMBER if is_number(label) else _WRITTEN.get(label, Sort.SYMBOL)


def made_sort(action: Action) -> Sort | None:
    """Return the sort of the node that an action puts on the stack; None for COPY_WORD and where there is none."""
    if action.kind in (Kind.PRED, Kind.VALUE):
        return sort_of(str(action.label), action.kind is Kind.VALUE)
    if action.kind is Kind.ENTITY:
        return sort_of(action.parts[0], False)
    return {Kind.COPY_LEMMA: Sort.CONCEPT, Kind.FRAME: Sort.FRAME}.get(action.kind)


_NUMBERED = re.compile(rf"(ARG)\d+|({'|'.join(LISTS)})(?:\d*|:)")


def family(role: str) -> str | None:
    """Return `ARG`, `op` or `snt` for a role with a number, or for a role of `LISTS`; None for other roles."""
    match = _NUMBERED.fullmatch(role)
    return match and (match[1] or match[2])


def role_of_constants(role: str) -> str:
    """Return the key of a role in `SearchLimits.targets`: `op` for all `:opN`, otherwise the role itself."""
    return "op" if family(role) == "op" else role


class Ends(NamedTuple):
    """The ends of the edge that LA, RA or DEPENDENT makes: each is `top`, `second` or `new`."""

    role: str  # in its normal direction (`ARG0` for `ARG0-of`), from `source` to `target`
    source: str
    target: str
    written: str  # the role in the action's label, perhaps an inverse role, to `dependent`
    dependent: str  # only this node may be a constant


def ends_of(action: Action) -> Ends | None:
    """Return the ends of the edge that an action makes, or None if it makes no edge to a node of the stack."""
    places = {Kind.LA: ("top", "second"), Kind.RA: ("second", "top"), Kind.DEPENDENT: ("top", "new")}.get(action.kind)
    if places is None or action.label is None:
        return None
    written = action.parts[0] if action.kind is Kind.DEPENDENT else action.label
    source, role, target = edge_of(0, written, 1)
    return Ends(role, places[source], places[target], written, places[1])


def bearers_of(role: str) -> frozenset[Sort]:
    """Return the sorts of concepts that may bear a role."""
    return BEARERS.get(family(role) or "", CONCEPT_SORTS)


def role_given(action: Action) -> tuple[int, str] | None:
    """Return the node of the stack that gets a role from an action (`TOP` or `SECOND`), and the role; None for none."""
    ends = ends_of(action)
    if ends is None or ends.source == "new":
        return None
    return TOP if ends.source == "top" else SECOND, ends.role


# The roles that AMR defines as borne once, and the most frequent other roles that one node in hundreds bears twice in
# nine open corpora
ONCE = frozenset(
    {
        *(f"ARG{i}" for i in range(10)),
        *(f"op{i}" for i in range(1, 21)),
        *(f"snt{i}" for i in range(1, 11)),
        *("name", "wiki", "polarity", "mode", "unit", "value", "ord", "poss", "source", "topic", "condition"),
        *("compared-to", "concession", "consist-of", "instrument", "medium", "beneficiary", "duration", "frequency"),
        *("year", "month", "day", "weekday"),
    }
)


@dataclass(frozen=True)
class SearchLimits:
    """Limits of search in one sentence.

    `multi-sentence` must be the top of its graph. A concept whose frame is in the table of frames gets only those roles
    `ARGn` of `once` that the frame has. `BEARERS` and `REPEATS` hold, too. Nodes inside ENTITY do not count. `span` and
    `REPEATS` do not apply if no word is left and there is no concept yet.

    once: the roles that a node may not get twice, `MOST_ROLES` at most; training teaches them
    targets: role (`role_of_constants`) → the sorts of nodes that its edges may lead to; other roles lead to all sorts
        of concepts and to no constants; if `targets` is empty, all roles lead to all sorts; training teaches them
    nodes: how many more nodes than words a sentence may have; by default the maximum in 7,628 open graphs
    swaps: how many more SWAPs a sentence may have than two for each word; likewise
    span: how many nodes may come from one span; likewise
    """

    once: frozenset[str] = ONCE
    targets: Mapping[str, frozenset[Sort]] = field(default_factory=dict)
    nodes: int = 30
    swaps: int = 33
    span: int = 31

    def of_sentence(self, words: int) -> tuple[int, int]:
        """Return how many SWAPs and how many nodes a sentence of the given length may have."""
        return SWAPS_PER_WORD * words + self.swaps, words + self.nodes

    def targets_under(self, role: str) -> frozenset[Sort]:
        """Return the sorts that a role may lead to."""
        return self.targets.get(role_of_constants(role), CONCEPT_SORTS) if self.targets else frozenset(Sort)

    def barred(self, action: Action) -> tuple[frozenset[Sort], frozenset[Sort]]:
        """Return the sorts of the node on top, and the sorts of the second node, that forbid LA, RA or DEPENDENT."""
        ends = ends_of(action)
        if ends is None:
            return frozenset(), frozenset()
        barred = dict.fromkeys(("top", "second", "new"), frozenset[Sort]())
        barred[ends.source] |= CONCEPT_SORTS - bearers_of(ends.role)
        barred[ends.target] |= CONCEPT_SORTS - self.targets_under(ends.role)
        barred[ends.dependent] |= CONSTANT_SORTS - self.targets_under(ends.written)
        if action.kind is Kind.DEPENDENT:
            label = action.parts[1]
            if sort_of(label, is_constant(label)) in barred["new"]:
                barred["top"] = CONCEPT_SORTS
        return barred["top"], barred["second"]

    def to_json(self) -> dict[str, Any]:
        """Return what training teaches as values that JSON can hold."""
        targets = {role: sorted(sort.value for sort in sorts) for role, sorts in self.targets.items()}
        return {"once": sorted(self.once), "targets": targets}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> SearchLimits:
        """Return the limits that `to_json` made these values from. Raises `ValueError` for invalid values."""
        targets = {role: frozenset(map(Sort, names)) for role, names in values["targets"].items()}
        return cls(frozenset(values["once"]), targets)


class WordFacts(NamedTuple):
    """The facts about the words of a sentence, counted from 0, that are known before parsing."""

    merged: Collection[int]  # words that join the word before them in one span
    cut: Collection[int]  # words that do not
    none: Collection[int]  # words that no node comes from

"""The sorts of nodes of an AMR, and the sorts that the ends of an edge may have.

A role that leads to constants leads only to some sorts: `:polarity` to `-` and `amr-unknown`, `:mode` to modes. Only
frames bear `:ARGn`, and only `multi-sentence` bears `:sntN`; a node bears the roles of the edges that start at it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import NamedTuple

from transition_parser.graphs.amr import AmrGraph, edge_of, is_number
from transition_parser.transitions.action import Action, Kind
from transition_parser.transitions.amr_naming import MODES

MULTI_SENTENCE = "multi-sentence"


class Sort(Enum):
    """The sort of a node, which is a class of concepts or of constants."""

    CONCEPT = "concept"  # without a frame
    FRAME = "frame"
    SENTENCES = MULTI_SENTENCE
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

    @property
    def is_constant(self) -> bool:
        """True for the sorts of constants."""
        return self not in CONCEPT_SORTS


CONCEPT_SORTS = frozenset({Sort.CONCEPT, Sort.FRAME, Sort.SENTENCES, Sort.NAME, Sort.UNKNOWN})
CONSTANT_SORTS = frozenset(Sort) - CONCEPT_SORTS

_FRAME = re.compile(r".*-\d\d+")
_NUMBERED = re.compile(r"(ARG|op|snt)\d+")
_LISTS = "op"  # `:op1`, `:op2`, … lead to the same sorts; each `:ARGn` leads to sorts of its own
_ALONE = {sort.value: sort for sort in (Sort.SENTENCES, Sort.NAME, Sort.UNKNOWN)}
_WRITTEN = {"-": Sort.MINUS, "+": Sort.PLUS, **{mode: Sort(mode) for mode in MODES}}
# A role leads to a sort of constants if at least one in `_TARGETS_IN` of its constants and one in `_EDGES_IN` of its
# edges have this sort. Rarer cases count as annotators' slips: 16 of 10,593 constants in six open corpora, such as
# `:polarity` with an unknown symbol, or the one constant of 8,173 `:ARG0`. If three in four nodes under the role are
# constants, it leads to the sorts of concepts that one in `_TARGETS_IN` of its edges have, otherwise to all concepts.
_TARGETS_IN, _EDGES_IN = 100, 2_000
# A family of numbered roles is borne by the sorts that are the source of at least one in `_BEARERS_IN` of its edges. A
# family with fewer than `_SEEN` edges may be borne by any sort of concepts.
_BEARERS_IN, _SEEN = 100, 10

# `TARGETS` and `BEARERS` serve models that were exported before sorts were learned. `targets_of` and `bearers_of`
# learned them from the training banks of six open corpora (5,024 graphs); roles for parts of dates were added.
TARGETS: Mapping[str, frozenset[Sort]] = {
    **{role: CONCEPT_SORTS | {Sort.NUMBER} for role in ("ARG1", "ARG3", "ARG4", "frequency", "quant", "unit")},
    **{role: CONCEPT_SORTS | {Sort.NUMBER} for role in ("century", "decade", "quantity", "quarter", "year2")},
    **{role: CONCEPT_SORTS | {Sort.NUMBER, Sort.STRING} for role in ("li", "mod", "op")},
    "ARG2": CONCEPT_SORTS | {Sort.NUMBER, Sort.STRING, Sort.PLUS},
    "value": frozenset({Sort.CONCEPT, Sort.NUMBER, Sort.STRING}),
    "time": CONCEPT_SORTS | {Sort.STRING},
    "era": CONCEPT_SORTS | {Sort.STRING},
    "year": frozenset({Sort.CONCEPT, Sort.UNKNOWN, Sort.NUMBER}),
    "month": frozenset({Sort.CONCEPT, Sort.UNKNOWN, Sort.NUMBER}),
    "day": frozenset({Sort.CONCEPT, Sort.UNKNOWN, Sort.NUMBER}),
    "polarity": frozenset({Sort.CONCEPT, Sort.UNKNOWN, Sort.MINUS}),
    "polite": frozenset({Sort.PLUS}),
    "mode": frozenset({Sort.IMPERATIVE, Sort.EXPRESSIVE, Sort.INTERROGATIVE}),
}
BEARERS: Mapping[str, frozenset[Sort]] = {
    "ARG": frozenset({Sort.FRAME}),
    "op": frozenset({Sort.CONCEPT, Sort.NAME}),
    "snt": frozenset({Sort.SENTENCES}),
}


def sort_of(label: str, constant: bool) -> Sort:
    """Return the sort of a node.

    >>> sort_of("want-01", False), sort_of("boy", False), sort_of('"New"', True), sort_of("-", True)
    (<Sort.FRAME: 'frame'>, <Sort.CONCEPT: 'concept'>, <Sort.STRING: 'string'>, <Sort.MINUS: '-'>)
    """
    if not constant:
        return _ALONE.get(label, Sort.FRAME if _FRAME.fullmatch(label) else Sort.CONCEPT)
    if label.startswith('"'):
        return Sort.STRING
    return Sort.NUMBER if is_number(label) else _WRITTEN.get(label, Sort.SYMBOL)


def made_sort(action: Action) -> Sort | None:
    """Return the sort of the node that an action puts on the stack; None for COPY_WORD and where there is no such node.

    >>> made_sort(Action(Kind.COPY_SENSE01)), made_sort(Action(Kind.ENTITY, "city"))
    (<Sort.FRAME: 'frame'>, <Sort.CONCEPT: 'concept'>)
    """
    if action.kind is Kind.PRED:
        return sort_of(str(action.label), False)
    if action.kind is Kind.ENTITY:
        return sort_of(action.parts[0], False)
    if action.kind is Kind.VALUE:
        return sort_of(str(action.label), True)
    frames = dict.fromkeys((Kind.COPY_SENSE01, Kind.FRAME), Sort.FRAME)
    return {Kind.COPY_LEMMA: Sort.CONCEPT, **frames}.get(action.kind)


def family(role: str) -> str | None:
    """Return `ARG`, `op` or `snt` for a numbered role; None for other roles."""
    match = _NUMBERED.fullmatch(role)
    return match and match[1]


def role_of_constants(role: str) -> str:
    """Return the key of a role in `TARGETS`: `op` for all `:opN`, otherwise the role itself."""
    return _LISTS if family(role) == _LISTS else role


def targets_of(graphs: Iterable[AmrGraph]) -> dict[str, frozenset[Sort]]:
    """Return, for each role that leads to constants, the sorts that it leads to. Rare sorts are left out as slips.

    The keys are those of `role_of_constants`. Roles that lead to no constants are left out.
    """
    seen: dict[str, Counter[Sort]] = {}
    for graph in graphs:
        for _source, role, target in graph.edges:
            sort = sort_of(graph.labels[target], target in graph.constants)
            seen.setdefault(role_of_constants(role), Counter())[sort] += 1
    targets = {role: _targets(sorts) for role, sorts in sorted(seen.items())}
    return {role: sorts for role, sorts in targets.items() if sorts & CONSTANT_SORTS}


def _targets(sorts: Counter[Sort]) -> frozenset[Sort]:
    constants = Counter({sort: count for sort, count in sorts.items() if sort.is_constant})
    frequent = _frequent(constants, _TARGETS_IN) & _frequent(sorts, _EDGES_IN)
    if sorts.total() < _SEEN or 4 * constants.total() < 3 * sorts.total():
        return frequent | CONCEPT_SORTS
    return frequent | (_frequent(sorts, _TARGETS_IN) & CONCEPT_SORTS)


def bearers_of(graphs: Iterable[AmrGraph]) -> dict[str, frozenset[Sort]]:
    """Return, for each family of numbered roles, the sorts of concepts that bear it. Rare sorts are left out as slips.

    Families with fewer than `_SEEN` edges are left out.
    """
    seen: dict[str, Counter[Sort]] = {}
    for graph in graphs:
        for source, role, _target in graph.edges:
            kin = family(role)
            if kin:
                seen.setdefault(kin, Counter())[sort_of(graph.labels[source], False)] += 1
    return {kin: _frequent(sorts, _BEARERS_IN) for kin, sorts in sorted(seen.items()) if sorts.total() >= _SEEN}


def sentences_are_tops(graphs: Iterable[AmrGraph]) -> bool:
    """Return True if at least `_SEEN` nodes are `multi-sentence`, and nearly all of these are tops (`_BEARERS_IN`)."""
    tops: Counter[bool] = Counter()
    for graph in graphs:
        tops.update(node == graph.top for node, label in enumerate(graph.labels) if label == MULTI_SENTENCE)
    return tops.total() >= _SEEN and _BEARERS_IN * tops[False] < tops.total()


def _frequent(sorts: Counter[Sort], one_in: int) -> frozenset[Sort]:
    return frozenset(sort for sort, count in sorts.items() if one_in * count >= sorts.total())


class Ends(NamedTuple):
    """The nodes at the ends of the edge that LA, RA or DEPENDENT makes: each is `top`, `second` or `new`.

    role: the role of the edge in its normal direction, `ARG0` for `ARG0-of`
    source: the node from which the edge leads in this direction
    target: the other node
    written: the role in the action's label, perhaps an inverse role
    dependent: the node to which the written role leads; only this node may be a constant
    """

    role: str
    source: str
    target: str
    written: str
    dependent: str


def ends_of(action: Action) -> Ends | None:
    """Return the ends of the edge that an action makes, or None if it makes no edge to a node of the stack.

    >>> ends_of(Action(Kind.LA, "ARG0-of"))
    Ends(role='ARG0', source='second', target='top', written='ARG0-of', dependent='second')
    """
    places = {Kind.LA: ("top", "second"), Kind.RA: ("second", "top"), Kind.DEPENDENT: ("top", "new")}.get(action.kind)
    if places is None or action.label is None:
        return None
    written = action.parts[0] if action.kind is Kind.DEPENDENT else action.label
    source, role, target = edge_of(0, written, 1)
    return Ends(role, places[source], places[target], written, places[1])

"""What search may build of an AMR: the sorts of nodes, the roles that nodes bear, and how many nodes come of a span.

A node bears the roles of the edges that lead from it. A model that has not learned when to stop makes node after node
of one word, gives a verb two :ARG0, or puts a number under :polarity. So search keeps to limits that are learned from
training graphs. The machine itself and the oracle have no such limits: every graph has a derivation.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import Any, NamedTuple

from transition_parser.graphs.amr import LISTS, edge_of, is_number
from transition_parser.transitions.amr_state import MAKE_NODES, MODES, NAMED_BY_RULE, is_constant, lemma_of
from transition_parser.transitions.system import Action, Kind

MOST_ROLES = 63  # search keeps the roles of a node as the bits of one number
TOP, SECOND = -1, -2  # indices into the stack
SWAPS_PER_WORD = 2


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


def is_plain(role: str) -> bool:
    """Return True for a role in its normal direction, False for an inverse role (`ARG0-of`, `domain`)."""
    return edge_of(0, role, 1) == (0, role, 1)


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


def role_given(action: Action) -> tuple[int, str] | None:
    """Return the node of the stack that gets a role from an action (`TOP` or `SECOND`), and the role; None for none."""
    ends = ends_of(action)
    if ends is None or ends.source == "new":
        return None
    return TOP if ends.source == "top" else SECOND, ends.role


@dataclass(frozen=True)
class SearchLimits:
    """Limits of search in one sentence.

    Nodes inside ENTITY do not count. `span` and `repeats` do not apply if no word is left and there is no concept yet.

    repeats: action → how often it may make a node of the same span; an action without a label stands for all actions of
        its kind that are not listed; actions without any entry may come once
    targets: role (`role_of_constants`) → the sorts of nodes that its edges may lead to; other roles lead to all sorts
        of concepts and to no constants; if `targets` is empty, all roles lead to all sorts
    bearers: family of numbered roles (`family`) → the sorts of concepts that may bear its roles; other families may be
        borne by all concepts
    several: lemma → the roles of `once` that concepts with this lemma may nevertheless get several times
    roles_of_frames: True if a concept with a frame may get only those roles `ARGn` of `once` that the frame has in the
        table of frames; concepts that are not in the table may get all roles

    Raises `ValueError` for a role in `once` that is inverse or one too many, and for one of `several` not in `once`.
    """

    nodes: int  # how many more nodes than words a sentence may have
    swaps: int  # how many more SWAPs a sentence may have than two for each word
    span: int  # how many nodes may come from one span
    repeats: Mapping[Action, int] = field(default_factory=dict)
    once: frozenset[str] = frozenset()  # the roles that a node may not get twice
    targets: Mapping[str, frozenset[Sort]] = field(default_factory=dict)
    bearers: Mapping[str, frozenset[Sort]] = field(default_factory=dict)
    sentences_on_top: bool = False  # True if a `multi-sentence` must be the top of its graph
    several: Mapping[str, frozenset[str]] = field(default_factory=dict)
    roles_of_frames: bool = False

    def __post_init__(self) -> None:
        if len(self.once) > MOST_ROLES:
            raise ValueError(f"`once` lists {len(self.once)} roles, but may list at most {MOST_ROLES}: leave some out")
        for role in sorted(self.once):
            if not is_plain(role):
                raise ValueError(f"`once` lists {role}, the inverse of a role: list the role itself, or leave it out")
        for lemma, roles in self.several.items():
            for role in sorted(roles - self.once):
                raise ValueError(f"`several` lists {role} of {lemma}, which is not in `once`: leave it out")

    def of_sentence(self, words: int) -> tuple[int, int]:
        """Return how many SWAPs and how many nodes a sentence of the given length may have."""
        return SWAPS_PER_WORD * words + self.swaps, words + self.nodes

    def most(self, action: Action) -> int:
        """Return how often the action may make a node of the same span."""
        return self.repeats.get(action, self.repeats.get(Action(action.kind), 1))

    def targets_under(self, role: str) -> frozenset[Sort]:
        """Return the sorts that a role may lead to."""
        return self.targets.get(role_of_constants(role), CONCEPT_SORTS) if self.targets else frozenset(Sort)

    def several_of(self, action: Action, lemmas: Collection[str]) -> frozenset[str]:
        """Return the roles of `once` that the node made by an action may get several times."""
        if action.kind in (Kind.PRED, Kind.ENTITY):
            lemmas = (lemma_of(action.parts[0]),)
        elif action.kind not in NAMED_BY_RULE:
            lemmas = ()
        return frozenset[str]().union(*(self.several.get(lemma, ()) for lemma in lemmas))

    def barred(self, action: Action) -> tuple[frozenset[Sort], frozenset[Sort]]:
        """Return the sorts of the node on top, and the sorts of the second node, that forbid LA, RA or DEPENDENT."""
        ends = ends_of(action)
        if ends is None:
            return frozenset(), frozenset()
        barred = dict.fromkeys(("top", "second", "new"), frozenset[Sort]())
        barred[ends.source] |= CONCEPT_SORTS - self.bearers.get(family(ends.role) or "", CONCEPT_SORTS)
        barred[ends.target] |= CONCEPT_SORTS - self.targets_under(ends.role)
        barred[ends.dependent] |= CONSTANT_SORTS - self.targets_under(ends.written)
        if action.kind is Kind.DEPENDENT:
            label = action.parts[1]
            if sort_of(label, is_constant(label)) in barred["new"]:
                barred["top"] = CONCEPT_SORTS
        return barred["top"], barred["second"]

    def to_json(self) -> dict[str, Any]:
        """Return the fields as values that JSON can hold."""
        return {each.name: _plain(getattr(self, each.name)) for each in fields(self)}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> SearchLimits:
        """Return the limits that `to_json` made these values from. Raises `ValueError` for invalid values."""
        numbers = {name: values[name] for name in ("nodes", "swaps", "span")} | values["repeats"]
        for name, number in numbers.items():
            least = 1 if name == "span" else 0
            if number < least:
                raise ValueError(f"{name} is {number}: it must be {least} or more")
        repeats = {Action.parse(token): count for token, count in values["repeats"].items()}
        for action in repeats:
            if action.kind not in MAKE_NODES:
                raise ValueError(f"`repeats` lists {action}, which makes no node: leave it out")
        tables = {
            "once": frozenset(values["once"]),
            "targets": _sorts(values["targets"], frozenset(Sort)),
            "bearers": _sorts(values["bearers"], CONCEPT_SORTS),
            "several": {lemma: frozenset(roles) for lemma, roles in values["several"].items()},
        }
        return cls(**{**values, "repeats": repeats, **tables})


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, frozenset):
        return sorted(one.value if isinstance(one, Sort) else one for one in value)
    return value


def _sorts(names_of: Mapping[str, Sequence[str]], known: frozenset[Sort]) -> dict[str, frozenset[Sort]]:
    by_name = {sort.value: sort for sort in known}
    for role, names in names_of.items():
        for name in names:
            if name not in by_name:
                raise ValueError(f"{name!r} of :{role} is none of {', '.join(sorted(by_name))}")
    return {role: frozenset(by_name[name] for name in names) for role, names in names_of.items()}


# Limits where none were learned: the maxima over the derivations of 7,628 graphs of nine open corpora, the roles that
# AMR defines as borne once, and the most frequent other roles that one node in hundreds bears twice in these corpora.
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
DEFAULT_LIMITS = SearchLimits(
    nodes=30,
    swaps=33,
    span=31,
    repeats={
        Action(Kind.PRED): 15,
        Action(Kind.COPY_LEMMA): 16,
        Action(Kind.FRAME): 4,
        Action(Kind.COPY_WORD): 3,
        Action(Kind.VALUE): 3,
        Action(Kind.DEPENDENT): 4,
    },
    once=ONCE,
)

"""What search may build of an AMR: the sorts of nodes, the roles that nodes bear, and how many nodes come of a span.

A node bears the roles of the edges that lead from it. A model that has not learned when to stop makes node after node
of one word, gives a verb two :ARG0, or puts a number under :polarity. So search keeps to limits that are learned from
training graphs. The machine itself and the oracle have no such limits: every graph has a derivation.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import Any, NamedTuple

from transition_parser.graphs.amr import LISTS, AmrGraph, edge_of, is_number
from transition_parser.transitions.amr_frames import NUMBERED, FrameActions
from transition_parser.transitions.amr_state import MAKE_NODES, MODES, NAMED_BY_RULE, is_constant, lemma_of
from transition_parser.transitions.system import Action, Kind

MULTI_SENTENCE = "multi-sentence"
MOST_ROLES = 63  # search keeps the roles of a node as the bits of one number
TOP, SECOND = -1, -2  # indices into the stack
SWAPS_PER_WORD = 2


class Sort(Enum):
    """The sorts of nodes."""

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
    return {Kind.COPY_LEMMA: Sort.CONCEPT, Kind.COPY_SENSE01: Sort.FRAME, Kind.FRAME: Sort.FRAME}.get(action.kind)


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
        Action(Kind.COPY_SENSE01): 4,
        Action(Kind.COPY_WORD): 3,
        Action(Kind.VALUE): 3,
        Action(Kind.DEPENDENT): 4,
    },
    once=ONCE,
)


def breach(limits: SearchLimits, graph: AmrGraph, frames: FrameActions | None = None) -> str | None:
    """Return a text that names the first part of a graph that the limits on roles forbid, or None."""
    sorts = [sort_of(label, node in graph.constants) for node, label in enumerate(graph.labels)]
    borne = Counter((edge.source, edge.role) for edge in graph.edges)
    for source, role, target in graph.edges:
        label, kin = graph.labels[source], family(role)
        if sorts[target] not in limits.targets_under(role):
            return f"{graph.labels[target]} under :{role}"
        if kin and sorts[source] not in limits.bearers.get(kin, CONCEPT_SORTS):
            return f":{role} of {label}"
        if borne[source, role] > 1 and role in limits.once - limits.several.get(lemma_of(label), frozenset()):
            return f":{role} of {label} twice"
        if frames and limits.roles_of_frames and role in frames.lacked(label) & limits.once:
            return f":{role} of {label}, which has none"
    below = any(sort is Sort.SENTENCES and node != graph.top for node, sort in enumerate(sorts))
    return f"{Sort.SENTENCES.value} below the top" if limits.sentences_on_top and below else None


# --- limits that are learned: rare cases in graphs count as annotators' slips -----------------

_LABELLED = (Kind.PRED, Kind.VALUE, Kind.DEPENDENT)
_REPEATS = 2  # how many nodes of a span a labelled action may make even if it makes at most one in training
# An action may make up to n nodes of a span: n is the largest number that it reaches in at least one in `_SPANS_IN` of
# its spans in training. The maximum would let an uncertain parser make node after node.
_SPANS_IN = 200
# A role is borne once if at least `_SEEN` nodes bear it and fewer than one in `_NODES_IN` of them bears it twice.
_SEEN, _NODES_IN = 10, 100
# Concepts of a lemma may bear a role several times if at least `_OFTEN` of their nodes do so, and these are at least
# one in `_ONE_OF` of their nodes with the role. `borne_once` does not count such nodes as exceptions.
_OFTEN, _ONE_OF = 5, 50
# A role leads to a sort of constants if at least one in `_TARGETS_IN` of its constants and one in `_EDGES_IN` of its
# edges have this sort. If three in four nodes under the role are constants, it leads to the sorts of concepts that one
# in `_TARGETS_IN` of its edges have, otherwise to all concepts.
_TARGETS_IN, _EDGES_IN = 100, 2_000
# A family of numbered roles is borne by the sorts that are the source of at least one in `_BEARERS_IN` of its edges. A
# family with fewer than `_SEEN` edges may be borne by any sort of concepts.
_BEARERS_IN = 100


def learned(
    derivations: Iterable[Sequence[Action]], graphs: Iterable[AmrGraph] = (), frames: FrameActions | None = None
) -> SearchLimits:
    """Return limits that let search find the given derivations unless they repeat an action unusually often."""
    graphs = list(graphs)
    nodes = swaps = 0
    span = 1
    made_of: dict[Action, Counter[int]] = {}
    for use in map(_Use.from_actions, derivations):
        nodes = max(nodes, use.nodes - use.words)
        swaps = max(swaps, use.swaps - SWAPS_PER_WORD * use.words)
        for made in use.spans:
            span = max(span, made.total())
            for action, count in made.items():
                made_of.setdefault(action, Counter())[count] += 1
    repeats = {}
    for action, counts in made_of.items():
        most = (n for n in counts if _SPANS_IN * sum(c for m, c in counts.items() if m >= n) >= counts.total())
        repeats[action] = max(most)
    labelled = (*_LABELLED, Kind.FRAME) if any(action.kind is Kind.FRAME for action in repeats) else _LABELLED
    kinds = dict.fromkeys(map(Action, labelled), _REPEATS)
    listed = {action: n for action, n in sorted(repeats.items(), key=str) if action.label is None or n > _REPEATS}
    found = borne_several(graphs)
    once = borne_once(graphs, found)
    return SearchLimits(
        nodes,
        swaps,
        span,
        repeats=kinds | listed,
        once=once,
        targets=targets_of(graphs),
        bearers=bearers_of(graphs),
        sentences_on_top=sentences_are_tops(graphs),
        several={lemma: roles & once for lemma, roles in found.items() if roles & once},
        roles_of_frames=frames is not None and keep_to_frames(graphs, frames),
    )


class _Use(NamedTuple):
    """The numbers of a derivation that the limits apply to."""

    words: int
    nodes: int
    swaps: int
    spans: list[Counter[Action]]  # for each span, how often each action made a node of it

    @classmethod
    def from_actions(cls, actions: Sequence[Action]) -> _Use:
        kinds = Counter(action.kind for action in actions)
        spans: list[Counter[Action]] = [Counter()]
        for action in actions:
            if action.kind is Kind.SHIFT:
                spans.append(Counter())
            elif action.kind in MAKE_NODES:
                spans[-1][action] += 1
        nodes = sum(span.total() for span in spans)
        return cls(kinds[Kind.SHIFT] + kinds[Kind.MERGE], nodes, kinds[Kind.SWAP], spans)


def borne_several(graphs: Iterable[AmrGraph]) -> dict[str, frozenset[str]]:
    """Return lemma → the numbered roles that several edges from one of its nodes may have (`_OFTEN`, `_ONE_OF`)."""
    nodes: Counter[tuple[str, str]] = Counter()
    twice: Counter[tuple[str, str]] = Counter()
    for lemma, role, count in _borne(graphs):
        if family(role):
            nodes[lemma, role] += 1
            twice[lemma, role] += count > 1
    several: dict[str, set[str]] = {}
    for (lemma, role), count in sorted(twice.items()):
        if count >= _OFTEN and _ONE_OF * count >= nodes[lemma, role]:
            several.setdefault(lemma, set()).add(role)
    return {lemma: frozenset(roles) for lemma, roles in several.items()}


def borne_once(graphs: Iterable[AmrGraph], several: Mapping[str, Collection[str]] | None = None) -> frozenset[str]:
    """Return the roles that almost no node bears twice (`_NODES_IN`), at most the `MOST_ROLES` most frequent ones."""
    nodes: Counter[str] = Counter()
    twice: Counter[str] = Counter()
    for lemma, role, count in _borne(graphs):
        nodes[role] += 1
        twice[role] += count > 1 and role not in (several or {}).get(lemma, ())
    often = (role for role, count in sorted(nodes.items(), key=lambda item: (-item[1], item[0])) if count >= _SEEN)
    once = [role for role in often if is_plain(role) and _NODES_IN * twice[role] < nodes[role]]
    return frozenset(once[:MOST_ROLES])


def _borne(graphs: Iterable[AmrGraph]) -> Iterator[tuple[str, str, int]]:
    """Yield the lemma of each node, each role that it bears, and how often it bears the role."""
    for graph in graphs:
        for (node, role), count in Counter((edge.source, edge.role) for edge in graph.edges).items():
            yield lemma_of(graph.labels[node]), role, count


def keep_to_frames(graphs: Iterable[AmrGraph], frames: FrameActions) -> bool:
    """Return True if at most one in `_NODES_IN` edges `:ARGn` starts at a frame that lacks `ARGn` in the table."""
    edges = beyond = 0
    for graph in graphs:
        for edge in graph.edges:
            edges += edge.role in NUMBERED
            beyond += edge.role in frames.lacked(graph.labels[edge.source])
    return _NODES_IN * beyond <= edges


def targets_of(graphs: Iterable[AmrGraph]) -> dict[str, frozenset[Sort]]:
    """Return, for each role that leads to constants, the sorts that it leads to. Rare sorts are left out as slips."""
    seen: dict[str, Counter[Sort]] = {}
    for graph in graphs:
        for _source, role, target in graph.edges:
            sort = sort_of(graph.labels[target], target in graph.constants)
            seen.setdefault(role_of_constants(role), Counter())[sort] += 1
    targets = {}
    for role, sorts in sorted(seen.items()):
        constants = Counter({sort: count for sort, count in sorts.items() if sort in CONSTANT_SORTS})
        found = _frequent(constants, _TARGETS_IN) & _frequent(sorts, _EDGES_IN)
        if found:
            any_concept = sorts.total() < _SEEN or 4 * constants.total() < 3 * sorts.total()
            targets[role] = found | (CONCEPT_SORTS if any_concept else _frequent(sorts, _TARGETS_IN) & CONCEPT_SORTS)
    return targets


def bearers_of(graphs: Iterable[AmrGraph]) -> dict[str, frozenset[Sort]]:
    """Return, for each family of numbered roles, the sorts of concepts that bear it, without rare sorts (slips)."""
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

"""The limits of search over AMR derivations, which are tighter than the rules of the AMR machine.

A model that has not learned when to stop makes node after node of one word, or gives a verb two :ARG0. The machine
itself and the oracle have no such limits, so every graph has a derivation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from transition_parser.graphs.amr import AmrGraph
from transition_parser.transitions.action import Action, Kind
from transition_parser.transitions.amr_frames import FrameActions
from transition_parser.transitions.amr_naming import MAKE_NODES, NAMED_BY_RULE, is_constant, lemma_of
from transition_parser.transitions.amr_roles import (
    MOST_ROLES,
    ONCE,
    borne_once,
    borne_several,
    is_plain,
    keep_to_frames,
)
from transition_parser.transitions.amr_sorts import (
    BEARERS,
    CONCEPT_SORTS,
    CONSTANT_SORTS,
    TARGETS,
    Sort,
    bearers_of,
    ends_of,
    family,
    role_of_constants,
    sentences_are_tops,
    sort_of,
    targets_of,
)

_SWAPS_PER_WORD = 2
_LABELLED = (Kind.PRED, Kind.VALUE, Kind.DEPENDENT)
# An action may make two nodes of the same span even if it makes at most one in training: of 500 development graphs of
# Bio AMR, 30 have a span in which such an action is needed twice, and one needs it three times.
_REPEATS = 2
# An action may make up to n nodes of a span: n is the largest number that it reaches in at least one in `_ONE_IN` of
# its spans in training. The maximum would let an uncertain parser make node after node: 3 of 7,542 gold spans have the
# first sense of their lemma four times, in lists whose words were left out.
_ONE_IN = 200


@dataclass(frozen=True)
class SearchLimits:
    """Limits of search in one sentence.

    Nodes inside ENTITY do not count. `span` and `repeats` do not apply if no word is left and there is no concept yet.

    nodes: how many more nodes than words a sentence may have
    swaps: how many more SWAPs a sentence may have than two for each word
    span: how many nodes may come from one span
    repeats: action → how often it may make a node of the same span; an action without a label stands for all actions of
        its kind that are not listed; actions without any entry may come once
    once: the roles that a node may not get twice
    targets: role (`role_of_constants`) → the sorts of nodes that its edges may lead to; other roles lead to all sorts
        of concepts and to no constants; if `targets` is empty, all roles lead to all sorts
    bearers: family of numbered roles (`family`) → the sorts of concepts that may bear its roles; other families may be
        borne by all concepts
    sentences_on_top: True if a `multi-sentence` must be the top of its graph
    several: lemma → the roles of `once` that concepts with this lemma may nevertheless get several times
    roles_of_frames: True if a concept with a frame may get only those roles `ARGn` of `once` that the frame has in the
        table of frames; concepts that are not in the table may get all roles

    Raises `ValueError` for more than `MOST_ROLES` roles in `once`, for an inverse role in `once`, and for a role in
    `several` that is not in `once`.
    """

    nodes: int
    swaps: int
    span: int
    repeats: Mapping[Action, int] = field(default_factory=dict)
    once: frozenset[str] = frozenset()
    targets: Mapping[str, frozenset[Sort]] = field(default_factory=dict)
    bearers: Mapping[str, frozenset[Sort]] = field(default_factory=dict)
    sentences_on_top: bool = False
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
        return _SWAPS_PER_WORD * words + self.swaps, words + self.nodes

    def most(self, action: Action) -> int:
        """Return how often the action may make a node of the same span."""
        return self.repeats.get(action, self.repeats.get(Action(action.kind), 1))

    def targets_under(self, role: str) -> frozenset[Sort]:
        """Return the sorts that a role may lead to."""
        return self.targets.get(role_of_constants(role), CONCEPT_SORTS) if self.targets else frozenset(Sort)

    def several_of(self, action: Action, lemmas: Collection[str]) -> frozenset[str]:
        """Return the roles of `once` that the node made by an action may get several times.

        lemmas: the possible lemmas of the node if a rule derives them from the word (`AmrSystem.lemmas_named`)
        """
        if action.kind in (Kind.PRED, Kind.ENTITY):
            lemmas = (lemma_of(action.parts[0]),)
        elif action.kind not in NAMED_BY_RULE:
            lemmas = ()
        return frozenset[str]().union(*(self.several.get(lemma, ()) for lemma in lemmas))

    def barred(self, action: Action) -> tuple[frozenset[Sort], frozenset[Sort]]:
        """Return the sorts of the node on top, and the sorts of the second node, that forbid LA, RA or DEPENDENT.

        >>> limits = SearchLimits(0, 0, 1, targets={"quant": frozenset({Sort.CONCEPT, Sort.NUMBER})})
        >>> [len(sorts) for sorts in limits.barred(Action(Kind.RA, "manner"))]  # all constants
        [8, 0]
        """
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
        repeats = {str(action): count for action, count in self.repeats.items()}
        numbers = {"nodes": self.nodes, "swaps": self.swaps, "span": self.span}
        several = {lemma: sorted(roles) for lemma, roles in sorted(self.several.items())}
        roles = {"once": sorted(self.once), "several": several}
        ends = {"targets": _names(self.targets), "bearers": _names(self.bearers)}
        rules = {"sentences_on_top": self.sentences_on_top, "roles_of_frames": self.roles_of_frames}
        return {**numbers, "repeats": repeats, **roles, **ends, **rules}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> SearchLimits:
        """Return the limits that `to_json` made these values from.

        Files of older versions may lack `once`, `several`, `roles_of_frames`, `targets`, `bearers` and
        `sentences_on_top`; a missing field gets its value in `DEFAULT_LIMITS`. Raises `ValueError` for values that are
        not valid limits.
        """
        numbers = {name: values[name] for name in ("nodes", "swaps", "span")} | values["repeats"]
        for name, number in numbers.items():
            least = 1 if name == "span" else 0
            if number < least:
                raise ValueError(f"{name} is {number}: it must be {least} or more")
        repeats = {Action.parse(token): count for token, count in values["repeats"].items()}
        for action in repeats:
            if action.kind not in MAKE_NODES:
                raise ValueError(f"`repeats` lists {action}, which makes no node: leave it out")
        once = frozenset(values["once"]) if "once" in values else ONCE
        targets = _sorts(values["targets"], frozenset(Sort)) if "targets" in values else TARGETS
        bearers = _sorts(values["bearers"], CONCEPT_SORTS) if "bearers" in values else BEARERS
        several = {lemma: frozenset(roles) for lemma, roles in values.get("several", {}).items()}
        ends = (targets, bearers, values.get("sentences_on_top", True))
        by_frame = values.get("roles_of_frames", True)
        return cls(values["nodes"], values["swaps"], values["span"], repeats, once, *ends, several, by_frame)


def _names(sorts_of: Mapping[str, frozenset[Sort]]) -> dict[str, list[str]]:
    return {role: sorted(sort.value for sort in sorts) for role, sorts in sorted(sorts_of.items())}


def _sorts(names_of: Mapping[str, Sequence[str]], known: frozenset[Sort]) -> dict[str, frozenset[Sort]]:
    by_name = {sort.value: sort for sort in known}
    for role, names in names_of.items():
        for name in names:
            if name not in by_name:
                raise ValueError(f"{name!r} of :{role} is none of {', '.join(sorted(by_name))}")
    return {role: frozenset(by_name[name] for name in names) for role, names in names_of.items()}


# Limits for models that were exported before limits were learned. They are the maxima over the derivations of 7,628
# graphs of nine open corpora. The aligner of `transition-parser align` aligned each bank, and the derivations come from
# `transition-parser oracle BANK --system amr --out-actions FILE`.
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
    targets=TARGETS,
    bearers=BEARERS,
    sentences_on_top=True,
    roles_of_frames=True,
)


def learned(
    derivations: Iterable[Sequence[Action]], graphs: Iterable[AmrGraph] = (), frames: FrameActions | None = None
) -> SearchLimits:
    """Return limits that let search find the given derivations unless they repeat an action unusually often.

    An action may make up to n nodes of one span: n is the largest number that it makes in at least one in `_ONE_IN` of
    its spans. A labelled action may always make two. `borne_once` learns `once`, and `borne_several` learns `several`.
    `targets_of`, `bearers_of`, `sentences_are_tops` and `keep_to_frames` learn the other limits on roles.

    frames: the FRAME actions of the derivations; None for derivations without any
    """
    graphs = list(graphs)
    nodes = swaps = 0
    span = 1
    made_of: dict[Action, Counter[int]] = {}
    for use in map(_Use.from_actions, derivations):
        nodes = max(nodes, use.nodes - use.words)
        swaps = max(swaps, use.swaps - _SWAPS_PER_WORD * use.words)
        for made in use.spans:
            span = max(span, made.total())
            for action, count in made.items():
                made_of.setdefault(action, Counter())[count] += 1
    repeats = {action: _usual(counts) for action, counts in made_of.items()}
    labelled = (*_LABELLED, Kind.FRAME) if any(action.kind is Kind.FRAME for action in repeats) else _LABELLED
    kinds = dict.fromkeys(map(Action, labelled), _REPEATS)
    listed = {action: n for action, n in sorted(repeats.items(), key=str) if action.label is None or n > _REPEATS}
    found = borne_several(graphs)
    once = borne_once(graphs, found)
    several = {lemma: roles & once for lemma, roles in found.items() if roles & once}
    ends = (targets_of(graphs), bearers_of(graphs), sentences_are_tops(graphs))
    by_frame = frames is not None and keep_to_frames(graphs, frames)
    return SearchLimits(nodes, swaps, span, kinds | listed, once, *ends, several, by_frame)


def _usual(counts: Counter[int]) -> int:
    """Return the largest n such that at least one in `_ONE_IN` of the counted numbers is n or more.

    counts: number → how often it occurs
    """
    reached = 0
    for number in sorted(counts, reverse=True):
        reached += counts[number]
        if _ONE_IN * reached >= counts.total():
            return number
    raise ValueError("there are no numbers")


def breach(limits: SearchLimits, graph: AmrGraph, frames: FrameActions | None = None) -> str | None:
    """Return a text that names the first part of a graph that the limits on roles forbid, or None.

    frames: the FRAME actions of the table of frames, for `roles_of_frames`
    """
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


@dataclass(frozen=True)
class _Use:
    """The counts of a derivation that the limits apply to.

    words, nodes, swaps: the numbers of words, nodes and SWAPs
    spans: for each span, how often each action made a node of it
    """

    words: int
    nodes: int
    swaps: int
    spans: list[Counter[Action]]

    @classmethod
    def from_actions(cls, actions: Sequence[Action]) -> _Use:
        kinds = Counter(action.kind for action in actions)
        spans = list(_spans(actions))
        nodes = sum(span.total() for span in spans)
        return cls(kinds[Kind.SHIFT] + kinds[Kind.MERGE], nodes, kinds[Kind.SWAP], spans)


def _spans(actions: Sequence[Action]) -> Iterator[Counter[Action]]:
    made: Counter[Action] = Counter()
    for action in actions:
        if action.kind is Kind.SHIFT:
            yield made
            made = Counter()
        elif action.kind in MAKE_NODES:
            made[action] += 1
    yield made

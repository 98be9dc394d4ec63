"""The limits of search for AMRs that training graphs teach. Rare cases in graphs count as annotators' slips."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from transition_parser.graphs.amr import AmrGraph
from transition_parser.transitions.amr_frames import NUMBERED, FrameActions
from transition_parser.transitions.amr_limits import (
    CONCEPT_SORTS,
    CONSTANT_SORTS,
    MOST_ROLES,
    SWAPS_PER_WORD,
    SearchLimits,
    Sort,
    family,
    is_plain,
    role_of_constants,
    sort_of,
)
from transition_parser.transitions.amr_state import MAKE_NODES, lemma_of
from transition_parser.transitions.system import Action, Kind

_LABELLED = (Kind.PRED, Kind.VALUE, Kind.DEPENDENT)
_REPEATS = 2  # how many nodes of a span a labeled action may make even if it makes at most one in training
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
    for use in map(Use.from_actions, derivations):
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
    labeled = (*_LABELLED, Kind.FRAME) if any(action.kind is Kind.FRAME for action in repeats) else _LABELLED
    kinds = dict.fromkeys(map(Action, labeled), _REPEATS)
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


class Use(NamedTuple):
    """The numbers of a derivation that the limits apply to."""

    words: int
    nodes: int
    swaps: int
    spans: list[Counter[Action]]  # for each span, how often each action made a node of it

    @classmethod
    def from_actions(cls, actions: Sequence[Action]) -> Use:
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
        tops.update(node == graph.top for node, label in enumerate(graph.labels) if label == Sort.SENTENCES.value)
    return tops.total() >= _SEEN and _BEARERS_IN * tops[False] < tops.total()


def _frequent(sorts: Counter[Sort], one_in: int) -> frozenset[Sort]:
    return frozenset(sort for sort, count in sorts.items() if one_in * count >= sorts.total())


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

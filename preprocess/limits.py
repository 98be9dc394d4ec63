"""The limits of search for AMRs that training graphs teach. Rare cases in graphs count as annotators' slips."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from transition_parser.graphs.amr import AmrGraph, edge_of
from transition_parser.transitions.amr_frames import FrameActions
from transition_parser.transitions.amr_limits import (
    CONCEPT_SORTS,
    CONSTANT_SORTS,
    MOST_ROLES,
    SearchLimits,
    Sort,
    bearers_of,
    role_of_constants,
    sort_of,
)

# A role is borne once if at least `_SEEN` nodes bear it and fewer than one in `_NODES_IN` of them bears it twice.
_SEEN, _NODES_IN = 10, 100
# A role leads to a sort of constants if at least one in `_TARGETS_IN` of its constants and one in `_EDGES_IN` of its
# edges have this sort. If three in four nodes under the role are constants, it leads to the sorts of concepts that one
# in `_TARGETS_IN` of its edges have, otherwise to all concepts.
_TARGETS_IN, _EDGES_IN = 100, 2_000


def learned(graphs: Iterable[AmrGraph]) -> SearchLimits:
    """Return the limits that these graphs teach."""
    graphs = list(graphs)
    return SearchLimits(borne_once(graphs), targets_of(graphs))


def borne_once(graphs: Iterable[AmrGraph]) -> frozenset[str]:
    """Return the roles that almost no node bears twice (`_NODES_IN`), at most the `MOST_ROLES` most frequent ones."""
    nodes: Counter[str] = Counter()
    twice: Counter[str] = Counter()
    for graph in graphs:
        for (_node, role), count in Counter((edge.source, edge.role) for edge in graph.edges).items():
            nodes[role] += 1
            twice[role] += count > 1
    often = (role for role, count in sorted(nodes.items(), key=lambda item: (-item[1], item[0])) if count >= _SEEN)
    # a role in its normal direction, not an inverse role (`ARG0-of`, `domain`)
    once = [role for role in often if edge_of(0, role, 1).role == role and _NODES_IN * twice[role] < nodes[role]]
    return frozenset(once[:MOST_ROLES])


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


def _frequent(sorts: Counter[Sort], one_in: int) -> frozenset[Sort]:
    return frozenset(sort for sort, count in sorts.items() if one_in * count >= sorts.total())


def breach(limits: SearchLimits, graph: AmrGraph, frames: FrameActions) -> str | None:
    """Return a text that names the first part of a graph that the limits on roles forbid, or None."""
    sorts = [sort_of(label, node in graph.constants) for node, label in enumerate(graph.labels)]
    borne = Counter((edge.source, edge.role) for edge in graph.edges)
    for source, role, target in graph.edges:
        label = graph.labels[source]
        if sorts[target] not in limits.targets_under(role):
            return f"{graph.labels[target]} under :{role}"
        if sorts[source] not in bearers_of(role):
            return f":{role} of {label}"
        if borne[source, role] > 1 and role in limits.once:
            return f":{role} of {label} twice"
        if role in frames.lacked(label) & limits.once:
            return f":{role} of {label}, which has none"
    below = any(sort is Sort.SENTENCES and node != graph.top for node, sort in enumerate(sorts))
    return f"{Sort.SENTENCES.value} below the top" if below else None

"""Roles that a node bears once: which they are, and which node gets a role from an action.

An inverse role (`ARG0-of`) is borne by the node at the other end. `mod`, `time` and others may be there several times.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from transition_parser.graphs.amr import AmrGraph, edge_of
from transition_parser.transitions.action import Action, Kind
from transition_parser.transitions.amr_state import AmrState

MOST_ROLES = 63  # search keeps those of a node as the bits of one number
TOP, SECOND = -1, -2  # places on the stack
_NEW = 0
# A role is borne once if it was seen at so many nodes, and fewer than one in so many of them bear it twice. Corpora
# have slips: of 7,628 graphs of nine open corpora 217 have a node with the same :ARGn twice, most of them of Bio AMR.
_SEEN, _ONE_IN = 10, 100

# For models that were exported before roles were learned: those that AMR has once by definition, and the most frequent
# of the others that no node of these corpora bears twice, or one in hundreds.
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


def is_plain(role: str) -> bool:
    """True for a role that its node bears itself: no inverse."""
    return edge_of(0, role, 1) == (0, role, 1)


def borne_once(graphs: Iterable[AmrGraph]) -> frozenset[str]:
    """The roles that (but for slips) no node bears twice; of more than `MOST_ROLES` the most frequent."""
    nodes: Counter[str] = Counter()
    twice: Counter[str] = Counter()
    for graph in graphs:
        for (_node, role), count in Counter((edge.source, edge.role) for edge in graph.edges).items():
            nodes[role] += 1
            twice[role] += count > 1
    often = (role for role, count in sorted(nodes.items(), key=lambda item: (-item[1], item[0])) if count >= _SEEN)
    once = [role for role in often if is_plain(role) and _ONE_IN * twice[role] < nodes[role]]
    return frozenset(once[:MOST_ROLES])


def role_given(action: Action) -> tuple[int, str] | None:
    """The role that a node on the stack gets by LA, RA or DEPENDENT, and which node: `TOP` or `SECOND`. None where none
    does.

    >>> role_given(Action(Kind.LA, "ARG0")), role_given(Action(Kind.LA, "ARG0-of"))
    ((-1, 'ARG0'), (-2, 'ARG0'))
    >>> role_given(Action(Kind.DEPENDENT, "polarity,-")), role_given(Action(Kind.DEPENDENT, "ARG0-of,dog"))
    ((-1, 'polarity'), None)
    """
    if action.kind is Kind.DEPENDENT:
        ends = (TOP, action.parts[0], _NEW)
    elif action.kind in (Kind.LA, Kind.RA) and action.label is not None:
        ends = (TOP, action.label, SECOND) if action.kind is Kind.LA else (SECOND, action.label, TOP)
    else:
        return None
    source, role, _target = edge_of(*ends)
    return None if source == _NEW else (source, role)


def is_borne(state: AmrState, place: int, role: str) -> bool:
    """True where the node at that place of the stack has the role."""
    return (state.stack[place], role) in {edge_of(*edge)[:2] for edge in state.edges}

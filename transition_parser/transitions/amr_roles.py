"""The roles that a node bears only once, and the node that gets a role from an action.

A node bears the roles of the edges that lead from it; the node at the other end bears an inverse role (`ARG0-of`). Any
node may bear `mod`, `time` and others several times. A few concepts bear other roles several times, too: in Bio AMR a
third of the nodes `phosphorylate-01` have `:ARG3` twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from transition_parser.graphs.amr import AmrGraph, edge_of
from transition_parser.transitions.action import Action, Kind
from transition_parser.transitions.amr_frames import NUMBERED, FrameActions
from transition_parser.transitions.amr_naming import lemma_of
from transition_parser.transitions.amr_sorts import family

MOST_ROLES = 63  # search keeps the roles of a node as the bits of one number
TOP, SECOND = -1, -2  # indices into the stack
_NEW = 0  # stands for the node that DEPENDENT makes
# A role is borne once if at least `_SEEN` nodes bear it and fewer than one in `_ONE_IN` of them bears it twice. Corpora
# have slips: of 7,628 graphs of nine open corpora 217 have a node with the same :ARGn twice, most of them of Bio AMR.
_SEEN, _ONE_IN = 10, 100
# Concepts of a lemma may bear a role several times if at least `_OFTEN` of their nodes do so, and these are at least
# one in `_ONE_OF` of their nodes with the role. `borne_once` does not count such nodes as exceptions.
_OFTEN, _ONE_OF = 5, 50

# Roles for models that were exported before roles were learned. They are the roles that AMR defines as borne once, and
# the most frequent of the other roles that at most one node in hundreds bears twice in the nine corpora.
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
    """Return True for a role in its normal direction, False for an inverse role (`ARG0-of`, `domain`)."""
    return edge_of(0, role, 1) == (0, role, 1)


def borne_several(graphs: Iterable[AmrGraph]) -> dict[str, frozenset[str]]:
    """Return lemma → the numbered roles that several edges from one node of this lemma may have (`_OFTEN`, `_ONE_OF`).

    By AMR's definition only one edge from a node has a given numbered role. Rare exceptions are taken for slips.
    """
    nodes: Counter[tuple[str, str]] = Counter()
    twice: Counter[tuple[str, str]] = Counter()
    for graph in graphs:
        for (node, role), count in Counter((edge.source, edge.role) for edge in graph.edges).items():
            if family(role):
                nodes[lemma_of(graph.labels[node]), role] += 1
                twice[lemma_of(graph.labels[node]), role] += count > 1
    several: dict[str, set[str]] = {}
    for (lemma, role), count in sorted(twice.items()):
        if count >= _OFTEN and _ONE_OF * count >= nodes[lemma, role]:
            several.setdefault(lemma, set()).add(role)
    return {lemma: frozenset(roles) for lemma, roles in several.items()}


def borne_once(graphs: Iterable[AmrGraph], several: Mapping[str, Collection[str]] | None = None) -> frozenset[str]:
    """Return the roles that almost no node bears twice (`_ONE_IN`), at most the `MOST_ROLES` most frequent ones.

    several: the result of `borne_several`; concepts that bear these roles several times do not count as exceptions
    """
    nodes: Counter[str] = Counter()
    twice: Counter[str] = Counter()
    for graph in graphs:
        for (node, role), count in Counter((edge.source, edge.role) for edge in graph.edges).items():
            nodes[role] += 1
            twice[role] += count > 1 and role not in (several or {}).get(lemma_of(graph.labels[node]), ())
    often = (role for role, count in sorted(nodes.items(), key=lambda item: (-item[1], item[0])) if count >= _SEEN)
    once = [role for role in often if is_plain(role) and _ONE_IN * twice[role] < nodes[role]]
    return frozenset(once[:MOST_ROLES])


def keep_to_frames(graphs: Iterable[AmrGraph], frames: FrameActions) -> bool:
    """Return True if at most one in `_ONE_IN` edges `:ARGn` starts at a frame without `ARGn` in the table of frames."""
    edges = beyond = 0
    for graph in graphs:
        for edge in graph.edges:
            edges += edge.role in NUMBERED
            beyond += edge.role in frames.lacked(graph.labels[edge.source])
    return _ONE_IN * beyond <= edges


def role_given(action: Action) -> tuple[int, str] | None:
    """Return the node of the stack that gets a role from LA, RA or DEPENDENT (`TOP` or `SECOND`), and the role.

    Return None where no node of the stack gets a role.

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

"""Numbers of dates that are no year, month or day become another of them, or leave the date."""

from __future__ import annotations

from transition_parser.parsing.edits.draft import Draft

# The valid numbers of a date. Gold AMRs have no year below 100: a smaller year is a misread day of the month.
IN_DATES = {"day": range(1, 32), "month": range(1, 13), "year": range(100, 10_000)}


def mend_dates(draft: Draft) -> None:
    """Put misread numbers of dates in their places, or take them away."""
    for node in draft.nodes_of("date-entity"):
        below = draft.numbers_below(node)
        for role in IN_DATES:
            if role in below and _is_misread(draft, role, below[role]):
                _mend(draft, role, below)


def _mend(draft: Draft, role: str, below: dict[str, int]) -> None:
    number = below[role]
    edge, value = draft.edges[number], draft.labels[draft.edges[number].target]
    is_day = int(value) in IN_DATES["day"] and (role != "year" or "month" in below)
    right = "day" if is_day else "year" if len(value) == 4 else ""
    other = below.get(right)
    if right and (other is None or _is_misread(draft, right, other)):
        draft.edges[number] = edge._replace(role=right)
        below[right] = below.pop(role)
        if other is not None:
            draft.edges[other], below[role] = draft.edges[other]._replace(role=role), other
    elif right or role != "year":  # '98
        draft.removed.add(edge.target)
        del below[role]


def _is_misread(draft: Draft, role: str, number: int) -> bool:
    """Return True for an edge to a number that no date has in this role."""
    target = draft.edges[number].target
    value = draft.labels[target]
    return target in draft.graph.constants and value.isdecimal() and int(value) not in IN_DATES[role]

"""Times of day become `date-entity :time "16:20"`."""

from __future__ import annotations

import re

from transition_parser.graphs.amr import quoted
from transition_parser.parsing.edits.draft import Draft
from transition_parser.text.measures import times_of_day

_FIELDS = frozenset("day dayperiod month weekday year timezone".split())
_WEEKDAYS = re.compile("(mon|tues|wednes|thurs|fri|satur|sun)days?")
_MISREAD = re.compile("(ARG[1-5]|mod|quant|value|op[1-9]|duration|domain|location|manner)$")


def mend_times(draft: Draft) -> None:
    """Give each time of day that the words say its date, unless a date has it; days of its words stay with it."""
    for first, end, value in times_of_day(draft.forms):
        nodes = [i for i, places in enumerate(draft.alignments) if places and first <= min(places) < end]
        last = max((place for node in nodes for place in draft.alignments[node]), default=end - 1)
        is_whole = all(draft.labels[i] in ("date-entity", quoted(value)) for i in nodes)
        if is_whole and any(edge.role == "time" and draft.labels[edge.target] == quoted(value) for edge in draft.edges):
            continue
        date = draft.put(first, end, "date-entity", "time", _FIELDS)
        for edge in [edge for edge in draft.edges if edge.target == date and _MISREAD.match(edge.role)]:
            is_right = draft.labels[edge.source] in ("be-temporally-at-91", "date-interval", "and", "or", "between")
            if not is_right and draft.labels[edge.source] not in ("after", "before", "until", "by", "since", "around"):
                draft.replace_edge(edge, edge._replace(role="time"))
        draft.add_below(date, "time", quoted(value))
        for place in range(end, last + 1):  # search took more words for a string
            if _WEEKDAYS.fullmatch(draft.forms[place]):
                draft.add_below(date, "weekday", draft.words[place].lemma.lower().removesuffix("s"))
            elif draft.forms[place] in ("today", "tomorrow", "yesterday"):
                draft.add_below(date, "mod", draft.forms[place])

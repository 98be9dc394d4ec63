"""Empty dates, and quantities without `:quant`, become their unit or the concept of their word."""

from __future__ import annotations

import re

from transition_parser.parsing.edits.draft import Draft

_TIME = re.compile(r'"(\d\d?)(:\d\d)"')


def mend_quantities(draft: Draft) -> None:
    for node, label in enumerate(draft.graph.labels):
        is_date = label == "date-entity"
        if (is_date or label.endswith("-quantity")) and node not in draft.constants and node not in draft.removed:
            below = draft.numbers_below(node)
            if not below if is_date else "quant" not in below:
                _mend(draft, node, below)


def _mend(draft: Draft, node: int, below: dict[str, int]) -> None:
    unit = draft.edges[below["unit"]].target if "unit" in below else -1
    is_leaf = sum(unit in (edge.source, edge.target) for edge in draft.edges) == 1 and unit != draft.graph.top
    time = _TIME.fullmatch(draft.labels[draft.edges[below["value"]].target]) if "value" in below else None
    if time and is_leaf:
        hour = int(time[1]) % 12 + 12 * draft.labels[unit].startswith("p")
        draft.labels[node], draft.labels[draft.edges[below["value"]].target] = "date-entity", f'"{hour}{time[2]}"'
        draft.edges[below["value"]] = draft.edges[below["value"]]._replace(role="time")
    elif is_leaf:
        draft.labels[node] = draft.labels[unit]
    elif "unit" in below:
        if draft.neighbors(node).isdisjoint(draft.neighbors(unit)):
            draft.merge(node, unit)
    else:
        words = (draft.words[place] for place in draft.alignments[node])
        draft.labels[node] = "-".join(word.lemma for word in words if word.lemma_is_symbol) or "thing"
    if is_leaf:
        draft.removed.add(unit)

"""Numbers of several words (*half a million*), temperatures, and what stands after rates (*50 miles per hour*)."""

from __future__ import annotations

from transition_parser.graphs.amr import Edge, distances
from transition_parser.parsing.edits.draft import Draft
from transition_parser.text.measures import UNITS, SpanValue, numbers_of_several_words, temperatures

_OF_NUMBERS = frozenset(
    ("quant", "mod", "op1", "op2", "value", "time")
)  # roles of a number, or of a part that was lost
_PATHS = {"through": "path", "along": "path", "from": "source", "to": "destination"}


def mend_numbers(draft: Draft) -> None:
    """Give nouns and units the numbers that several words before them say."""
    scales = [*temperatures(draft.forms)]
    for (first, end, value), scale in scales:
        below = [draft.below(node) for node in draft.nodes_of("temperature-quantity")]
        if not any("scale" in one and draft.labels[one.get("quant", one["scale"])] == value for one in below):
            node = draft.put(first, end, "temperature-quantity", "ARG2")
            draft.add_edge(node, "quant", draft.new_node(value, True, draft.node_origins[node]))
            draft.add_below(node, "scale", scale)
    for said in numbers_of_several_words(draft.forms):
        is_degree = any(first <= said.first < end for (first, end, _), _ in scales)
        if not is_degree and said.value not in draft.labels:
            _count(draft, said)
    for rate in draft.nodes_of("rate-entity-91"):
        _free_rate(draft, rate)


def _count(draft: Draft, said: SpanValue) -> None:
    """Make a number the `:quant` of the noun after it, or of a quantity whose unit this noun is."""
    first, end, value = said
    after = {draft.place(node): node for node in range(len(draft.graph)) if node not in draft.constants | draft.removed}
    noun = next((after[place] for place in range(end, end + 3) if place in after), None)
    if noun is None or draft.labels[noun] == "name":
        return
    inside = {i for i, places in enumerate(draft.alignments) if places and first <= min(places) < end} - {noun}
    owner = next((edge.source for edge in draft.edges if edge.role == "unit" and edge.target == noun), noun)
    inside -= {owner}
    if owner == noun and (kind := UNITS.get(draft.labels[noun])):
        owner = draft.new_node(kind, False, noun)
        draft.top = owner if draft.top == noun else draft.top
        draft.edges = [edge._replace(target=owner) if edge.target == noun else edge for edge in draft.edges]
        draft.add_edge(owner, "unit", noun)
    for edge in [edge for edge in draft.edges if edge.source in inside or edge.target in inside]:
        draft.replace_edge(edge)
        if edge.source in {owner, noun, *inside} or edge.role in _OF_NUMBERS:
            continue
        here = [one for one in draft.edges if one.source == edge.source and one.target == owner]
        if not here or edge.role in ("ARG0", "ARG1"):  # *half a million euros were stolen*
            for one in here:
                draft.replace_edge(one)
            draft.add_edge(edge.source, edge.role, owner)
    if draft.top in inside:
        draft.top = next((edge.source for edge in draft.edges if edge.target == owner), owner)
    for edge in [edge for edge in draft.edges if edge.source == owner and edge.role == "quant"]:
        draft.replace_edge(edge)
        draft.removed.update({edge.target} & draft.constants)
    draft.removed |= inside
    draft.add_edge(owner, "quant", draft.new_node(value, True, noun))


def _free_rate(draft: Draft, rate: int) -> None:
    """Take what stands after a rate from its parts, to the node above it."""
    parts = {edge.target for edge in draft.edges if edge.source == rate and edge.role in ("ARG1", "ARG2")}
    parts = {part for part in parts if draft.labels[part].endswith("-quantity")}
    above = next((edge.source for edge in draft.edges if edge.target == rate and edge.source not in parts), None)
    if above is None:
        return
    for edge in [*draft.edges]:
        other = edge.source if edge.target in parts else edge.target
        is_stray = (edge.source in parts) != (edge.target in parts) and edge.role not in ("unit", "scale")
        if (
            not is_stray
            or other in (rate, above)
            or other in draft.constants
            or (edge.source in parts and edge.role == "quant")
        ):
            continue
        draft.replace_edge(edge)
        if other not in distances(draft.edges, draft.top):
            before = draft.forms[max(draft.place(other) - 3, 0) : max(draft.place(other), 0)]
            role = next((_PATHS[form] for form in reversed(before) if form in _PATHS), "location")
            draft.edges.append(Edge(above, role, other))
            draft.edge_origins.append(-1)

"""Structures of AMRs that are certainly errors, such as the month 13 or the concept `be`."""

from collections.abc import Iterator

from transition_parser.graphs.amr import AmrGraph
from transition_parser.parsing.edits.names import entity_of
from transition_parser.parsing.edits.pronouns import SUBJECTS
from transition_parser.transitions.amr_state import lemma_of

BE = frozenset({"be", "be-01", "be-03"})  # copulas and auxiliaries; `be-02` is the frame of `there is`
# The numbers of a date. Gold AMRs have no year below 100: a smaller year is a misread day of the month.
IN_DATES = {"day": range(1, 32), "month": range(1, 13), "year": range(100, 10_000)}


def odd_structures(graph: AmrGraph) -> Iterator[str]:
    """Yield what is odd about a graph, such as `quantity without :quant`, each thing as often as the graph has it."""
    roles: dict[int, set[str]] = {}
    for source, role, target in graph.edges:
        roles.setdefault(source, set()).add(role)
        if graph.labels[source] == "name" and entity_of(graph.labels[target].strip('"')):
            yield "address as a name"
        if role in IN_DATES and graph.labels[source] == "date-entity" and target in graph.constants:
            value = graph.labels[target]
            if value.isdecimal() and int(value) not in IN_DATES[role]:
                yield f":{role} that cannot be"
    for node in set(range(len(graph))) - graph.constants:
        label, of_node = graph.labels[node], roles.get(node, set())
        if label in BE:
            yield "be"
        if SUBJECTS.get(label, label) != label:
            yield "me, my and the like"
        if entity_of(lemma_of(label)):
            yield "address as a concept"
        if label == "date-entity" and not of_node:
            yield "empty date"
        if label.endswith("-quantity") and "quant" not in of_node:
            yield "quantity without :quant"

"""Questions inside sentences ask for a place, a time, a manner or a person: *I know where he hid the money*."""

from __future__ import annotations

import re

from transition_parser.graphs.amr import Edge
from transition_parser.parsing.edits.draft import Draft

_ASKED = {
    "where": ("place", "location"),
    "when": ("time", "time"),
    "how": ("manner", "manner"),
    "who": ("person", "ARG0"),
}
_ASKING = frozenset(
    "ask decide discover explain find find-out forget guess imagine know learn realize recall remember reveal say see "
    "show teach tell understand wonder".split()
)
_ROLES = frozenset("ARG1 ARG2 ARG3 time location manner topic".split())


_FRAME = re.compile(r".*-\d\d")
_DEGREES = frozenset("to many much long often far old well".split())  # *how many*, *where to*


def mend_questions(draft: Draft) -> None:
    """Give the clause after *where*, *when*, *how*, *who* or *why* what it asks for, below the verb before it."""
    for node in draft.nodes_of("where"):
        draft.labels[node] = "place"
    for word in [place for place, form in enumerate(draft.forms) if form in _ASKED and place]:
        links = [edge for edge in draft.edges if draft.place(edge.source) < word < draft.place(edge.target)]
        links = [edge for edge in links if edge.role in _ROLES and word - draft.place(edge.source) <= 3]
        links = [
            edge for edge in links if _is_asking(draft, edge.source) and _FRAME.fullmatch(draft.labels[edge.target])
        ]
        if len(links) == 1 and draft.forms[word + 1] not in _DEGREES:
            _ask(draft, links[0], *_ASKED[draft.forms[word]])
    for cause in draft.nodes_of("cause-01") if "why" in draft.forms else ():
        verb = draft.below(cause).get("ARG0", cause)
        if _is_asking(draft, verb) and draft.place(verb) < draft.forms.index("why"):
            asked = draft.new_node("thing", False, cause)
            draft.replace_edge(Edge(cause, "ARG0", verb), Edge(cause, "ARG0", asked), Edge(verb, "ARG1", asked))
            clause = Edge(verb, "ARG1", draft.below(cause).get("ARG1", -1))
            if clause in draft.edges:
                draft.replace_edge(clause)


def _ask(draft: Draft, link: Edge, concept: str, role: str) -> None:
    below = draft.below(link.target)
    unknown = next((node for node in below.values() if draft.labels[node] == "amr-unknown"), None)
    if role == "ARG0" and (role in below or not _has_subject(draft, link.target)):
        role = "ARG1"
    if unknown is None and role in below:
        return
    asked = draft.new_node(concept, False, link.target) if unknown is None else unknown
    draft.labels[asked] = concept
    is_free = "ARG1" not in draft.below(link.source)
    draft.replace_edge(link, link._replace(role="ARG1" if is_free else link.role, target=asked))
    if unknown is None:
        draft.add_edge(link.target, role, asked)


def _is_asking(draft: Draft, node: int) -> bool:
    return draft.labels[node].rpartition("-")[0] in _ASKING


def _has_subject(draft: Draft, node: int) -> bool:
    return 0 in draft.core_roles(node)

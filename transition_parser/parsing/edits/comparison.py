"""Comparisons get the `more` that their words say: *wider than the canal*."""

from __future__ import annotations

import re

from transition_parser.graphs.amr import Edge
from transition_parser.parsing.edits.draft import Draft

_COMPARATIVE = re.compile(r"[a-z]{2,}er")


def mend_comparisons(draft: Draft) -> None:
    """Give `have-degree-91` of a comparative before *than* its degree, and an adverb its comparison."""
    for than in [place for place, form in enumerate(draft.forms) if form == "than" and place]:
        word = than - 1
        nodes = [node for node, places in enumerate(draft.alignments) if places == (word,)]
        nodes = [node for node in nodes if draft.labels[node][:2] == draft.forms[word][:2]]
        if (
            len(nodes) != 1
            or not _COMPARATIVE.fullmatch(draft.forms[word])
            or draft.words[word].lemma in ("other", "rather")
        ):
            continue
        degrees = [edge for edge in draft.edges if edge.target == nodes[0] and edge.role in ("ARG2", "ARG3")]
        degrees = [edge for edge in degrees if draft.labels[edge.source] == "have-degree-91"]
        if degrees:
            _complete(draft, degrees[0], nodes[0])
        else:
            _compare(draft, nodes[0], than)


def _complete(draft: Draft, edge: Edge, quality: int) -> None:
    below = draft.below(edge.source)
    if edge.role == "ARG3" and "ARG2" not in below:  # the quality stands in the place of the degree
        draft.replace_edge(edge, edge._replace(role="ARG2"))
        below = draft.below(edge.source)
    if "ARG3" not in below:
        draft.add_edge(edge.source, "ARG3", draft.new_node("more", False, quality))


def _compare(draft: Draft, quality: int, than: int) -> None:
    """Add a comparison between what has a quality and what stands after *than*."""
    owners = [edge for edge in draft.edges if quality in (edge.source, edge.target) and edge.role in _OF_QUALITIES]
    others = [
        (edge, end)
        for edge in draft.edges
        for end in (edge.source, edge.target)
        if draft.place(end) > than and draft.place(edge.source + edge.target - end) < than and edge.role in _OF_THINGS
    ]
    if not owners or len(others) != 1 or others[0][0] in owners:
        return
    owner = owners[0].source + owners[0].target - quality
    (edge, other), degree = others[0], draft.new_node("have-degree-91", False, quality)
    for one in (owners[0], edge):
        draft.replace_edge(one)
    for role, target in (("ARG1", owner), ("ARG2", quality), ("ARG4", other)):
        draft.add_edge(degree, role, target)
    draft.add_edge(degree, "ARG3", draft.new_node("more", False, quality))


_OF_QUALITIES = frozenset("ARG1 ARG2 manner mod domain degree".split())
_OF_THINGS = frozenset("ARG1 ARG2 ARG3 ARG4 compared-to location mod".split())

"""Comparisons get the `more` that their words say: *wider than the canal*."""

from __future__ import annotations

import re

from transition_parser.graphs.amr import Edge
from transition_parser.parsing.edits.draft import Draft

_COMPARATIVE = re.compile(r"[a-z]{2,}er")


def mend_comparisons(draft: Draft) -> None:
    """Give `have-degree-91` of a comparative before *than* its degree, and an adverb its comparison."""
    _had_better(draft)
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


def _had_better(draft: Draft) -> None:
    """Make *had better* a recommendation."""
    for place in [place for place, form in enumerate(draft.forms) if form == "better" and place]:
        node = next((node for node, places in enumerate(draft.alignments) if places == (place,)), None)
        after = [verb for verb in draft.frames if verb > place]
        if (
            draft.forms[place - 1] not in ("had", "'d")
            or node is None
            or draft.labels[node][:5] != "good-"
            or not after
        ):
            continue
        verb = draft.frames[min(after)]
        draft.labels[node] = "recommend-01"
        for edge in [edge for edge in draft.edges if edge.target == verb or edge.source == node]:
            draft.replace_edge(edge, *([] if edge.source == node else [edge._replace(target=node)]))
        draft.add_edge(node, "ARG1", verb)
        draft.top = node if draft.top == verb else draft.top


def _complete(draft: Draft, edge: Edge, quality: int) -> None:
    below = draft.below(edge.source)
    if edge.role == "ARG3" and "ARG2" not in below:  # the quality stands in the place of the degree
        draft.replace_edge(edge, edge._replace(role="ARG2"))
        below = draft.below(edge.source)
    first, than = below.get("ARG4", -1), draft.place(quality) + 1
    if "ARG1" not in below and 0 <= draft.place(first) < than:  # the first side stands in the place of the second
        later = [one for one in draft.edges if one.source == first and draft.place(one.target) > than]
        is_one = not {"one", "ones"}.isdisjoint(draft.forms[than:])
        if later and (is_one or len(later) == 1):
            second = draft.new_node(draft.labels[first], False, first) if is_one else later[0].target
            for one in later:
                draft.replace_edge(one, *([one._replace(source=second)] if is_one else []))
            draft.replace_edge(Edge(edge.source, "ARG4", first), Edge(edge.source, "ARG1", first))
            draft.add_edge(edge.source, "ARG4", second)
    if "ARG3" not in below:
        draft.add_edge(edge.source, "ARG3", draft.new_node("more", False, quality))


def _compare(draft: Draft, quality: int, than: int) -> None:
    """Add a comparison between what has a quality and what stands after *than*."""
    owners = [edge for edge in draft.edges if quality in (edge.source, edge.target) and edge.role in _OF_QUALITIES]
    owners.sort(key=lambda edge: edge.target != quality)
    things = [edge for edge in draft.edges if draft.place(edge.source) < than < draft.place(edge.target)]
    things = [edge for edge in things if edge.role in _OF_THINGS and edge.source != quality]
    if not owners or len(things) != 1:
        return
    owner, degree = owners[0].source + owners[0].target - quality, draft.new_node("have-degree-91", False, quality)
    for edge in (owners[0], *things):
        draft.replace_edge(edge)
    for role, target in (("ARG1", owner), ("ARG2", quality), ("ARG4", things[0].target)):
        draft.add_edge(degree, role, target)
    draft.add_edge(degree, "ARG3", draft.new_node("more", False, quality))


_OF_QUALITIES = frozenset("ARG1 ARG2 manner mod domain degree".split())
_OF_THINGS = frozenset("ARG1 ARG2 ARG3 ARG4 compared-to location mod".split())

"""Comparisons: *wider than the canal*, *the more you read, the more you learn*, *you had better go*."""

from __future__ import annotations

import re

from transition_parser.graphs.amr import Edge
from transition_parser.parsing.edits.draft import Draft

_COMPARATIVE = re.compile(r"(?!(other|rather|never)$)[a-z]{2,}er|more|less|worse")
_DEGREES = ("more", "less", "most", "least")
_OF_QUALITIES = frozenset("ARG1 ARG2 manner mod domain degree".split())
_OF_THINGS = frozenset("ARG1 ARG2 ARG3 ARG4 compared-to location mod".split())


def mend_comparisons(draft: Draft) -> None:
    """Give `have-degree-91` of a comparative before *than* its degree, and an adverb its comparison."""
    comparatives = [place for place, form in enumerate(draft.forms) if _COMPARATIVE.fullmatch(form) and place]
    for place in comparatives:
        if draft.forms[place - 1] in ("had", "'d") and draft.forms[place] == "better":
            _recommend(draft, place)
        elif draft.forms[place + 1] == "than":
            _compare(draft, place)
    both = [place for place in comparatives if draft.forms[place - 1] == "the" and draft.forms[place - 2] in ("", ",")]
    if len(both) == 2 and both[0] == 1:
        _correlate(draft, *both)


def _recommend(draft: Draft, place: int) -> None:
    """Make *had better* a recommendation of the verb after it."""
    after = [verb for verb in draft.frames if verb > place]
    if draft.at(place) and after:
        node, verb = draft.put(place, place + 1, "recommend-01", "ARG1"), draft.frames[min(after)]
        draft.top = node if draft.top == verb else draft.top
        for edge in [*draft.edges]:
            if edge.source == node or (edge.source, edge.target) == (verb, node):
                draft.replace_edge(edge)
            elif edge.target == verb:
                draft.replace_edge(edge, edge._replace(target=node))
        draft.add_edge(node, "ARG1", verb)


def _correlate(draft: Draft, *places: int) -> None:
    """Make *the sooner …, the better …* `correlate-91` of two degrees."""
    qualities = first, second = [draft.at(place) for place in places]
    if all(qualities):
        for edge in [edge for edge in draft.edges if edge.source in second and edge.target in first]:
            draft.replace_edge(edge)
        node = draft.new_node("correlate-91", False)
        for number, nodes in enumerate(qualities, 1):
            degree = next((one for one in nodes if draft.labels[one] in _DEGREES), None)
            if degree is None:
                have_degree = draft.new_node("have-degree-91", False, nodes[0])
                draft.add_edge(have_degree, "ARG2", nodes[0])
                degree = draft.add_below(have_degree, "ARG3", "more")
            elif draft.labels[degree] == "most":
                draft.labels[degree] = "more"
            draft.add_edge(node, f"ARG{number}", degree)
        draft.top = node


def _compare(draft: Draft, place: int) -> None:
    """Complete the comparison of a word before *than*, or add one between its owner and what stands after *than*."""
    beginnings = draft.words[place].lemma[:2], draft.forms[place][:2]
    nodes = [node for node in draft.at(place) if draft.labels[node].startswith(beginnings)]
    if len(nodes) != 1 or draft.labels[nodes[0]] in _DEGREES:
        return
    for edge in [edge for edge in draft.edges if edge.role == "ARG2"]:
        if draft.labels[edge.source] == draft.labels[edge.target] == "have-degree-91":
            _join(draft, edge)
    degrees = [edge for edge in draft.edges if edge.target == nodes[0] and edge.role in ("ARG2", "ARG3")]
    degrees = [edge for edge in degrees if draft.labels[edge.source] == "have-degree-91"]
    for have_degree in draft.at(place + 1) if not degrees else ():
        degrees += _with_quality(draft, have_degree, nodes[0])
    if degrees:
        _complete(draft, degrees[0], nodes[0])
    else:
        _add(draft, nodes[0], place + 1)


def _with_quality(draft: Draft, have_degree: int, quality: int) -> list[Edge]:
    """Return the edge from a comparison to its quality, in the place of a second node of what has the quality."""
    below = draft.below(have_degree)
    owner, other = below.get("ARG1", -1), below.get("ARG2", -1)
    if min(owner, other) < 0 or draft.labels[owner] != draft.labels[other]:
        return []
    draft.replace_edge(Edge(have_degree, "ARG2", other))
    draft.merge(other, owner)
    draft.add_edge(have_degree, "ARG2", quality)
    return draft.edges[-1:]


def _join(draft: Draft, edge: Edge) -> None:
    """Make one of a comparison and another one in the place of its quality."""
    draft.replace_edge(edge)
    draft.merge(edge.target, edge.source)
    for role in ("ARG1", "ARG2", "ARG3", "ARG4"):
        same = [one for one in draft.edges if one[:2] == (edge.source, role)]
        for one in sorted(same, key=lambda one: draft.labels[one.target] in _DEGREES)[:-1]:
            draft.replace_edge(one)


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
    elif draft.labels[below["ARG3"]] == "most":
        draft.labels[below["ARG3"]] = "more"


def _add(draft: Draft, quality: int, than: int) -> None:
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

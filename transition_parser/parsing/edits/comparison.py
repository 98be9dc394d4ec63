"""Comparisons: *wider than the canal*, *the more you read, the more you learn*, *you had better go*."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from transition_parser.graphs.amr import Edge
from transition_parser.parsing.edits.draft import Draft
from transition_parser.parsing.edits.pronouns import SUBJECTS
from transition_parser.parsing.edits.tree_view import TreeView

_DEGREES = ("more", "less", "most", "least", "equal", "more-than", "less-than", "than")
_COMPARISONS = ("have-degree-91", "have-quant-91")
_AMOUNTS = ("more", "less", "fewer", "many", "much", "few", "little")
_AUXILIARIES = ("am", "are", "did", "do", "does", "is", "was", "were")
_SECONDS = {"than", "as"}


def may_compare(draft: Draft) -> bool:
    """Return True for a sentence with *than* or *as*, which begin the second side of a comparison."""
    return not _SECONDS.isdisjoint(draft.forms)


def mend_comparisons(draft: Draft) -> None:
    """Give comparisons before *than* and *as* their degrees, qualities and sides."""
    comparatives = [place for place in range(1, len(draft.words)) if _is_comparative(draft, place)]
    for place in comparatives:
        if draft.forms[place - 1] in ("had", "'d") and draft.forms[place] == "better":
            _recommend(draft, place)
    if draft.tree is not None and may_compare(draft):
        view = TreeView(draft, draft.tree)
        for place in [place for place, form in enumerate(draft.forms) if form in _SECONDS]:
            if draft.forms[place : place + 3] == ["as", "soon", "as"]:
                _as_soon(view, place)
            elif draft.forms[place - 1] != "soon" and (words := _words_of(view, place)) is not None:
                _compare(view, words)
    both = [place for place in comparatives if draft.forms[place - 1] == "the" and draft.forms[place - 2] in ("", ",")]
    if len(both) == 2 and both[0] == 1:
        _correlate(draft, *both)


def _is_comparative(draft: Draft, place: int) -> bool:
    """Return True for *faster*, *worse* or *more*, not for *weather*."""
    form = draft.forms[place]
    return form in ("more", "less", "worse") or (form.endswith("er") and form != draft.words[place].lemma)


def _recommend(draft: Draft, place: int) -> None:
    """Make *had better* a recommendation of the verb after it."""
    after = [verb for verb in draft.frames if verb > place]
    if draft.at(place) and after:
        node, verb = draft.put(place, place + 1, "recommend-01", "ARG1"), draft.frames[min(after)]
        draft.move_top(verb, node)
        for edge in [*draft.edges]:
            if edge.source == node or (edge.source, edge.target) == (verb, node):
                draft.replace_edge(edge)
            elif edge.target == verb:
                draft.replace_edge(edge, edge._replace(target=node))
        draft.add_edge(node, "ARG1", verb)


def _as_soon(view: TreeView, place: int) -> None:
    """Make *as soon as* the time of the verb that it modifies: *leave as soon as you can*."""
    draft, inside = view.draft, view.draft.inside(place, place + 3)
    verb, clause = (draft.frames.get(view.heads[one], view.node(view.heads[one])) for one in (place + 1, place + 2))
    if len({verb, clause, -1} - inside) == 3:
        node = draft.new_node("as-soon-as", False, min(inside, default=clause))
        for edge in [edge for edge in draft.edges if {*edge[::2]} & inside or {*edge[::2]} == {verb, clause}]:
            draft.replace_edge(edge)
        draft.removed |= inside
        draft.add_edge(verb, "time", node)
        draft.add_edge(node, "op1", clause)


def _correlate(draft: Draft, *places: int) -> None:
    """Make *the sooner …, the better …* `correlate-91` of two degrees."""
    qualities = first, second = [draft.at(place) for place in places]
    if all(qualities):
        draft.remove_edges(lambda edge: edge.source in second and edge.target in first)
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


class _Words(NamedTuple):
    """The words of a comparison."""

    owner: int  # what has the quality: a noun, or a verb
    quality: int
    marker: int  # the comparative, or the first *as*
    other: int  # the head of the second side, after *than* or *as*
    is_amount: bool  # *more money*, *as many people*, *sleeps more*


def _words_of(view: TreeView, place: int) -> _Words | None:
    """Return the words of the comparison before *than* or a second *as*, None for none."""
    forms, is_as = view.draft.forms, view.draft.forms[place] == "as"
    markers = [one for one in range(place) if (forms[one] == "as" if is_as else _is_comparative(view.draft, one))]
    if view.relations[place] not in ("case", "mark") or not markers:
        return None
    other, marker = view.heads[place], markers[-1]
    head, above = view.heads[marker], view.heads[other]
    is_beside = marker < head < place and (is_as or forms[marker] in _AMOUNTS)  # *more careful*, not *sleeps more*
    quality = head if is_beside else marker
    amount = quality if forms[quality] in _AMOUNTS else marker
    is_amount = forms[amount] in _AMOUNTS and view.relations[amount] == "amod"
    if is_amount:
        owner, quality = view.heads[amount], amount
    elif forms[quality] in _AMOUNTS and view.relations[quality] in ("advmod", "obj", "xcomp"):
        owner, is_amount = view.heads[quality], True
    elif view.relations[quality] in ("advmod", "amod") and view.dependent(quality, "nsubj") < 0:
        owner = view.heads[quality]
    elif (owner := view.dependent(quality, "csubj")) >= 0:  # *it is cheaper to rent than to buy*
        above = quality if above in view.subtree(owner) else above
    else:
        owner = view.subject(quality)
    if not view.nodes[other] and forms[other] in _AUXILIARIES:  # *than his wife does*
        other = view.dependent(other, "nsubj")
    is_joined = above in (marker, quality, *view.ancestors(quality))
    return _Words(owner, quality, marker, other, is_amount) if is_joined and min(owner, other) >= 0 else None


def _compare(view: TreeView, words: _Words) -> None:
    """Give a comparison its quality, its degree and its two sides, which have no other places in the clause."""
    draft = view.draft
    qualities = [i for i in view.nodes[words.quality] if draft.labels[i] not in (*_DEGREES, *_COMPARISONS)]
    quality = qualities[0] if len(qualities) == 1 else view.node(words.quality) if qualities else -1
    owner, other = (draft.frames.get(word, view.argument(word)) for word in (words.owner, words.other))
    found = _found(view, words, {quality, other} - {-1}, owner)
    if owner < 0 or (quality < 0 and not words.is_amount) or len({owner, quality, other, *found}) < 3 + len(found):
        return
    node = found[0] if found else draft.new_node("", False, quality if quality >= 0 else owner)
    draft.labels[node] = _COMPARISONS[words.is_amount]
    for one in found[1:]:
        draft.merge(one, node)
    if other < 0:
        other = draft.below(node).get("ARG4", owner)
        other = _another(view, words.other, owner) if other == owner else other
    degree = _degree(draft, node, words.marker, {owner, quality, other})
    sides = {"ARG1": owner, "ARG2": quality, "ARG3": degree, "ARG4": other}
    for role, side in sides.items():
        if side >= 0 and Edge(node, role, side) not in draft.edges:
            draft.add_edge(node, role, side)
    is_predicate = view.dependent(words.quality, "nsubj", "csubj") >= 0
    if is_predicate and draft.top in sides.values():
        draft.top = node
    inside = view.subtree(words.other) if draft.labels[other] not in SUBJECTS.values() else range(len(draft.words))
    for edge in [*draft.edges]:
        is_old = edge.source == node and edge.target != sides.get(edge.role, edge.target)
        is_twice = edge.source == node and edge.role not in sides and edge.target in sides.values()
        is_between = {edge.source, edge.target} <= {*sides.values()} and edge.role[:3] != "ARG"
        is_loose = is_between or (edge.target == degree and edge.source != node)
        is_other = other in edge[::2] and node not in edge[::2]
        if is_old and edge.target != owner and draft.labels[edge.target] == draft.labels[owner]:
            draft.replace_edge(edge)
            draft.merge(edge.target, owner)
        elif is_old or is_twice or is_loose:
            draft.change((edge, None))
        elif is_other and not view.is_in(edge.source + edge.target - other, inside) and not draft.change((edge, None)):
            if edge.target == other and edge.source != owner:  # *has more pupils than any other school*
                draft.change((edge, edge._replace(target=owner)))
        elif edge.target == quality and is_predicate and edge.source not in (node, owner):
            draft.change((edge, edge._replace(target=node)))
        elif edge[:2] == (quality, "polarity") and is_predicate:
            draft.change((edge, edge._replace(source=node)))


def _found(view: TreeView, words: _Words, sides: Collection[int], owner: int) -> list[int]:
    """Return the comparisons of the words, or beside their nodes, or with a verb for a quality."""
    draft, places = view.draft, {words.marker, words.quality, *view.dependents[words.other]}
    found = [i for i, label in enumerate(draft.labels) if label in _COMPARISONS and i not in draft.removed]
    beside = {i for i in found if draft.below(i).get("ARG2") == owner or not draft.neighbors(i).isdisjoint(sides)}
    return [i for i in found if draft.place(i) in places or i in beside]


def _degree(draft: Draft, node: int, marker: int, sides: Collection[int]) -> int:
    """Return the degree of a comparison, a new one where it has none but one of its sides, and remove others."""
    degrees = [edge.target for edge in draft.edges if edge[:2] == (node, "ARG3") and edge.target not in sides]
    degrees.sort(key=lambda one: draft.place(one) == marker and draft.labels[one] not in _DEGREES)
    at_word = [node for node, places in enumerate(draft.alignments) if places[:1] == (marker,)]
    degrees += [one for one in at_word if draft.labels[one] in _DEGREES and one not in (*degrees, *draft.removed)]
    label = {"as": "equal", "less": "less"}.get(draft.forms[marker], "more")
    degree, *others = degrees or [draft.new_node(label, False, node)]
    if draft.labels[degree] in _DEGREES or draft.place(degree) == marker:
        draft.labels[degree] = label
    draft.removed.update(one for one in others if draft.neighbors(one) <= {node})
    return degree


def _another(view: TreeView, word: int, owner: int) -> int:
    """Return a new node like the first side for *one* of the second side, which gets what belongs to it."""
    draft = view.draft
    node, inside = draft.new_node(draft.labels[owner], False, owner), view.subtree(word)
    for source, role, target in [edge for edge in draft.edges if owner in edge[::2]]:
        if view.word(source + target - owner) in inside:
            moved = Edge(node, role, target) if source == owner else Edge(source, role, node)
            draft.replace_edge(Edge(source, role, target), moved)
    return node

"""Comparisons: *wider than the canal*, *the smartest girl*, *the more you read, the more you learn*."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from transition_parser.graphs.amr import CONJUNCTIONS, Edge
from transition_parser.parsing.edits.draft import Draft
from transition_parser.parsing.edits.tree_view import TreeView

_DEGREES = ("more", "less", "most", "least", "equal", "more-than", "less-than", "than")
_COMPARISONS = ("have-degree-91", "have-quant-91")
_AMOUNTS = ("more", "less", "fewer", "many", "much", "few", "little")
_AUXILIARIES = ("am", "are", "did", "do", "does", "is", "was", "were")
_SECONDS = {"than", "as"}
_OWNERS = {"mine": "i", "yours": "you", "hers": "she", "ours": "we", "theirs": "they"}


def may_compare(draft: Draft) -> bool:
    """Return True for a sentence with *than* or *as*, which begin the second side of a comparison."""
    return not _SECONDS.isdisjoint(draft.forms)


def mend_comparisons(draft: Draft) -> None:
    """Give comparisons before *than* and *as* their degrees, qualities and sides, and superlatives theirs.

    *Colder and colder* is more and more cold, and *the more …, the more …* one correlation.
    """
    forms = draft.forms
    for place, form in enumerate(forms[:-1]):
        lemma = draft.words[place].lemma
        if form.endswith("est") and form != lemma and form.startswith(lemma[:-1]):
            _superlative(draft, place)
        elif forms[place + 1 : place + 3] == ["and", form] and _is_comparative(draft, place):
            _increase(draft, place, place + 3 + (form in _AMOUNTS))  # *more and more expensive*
    if draft.tree is not None and may_compare(draft):
        view = TreeView(draft, draft.tree)
        for place, form in enumerate(forms):
            if form in _SECONDS and "soon" not in forms[place - 1 : place + 2]:
                _compare(view, place)
    first, second = [*draft.nodes_of("correlate-91"), -1, -1][:2]
    roles = {role for role, target in draft.below(second).items() if target != first}
    if second >= 0 and roles.isdisjoint(draft.below(first)):
        draft.merge(second, first)  # *the more you practice, the better you play*


def _is_comparative(draft: Draft, place: int) -> bool:
    """Return True for *faster*, *worse* or *more*, not for *weather*."""
    form = draft.forms[place]
    return form in ("more", "less", "worse") or (form.endswith("er") and form != draft.words[place].lemma)


def _superlative(draft: Draft, place: int) -> None:
    """Give a superlative that has none the degree `most`: *the smartest girl*."""
    for quality in draft.at(place):
        noun = _owner(draft, quality)
        around = {*draft.around(quality).values()}
        if noun not in {-1, *draft.constants} and around.isdisjoint((*_DEGREES, *_COMPARISONS)):
            _grade(draft, noun, quality, draft.new_node("most", False, quality))
            draft.replace_edge(Edge(noun, "mod", quality))


def _owner(draft: Draft, quality: int) -> int:
    """Return what has a quality, -1 for nothing."""
    nouns = [edge.source for edge in draft.edges if edge[1:] == ("mod", quality)]
    return draft.below(quality).get("ARG1", next(iter(nouns), -1))


def _increase(draft: Draft, place: int, end: int) -> None:
    """Make *colder and colder* one quality, whose degree is *more and more*; *less and less* is that."""
    inside = draft.inside(place, end)
    qualities = [node for node in inside if draft.labels[node] not in (*CONJUNCTIONS, *_DEGREES, *_COMPARISONS)]
    members = {edge.target for node in inside for edge in draft.members(node)}
    is_amount = draft.forms[place] in _AMOUNTS and all(_owner(draft, one) < 0 for one in qualities)
    if not qualities or not members <= inside or not draft.constants.isdisjoint(inside) or is_amount:
        return  # *more and more people* has no quality
    graded = {node for node in inside if draft.labels[node] in _COMPARISONS}
    draft.remove_edges(lambda edge: edge.source in graded)
    draft.removed |= {node for node in inside if draft.labels[node] in _DEGREES}
    quality = min(qualities, key=lambda node: "ARG1" not in draft.below(node))
    for node in inside - draft.removed - {quality}:
        draft.merge(node, quality)
    degree = draft.new_node("and", False, quality)
    for role in ("op1", "op2"):
        draft.add_below(degree, role, "less" if draft.forms[place] == "less" else "more")
    _grade(draft, _owner(draft, quality), quality, degree)


def _grade(draft: Draft, owner: int, quality: int, degree: int) -> None:
    """Add the degree of a quality to what has it; -1 for nothing."""
    node = draft.new_node("have-degree-91", False, quality)
    for role, side in (("ARG1", owner), ("ARG2", quality), ("ARG3", degree)):
        if side >= 0:
            draft.add_edge(node, role, side)


def _quality(draft: Draft, nodes: Sequence[int]) -> int:
    """Return the first node that is no degree and no comparison, -1 for none."""
    return next((one for one in nodes if draft.labels[one] not in (*_DEGREES, *_COMPARISONS)), -1)


def _compare(view: TreeView, place: int) -> None:
    """Find the words of the comparison before *than* or a second *as*, and compare their nodes.

    A comparison that has its degree and both sides stays as search found it.
    """
    forms, is_as = view.draft.forms, view.draft.forms[place] == "as"
    markers = [one for one in range(place) if (forms[one] == "as" if is_as else _is_comparative(view.draft, one))]
    if not markers or view.relations[place] not in ("case", "mark"):
        return
    marker, head, second = markers[-1], view.heads[markers[-1]], view.heads[place]
    is_beside = marker < head < place and (is_as or forms[marker] in _AMOUNTS)  # *more careful*, not *sleeps more*
    word = head if is_beside else marker
    amount = word if forms[word] in _AMOUNTS else marker
    is_amount = forms[amount] in _AMOUNTS and (amount == word or view.relations[amount] == "amod")
    word = amount if is_amount else word
    clause = view.dependent(word, "csubj")  # *it is cheaper to rent than to buy*
    if is_amount or view.relations[word] in ("advmod", "amod"):
        first = view.heads[word]
    else:
        first = clause if clause >= 0 else view.subject(word)
    if forms[second] in _AUXILIARIES:  # *than his wife does*
        second = view.dependent(second, "nsubj")
    if min(first, second) < 0:
        return
    if (sides := _sides(view, {marker, word}, second)) is None:
        _relate(view, marker, word, first, second)
    else:
        _divide(view, *sides, view.subtree(second))


def _sides(view: TreeView, words: Collection[int], second: int) -> tuple[int, int] | None:
    """Return the sides of the comparison of some words for which search has a degree and both sides, None for none."""
    draft, after = view.draft, view.subtree(second)
    for below in [draft.below(node) for label in _COMPARISONS for node in draft.nodes_of(label)]:
        is_whole = below.keys() >= {"ARG1", "ARG3", "ARG4"}
        if is_whole and (draft.place(below["ARG3"]) in words or view.is_in(below["ARG4"], after)):
            return below["ARG1"], below["ARG4"]
    return None


def _divide(view: TreeView, first: int, second: int, after: Collection[int]) -> None:
    """Take the modifiers of the second side from the first: *this soup is not as hot as the last one*."""
    for edge in [edge for edge in view.draft.edges if edge[:2] == (first, "mod")]:
        if edge._replace(source=second) in view.draft.edges and view.word(edge.target) in after:
            view.draft.change((edge, None))


def _relate(view: TreeView, marker: int, word: int, first: int, second: int) -> None:
    """Give a comparison one node, which has its degree, its quality and its sides; old edges between them go."""
    draft = view.draft
    owner, other = (draft.frames.get(one, view.argument(one)) for one in (first, second))
    quality = _quality(draft, view.nodes[word])
    if owner < 0 or len({owner, other, quality}) < 3:
        return
    node = draft.new_node(_COMPARISONS[draft.forms[word] in _AMOUNTS], False, quality if quality >= 0 else owner)
    places = (marker, *view.dependents[second])
    for known in [known for label in _COMPARISONS for known in draft.nodes_of(label) if known != node]:
        near = draft.neighbors(known) & {quality, other}
        if near or draft.place(known) in places or draft.below(known).get("ARG2") == owner:
            draft.merge(known, node)
    below = draft.below(node)
    if label := _OWNERS.get(draft.forms[second]):  # *as good as mine*
        owners = draft.nodes_of(label)
        other = _another(view, second, owner)
        draft.add_edge(other, "poss", owners[0] if owners else draft.new_node(label, False))
    elif other < 0:
        other, is_one = below.get("ARG4", owner), draft.forms[second] in ("one", "ones")
        if other == owner or (is_one and draft.labels[other] != draft.labels[owner]):
            other = _another(view, second, owner)
    degree = _degree(draft, node, marker, {owner, quality, other})
    sides = {"ARG1": owner, "ARG2": quality, "ARG3": degree, "ARG4": other}
    new = [Edge(node, role, side) for role, side in sides.items() if side >= 0]
    old, inside = [*draft.edges], view.subtree(second)
    for edge in new:
        if edge not in old:
            draft.add_edge(*edge)
    is_predicate = view.dependent(word, "nsubj", "csubj") >= 0
    if is_predicate and draft.top in sides.values():
        draft.top = node
    for edge in old:
        source, role, target = edge
        ends = {source, target}
        is_between = ends <= {*sides.values()} and role[:3] != "ARG"
        if source == node:
            is_between = role in sides or target in sides.values()
        elif target == degree:
            is_between = True
        is_outside = source == node and target not in sides.values()
        if is_outside and draft.labels[target] == draft.labels[owner]:
            draft.replace_edge(edge)
            draft.merge(target, owner)
        elif is_between and edge not in new:
            role = "ord" if draft.labels[target] == "ordinal-entity" else "mod"
            if not draft.change((edge, None)) and edge[:2] == (node, "ARG4"):
                draft.change((edge, Edge(other, role, target)))  # *the first one*
        elif other in ends and node not in ends and not view.is_in(source + target - other, inside):
            is_free = target == other and source != owner and owner not in draft.neighbors(source)
            moved = edge._replace(target=owner) if is_free else None
            if not draft.change((edge, moved)) and target == other:  # *has more pupils than any other school*
                draft.change((edge, edge._replace(target=owner)))
        elif target == quality and is_predicate and source not in (node, owner):
            draft.change((edge, edge._replace(target=node)))
        elif edge[:2] == (quality, "polarity"):
            draft.change((edge, edge._replace(source=node)))


def _degree(draft: Draft, node: int, marker: int, sides: Collection[int]) -> int:
    """Return the degree of a comparison, a new one where it has none but one of its sides."""
    is_fewer = draft.forms[marker] == "fewer" and not any(draft.labels[side] == "few" for side in sides if side >= 0)
    label = "less" if is_fewer else {"as": "equal", "less": "less"}.get(draft.forms[marker], "more")
    degree = draft.below(node).get("ARG3", node)
    if degree in {node, *sides}:
        degree = draft.new_node(label, False, node)
    if draft.labels[degree] in _DEGREES or draft.place(degree) == marker:
        draft.labels[degree] = label
    others = {one for one in draft.inside(marker, marker + 1) - {degree} if draft.labels[one] in _DEGREES}
    draft.remove_edges(lambda edge: edge.source == node and edge.target in others)
    for one in others:
        draft.merge(one, degree)
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

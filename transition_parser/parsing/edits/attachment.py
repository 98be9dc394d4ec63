"""Lists, modifiers and clauses go where the dependency tree of the sentence has them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from transition_parser.graphs.amr import CONJUNCTIONS, Edge
from transition_parser.parsing.edits.draft import Draft
from transition_parser.parsing.edits.pronouns import PRONOUNS, SEPARATORS
from transition_parser.parsing.edits.tree_view import TreeView
from transition_parser.text import word_list

_TIMES = frozenset("time duration frequency purpose cause condition concession manner".split())
_PLACES = frozenset(
    "location source destination path direction topic accompanier beneficiary instrument medium part poss".split()
)
_PLACING = frozenset(word_list("edits: placing"))
_MODIFYING = ("obl", "advcl", "advmod", "nmod", "acl")
_STATEMENT, _QUESTION = (6, 2), (10, 3)  # the least words and frames of sentences with clauses


def has_clauses(draft: Draft) -> bool:
    """Return True for a sentence that probably has several clauses, or a clause with several modifiers."""
    words, frames = _QUESTION if "amr-unknown" in draft.labels else _STATEMENT
    frames -= "if" in draft.forms or "unless" in draft.forms  # *if I were you , I would go*
    return len(draft.words) >= words and sum(map(draft.is_frame, range(len(draft.labels)))) >= frames


def attach(draft: Draft) -> None:
    """Give lists their members, modifiers and clauses their heads, and take owners from what they do not own."""
    if draft.tree is not None:
        view = TreeView(draft, draft.tree)
        for node, role, words in _lists(view):
            _mend_members(view, node, role, words)
        for word, relation in enumerate(view.relations):
            if relation in _MODIFYING and view.node(word) >= 0:
                _mend_modifier(view, word)
        _mend_owners(view)


def _lists(view: TreeView) -> Iterator[tuple[int, str, Sequence[int]]]:
    """Yield the lists of the graph whose conjunctions join words in the tree, the role of members, and these words."""
    for conjunction, relation in enumerate(view.relations):
        second = view.heads[conjunction]
        lists = [node for node in view.nodes[conjunction] if view.is_list(node)]
        first = view.heads[second] if second >= 0 and view.relations[second] == "conj" else -1
        # of *the wallet that he dropped and ran* trees know no better
        if relation == "cc" and first >= 0 and view.relations[first] != "acl" and len(lists) == 1:
            others = [word for word in view.dependents[first] if view.relations[word] == "conj"]
            is_contrast = view.draft.labels[lists[0]] == "contrast-01"
            yield (lists[0], "ARG", [first, second]) if is_contrast else (lists[0], "op", [first, *others])


def _mend_members(view: TreeView, node: int, role: str, words: Sequence[int]) -> None:
    """Put the words that a conjunction joins in the place of words below them, and add those that are missing."""
    draft = view.draft
    units = {word: view.unit(word) - {node} for word in words}
    free = [word for word in words if units[word].isdisjoint(edge.target for edge in draft.members(node, role))]
    for edge in [one for one in draft.members(node, role) if all(one.target not in unit for unit in units.values())]:
        place = view.word(edge.target)
        word = next((one for one in view.ancestors(place) if one in words), -1) if place >= 0 else -1
        other = view.node(word) if word in free else -1
        below = draft.below(edge.target)
        if other >= 0 and other in (below.get("mod"), below.get("quant")):  # *any of her allies*
            free.remove(word)
        elif other >= 0 and draft.is_frame(other) == draft.is_frame(edge.target):
            above = [one for one in draft.edges if (one.source, one.target) == (other, node)]
            moved = [(one, one._replace(target=edge.target)) for one in above]
            if draft.change((edge, edge._replace(target=other)), *moved):
                free.remove(word)
    kinds = {draft.is_frame(edge.target) for edge in draft.members(node, role)}
    inside = set().union(*units.values())  # of these no verb is an object: *melt it , add flour and stir*
    of_others = [edge for edge in draft.edges if not (edge.source in inside and draft.is_frame(edge.target))]
    objects = {edge.target for edge in of_others if edge.role == "ARG1"}
    listed = objects | {edge.target for edge in draft.edges if view.is_list(edge.source)}
    for word in free if role == "op" else ():
        if (other := view.node(word)) >= 0 and other not in {node, *listed} and kinds == {draft.is_frame(other)}:
            for edge in [edge for edge in draft.edges if edge[::2] == (other, node)]:
                draft.replace_edge(edge)
            draft.add_edge(node, role, other)
    in_order = sorted(draft.members(node, role), key=lambda edge: draft.place(edge.target))
    for number, edge in enumerate(in_order if free and role == "op" else (), 1):
        draft.set_role(edge, f"op{number}")


def _mend_owners(view: TreeView) -> None:
    """Take what nobody says that somebody owns from its owner."""
    for edge in [edge for edge in view.draft.edges if edge.role == "poss"]:
        owned, owner = view.word(edge.source), view.word(edge.target)
        if min(owned, owner) >= 0 and not _may_own(view, owned, owner):
            view.draft.change((edge, None))


def _may_own(view: TreeView, owned: int, owner: int) -> bool:
    """Return True where the tree relates a thing with its owner, or somebody owns the thing: *his*."""
    first = owned
    while view.relations[first] == "conj":
        first = view.heads[first]
    is_owned = any(view.relations[one] in ("nmod", "det") and view.full[one] != "det" for one in view.dependents[first])
    return is_owned or owner in view.subtree(owned) or view.heads[owned] == owner


def _mend_modifier(view: TreeView, word: int) -> None:
    """Move a modifier or a clause to its head in the tree from words that it does not belong to."""
    draft, head = view.draft, view.head(word)
    if head < 0:
        return
    unit, above, owner = view.unit(word), view.unit(head), draft.frames.get(head, view.node(head))
    is_owner = draft.is_frame(owner) or view.is_list(owner) or view.relations[word] in ("nmod", "acl")
    if unit & above or owner in unit or not is_owner:
        return
    is_linked = any(
        (edge.source in unit and edge.target in above) or (edge.target in unit and edge.source in above)
        for edge in draft.edges
    )
    for edge, new in [*_strays(view, word, unit, owner, is_linked)]:
        is_sure = is_linked or draft.is_frame(owner) or edge.role != "time" or not draft.is_frame(edge.source)
        if is_sure and edge.source not in above and edge.target not in above:
            done = draft.change((edge, None if is_linked else new))
            is_linked = is_linked or done


def _strays(view: TreeView, word: int, unit: set[int], owner: int, is_linked: bool) -> Iterator[tuple[Edge, Edge]]:
    """Yield edges between a modifier and words that are not below it, with the edges to its head in their places."""
    draft, inside, upper = view.draft, view.subtree(word), {*view.ancestors(word)}
    for edge in draft.edges:
        if (edge.source in unit) == (edge.target in unit) or draft.labels[edge.target] in PRONOUNS:
            continue
        is_below = edge.target in unit
        other = view.word(edge.source if is_below else edge.target)
        if other < 0 or other in inside:
            continue
        # a place of two verbs is of its own; in *strikes in schools* trees know no better
        is_again = is_linked and view.relations[word] == "obl"
        is_far = is_again or (other not in upper and other != min(inside) - 1)
        if is_below and (edge.role in _TIMES or (edge.role in _PLACES and is_far)):
            yield edge, edge._replace(source=owner)
        elif edge.source == view.node(word) and edge.role in _PLACES and is_far:
            if draft.forms[min(inside)] in _PLACING:
                yield edge, Edge(owner, "location", edge.source)
        elif (draft.labels[edge.source], edge.role) == ("cause-01", "ARG1") and view.word(edge.source) != word:
            yield edge, edge._replace(target=owner)


def share_objects(draft: Draft) -> None:
    """Give the object of the last two verbs of a list to those before them: *designs , builds and sells buses*."""
    for conjunction in [node for label in CONJUNCTIONS for node in draft.nodes_of(label)]:
        verbs = sorted({edge.target for edge in draft.members(conjunction)}, key=draft.place)
        between = {form for one, other in pairwise(map(draft.place, verbs)) for form in draft.forms[one + 1 : other]}
        *others, last = [draft.below(verb).get("ARG1") for verb in verbs] or [None]
        if last is not None and others[-1:] == [last] and between.issubset(SEPARATORS):
            for verb, own in zip(verbs, others, strict=False):
                if own is None and 1 in draft.core_roles(verb):
                    draft.add_edge(verb, "ARG1", last)

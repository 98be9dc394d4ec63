"""Lists, clauses, modifiers and arguments go where the dependency tree of the sentence has them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from transition_parser.graphs.amr import CONJUNCTIONS, Edge
from transition_parser.parsing.edits.clauses import is_asking
from transition_parser.parsing.edits.draft import Draft
from transition_parser.parsing.edits.pronouns import SEPARATORS, SUBJECTS
from transition_parser.parsing.edits.tree_view import ROLES, SERVING, TreeView
from transition_parser.text import word_list

_TIMES = frozenset("time duration frequency purpose cause condition concession manner".split())
_PLACES = frozenset(
    "location source destination path direction topic accompanier beneficiary instrument medium part poss".split()
)
_PLACING = frozenset(word_list("edits: placing"))
_MODIFYING = ("obl", "advcl", "advmod", "nmod", "acl")
_MARKS = (
    {"if": "condition", "although": "concession", "though": "concession"}
    | dict.fromkeys(("when", "while", "after", "before", "until"), "time")
    | {"by": "manner", "without": "manner"}
)
_LINKS = _MARKS | {"to": "purpose", "so": "purpose", "unless": "condition"}
_PRONOUNS = frozenset(SUBJECTS.values())
_LOOSE = ("parataxis", "discourse")  # relations of clauses that may be the top beside the root


_STATEMENT, _QUESTION = (6, 2), (10, 3)  # the least words and frames of sentences with clauses


def has_clauses(draft: Draft) -> bool:
    """Return True for a sentence that probably has several clauses, or a clause with several modifiers."""
    words, frames = _QUESTION if "amr-unknown" in draft.labels else _STATEMENT
    frames -= "if" in draft.forms or "unless" in draft.forms  # *if I were you , I would go*
    return len(draft.words) >= words and sum(map(draft.is_frame, range(len(draft.labels)))) >= frames


def attach(draft: Draft) -> None:
    """Give lists their members and heads, modifiers and clauses their heads, and the graph its top."""
    if draft.tree is not None:
        view = TreeView(draft, draft.tree)
        for node, role, words in _lists(view):
            _mend_members(view, node, role, words)
            _mend_heads(view, node, role, words[0])
        _mend_whose(view)
        _mend_where(view)
        for word, relation in enumerate(view.relations):
            if relation in _MODIFYING and view.node(word) >= 0:
                _mend_modifier(view, word)
        _mend_owners(view)
        _mend_superlatives(view)
        _mend_top(view)


def _lists(view: TreeView) -> Iterator[tuple[int, str, Sequence[int]]]:
    """Yield the lists of the graph whose conjunctions join words in the tree, the role of members, and these words."""
    for conjunction, relation in enumerate(view.relations):
        second = view.heads[conjunction]
        lists = [node for node in view.nodes[conjunction] if view.is_list(node)]
        if relation == "cc" and second >= 0 and view.relations[second] == "conj" and len(lists) == 1:
            first = view.heads[second]
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


def _mend_heads(view: TreeView, node: int, role: str, first: int) -> None:
    """Give a list the relations of its members to the word above it."""
    if (head := view.head(first)) >= 0 and view.relations[first] not in ("conj", *_LOOSE):
        members = {edge.target for edge in view.draft.members(node, role)}
        marks = {one for word in view.dependents[first] if view.relations[word] == "mark" for one in view.nodes[word]}
        above = {one for one in (view.unit(head) | marks) - {node} - members if not view.is_list(one)}
        for edge in [edge for edge in view.draft.edges if edge.source in above and edge.target in members]:
            view.draft.change((edge, edge._replace(target=node)))


def _mend_whose(view: TreeView) -> None:
    """Give what *whose* names its owner: *the farmer whose cows had been stolen*."""
    draft = view.draft
    for place in [place for place, form in enumerate(draft.forms) if form == "whose" and view.heads[place] >= 0]:
        noun = view.heads[place]
        clause = next((one for one in (noun, *view.ancestors(noun)) if view.full[one] == "acl:relcl"), -1)
        owned, owner = view.node(noun), view.argument(view.heads[clause]) if clause >= 0 else -1
        if min(owned, owner) < 0 or clause < 0:
            continue
        if owner not in draft.neighbors(owned):
            draft.add_edge(owned, "poss", owner)
            unit, inside = view.unit(clause), view.subtree(clause)
            for edge in [edge for edge in draft.edges if edge.target in unit and view.word(edge.source) not in inside]:
                draft.change((edge, None))
        verb = draft.frames.get(clause, -1)
        for edge in [edge for edge in draft.edges if edge[::2] == (verb, owner)]:
            is_there = owned in draft.below(verb).values()
            draft.change((edge, None if is_there else edge._replace(target=owned)))  # *whose flights were canceled*


def _mend_where(view: TreeView) -> None:
    """Make a noun the place of the relative clause after it: *the town where he was born*."""
    draft = view.draft
    for place in [place for place, form in enumerate(draft.forms) if form == "where"]:
        clause = view.heads[place]
        if clause < 0 or view.full[clause] != "acl:relcl":
            continue
        unit, inside, noun = view.unit(clause), view.subtree(clause), view.argument(view.heads[clause])
        verb = view.highest(unit)
        if min(noun, verb) >= 0 and draft.neighbors(noun).isdisjoint(unit) and noun not in unit:
            draft.add_edge(verb, "location", noun)
            for edge in [edge for edge in draft.edges if draft.is_frame(edge.target) and noun not in edge[::2]]:
                is_outside = view.word(edge.source) not in inside
                is_back = edge.source in unit and edge.role in _TIMES and view.word(edge.target) not in inside
                if is_back or (is_outside and view.word(edge.target) in inside):
                    draft.change((edge, None))


def _mend_superlatives(view: TreeView) -> None:
    """Give a superlative the noun that it modifies, of what is around it: *the country's largest bank*."""
    draft = view.draft
    for degree in draft.nodes_of("have-degree-91"):
        below = draft.below(degree)
        noun, around = below.get("ARG5", -1), below.get("ARG1", -1)
        head = view.heads[view.word(below.get("ARG2", degree))]
        is_inside = min(head, around) >= 0 and noun in view.nodes[head] and view.word(around) in view.subtree(head)
        if is_inside and around not in view.nodes[head]:
            draft.set_role(Edge(degree, "ARG5", noun), "ARG1")
            draft.set_role(Edge(degree, "ARG1", around), "ARG5")


def _mend_owners(view: TreeView) -> None:
    """Take what nobody says that somebody owns from its owner; *his* gives the owner another thing."""
    for edge in [edge for edge in view.draft.edges if edge.role == "poss"]:
        owned, owner, others = view.word(edge.source), view.word(edge.target), [*_unowned(view, edge)]
        if min(owned, owner) >= 0 and not _may_own(view, owned, owner):
            view.draft.change((edge, edge._replace(source=others[0]) if len(others) == 1 else None))


def _may_own(view: TreeView, owned: int, owner: int) -> bool:
    """Return True where the tree relates a thing with its owner, or somebody owns the thing: *his*."""
    first = owned
    while view.relations[first] == "conj":
        first = view.heads[first]
    is_owned = any(view.relations[one] in ("nmod", "det") and view.full[one] != "det" for one in view.dependents[first])
    return is_owned or owner in view.subtree(owned) or view.heads[owned] == owner


def _unowned(view: TreeView, edge: Edge) -> Iterator[int]:
    """Yield the nodes of the words with a possessive pronoun without a node, and no owner."""
    draft = view.draft
    for word, relation in enumerate(view.full):
        noun = view.node(view.heads[word])
        is_free = word not in draft.aligned or word == view.word(edge.target)
        if relation == "nmod:poss" and is_free and noun >= 0:
            is_relation = any(draft.labels[one] in ROLES for one in view.nodes[view.heads[word]])
            if not is_relation and edge.target not in draft.neighbors(noun) and "poss" not in draft.below(noun):
                yield noun


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
    if view.relations[word] == "advcl":
        _mend_clause(view, word, unit, above, owner)
        if not is_linked:
            _link_clause(view, word, unit)


def _strays(view: TreeView, word: int, unit: set[int], owner: int, is_linked: bool) -> Iterator[tuple[Edge, Edge]]:
    """Yield edges between a modifier and words that are not below it, with the edges to its head in their places."""
    draft, inside, upper = view.draft, view.subtree(word), {*view.ancestors(word)}
    for edge in draft.edges:
        if (edge.source in unit) == (edge.target in unit) or draft.labels[edge.target] in _PRONOUNS:
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


def _mend_clause(view: TreeView, word: int, unit: set[int], above: set[int], owner: int) -> None:
    """Give a clause the role that its conjunction says: *although*, *if*, *while*, *so that*."""
    mark, forms = view.mark(word), view.draft.forms
    form = forms[mark] if mark >= 0 else "by" if forms[word].endswith("ing") else ""  # *he left , saying nothing*
    role = "purpose" if (form, forms[mark + 1]) == ("so", "that") else _MARKS.get(form)
    if (form, forms[mark - 1]) == ("if", "even"):
        role = "concession"
    if form == "to" and word < view.head(word):  # *to stop it , press the button*
        for edge in [edge for edge in view.draft.edges if edge.source in unit and edge.target in above]:
            view.draft.change((edge, Edge(owner, "purpose", edge.source)))
    if role is None or any(view.draft.labels[node] == "truth-value" for node in unit):
        return
    others = {"purpose"} if role == "manner" else _TIMES - {"time", "condition"} if role == "time" else _TIMES - {role}
    if role == "condition" and not is_asking(view.draft, owner):
        others |= {"ARG1", "ARG2", "ARG3"}  # *helped you if you had asked*
    elif mark >= 0 and form == "by":
        others |= {"ARG0", "ARG1", "ARG2", "ARG3"}  # *made by boiling it*
    elif form == "so":
        others |= _PLACES
    for edge in [*view.draft.edges]:
        if edge.source in above and edge.target in unit and edge.role in others:
            view.draft.change((edge, edge._replace(role=role)))
        elif edge.source in unit and edge.target in above and edge.role in (_TIMES | others):
            source = edge.target if view.draft.is_frame(edge.target) else owner
            view.draft.change((edge, Edge(source, role, edge.source)))


def _link_clause(view: TreeView, word: int, unit: set[int]) -> None:
    """Give a clause without an edge to the verb above it the role that its conjunction says."""
    draft, mark, head = view.draft, view.mark(word), view.head(word)
    role = _LINKS.get(draft.forms[mark]) if mark >= 0 else None
    role = "concession" if draft.forms[mark - 1] == "even" else role
    while view.relations[head] == "xcomp" and role != "purpose" and view.nodes[view.heads[head]]:
        head = view.heads[head]  # *helped you move it if you asked*
    owner, clause = draft.frames.get(head, -1), view.highest(unit)
    if clause < 0 and view.dependent(word, "cop") >= 0:  # *if I were you*
        clause = view.node(word)
    if role is None or owner < 0 or clause < 0:
        return
    for edge in [edge for edge in draft.edges if edge.target == clause and edge.role == "ARG0"]:
        draft.change((edge, Edge(owner, role, clause)))  # an agent is no clause
    is_free = not any(edge.target == clause and edge.role[:3] == "ARG" for edge in draft.edges)
    if is_free and clause not in draft.below(owner).values():
        draft.add_edge(owner, role, clause)


def _mend_top(view: TreeView) -> None:
    """Make the root of the tree, or the list that it begins, the top, unless the top is beside the root."""
    draft, root = view.draft, view.heads.index(-1)
    new, top = view.argument(root), view.word(draft.top)
    if view.is_list(draft.top) and top >= 0 and view.relations[top] == "cc":
        top = view.heads[view.heads[top]]
    is_member = new >= 0 and view.is_list(new) and any(edge[::2] == (new, draft.top) for edge in draft.edges)
    is_other = top >= 0 and draft.top not in view.unit(root) and view.relations[top] not in (*SERVING, *_LOOSE)
    is_above = new in draft.below(draft.top).values() and view.relations[top] == "nsubj"  # no subject: *Turn left*
    if is_member or (is_other and not is_above and new >= 0 and (draft.is_frame(new) or view.is_list(new))):
        draft.top = new


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

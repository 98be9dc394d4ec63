"""Lists, clauses, modifiers and arguments go where the dependency tree of the sentence has them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from transition_parser.graphs.amr import Edge
from transition_parser.parsing.edits.draft import Draft
from transition_parser.parsing.edits.pronouns import SUBJECTS
from transition_parser.parsing.edits.tree_view import SERVING, TreeView
from transition_parser.text import word_list

_TIMES = frozenset("time duration frequency purpose cause condition concession manner".split())
_PLACES = frozenset(
    "location source destination path direction topic accompanier beneficiary instrument medium part poss".split()
)
_PLACING = frozenset(word_list("edits: placing"))
_MODIFYING = ("obl", "advcl", "advmod", "nmod", "acl")
_MARKS = {"if": "condition", "although": "concession", "though": "concession"} | dict.fromkeys(
    ("when", "while", "after", "before", "until"), "time"
)
_PRONOUNS = frozenset(SUBJECTS.values())
_REFERRING = _PRONOUNS - {"i", "we", "you"} | {"him", "her", "them", "who", "which", "that", "whom", "whose"}
_LOOSE = ("parataxis", "discourse")  # relations of clauses that may be the top beside the root


def attach(draft: Draft) -> None:
    """Give lists their members and heads, modifiers and clauses their heads, and the graph its top."""
    if draft.tree is not None:
        view = TreeView(draft, draft.tree)
        for node, role, words in _lists(view):
            _mend_members(view, node, role, words)
            _mend_heads(view, node, role, words[0])
        _mend_whose(view)
        for word, relation in enumerate(view.relations):
            if relation in _MODIFYING and view.node(word) >= 0:
                _mend_modifier(view, word)
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


def _members(view: TreeView, node: int, role: str) -> list[Edge]:
    return [edge for edge in view.draft.edges if edge.source == node and edge.role.startswith(role)]


def _mend_members(view: TreeView, node: int, role: str, words: Sequence[int]) -> None:
    """Put the words that a conjunction joins in the place of words below them, and add those that are missing."""
    draft = view.draft
    units = {word: view.unit(word) - {node} for word in words}
    free = [word for word in words if units[word].isdisjoint(edge.target for edge in _members(view, node, role))]
    for edge in [one for one in _members(view, node, role) if all(one.target not in unit for unit in units.values())]:
        place = view.word(edge.target)
        word = next((one for one in view.ancestors(place) if one in words), -1) if place >= 0 else -1
        other = view.node(word) if word in free else -1
        if other >= 0 and view.is_frame(other) == view.is_frame(edge.target):
            above = [one for one in draft.edges if (one.source, one.target) == (other, node)]
            moved = [(one, one._replace(target=edge.target)) for one in above]
            if view.change((edge, edge._replace(target=other)), *moved):
                free.remove(word)
    kinds = {view.is_frame(edge.target) for edge in _members(view, node, role)}
    listed = {edge.target for edge in draft.edges if view.is_list(edge.source)}
    for word in free if role == "op" else ():
        if (other := view.node(word)) >= 0 and other not in {node, *listed} and kinds == {view.is_frame(other)}:
            draft.add_edge(node, role, other)
    in_order = sorted(_members(view, node, role), key=lambda edge: draft.place(edge.target))
    for number, edge in enumerate(in_order if free and role == "op" else (), 1):
        draft.edges[draft.edges.index(edge)] = edge._replace(role=f"op{number}")


def _mend_heads(view: TreeView, node: int, role: str, first: int) -> None:
    """Give a list the relations of its members to the word above it."""
    if (head := view.head(first)) >= 0 and view.relations[first] not in ("conj", *_LOOSE):
        members = {edge.target for edge in _members(view, node, role)}
        marks = {one for word in view.dependents[first] if view.relations[word] == "mark" for one in view.nodes[word]}
        above = {one for one in (view.unit(head) | marks) - {node} - members if not view.is_list(one)}
        for edge in [edge for edge in view.draft.edges if edge.source in above and edge.target in members]:
            view.change((edge, edge._replace(target=node)))


def _mend_whose(view: TreeView) -> None:
    """Give what *whose* names its owner: *the farmer whose cows had been stolen*."""
    draft = view.draft
    for place in [place for place, form in enumerate(draft.forms) if form == "whose" and view.heads[place] >= 0]:
        noun = view.heads[place]
        clause = next((one for one in (noun, *view.ancestors(noun)) if view.full[one] == "acl:relcl"), -1)
        owned, owner = view.node(noun), view.argument(view.heads[clause]) if clause >= 0 else -1
        if min(owned, owner) >= 0 and owner not in draft.neighbors(owned):
            draft.add_edge(owned, "poss", owner)
            unit, inside = view.unit(clause), view.subtree(clause)
            for edge in [edge for edge in draft.edges if edge.target in unit and view.word(edge.source) not in inside]:
                view.change((edge, None))


def _mend_modifier(view: TreeView, word: int) -> None:
    """Move a modifier or a clause to its head in the tree from words that it does not belong to."""
    draft, head = view.draft, view.head(word)
    if head < 0:
        return
    unit, above, owner = view.unit(word), view.unit(head), draft.frames.get(head, view.node(head))
    is_owner = view.is_frame(owner) or view.is_list(owner) or view.relations[word] in ("nmod", "acl")
    if unit & above or owner in unit or not is_owner:
        return
    is_linked = any(
        (edge.source in unit and edge.target in above) or (edge.target in unit and edge.source in above)
        for edge in draft.edges
    )
    for edge, new in [*_strays(view, word, unit, owner)]:
        if edge.source not in above and edge.target not in above:
            done = view.change((edge, None if is_linked else new))
            is_linked = is_linked or done
    if view.relations[word] == "advcl":
        _mend_clause(view, word, unit, above)


def _strays(view: TreeView, word: int, unit: set[int], owner: int) -> Iterator[tuple[Edge, Edge]]:
    """Yield edges between a modifier and words that are not below it, with the edges to its head in their places."""
    draft, inside, upper = view.draft, view.subtree(word), {*view.ancestors(word)}
    for edge in draft.edges:
        if (edge.source in unit) == (edge.target in unit) or draft.labels[edge.target] in _PRONOUNS:
            continue
        is_below = edge.target in unit
        other = view.word(edge.source if is_below else edge.target)
        if other < 0 or other in inside:
            continue
        is_far = other not in upper and other != min(inside) - 1  # *strikes in schools*: trees know no better
        if is_below and (edge.role in _TIMES or (edge.role in _PLACES and is_far)):
            yield edge, edge._replace(source=owner)
        elif edge.source == view.node(word) and edge.role in _PLACES and is_far:
            if draft.forms[min(inside)] in _PLACING:
                yield edge, Edge(owner, "location", edge.source)
        elif (draft.labels[edge.source], edge.role) == ("cause-01", "ARG1") and view.word(edge.source) != word:
            yield edge, edge._replace(target=owner)


def _mend_clause(view: TreeView, word: int, unit: set[int], above: set[int]) -> None:
    """Give a clause the role that its conjunction says: *although*, *if*, *while*."""
    mark = view.dependent(word, "mark", "advmod")
    if (role := _MARKS.get(view.draft.forms[mark]) if mark >= 0 else None) is None:
        return
    others = _TIMES - {"time", "condition"} if role == "time" else _TIMES - {role}
    for edge in [*view.draft.edges]:
        if edge.source in above and edge.target in unit and edge.role in others:
            view.change((edge, edge._replace(role=role)))
        elif edge.source in unit and edge.target in above and edge.role in _TIMES:
            view.change((edge, Edge(edge.target, role, edge.source)))


def _mend_top(view: TreeView) -> None:
    """Make the root of the tree, or the list that it begins, the top, unless the top is beside the root."""
    draft, root = view.draft, view.heads.index(-1)
    new, top = view.argument(root), view.word(draft.top)
    if view.is_list(draft.top) and top >= 0 and view.relations[top] == "cc":
        top = view.heads[view.heads[top]]
    is_member = new >= 0 and view.is_list(new) and any(edge[::2] == (new, draft.top) for edge in draft.edges)
    is_other = top >= 0 and draft.top not in view.unit(root) and view.relations[top] not in (*SERVING, *_LOOSE)
    if is_member or (is_other and new >= 0 and (view.is_frame(new) or view.is_list(new))):
        draft.top = new


def add_arguments(draft: Draft) -> None:
    """Give verbs the subjects and objects that the tree has, in the places of words of other clauses."""
    if draft.tree is None:
        return
    view = TreeView(draft, draft.tree)
    for verb, frame in sorted(draft.frames.items()):
        if frame not in draft.removed and len(view.nodes[verb]) == 1:
            _remove_arguments(view, verb, frame)
            _mend_subject(view, verb, frame)
            _mend_object(view, verb, frame)


def _remove_arguments(view: TreeView, verb: int, frame: int) -> None:
    """Remove the agent of a passive that names none, and arguments of other verbs: *washed it and sold it to Ann*."""
    draft, inside, subject = view.draft, view.clause(verb), view.subject(verb)
    is_bare = view.is_passive(verb) and view.dependent(verb, "obl:agent") < 0 and 1 in draft.core_roles(frame)
    referring = [word for word in inside if draft.forms[word] in _REFERRING]
    for edge in [edge for edge in draft.edges if edge.source == frame and edge.role[:3] == "ARG"]:
        word = view.word(edge.target)
        if word == subject or view.is_in(edge.target, inside):
            continue
        other = view.heads[word] if word >= 0 and view.relations[word] in ("nsubj", "obj", "iobj", "obl") else -1
        is_others = other >= 0 and not draft.neighbors(edge.target).isdisjoint(view.unit(other) - {frame})
        joined = "conj" in (view.relations[other], view.relations[verb]) and view.relations[word] != "obl"
        may_refer = subject < 0 or joined or max(referring, default=-1) > word
        if (is_bare and edge.role == "ARG0") or (is_others and not may_refer):
            view.change((edge, None))


def _mend_subject(view: TreeView, verb: int, frame: int) -> None:
    draft, word, roles, below = view.draft, view.subject(verb), view.draft.core_roles(frame), view.draft.below(frame)
    role = "ARG1" if view.is_passive(verb) or 0 not in roles else "ARG0"
    if word < 0 or int(role[3]) not in roles:
        return
    subject, old, inside = _controller(view, verb, word), below.get(role, -1), view.subtree(verb)
    present = next((edge for edge in draft.edges if edge[::2] == (frame, subject)), None)
    if subject < 0:
        _mend_pronoun(view, word, Edge(frame, role, old))
    elif present is not None:
        _exchange(view, present, Edge(frame, role, old), verb)
    elif subject in view.unit(verb) or frame in {*view.unit(word), *draft.below(subject).values()}:
        return
    elif old < 0:
        if draft.labels[subject] not in {draft.labels[other] for other in below.values()}:
            draft.add_edge(frame, role, subject)
    else:
        is_part = view.dependent(verb, "nsubj") == word and view.is_in(old, view.subtree(word))  # *my landlord wants*
        is_said = draft.labels[old] in map(SUBJECTS.get, draft.forms)
        is_pronoun = draft.labels[old] in _PRONOUNS
        may_refer = is_said and is_pronoun and view.relations[verb] != "xcomp"
        if is_part or not ((may_refer and draft.labels[subject] not in _PRONOUNS) or view.is_in(old, inside)):
            if is_pronoun and not is_said and draft.neighbors(old) == {frame}:  # *you* of a false command
                draft.removed.add(old)
            view.change((Edge(frame, role, old), Edge(frame, role, subject)))
            if draft.labels[subject] != "you":
                draft.removed.update(node for node in (below.get("mode", frame),) if node in draft.constants)


def _controller(view: TreeView, verb: int, word: int) -> int:
    """Return the node of a subject; of a pronoun without a node that is asked (*told him to go*), who is asked."""
    node, above = view.argument(word), view.draft.frames.get(view.heads[verb], -1)
    if node < 0 and above >= 0 and view.relations[verb] == "xcomp" and view.heads[word] == view.heads[verb]:
        below = view.draft.below(above)
        others = [below[role] for role in ("ARG1", "ARG2") if role in below and not view.is_frame(below[role])]
        return others[0] if len(others) == 1 else -1
    return node


def _mend_pronoun(view: TreeView, word: int, edge: Edge) -> None:
    """Put a pronoun without a node in the place of another one: *it* is no *she*."""
    draft, label = view.draft, SUBJECTS.get(view.draft.forms[word])
    is_other = edge.target >= 0 and draft.labels[edge.target] in _PRONOUNS - {label}
    is_lost = word not in draft.aligned and edge.role == "ARG0"
    if label and is_lost and is_other and view.change((edge, None)):
        draft.add_edge(edge.source, edge.role, draft.new_node(label, False, edge.source))


def _exchange(view: TreeView, present: Edge, subject: Edge, verb: int) -> None:
    """Make an argument the subject that has another role, if the subject is the object, or of another clause."""
    draft, word = view.draft, view.dependent(verb, "obj")
    if subject.role != "ARG0" or present.role not in ("ARG1", "ARG2"):
        return
    if subject.target < 0:
        if word >= 0 and present.role == "ARG1":
            draft.replace_edge(present, subject._replace(target=present.target))
    elif word >= 0 and view.argument(word) == subject.target:
        places = draft.edges.index(present), draft.edges.index(subject)
        draft.edges[places[0]], draft.edges[places[1]] = (
            present._replace(role="ARG0"),
            subject._replace(role=present.role),
        )
    elif not view.is_in(subject.target, view.subtree(verb)):
        view.change((subject, None))


def _mend_object(view: TreeView, verb: int, frame: int) -> None:
    draft, word = view.draft, view.dependent(verb, "obj")
    node = view.argument(word) if word >= 0 else -1
    near, old = {frame, *draft.neighbors(frame)}, draft.below(frame).get("ARG1", -1)
    if node < 0 or 1 not in draft.core_roles(frame) or node in near:
        return
    if near.isdisjoint(view.unit(word)) and near.isdisjoint(one for w in view.subtree(word) for one in view.nodes[w]):
        if old < 0:
            draft.add_edge(frame, "ARG1", node)
        elif view.places(old) and not view.is_in(old, view.subtree(verb)):
            view.change((Edge(frame, "ARG1", old), Edge(frame, "ARG1", node)))

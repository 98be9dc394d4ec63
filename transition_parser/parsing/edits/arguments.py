"""Verbs get the subjects and objects that the dependency tree of the sentence has, in the places of others."""

from __future__ import annotations

from transition_parser.graphs.amr import Edge
from transition_parser.parsing.edits.draft import Draft
from transition_parser.parsing.edits.pronouns import SUBJECTS
from transition_parser.parsing.edits.tree_view import ROLES, TreeView
from transition_parser.text import word_list

_PRONOUNS = frozenset(SUBJECTS.values())
_MEN, _WOMEN, _OTHERS = (frozenset(word_list(f"edits: {name}")) for name in ("men", "women", "other persons"))
_NEVER = {"it": _MEN | _WOMEN | _OTHERS, "he": _WOMEN, "she": _MEN}  # pronouns → what they never stand for
_WEATHER = ("rain", "snow", "hail", "drizzle", "freeze", "thaw")  # *it* does so, which is nothing
_REFERRING = _PRONOUNS - {"i", "we", "you"} | {"him", "her", "them", "who", "which", "that", "whom", "whose"}


def add_arguments(draft: Draft) -> None:
    """Give verbs the subjects and objects that the tree has, in the places of words of other clauses."""
    if draft.tree is None:
        return
    view = TreeView(draft, draft.tree)
    for verb, frame in sorted((_participles(view) | draft.frames).items()):
        if frame not in draft.removed and len(view.nodes[verb]) == 1:
            _remove_arguments(view, verb, frame)
            _mend_subject(view, verb, frame)
            _mend_object(view, verb, frame)


def _participles(view: TreeView) -> dict[int, int]:
    """Return the frames of participles whose lemma is a noun: *smoking*."""
    frames = {}
    for word, nodes in enumerate(view.nodes):
        form, label = view.draft.forms[word], view.draft.labels[nodes[0]] if len(nodes) == 1 else ""
        is_verb = view.relations[word] in ("xcomp", "ccomp", "advcl") and form.endswith("ing")
        if is_verb and label[:3] == form[:3] and view.draft.is_frame(nodes[0]):
            frames[word] = nodes[0]
    return frames


def _remove_arguments(view: TreeView, verb: int, frame: int) -> None:
    """Remove the agent of a passive that names none, and arguments of other verbs: *washed it and sold it to Ann*."""
    draft, inside, subject = view.draft, view.clause(verb), view.subject(verb)
    is_bare = view.is_passive(verb) and view.dependent(verb, "obl:agent") < 0 and 1 in draft.core_roles(frame)
    is_weather = subject >= 0 and draft.forms[subject] == "it" and draft.words[verb].lemma in _WEATHER
    referring = [word for word in {*inside, subject} if draft.forms[word] in _REFERRING]
    upper = {*view.ancestors(verb)}
    for edge in [edge for edge in draft.edges if edge.source == frame and edge.role[:3] == "ARG"]:
        word = view.word(edge.target)
        if is_weather and word not in inside:
            view.change((edge, None))
            continue
        if word == subject or word in upper or view.is_in(edge.target, inside):
            continue
        other = view.heads[word] if word >= 0 and view.relations[word] in ("nsubj", "obj", "iobj", "obl") else -1
        is_others = other >= 0 and not draft.neighbors(edge.target).isdisjoint(view.unit(other) - {frame})
        joined = view.are_joined(other, verb) and view.relations[word] != "obl"
        is_loose = other in upper and view.relations[verb] in ("acl", "advcl") and view.dependent(verb, "nsubj") < 0
        may_refer = subject < 0 or joined or is_loose or max(referring, default=-1) > word
        if (is_bare and edge.role == "ARG0") or (is_others and not may_refer):
            view.change((edge, None))


def _mend_subject(view: TreeView, verb: int, frame: int) -> None:
    draft, word, roles, below = view.draft, view.subject(verb), view.draft.core_roles(frame), view.draft.below(frame)
    role = "ARG1" if view.is_passive(verb) or 0 not in roles else "ARG0"
    if word < 0 or int(role[3]) not in roles:
        return
    subject, old, inside = _controller(view, verb, word), below.get(role, -1), view.subtree(verb)
    if role == "ARG0" and _is_object(view, verb, word, old):
        ordered = ("ARG2", "ARG1") if view.dependent(verb, "iobj") >= 0 else ("ARG1", "ARG2")
        free = [other for other in ordered if other not in below and int(other[3]) in roles]
        is_again = [*below.values()].count(old) > 1
        if (is_again or free) and view.change(
            (Edge(frame, role, old), None if is_again else Edge(frame, free[0], old))
        ):
            old = -1
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
    elif view.dependent(verb, "nsubj") >= 0 or not view.is_loose(verb):
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


def _is_object(view: TreeView, verb: int, subject: int, node: int) -> bool:
    """Return True for the node of a pronoun that is the object, not the subject: *if you had told me*."""
    asked, draft = view.dependent(verb, "iobj", "obj"), view.draft
    label = SUBJECTS.get(draft.forms[asked]) if asked >= 0 and node >= 0 else None
    return label is not None and label == draft.labels[node] and label != SUBJECTS.get(draft.forms[subject])


def _controller(view: TreeView, verb: int, word: int) -> int:
    """Return the node of a subject; of a pronoun without a node that is asked (*told him to go*), who is asked.

    The pronoun of a verb above is the subject of that verb: *he forgot to buy it*.
    """
    node, above = view.argument(word), view.draft.frames.get(view.heads[verb], -1)
    if node < 0 and view.heads[word] != verb and view.relations[word] == "nsubj":
        other = view.draft.frames.get(view.heads[word], -1)
        is_agent = 0 in view.draft.core_roles(other) and not view.is_passive(view.heads[word])
        return view.draft.below(other).get("ARG0" if is_agent else "ARG1", -1) if other >= 0 else -1
    if node < 0 and above >= 0 and view.relations[verb] == "xcomp" and view.heads[word] == view.heads[verb]:
        below = view.draft.below(above)
        others = [below[role] for role in ("ARG1", "ARG2") if role in below and not view.draft.is_frame(below[role])]
        return others[0] if len(others) == 1 else -1
    return node


def _mend_pronoun(view: TreeView, word: int, edge: Edge) -> None:
    """Put a pronoun without a node in the place of another one, or of what it is no pronoun of: *it* is no *she*."""
    draft, label = view.draft, SUBJECTS.get(view.draft.forms[word])
    if label is None or edge.target < 0 or word in draft.aligned:
        return
    is_other = edge.role == "ARG0" and draft.labels[edge.target] in _PRONOUNS - {label}
    if (is_other or _is_never(draft, edge.target, label)) and view.change((edge, None)):
        draft.add_edge(edge.source, edge.role, draft.new_node(label, False, edge.source))


def _is_never(draft: Draft, node: int, label: str) -> bool:
    """Return True for a node that a pronoun never stands for: a man for *it* and *she*, somebody's wife for *he*."""
    roles = [one.source for one in draft.edges if one.target == node and draft.labels[one.source] in ROLES]
    kinds = {draft.labels[one] for one in (node, *(draft.below(role).get("ARG2", node) for role in roles))}
    if "name" in draft.below(node):  # the types of names are unsure: *NASA said it left*
        kinds.discard("person")
    return not kinds.isdisjoint(_NEVER.get(label, ()))


def _exchange(view: TreeView, present: Edge, subject: Edge, verb: int) -> None:
    """Make an argument the subject that has another role, if the subject is the object, or of another clause."""
    draft, word = view.draft, view.dependent(verb, "obj")
    if subject.role == "ARG1" and present.role == "ARG0" and view.is_passive(verb):
        if subject.target < 0 or (2 in draft.core_roles(subject.source) and "ARG2" not in draft.below(subject.source)):
            draft.replace_edge(present, subject._replace(target=present.target))
            if subject.target >= 0:
                draft.replace_edge(subject, subject._replace(role="ARG2"))
    elif subject.role != "ARG0" or present.role not in ("ARG1", "ARG2"):
        return
    elif subject.target < 0:
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
    draft, word = view.draft, view.object(verb)
    node = view.argument(word) if word >= 0 else -1
    near, old = {frame, *draft.neighbors(frame)}, draft.below(frame).get("ARG1", -1)
    if word >= 0 > node:
        _mend_pronoun(view, word, Edge(frame, "ARG1", old))
    _add_receiver(view, verb, frame)
    if node < 0 or 1 not in draft.core_roles(frame) or node in near:
        return
    if near.isdisjoint(view.unit(word)) and near.isdisjoint(one for w in view.subtree(word) for one in view.nodes[w]):
        if old < 0:
            draft.add_edge(frame, "ARG1", node)
        elif view.places(old) and not view.is_in(old, view.subtree(verb)):
            view.change((Edge(frame, "ARG1", old), Edge(frame, "ARG1", node)))


def _add_receiver(view: TreeView, verb: int, frame: int) -> None:
    """Give a verb its indirect object: *sold you the pills*."""
    draft, word = view.draft, view.dependent(verb, "iobj")
    node = view.argument(word) if word >= 0 else -1
    is_free = 2 in draft.core_roles(frame) and "ARG2" not in draft.below(frame)
    if node >= 0 and is_free and node not in {frame, *draft.neighbors(frame)}:
        draft.add_edge(frame, "ARG2", node)

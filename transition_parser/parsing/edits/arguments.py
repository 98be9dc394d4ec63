"""Verbs get the subjects that the dependency tree has, and pronouns participants that agree with them."""

from __future__ import annotations

import re

from transition_parser.graphs.amr import Edge
from transition_parser.parsing.edits.draft import Draft
from transition_parser.parsing.edits.pronouns import PRONOUNS, SUBJECTS
from transition_parser.parsing.edits.tree_view import ROLE_FRAMES, TreeView
from transition_parser.text import word_list
from transition_parser.text.names import known_type

_ASKED = ("who", "what", "which")
_MEASURES = ("percentage-entity", "-quantity")
_OF_PREPOSITIONS = {"with": "instrument", "to": "destination", "into": "destination", "from": "source"}
_REFERRING = PRONOUNS - {"i", "we", "you"} | {"him", "her", "them", "who", "which", "that", "whom", "whose"}
_MEN, _WOMEN, _OTHERS, _GROUPS = (
    frozenset(word_list(f"edits: {name}")) for name in ("men", "women", "other persons", "groups")
)
_NOBODY = frozenset(("nobody", "no-one", "someone", "somebody"))
_PERSONS = _MEN | _WOMEN | _OTHERS
_QUANTIFIERS = ("all", "both", "each", "either", "neither", "none")  # *both of the engines failed*
# pronouns → what they never stand for
_NEVER = {
    "it": _MEN | _WOMEN | _OTHERS | _NOBODY,
    "he": _WOMEN | _NOBODY | _GROUPS,
    "she": _MEN | _NOBODY | _GROUPS,
    "they": _NOBODY,
}
_ABSTRACT = re.compile(".+(cy|ty|ion|ment|ness|[ae]nce|ship|hood|ism|ture|age)")  # *he* and *she* stand for none
_PLURALS = ("people", "men", "women", "children", "police")


def add_arguments(draft: Draft) -> None:
    """Give verbs the subjects that the tree has, in the places of words of other clauses."""
    if draft.tree is None:
        return
    view = TreeView(draft, draft.tree)
    for verb, frame in sorted(draft.frames.items()):
        if frame not in draft.removed and len(view.nodes[verb]) == 1:
            _remove_arguments(view, verb, frame)
            _mend_subject(view, verb, frame)


def _remove_arguments(view: TreeView, verb: int, frame: int) -> None:
    """Remove the agent of a passive that names none, and arguments of other verbs: *washed it and sold it to Ann*."""
    draft, inside, subject = view.draft, view.clause(verb), view.subject(verb)
    is_bare = view.is_passive(verb) and view.dependent(verb, "obl:agent") < 0
    referring = [word for word in {*inside, subject} if draft.forms[word] in _REFERRING]
    upper = {*view.ancestors(verb)}
    inside -= {one for one in inside if view.full[one] == "nmod:poss" and view.heads[one] != verb}
    for edge in [edge for edge in draft.edges if edge.source == frame and edge.role[:3] == "ARG"]:
        word = view.word(edge.target)
        may_stand = any(draft.forms[one] in ("it", "this", "that", "which") for one in referring)  # for an event
        is_beside = view.are_joined(word, verb) and draft.is_frame(edge.target) and not may_stand
        if is_beside:
            draft.change((edge, None))
            continue
        if is_bare and edge.role == "ARG0" and word >= 0 and (view.relations[word], view.heads[word]) == ("obl", verb):
            _make_oblique(view, edge, word)  # *made from seeds*
            continue
        if word == subject or view.is_in(edge.target, inside) or (word in upper and not is_bare):
            continue
        other = view.heads[word] if word >= 0 and view.relations[word] in ("nsubj", "obj", "iobj", "obl") else -1
        is_others = other >= 0 and not draft.neighbors(edge.target).isdisjoint(view.unit(other) - {frame})
        joined = view.are_joined(other, verb) and view.relations[word] != "obl"
        is_loose = other in upper and view.relations[verb] in ("acl", "advcl") and view.dependent(verb, "nsubj") < 0
        is_open = subject < 0 and edge.role in ("ARG0", "ARG1")
        is_ahead = view.relations[verb] == "advcl" and verb < word and bool(referring)  # *before he left, Tom ate*
        may_refer = is_open or joined or is_loose or is_ahead or max(referring, default=-1) > word
        if (is_bare and edge.role == "ARG0") or (is_others and not may_refer):
            draft.change((edge, None))


def _mend_subject(view: TreeView, verb: int, frame: int) -> None:
    draft, word, roles, below = view.draft, view.subject(verb), view.draft.core_roles(frame), view.draft.below(frame)
    is_noun = view.dependent(verb, "cop") >= 0 <= view.dependent(verb, "det", "nmod:poss")  # *it is my turn*
    is_quality = view.dependent(verb, "cop") >= 0 and "ARG0" not in below  # *the door was open*
    role = "ARG1" if view.is_passive(verb) or is_quality or 0 not in roles else "ARG0"
    if word < 0 or is_noun or int(role[3]) not in roles:
        return
    subject, old, inside = view.argument(word), below.get(role, -1), view.subtree(verb)
    is_present = subject in below.values() or (subject >= 0 and draft.labels[subject] in _QUANTIFIERS)
    offices = {edge.target for edge in draft.edges if edge.role == "ARG2" and draft.labels[edge.source] in ROLE_FRAMES}
    is_share = subject >= 0 and draft.labels[subject].endswith(_MEASURES)
    if is_present or (old >= 0 and (subject in offices or is_share or draft.labels[old] == "truth-value")):
        return  # *my cousin Paul*, *whether he comes depends on it*, *half of the team*
    if subject < 0 and draft.forms[word] in _ASKED and view.relations[verb] == "ccomp":
        if old >= 0 and view.word(old) not in inside:  # *told me who did it*
            draft.change((Edge(frame, role, old), None))
    elif subject < 0:
        is_dummy = draft.forms[word] == "it" and view.relations[word] == "nsubj" and view.heads[word] != verb
        if not is_dummy:  # *it is kind of you to help me*
            _mend_pronoun(view, word, Edge(frame, role, old))
    elif view.full[verb] == "acl:relcl" and any(edge[::2] == (subject, frame) for edge in draft.edges):
        for edge in [edge for edge in draft.edges if edge[::2] == (subject, frame) and old < 0]:
            draft.replace_edge(edge, Edge(frame, role, subject))  # search made a purpose of *who reached*
    elif subject in view.unit(verb) or frame in {*view.unit(word), *draft.below(subject).values()}:
        return
    elif old < 0:
        is_unsure = role == "ARG0" and view.relations[verb] == "xcomp" and view.is_finite(verb)  # *got it done*
        if not is_unsure and draft.labels[subject] not in {draft.labels[other] for other in below.values()}:
            draft.add_edge(frame, role, subject)
    elif Edge(old, "mod", subject) not in draft.edges and (
        view.dependent(verb, "nsubj") >= 0 or view.is_argument(verb, view.heads[verb])  # *let her sing*
    ):
        if draft.is_frame(subject) and not draft.is_frame(old):
            return  # a wrong tree
        is_part = view.dependent(verb, "nsubj") == word and view.is_in(old, view.subtree(word))  # *my landlord wants*
        is_speaker = draft.labels[old] in ("i", "we", "you")
        inside = view.clause(verb) if is_speaker else inside
        may_refer = draft.labels[old] in PRONOUNS and draft.labels[subject] not in PRONOUNS and not is_speaker
        if is_part or not (may_refer or view.is_in(old, inside)):
            draft.change((Edge(frame, role, old), Edge(frame, role, subject)))
            if draft.labels[subject] != "you":
                draft.removed.update(node for node in (below.get("mode", frame),) if node in draft.constants)


def _make_oblique(view: TreeView, edge: Edge, word: int) -> None:
    """Give what stands after a preposition ARG2, or else the role that its preposition says."""
    draft, preposition = view.draft, view.dependent(word, "case")
    is_free = 2 in draft.core_roles(edge.source) and "ARG2" not in draft.below(edge.source)
    draft.set_role(edge, "ARG2" if is_free else _OF_PREPOSITIONS.get(draft.forms[preposition], "location"))


def mend_owners(draft: Draft) -> None:
    """Give what is *his*, *our* or *your* the owner, and relatives the person, that the possessive pronoun may be.

    What nobody says that somebody owns has no owner.
    """
    if draft.tree is None:
        return
    view = TreeView(draft, draft.tree)
    _disown(view)
    relations = {edge.source: edge.target for edge in draft.edges if edge.role == "ARG2"}
    for word, relation in enumerate(view.full):
        if relation != "nmod:poss" or (label := SUBJECTS.get(draft.forms[word])) is None:
            continue
        for edge in [edge for edge in draft.edges if edge.role in ("poss", "ARG1")]:
            is_relative = draft.labels[edge.source] in ROLE_FRAMES and edge.role == "ARG1"
            owned = relations.get(edge.source, -1) if is_relative else edge.source if edge.role == "poss" else -1
            if owned in view.nodes[view.heads[word]] and not _may_be(view, label, edge.target):
                _put_participant(view, word, edge, label)


def _disown(view: TreeView) -> None:
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


def _mend_pronoun(view: TreeView, word: int, edge: Edge) -> None:
    """Put another participant, or the pronoun, in the place of what a pronoun without a node never stands for."""
    draft, label = view.draft, SUBJECTS.get(view.draft.forms[word])
    if label is None or edge.target < 0 or word in draft.aligned:
        return
    if draft.labels[edge.target] in PRONOUNS or label not in _NEVER:
        is_object = view.relations[word] == "obj" and not draft.is_frame(edge.target)  # not *help me carry it*
        is_certain = is_object or edge.role == "ARG0" or view.relations[word] == "nsubj"
        is_wrong = is_certain and draft.labels[edge.target] != label
    else:
        is_wrong = not _may_be(view, label, edge.target)
    if is_wrong:
        _put_participant(view, word, edge, label)


def _put_participant(view: TreeView, word: int, edge: Edge, label: str) -> None:
    """Put the only participant that a pronoun may be, or the pronoun, in the place of another node."""
    draft = view.draft
    others = [node for node in _participants(view, word) if _may_be(view, label, node)]
    if label == "they":
        others = [node for node in others if _is_plural(view, node)]
    same = [node for node in draft.nodes_of(label) if label in ("i", "we", "you")]
    is_other = draft.labels[edge.target] in PRONOUNS
    only = (same or others)[0] if len(same or others) == 1 else -1
    is_thing = label in ("he", "she") and only >= 0 and draft.labels[only] not in _PERSONS
    is_object = only >= 0 and view.relations[view.word(only)] == "obj"  # *he* is no apple that somebody ate
    if only >= 0 and not (is_thing and is_object) and only not in draft.neighbors(edge.source):
        draft.change((edge, edge._replace(target=only)))
    elif (is_other or label != "they") and draft.change((edge, None)):
        draft.add_edge(edge.source, edge.role, draft.new_node(label, False, edge.source))


def _participants(view: TreeView, word: int) -> set[int]:
    """Return the arguments of the verbs above a clause that the sentence names before a pronoun in it."""
    draft, verbs = view.draft, {view.draft.frames.get(one, -1) for one in [*view.ancestors(word)][1:]}
    found = {edge.target for edge in draft.edges if edge.source in verbs and edge.role[:3] == "ARG"}
    nouns = {node for node in found if 0 <= view.word(node) < word and not draft.is_frame(node)}
    return {node for node in nouns if draft.labels[node] not in PRONOUNS}


def _is_plural(view: TreeView, node: int) -> bool:
    """Return True for a list and for a noun in the plural, but not for one of several: *each of the boys*."""
    if any(edge[:2] == (node, "mod") and view.draft.labels[edge.target] == "each" for edge in view.draft.edges):
        return False
    form = view.draft.forms[view.word(node)] if view.word(node) >= 0 else ""
    return view.is_list(node) or form in _PLURALS or (form.endswith("s") and form != view.draft.labels[node])


def _may_be(view: TreeView, label: str, node: int) -> bool:
    """Return False for what a pronoun never stands for: a man for *it* and *she*, a bank for *he*, two for *she*."""
    draft = view.draft
    if label in ("i", "we", "you") or draft.labels[node] in PRONOUNS:
        return draft.labels[node] == label
    roles = [one.source for one in draft.edges if one[1:] == ("ARG0", node) and draft.labels[one.source] in ROLE_FRAMES]
    kinds = {draft.labels[one] for one in (node, *(draft.below(role).get("ARG2", node) for role in roles))}
    if (name := draft.below(node).get("name")) is not None:  # types of names are unsure: *NASA said it left*
        words = [draft.labels[edge.target].strip('"') for edge in draft.members(name)]
        kinds -= {"person"} - {known_type(words, "person", "in")}
    elif _is_plural(view, node) != (label == "they") and (label != "they" or kinds.isdisjoint(_GROUPS)):
        return False
    if label == "it" and any(kind.endswith(("man", "woman")) for kind in kinds):
        return False
    is_abstract = label in ("he", "she") and any(map(_ABSTRACT.fullmatch, kinds))
    return kinds.isdisjoint(_NEVER[label]) and not is_abstract

"""Pronouns without a node stand for participants that agree with them in person, gender, number and kind."""

from __future__ import annotations

import re

from transition_parser.graphs.amr import Edge
from transition_parser.parsing.edits.draft import Draft
from transition_parser.parsing.edits.pronouns import SUBJECTS
from transition_parser.parsing.edits.tree_view import ROLES, TreeView
from transition_parser.text import word_list
from transition_parser.text.names import known_type

_PRONOUNS = frozenset(SUBJECTS.values())
_MEN, _WOMEN, _OTHERS, _GROUPS = (
    frozenset(word_list(f"edits: {name}")) for name in ("men", "women", "other persons", "groups")
)
_NOBODY = frozenset(("nobody", "no-one", "someone", "somebody"))
# pronouns → what they never stand for
_NEVER = {
    "it": _MEN | _WOMEN | _OTHERS | _NOBODY,
    "he": _WOMEN | _NOBODY | _GROUPS,
    "she": _MEN | _NOBODY | _GROUPS,
    "they": _NOBODY,
}
_ABSTRACT = re.compile(".+(cy|ty|ion|ment|ness|[ae]nce|ship|hood|ism|ture|age)")  # *he* and *she* stand for none
_PLURALS = ("people", "men", "women", "children", "police")


def mend_owners(draft: Draft) -> None:
    """Give what is *his*, *our* or *your* the owner, and relatives the person, that the possessive pronoun may be."""
    if draft.tree is None or "nmod:poss" not in draft.tree.relations:
        return
    view = TreeView(draft, draft.tree)
    relations = {edge.source: edge.target for edge in draft.edges if edge.role == "ARG2"}
    for word, relation in enumerate(view.full):
        if relation != "nmod:poss" or (label := SUBJECTS.get(draft.forms[word])) is None:
            continue
        for edge in [edge for edge in draft.edges if edge.role in ("poss", "ARG1")]:
            is_relative = draft.labels[edge.source] in ROLES and edge.role == "ARG1"
            owned = relations.get(edge.source, -1) if is_relative else edge.source if edge.role == "poss" else -1
            if owned in view.nodes[view.heads[word]] and not may_be(view, label, edge.target):
                _mend(view, word, edge, label)


def mend_pronoun(view: TreeView, word: int, edge: Edge) -> None:
    """Put another participant, or the pronoun, in the place of what a pronoun without a node never stands for."""
    draft, label = view.draft, SUBJECTS.get(view.draft.forms[word])
    if label is None or edge.target < 0 or word in draft.aligned:
        return
    if draft.labels[edge.target] in _PRONOUNS or label not in _NEVER:
        is_object = view.relations[word] == "obj" and not draft.is_frame(edge.target)  # not *help me carry it*
        is_certain = is_object or edge.role == "ARG0" or view.relations[word] == "nsubj"
        is_wrong = is_certain and draft.labels[edge.target] != label
    else:
        is_wrong = edge.target == _other(view, word) or not may_be(view, label, edge.target)
    if is_wrong:
        _mend(view, word, edge, label)


def _other(view: TreeView, word: int) -> int:
    """Return the subject of the verb whose object a pronoun is, for which it does not stand, -1 for none."""
    is_object = view.relations[word] in ("obj", "iobj") and not view.draft.forms[word].endswith(("self", "selves"))
    verb = view.draft.frames.get(view.heads[word], -1) if is_object else -1
    return view.draft.below(verb).get("ARG0", -1) if verb >= 0 else -1


def _mend(view: TreeView, word: int, edge: Edge, label: str) -> None:
    """Put the only participant that a pronoun may be, or the pronoun, in the place of another node."""
    draft = view.draft
    participants = _participants(view, word) - {_other(view, word)}
    others = [node for node in participants if may_be(view, label, node)]
    if label == "they":
        others = [node for node in others if is_plural(view, node)]
    same = [node for node in draft.nodes_of(label) if label in ("i", "we", "you")]
    is_other = draft.labels[edge.target] in _PRONOUNS
    if len(same or others) == 1 and (same or others)[0] not in draft.neighbors(edge.source):
        draft.change((edge, edge._replace(target=(same or others)[0])))
    elif (is_other or label != "they") and draft.change((edge, None)):
        draft.add_edge(edge.source, edge.role, draft.new_node(label, False, edge.source))


def _participants(view: TreeView, word: int) -> set[int]:
    """Return the arguments of the verbs above a clause that the sentence names before a pronoun in it."""
    draft, verbs = view.draft, {view.draft.frames.get(one, -1) for one in [*view.ancestors(word)][1:]}
    found = {edge.target for edge in draft.edges if edge.source in verbs and edge.role[:3] == "ARG"}
    nouns = {node for node in found if 0 <= view.word(node) < word and not draft.is_frame(node)}
    return {node for node in nouns if draft.labels[node] not in _PRONOUNS}


def is_plural(view: TreeView, node: int) -> bool:
    """Return True for a list and for a noun in the plural."""
    form = view.draft.forms[view.word(node)] if view.word(node) >= 0 else ""
    return view.is_list(node) or form in _PLURALS or (form.endswith("s") and form != view.draft.labels[node])


def may_be(view: TreeView, label: str, node: int) -> bool:
    """Return False for what a pronoun never stands for: a man for *it* and *she*, a bank for *he*, two for *she*."""
    draft = view.draft
    if label in ("i", "we", "you") or draft.labels[node] in _PRONOUNS:
        return draft.labels[node] == label
    roles = [one.source for one in draft.edges if one[1:] == ("ARG0", node) and draft.labels[one.source] in ROLES]
    kinds = {draft.labels[one] for one in (node, *(draft.below(role).get("ARG2", node) for role in roles))}
    if (name := draft.below(node).get("name")) is not None:  # types of names are unsure: *NASA said it left*
        words = [draft.labels[edge.target].strip('"') for edge in draft.members(name)]
        kinds -= {"person"} - {known_type(words, "person", "in")}
    elif is_plural(view, node) != (label == "they") and (label != "they" or kinds.isdisjoint(_GROUPS)):
        return False
    if label == "it" and any(kind.endswith(("man", "woman")) for kind in kinds):
        return False
    is_abstract = label in ("he", "she") and any(map(_ABSTRACT.fullmatch, kinds))
    return kinds.isdisjoint(_NEVER[label]) and not is_abstract

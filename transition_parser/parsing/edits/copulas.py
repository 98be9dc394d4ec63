"""Sentences with *be*: *the car is mine* is `belong-01`, *Ann, who is a nurse* one node."""

from __future__ import annotations

from transition_parser.graphs.amr import Edge
from transition_parser.parsing.edits.draft import Draft
from transition_parser.parsing.edits.tree_view import TreeView

_OWNERS = {"mine": "i", "yours": "you", "hers": "she", "ours": "we", "theirs": "they"}
_WITH_INFINITIVE = ("cost", "take")  # verbs whose subject *it* stands for an infinitive: *it takes an hour to go*


def mend_copulas(draft: Draft) -> None:
    """Make predicates such as *mine* `belong-01`, and one node of a name and what its owner is; remove a dummy *it*."""
    if draft.tree is not None:
        view = TreeView(draft, draft.tree)
        for place, form in enumerate(draft.forms[:-1]):
            if form in _OWNERS and view.dependent(place, "cop") >= 0:
                _belong(view, place)
            elif form == "it" and draft.forms.count("it") == 1:
                _remove_dummy(view, place)
        for word, relation in enumerate(view.full):
            subject = view.dependent(word, "nsubj")
            is_relative = relation == "acl:relcl" and subject >= 0 and draft.forms[subject] in ("who", "which", "that")
            if relation == "appos" or (is_relative and view.dependent(word, "cop") >= 0):
                _identify(view, word)


def _belong(view: TreeView, place: int) -> None:
    draft, label, word = view.draft, _OWNERS[view.draft.forms[place]], view.subject(place)
    subject = view.argument(word) if word >= 0 else -1
    of_word = [node for node in draft.at(place) if node not in draft.constants and node != subject]
    owner = next(iter([*of_word, *draft.nodes_of(label)]), -1)
    if min(subject, owner) < 0 or draft.below(owner).get("ARG0") == subject:
        return
    draft.labels[owner] = label
    belong = draft.new_node("belong-01", False, draft.node_origins[owner])
    for edge in [*draft.edges]:
        if {edge.source, edge.target} == {subject, owner}:
            draft.replace_edge(edge)
        elif edge.role == "polarity" and edge.source in (subject, owner):
            draft.replace_edge(edge, edge._replace(source=belong))
        elif edge.target == owner and owner in of_word and not (edge.role == "mod" and view.change((edge, None))):
            draft.replace_edge(edge, edge._replace(target=belong))
    draft.add_edge(belong, "ARG0", subject)
    draft.add_edge(belong, "ARG1", owner)
    draft.top = belong if draft.top in (subject, owner) else draft.top


def _identify(view: TreeView, word: int) -> None:
    """Join the node of what somebody is with that of its name: *John, who is her uncle*, *Lee, the owner*."""
    draft, head = view.draft, view.heads[word]
    name, other = view.argument(head), view.node(word)
    if min(name, other) < 0 or "name" not in draft.below(name) or "name" in draft.below(other):
        return
    if view.draft.is_frame(other) or view.is_list(name) or name in draft.neighbors(other):
        return
    inside = view.subtree(word)
    if draft.labels[other] == draft.labels[name]:
        known = {node for node in draft.neighbors(name) if view.word(node) not in inside}
        draft.remove_edges(lambda edge: edge.target == other and edge.source in known)
        draft.merge(other, name)
    else:
        draft.add_edge(name, "mod", other)
        for edge in [edge for edge in draft.edges if edge.target == other and edge.source != name]:
            if view.word(edge.source) not in inside:
                view.change((edge, None))


def _remove_dummy(view: TreeView, place: int) -> None:
    """Put the infinitive that *it* stands for in its place, and give this verb no subject that only *it* names."""
    draft, head = view.draft, view.heads[place]
    marks = (one for one, form in enumerate(draft.forms) if form == "to" and one > place)
    clauses = [view.heads[one] for one in marks if view.relations[one] == "mark"]
    clause = next((one for one in clauses if head in [*view.ancestors(one)][:2]), -1)
    is_dummy = view.relations[place] == "expl" or draft.words[head].lemma in _WITH_INFINITIVE
    if min(head, clause) < 0 or not is_dummy:
        return
    frame, node = draft.frames.get(clause, view.node(clause)), next(iter(draft.nodes_of("it")), -1)
    dummies = [node, *(i for i in draft.nodes_of("amr-unknown") if i in draft.below(frame).values())]
    for edge in [edge for edge in draft.edges if edge.target in dummies]:
        if edge.source == frame and edge.role in ("ARG0", "ARG1"):
            view.change((edge, None)) if edge.target != node else draft.replace_edge(edge)
        elif edge.target == node and frame >= 0:
            for other in [one for one in draft.edges if one[::2] == (edge.source, frame) and one.role[:3] != "ARG"]:
                draft.replace_edge(other)  # *it took an hour to find*: no purpose
            is_free = frame not in draft.neighbors(edge.source)
            draft.replace_edge(edge, *[Edge(edge.source, edge.role, frame)] * is_free)
    if node >= 0 and not draft.neighbors(node):
        draft.removed.add(node)

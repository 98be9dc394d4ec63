"""Sentences with *be*: *the car is mine* is `belong-01`, *Ann, who is a nurse* one node; and *it* that is nothing."""

from __future__ import annotations

from itertools import pairwise

from transition_parser.graphs.amr import Edge
from transition_parser.parsing.edits.draft import Draft
from transition_parser.parsing.edits.pronouns import BEFORE_VERBS, SUBJECTS
from transition_parser.parsing.edits.tree_view import TreeView

_COPULAS = ("is", "was", "'s")
_WEATHER = ("rain", "snow", "hail", "drizzle")  # *it* does so, which is nothing
_OWNERS = {"mine": "i", "yours": "you", "hers": "she", "ours": "we", "theirs": "they"}
_IDENTIFYING = {"appos", "acl:relcl"}  # relations of what a name is
_WITH_INFINITIVE = ("cost", "take")  # verbs whose subject *it* stands for an infinitive: *it takes an hour to go*


def may_have_copula(draft: Draft) -> bool:
    """Return True for a sentence with *mine* or the like, or with *it* and an infinitive."""
    forms = {*draft.forms}
    return not forms.isdisjoint(_OWNERS) or {"it", "to"} <= forms


def mend_copulas(draft: Draft) -> None:
    """Make predicates such as *mine* `belong-01`, and one node of a name and what its owner is; remove a dummy *it*."""
    for place, (form, following) in enumerate(pairwise(draft.forms)):
        if form == "name" and place and draft.forms[place - 1] in SUBJECTS:
            _identify_name(draft, place)
        elif (form, following) == ("been", "to"):
            _locate(draft, place)
        elif draft.words[place].lemma in _WEATHER and draft.forms[place - 1] in ("it", *_COPULAS, *BEFORE_VERBS):
            _remove_weather(draft, draft.frames.get(place, -1))
    if draft.tree is not None and (may_have_copula(draft) or not _IDENTIFYING.isdisjoint(draft.tree.relations)):
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


def _remove_weather(draft: Draft, frame: int) -> None:
    """Remove the *it* of the weather: *it may rain*."""
    for edge in [edge for edge in draft.edges if edge.source == frame and draft.labels[edge.target] == "it"]:
        draft.replace_edge(edge)
        if not draft.neighbors(edge.target):
            draft.removed.add(edge.target)


def _identify_name(draft: Draft, place: int) -> None:
    """Identify the owner of a name with who bears it: *my name is Ann* is `person :name … :domain i`."""
    label, is_said = SUBJECTS[draft.forms[place - 1]], draft.forms[place + 1] in _COPULAS
    names = [one for one in draft.at(place) if draft.labels[one].partition("-")[0] == "name"]
    owners = draft.nodes_of(label)
    bearers = [
        one for one in range(len(draft.alignments)) if draft.place(one) == place + 2 and "name" in draft.below(one)
    ]
    if len(names) == 1 and draft.is_frame(names[0]) and "ARG1" not in draft.below(names[0]):
        for owner in owners:  # *what is your name?*
            draft.replace_edge(Edge(names[0], "ARG0", owner), Edge(names[0], "ARG1", owner))
    if not is_said or len(bearers) != 1 or len(names) > 1 or len(owners) > 1:
        return
    owner, bearer = owners[0] if owners else draft.new_node(label, False, bearers[0]), bearers[0]
    for edge in [edge for edge in draft.edges if edge.source in names or edge.target in names]:
        moved = Edge(
            owner if edge.source in names else edge.source, edge.role, bearer if edge.target in names else edge.target
        )
        draft.replace_edge(edge, *[] if {*moved[::2]} <= {owner, bearer} else [moved])
    draft.remove_edges(lambda edge: {edge.source, edge.target} == {owner, bearer})
    draft.add_edge(owner, "mod", bearer)
    draft.top = bearer if draft.top in names else draft.top
    draft.removed.update(names)


def _locate(draft: Draft, place: int) -> None:
    """Make a place where somebody has been no predicate: *I have been to Oslo* is `be-located-at-91`."""
    end = next((one for one in range(place + 2, len(draft.words)) if one in draft.aligned), -1)
    links = [edge for edge in draft.edges if edge.role == "mod" and draft.place(edge.target) == end]
    links = [edge for edge in links if -1 < draft.place(edge.source) < place]
    if end < 0 or len(links) != 1 or draft.is_frame(links[0].target):
        return
    (subject, _, where), located = links[0], draft.new_node("be-located-at-91", False, links[0].target)
    draft.replace_edge(links[0], Edge(located, "ARG1", subject), Edge(located, "ARG2", where))
    for edge in [edge for edge in draft.edges if where in edge[::2] and edge.source != located]:
        if edge.target == where:
            draft.replace_edge(edge, edge._replace(target=located))
        elif edge.role in ("time", "polarity", "frequency", "duration"):
            draft.replace_edge(edge, edge._replace(source=located))
    draft.move_top(where, located)


def _belong(view: TreeView, place: int) -> None:
    draft, label, word = view.draft, _OWNERS[view.draft.forms[place]], view.subject(place)
    subject = view.argument(word) if word >= 0 else -1
    of_word = [node for node in draft.at(place) if node not in draft.constants and node != subject]
    owner = next(iter([*of_word, *draft.nodes_of(label)]), -1)
    if min(subject, owner) < 0 or draft.below(owner).get("ARG0") == subject:
        return
    draft.labels[owner] = label
    belong = draft.new_node("belong-01", False, owner)
    for edge in [*draft.edges]:
        if {edge.source, edge.target} == {subject, owner}:
            draft.replace_edge(edge)
        elif edge.role == "polarity" and edge.source in (subject, owner):
            draft.replace_edge(edge, edge._replace(source=belong))
        elif edge.target == owner and owner in of_word and not (edge.role == "mod" and draft.change((edge, None))):
            draft.replace_edge(edge, edge._replace(target=belong))
    draft.add_edge(belong, "ARG0", subject)
    draft.add_edge(belong, "ARG1", owner)
    draft.top = belong if draft.top in (subject, owner) else draft.top


def _identify(view: TreeView, word: int) -> None:
    """Join the node of what somebody is with that of its name: *John, who is her uncle*, *Lee, the owner*."""
    draft, head = view.draft, view.heads[word]
    name, other = view.argument(head), view.node(word)
    if min(name, other) < 0 or "name" in draft.below(other):
        return
    sources = [{edge.source for edge in draft.edges if edge.target == node} for node in (name, other)]
    if "name" not in draft.below(name) and (view.full[word] != "appos" or sources[0].isdisjoint(sources[1])):
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
                draft.change((edge, None))


def _remove_dummy(view: TreeView, place: int) -> None:
    """Put the infinitive that *it* stands for in its place, and give this verb no subject that only *it* names."""
    draft, head = view.draft, view.heads[place]
    marks = (one for one, form in enumerate(draft.forms) if form == "to" and one > place)
    clauses = [view.heads[one] for one in marks if view.relations[one] == "mark"]
    clause = next((one for one in clauses if head in [one, *view.ancestors(one)][:3]), -1)
    is_dummy = view.relations[place] == "expl" or clause == head or draft.words[head].lemma in _WITH_INFINITIVE
    if min(head, clause) < 0 or not is_dummy:
        return
    frame, node = draft.frames.get(clause, view.node(clause)), next(iter(draft.nodes_of("it")), -1)
    dummies = [node, *(i for i in draft.nodes_of("amr-unknown") if i in draft.below(frame).values())]
    for edge in [edge for edge in draft.edges if edge.target in dummies]:
        if edge.source == frame and edge.role in ("ARG0", "ARG1"):
            draft.change((edge, None)) if edge.target != node else draft.replace_edge(edge)
        elif edge.target == node and frame >= 0:
            for other in [one for one in draft.edges if one[::2] == (edge.source, frame) and one.role[:3] != "ARG"]:
                draft.replace_edge(other)  # *it took an hour to find*: no purpose
            is_free = frame not in draft.neighbors(edge.source)
            draft.replace_edge(edge, *[Edge(edge.source, edge.role, frame)] * is_free)
    if node >= 0 and not draft.neighbors(node):
        draft.removed.add(node)

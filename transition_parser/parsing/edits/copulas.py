"""Names and what bears them: *my name is Ann*, *Ann, who is a nurse* are one node; and *it* that is nothing."""

from __future__ import annotations

from transition_parser.graphs.amr import Edge
from transition_parser.parsing.edits.draft import Draft
from transition_parser.parsing.edits.pronouns import BEFORE_VERBS, SUBJECTS
from transition_parser.parsing.edits.tree_view import TreeView
from transition_parser.text import word_list

_CAUSING = frozenset(word_list("edits: causing feelings"))
_COPULAS = ("is", "was", "'s")
_WEATHER = ("rain", "snow", "hail", "drizzle")  # *it* does so, which is nothing
_IDENTIFYING = {"appos", "acl:relcl"}  # relations of what a name is


def mend_copulas(draft: Draft) -> None:
    """Make one node of a name and what its bearer is, and remove the *it* of the weather."""
    for place, form in enumerate(draft.forms[:-1]):
        if form == "name" and place and draft.forms[place - 1] in SUBJECTS:
            _identify_name(draft, place)
        elif draft.words[place].lemma in _WEATHER and draft.forms[place - 1] in ("it", *_COPULAS, *BEFORE_VERBS):
            _remove_weather(draft, draft.frames.get(place, -1))
        elif form == "been" and draft.forms[place + 1] == "to":
            _locate(draft, place)
        elif form in _CAUSING:
            for node in filter(draft.is_frame, draft.at(place)):
                below, roles = draft.below(node), draft.core_roles(node) or (0,)
                if 0 in roles and "ARG0" not in below and -1 < draft.place(below.get("ARG1", node)) < place:
                    draft.set_role(Edge(node, "ARG1", below["ARG1"]), "ARG0")  # *the film was boring*
    if draft.tree is not None and not _IDENTIFYING.isdisjoint(draft.tree.relations):
        view = TreeView(draft, draft.tree)
        for word, relation in enumerate(view.full):
            subject = view.dependent(word, "nsubj")
            is_relative = relation == "acl:relcl" and subject >= 0 and draft.forms[subject] in ("who", "which", "that")
            if relation == "appos" or (is_relative and view.dependent(word, "cop") >= 0):
                _identify(view, word)


def _locate(draft: Draft, place: int) -> None:
    """Make a place where somebody has been no predicate: *I have been to Oslo* is `be-located-at-91`."""
    links = [
        one for one in draft.edges if one.role == "mod" and draft.place(one.source) < place < draft.place(one.target)
    ]
    if len(links) == 1 and not draft.is_frame(links[0].target):
        (subject, _, where), located = links[0], draft.new_node("be-located-at-91", False, links[0].target)
        draft.replace_edge(links[0], Edge(located, "ARG1", subject), Edge(located, "ARG2", where))
        for edge in [edge for edge in draft.edges if where in edge[::2] and edge.source != located]:
            if edge.target == where:
                draft.replace_edge(edge, edge._replace(target=located))
            elif edge.role in ("time", "polarity", "frequency", "duration"):
                draft.replace_edge(edge, edge._replace(source=located))
        draft.move_top(where, located)


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

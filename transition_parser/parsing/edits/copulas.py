"""Names and what bears them: *my name is Ann*; the *it* that is nothing; causes of feelings."""

from __future__ import annotations

from transition_parser.graphs.amr import Edge
from transition_parser.parsing.edits.draft import Draft
from transition_parser.parsing.edits.pronouns import SUBJECTS
from transition_parser.text import word_list

_CAUSING = frozenset(word_list("edits: causing feelings"))
_COPULAS = ("is", "was", "'s")
_WEATHER = ("rain", "snow", "hail", "drizzle")  # *it* does so, which is nothing


def mend_copulas(draft: Draft) -> None:
    """Make one node of a name and what its bearer is, remove the *it* of the weather, and let what is boring bore."""
    for place, form in enumerate(draft.forms[:-1]):
        if form == "name" and draft.forms[place - 1] in SUBJECTS:
            _identify_name(draft, place)
        for node in filter(draft.is_frame, draft.at(place)):
            below = draft.below(node)
            if draft.words[place].lemma in _WEATHER:
                for role, it in [one for one in below.items() if draft.labels[one[1]] == "it"]:
                    draft.drop_edge(Edge(node, role, it))
            elif form in _CAUSING and "ARG0" not in below and -1 < draft.place(below.get("ARG1", node)) < place:
                draft.set_role(Edge(node, "ARG1", below["ARG1"]), "ARG0")  # *the film was boring*


def _identify_name(draft: Draft, place: int) -> None:
    """Identify the owner of a name with who bears it: *my name is Ann* is `person :name … :domain i`."""
    label, names = SUBJECTS[draft.forms[place - 1]], draft.at(place)
    owners = draft.nodes_of(label)
    for name in names:
        if draft.is_frame(name) and "ARG1" not in draft.below(name):
            for owner in owners:  # *what is your name?*
                draft.replace_edge(Edge(name, "ARG0", owner), Edge(name, "ARG1", owner))
    bearers = [one for one in draft.inside(place + 2, place + 3) if "name" in draft.below(one)]
    if draft.forms[place + 1] in _COPULAS and bearers:
        owner, bearer = owners[0] if owners else draft.new_node(label, False, bearers[0]), bearers[0]
        for name in names:
            draft.merge(name, bearer)
        draft.remove_edges(lambda edge: {*edge[::2]} == {owner, bearer})
        draft.add_edge(owner, "mod", bearer)

"""Questions that ask for one thing: *What is it called?*, *How much is this hat?*, *Whose are these?*"""

from __future__ import annotations

from collections.abc import Sequence

from transition_parser.graphs.amr import CONJUNCTIONS, Edge
from transition_parser.parsing.edits.draft import Draft
from transition_parser.parsing.edits.pronouns import SUBJECTS
from transition_parser.parsing.edits.tree_view import ROLES
from transition_parser.text import word_list

_COPULAS = frozenset(word_list("edits: copulas"))
_AUXILIARIES = frozenset(word_list("edits: auxiliaries")) | _COPULAS | {"am", "has", "have", "had", "can", "may"}
_MODALS = {"possible-01": "ARG1", "recommend-01": "ARG1", "obligate-01": "ARG2"}
_OF_FORMS = dict.fromkeys(("can", "could", "may", "might"), "possible-01") | {"should": "recommend-01"}
_OF_VERBS = {"quant": "extent"} | {role: role for role in "duration frequency location manner time".split()}


def mend_direct_questions(draft: Draft) -> None:
    """Put what a question asks for in its place."""
    forms, asked = draft.forms, draft.nodes_of("amr-unknown")
    first = forms[0]
    asks_whole = first in _AUXILIARIES and "?" in forms[-2:] and {"imperative", "amr-choice"}.isdisjoint(draft.labels)
    if asks_whole and draft.is_frame(draft.top) and not asked:
        draft.add_edge(draft.top, "polarity", draft.new_node("amr-unknown", False, draft.top))  # *do you know why*
    if len(asked) != 1:
        return
    (unknown,) = asked
    if (
        first == "what"
        and forms[1] in ("a", "an")
        and "?" not in forms[-2:]
        and draft.neighbors(unknown) == {draft.top}
    ):
        draft.removed.add(unknown)  # *What a day!*
        draft.add_below(draft.top, "mode", "expressive")
        return
    edges = [edge for edge in draft.edges if unknown in (edge.source, edge.target)]
    if first in ("what", "which") and forms[1] in _COPULAS:
        _call(draft, unknown)
    elif first in _AUXILIARIES and {edge[1:] for edge in edges} == {("polarity", unknown)}:
        _ask_whole(draft, edges)
    for source, role, target in edges:
        edge, begins = Edge(source, role, target), tuple(forms[:3])
        if draft.labels[source] == "spell-01" and role == "manner":
            _spell(draft, source)
        elif draft.labels[source] == "mean-01" and role == "ARG2":
            _mean(draft, source)
        elif role in _OF_VERBS and (verb := draft.below(source).get(_MODALS.get(draft.labels[source], ""))):
            draft.replace_edge(edge, Edge(verb, _OF_VERBS[role], unknown))  # *how far can it jump*
        elif role == "quant" and begins[:2] == ("how", "much") and begins[2] in _COPULAS and source == draft.top:
            draft.top = draft.new_node("cost-01", False, unknown)
            draft.replace_edge(edge, Edge(draft.top, "ARG1", source), Edge(draft.top, "ARG2", unknown))
        elif role == "quant" and draft.labels[source] in ROLES:  # *how many of the players*
            draft.replace_edge(edge, edge._replace(source=draft.below(source).get("ARG0", source)))
        elif role == "duration" and begins == ("how", "many", "times"):
            draft.replace_edge(edge, edge._replace(role="frequency"))
        elif role == "mod" and source == unknown and first == "where" and begins[1] in _COPULAS:
            draft.top = draft.new_node("be-located-at-91", False, unknown)
            draft.replace_edge(edge, Edge(draft.top, "ARG1", target), Edge(draft.top, "ARG2", unknown))
        elif role == "mod" and source == unknown and first == "whose":
            draft.replace_edge(edge, Edge(target, "poss", unknown))
        elif role[:3] == "ARG" and begins[:2] == ("which", "of") and draft.labels[source] != "include-91":
            before = [one for one in draft.below(source).values() if 1 < draft.place(one) < draft.place(source)]
            if before or source != draft.top:  # *which of your sisters lives here*
                draft.replace_edge(edge, Edge(min([*before, source], key=draft.place), "mod", unknown))


def mend_modal_questions(draft: Draft) -> None:
    """Ask whether something is possible or recommended: *Can cats swim?* is `possible-01 :polarity amr-unknown`."""
    modal, asked = _OF_FORMS.get(draft.forms[0]), draft.nodes_of("amr-unknown")
    others = (*_MODALS, *CONJUNCTIONS, "permit-01", "allow-01", "imperative", "amr-choice", "multi-sentence")
    if modal is None or "?" not in draft.forms[-2:] or any(map(draft.nodes_of, others)):
        return
    edges = [edge for edge in draft.edges if not {*asked}.isdisjoint(edge[::2])]
    if edges not in ([], [(draft.top, "polarity", *asked)]):
        return
    draft.remove_edges(edges.__contains__)
    node = draft.new_node(modal, False)
    draft.add_edge(node, "ARG1", draft.top)
    draft.add_edge(node, "polarity", asked[0] if asked else draft.new_node("amr-unknown", False, draft.top))
    draft.top = node


def _ask_whole(draft: Draft, edges: Sequence[Edge]) -> None:
    """Give the polarity of a question whose answer is yes or no to its top alone."""
    if draft.labels[draft.top] not in (*CONJUNCTIONS, "contrast-01", "multi-sentence"):
        whole = Edge(draft.top, "polarity", edges[0].target)
        for number, edge in enumerate(edges if edges != [whole] else ()):
            draft.replace_edge(edge, *[whole] * (number == 0))


def _spell(draft: Draft, verb: int) -> None:
    """Make what is spelled the object of *spell*."""
    below = draft.below(verb)
    if "ARG2" in below and "ARG1" not in below:
        edge = Edge(verb, "ARG2", below["ARG2"])
        draft.replace_edge(edge, edge._replace(role="ARG1"))


def _mean(draft: Draft, verb: int) -> None:
    """Give what means something no agent that the words name as its owner alone: *what does your name mean*."""
    agent = draft.below(verb).get("ARG0", verb)
    is_owner = draft.labels[agent] in {*SUBJECTS.values()} - {*draft.forms} and len(draft.neighbors(agent)) > 1
    if is_owner and "ARG1" in draft.below(verb):
        draft.replace_edge(Edge(verb, "ARG0", agent))


def _call(draft: Draft, unknown: int) -> None:
    """Make the name of what is called so, at the end of a question, what it asks for."""
    last = max((place for place, form in enumerate(draft.forms) if form in ("called", "named")), default=-1)
    verb = draft.frames.get(last, -1)
    if verb < 0 or any(place > last for place in draft.aligned) or draft.below(verb).get("ARG2") == unknown:
        return
    others = [edge for edge in draft.edges if unknown in edge[::2] and verb not in edge[::2]]
    named = draft.below(verb).get("ARG1", -1)
    if same := [edge for edge in others if edge.role == "mod" and edge.source == unknown]:  # *his first novel*
        named = same[0].target
        draft.replace_edge(same[0])
    elif others:  # *the tallest building*
        kinds = [draft.below(edge.source).get("ARG5", -1) for edge in others]
        label = next((draft.labels[kind] for kind in kinds if kind >= 0), "thing")
        named = draft.new_node(label, False, unknown)
        for edge in others:
            draft.replace_edge(edge, edge._replace(target=named))
    if named >= 0:
        draft.remove_edges(lambda edge: verb in edge[::2] and edge.role[:3] == "ARG")
        draft.add_edge(verb, "ARG1", named)
        draft.add_edge(verb, "ARG2", unknown)
        draft.top = verb

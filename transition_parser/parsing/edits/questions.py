"""Questions that ask for one thing: *What is it called?*, *How much is this hat?*, *Whose are these?*"""

from __future__ import annotations

from collections.abc import Sequence

from transition_parser.graphs.amr import CONJUNCTIONS, Edge
from transition_parser.parsing.edits.draft import Draft
from transition_parser.text import word_list

_COPULAS = frozenset(word_list("edits: copulas"))
_AUXILIARIES = frozenset(word_list("edits: auxiliaries")) | _COPULAS | {"am", "has", "have", "had", "can", "may"}
_MODALS = {"possible-01": "ARG1", "recommend-01": "ARG1", "obligate-01": "ARG2"}
_OF_FORMS = dict.fromkeys(("can", "could", "may", "might"), "possible-01") | {"should": "recommend-01"}
_NO_MODALS = (*_MODALS, *CONJUNCTIONS, "permit-01", "allow-01", "imperative", "amr-choice")
_REQUESTED = frozenset(word_list("edits: requested"))
_REQUESTING = ("can", "could", "will", "would")
_OF_VERBS = {"quant": "extent"} | {role: role for role in "duration frequency location manner time".split()}


def mend_direct_questions(draft: Draft) -> None:
    """Put what a question asks for in its place."""
    forms, asked = draft.forms, draft.nodes_of("amr-unknown")
    first = forms[0]
    asks_whole = first in _AUXILIARIES and "?" in forms[-2:] and {"imperative", "amr-choice"}.isdisjoint(draft.labels)
    if asks_whole and not asked and (draft.is_frame(draft.top) or first in _OF_FORMS):  # *do you know why*
        asked = [draft.add_below(draft.top, "polarity", "amr-unknown")]
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
    elif first in _AUXILIARIES and {edge[1:] for edge in edges if edge.role != "polite"} == {("polarity", unknown)}:
        _ask_whole(draft, unknown, [edge for edge in edges if edge.role != "polite"])
    for source, role, target in edges:
        edge, begins = Edge(source, role, target), tuple(forms[:3])
        if role in _OF_VERBS and (verb := draft.below(source).get(_MODALS.get(draft.labels[source], ""))):
            draft.replace_edge(edge, Edge(verb, _OF_VERBS[role], unknown))  # *how far can it jump*
        elif role == "quant" and begins[:2] == ("how", "much") and begins[2] in _COPULAS and source == draft.top:
            draft.top = draft.new_node("cost-01", False, unknown)
            draft.replace_edge(edge, Edge(draft.top, "ARG1", source), Edge(draft.top, "ARG2", unknown))
        elif role == "mod" and source == unknown and first == "where" and begins[1] in _COPULAS:
            draft.top = draft.new_node("be-located-at-91", False, unknown)
            draft.replace_edge(edge, Edge(draft.top, "ARG1", target), Edge(draft.top, "ARG2", unknown))
        elif role == "mod" and target == unknown and first == "what" and begins[2] in _COPULAS and not draft.at(1):
            kind = draft.new_node(draft.words[1].lemma, False, unknown)  # *what time is it*
            draft.replace_edge(edge, Edge(kind, "mod", unknown), Edge(kind, "domain", source))
            draft.top = kind if source == draft.top else draft.top
        elif role == "mod" and source == unknown and first == "whose":
            draft.replace_edge(edge, Edge(target, "poss", unknown))
        elif role[:3] == "ARG" and begins[:2] == ("which", "of") and draft.labels[source] != "include-91":
            before = [one for one in draft.below(source).values() if 1 < draft.place(one) < draft.place(source)]
            if before or source != draft.top:  # *which of your sisters lives here*
                draft.replace_edge(edge, Edge(min([*before, source], key=draft.place), "mod", unknown))


def _ask_whole(draft: Draft, unknown: int, edges: Sequence[Edge]) -> None:
    """Give the polarity of a question whose answer is yes or no to its top alone, or to the possibility it asks for.

    *Can cats swim?* is `possible-01 :polarity amr-unknown`. *Can you tell me …?* and *could you …, please?* are
    requests.
    """
    draft.move_top(unknown, edges[0].source)
    if draft.labels[draft.top] in (*CONJUNCTIONS, "contrast-01", "multi-sentence"):
        return
    first, second = draft.forms[:2]
    is_asked = first in ("can", "could") and draft.words[draft.place(draft.top)].lemma in _REQUESTED
    if (
        (is_asked or "please" in draft.forms)
        and first in _REQUESTING
        and second == "you"
        and "possible-01" not in draft.labels
    ):
        draft.remove_edges(edges.__contains__)
        draft.merge(unknown, draft.top)
        for role, label in (("mode", "imperative"), ("polite", "+")):
            if role not in draft.below(draft.top):
                draft.add_edge(draft.top, role, draft.new_node(label, True, draft.top))
        return
    if first in _OF_FORMS and "?" in draft.forms[-2:] and not any(map(draft.nodes_of, _NO_MODALS)):
        modal = draft.new_node(_OF_FORMS[first], False)
        draft.add_edge(modal, "ARG1", draft.top)
        draft.top = modal
    if edges != [Edge(draft.top, "polarity", unknown)]:
        draft.remove_edges(edges.__contains__)
        draft.add_edge(draft.top, "polarity", unknown)


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

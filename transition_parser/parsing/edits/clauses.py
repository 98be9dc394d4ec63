"""Questions, inside sentences (*I know where he hid it*) and whole (*What is it called?*), conditions and causes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from transition_parser.graphs.amr import CONJUNCTIONS, Edge
from transition_parser.parsing.edits.draft import Draft
from transition_parser.text import word_list

_ASKED = {
    "where": ("place", "location"),
    "when": ("time", "time"),
    "how": ("manner", "manner"),
    "who": ("person", "ARG0"),
    "what": ("thing", "-"),
    "which": ("thing", "-"),
}
_ASKING = frozenset(word_list("edits: asking"))
_AFTER_QUESTIONS = frozenset(word_list("edits: after questions"))
_COPULAS = frozenset(word_list("edits: copulas"))
_ROLES = frozenset("ARG1 ARG2 ARG3 time location manner topic".split())
_FRAME = re.compile(r".*-\d\d")
_AUXILIARIES = frozenset(word_list("edits: auxiliaries")) | _COPULAS | {"am", "has", "have", "had", "can", "may"}
_MODALS = {"possible-01": "ARG1", "recommend-01": "ARG1", "obligate-01": "ARG2"}
_OF_FORMS = dict.fromkeys(("can", "could", "may", "might"), "possible-01") | {"should": "recommend-01"}
_NO_MODALS = (*_MODALS, *CONJUNCTIONS, "permit-01", "allow-01", "imperative", "amr-choice")
_REQUESTED = frozenset(word_list("edits: requested"))
_REQUESTING = ("can", "could", "will", "would")
_OF_VERBS = {"quant": "extent"} | {role: role for role in "duration frequency location manner time".split()}


def mend_questions(draft: Draft) -> None:
    """Give the clause after *where*, *when*, *how*, *who* or *why* what it asks for, below the verb before it."""
    for node in draft.nodes_of("where"):
        draft.labels[node] = "place"
    for word in [place for place, form in enumerate(draft.forms) if form in _ASKED and place]:
        links = [edge for edge in draft.edges if draft.place(edge.source) < word < draft.place(edge.target)]
        links = [edge for edge in links if edge.role in _ROLES and word - draft.place(edge.source) <= 3]
        links = [
            edge for edge in links if is_asking(draft, edge.source) and _FRAME.fullmatch(draft.labels[edge.target])
        ]
        if len(links) == 1 and draft.forms[word + 1] not in _AFTER_QUESTIONS:
            _ask(draft, links[0], *_ASKED[draft.forms[word]])
        elif not links:
            _ask_predicate(draft, word, *_ASKED[draft.forms[word]])
    for cause in draft.nodes_of("cause-01") if "why" in draft.forms else ():
        verb = draft.below(cause).get("ARG0", cause)
        if is_asking(draft, verb) and draft.place(verb) < draft.forms.index("why"):
            asked = draft.new_node("thing", False, cause)
            draft.replace_edge(Edge(cause, "ARG0", verb), Edge(cause, "ARG0", asked), Edge(verb, "ARG1", asked))
            clause = Edge(verb, "ARG1", draft.below(cause).get("ARG1", -1))
            if clause in draft.edges:
                draft.replace_edge(clause)


def _ask(draft: Draft, link: Edge, concept: str, role: str) -> None:
    below = draft.below(link.target)
    unknown = next((node for node in below.values() if draft.labels[node] == "amr-unknown"), None)
    if role == "ARG0" and (role in below or 0 not in draft.core_roles(link.target)):
        role = "ARG1"
    if unknown is None and (role in below or role == "-"):  # *what* has any role, which search knows
        return
    asked = draft.new_node(concept, False, link.target) if unknown is None else unknown
    draft.labels[asked] = concept
    is_free = "ARG1" not in draft.below(link.source)
    draft.replace_edge(link, link._replace(role="ARG1" if is_free else link.role, target=asked))
    if unknown is None:
        draft.add_edge(link.target, role, asked)


def _ask_predicate(draft: Draft, word: int, concept: str, role: str) -> None:
    """Put what is asked for between a verb and the subject of a clause such as *where the station is*."""
    ends = (i for i in range(word + 2, len(draft.forms)) if draft.forms[i] in _COPULAS)
    end = next(ends, word)
    verbs = [node for place, node in draft.frames.items() if word - 3 <= place < word and is_asking(draft, node)]
    inside = draft.inside(word + 1, end)
    subjects = inside - {edge.target for edge in draft.edges if edge.source in inside}
    if len(verbs) != 1 or len(subjects) != 1 or re.search(r"\w", draft.forms[end + 1]):
        return
    (verb,), (subject,) = verbs, subjects
    of_word = [node for node in draft.at(word) if draft.labels[node] in ("location", "place")]
    removed = {*draft.nodes_of("amr-unknown"), *of_word}
    draft.remove_edges(lambda edge: not removed.isdisjoint(edge[::2]) or {*edge[::2]} == {verb, subject})
    draft.removed |= removed
    asked = draft.new_node(concept, False, subject)
    draft.add_edge(verb, "ARG1", asked)
    draft.add_edge(subject, "mod" if role in ("-", "ARG0") else role, asked)


def is_asking(draft: Draft, node: int) -> bool:
    return draft.labels[node].rpartition("-")[0] in _ASKING


def mend_conditions(draft: Draft) -> None:
    """Make the clause after *if* the condition of the clause before it, and the negated one after *unless*."""
    for place, form in enumerate(draft.forms):
        if form == "so" and draft.forms[place - 1] == ",":
            _so(draft, place)
        if form == "unless":
            _unless(draft, place)


def _so(draft: Draft, place: int) -> None:
    """Make what stands before *, so* the cause of what stands after it."""
    for node in [node for node in draft.at(place) if draft.labels[node] == "cause-01"]:
        below = draft.below(node)
        cause, result = below.get("ARG0", -1), below.get("ARG1", -1)
        if draft.place(result) < place < draft.place(cause) and result >= 0:
            draft.replace_edge(Edge(node, "ARG0", cause), Edge(node, "ARG1", cause))
            draft.replace_edge(Edge(node, "ARG1", result), Edge(node, "ARG0", result))


def _unless(draft: Draft, place: int) -> None:
    """Negate the condition after *unless*, not the clause above it."""
    for edge in [edge for edge in draft.edges if edge.role == "polarity" and draft.place(edge.target) == place]:
        condition = draft.below(edge.source).get("condition")
        if condition is not None and "polarity" not in draft.below(condition):
            draft.replace_edge(edge, edge._replace(source=condition))


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
    if first in _AUXILIARIES and {edge[1:] for edge in edges if edge.role != "polite"} == {("polarity", unknown)}:
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
        elif role == "ARG0" and first.startswith("wh") and forms[1] in _AUXILIARIES - _COPULAS:
            object_ = Edge(source, "ARG1", draft.below(source).get("ARG1", unknown))
            if 1 < draft.place(object_.target) < draft.place(source):  # *who did the police arrest*
                draft.replace_edge(object_, object_._replace(target=unknown))
                draft.replace_edge(edge, edge._replace(target=object_.target))
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

"""Questions, inside sentences (*I know where he hid it*) and whole (*What is it called?*)."""

from __future__ import annotations

from collections.abc import Sequence

from transition_parser.graphs.amr import CONJUNCTIONS, Edge
from transition_parser.parsing.edits.draft import Draft
from transition_parser.text import word_list

_ASKED = {
    "where": ("place", "location"),
    "when": ("date-entity", "time"),
    "how": ("thing", "manner"),
    "who": ("person", "ARG0"),
    "what": ("thing", "-"),
}
_OF_HOW = {"long": ("thing", "duration"), "often": ("thing", "frequency")}
_ASKING = frozenset(word_list("edits: asking"))
_AFTER_QUESTIONS = frozenset(word_list("edits: after questions"))
_COPULAS = frozenset(word_list("edits: copulas"))
_AUXILIARIES = frozenset(word_list("edits: auxiliaries")) | _COPULAS | {"am", "has", "have", "had", "can", "may"}
_OF_FORMS = dict.fromkeys(("can", "could", "may", "might"), "possible-01") | {"should": "recommend-01"}
_NO_MODALS = ("possible-01", "recommend-01", *CONJUNCTIONS, "permit-01", "allow-01", "imperative", "amr-choice")
_REQUESTED = frozenset(word_list("edits: requested"))
_ABILITIES = frozenset(word_list("edits: abilities"))
_OF_VERBS = {"quant": "extent"} | {role: role for role in "duration frequency location manner time".split()}


def mend_questions(draft: Draft) -> None:
    """Give the clause after *where*, *how many*, *why* and others what it asks for, below the verb before it."""
    for word, form in enumerate(draft.forms):
        if form in _ASKED:
            _ask_at(draft, word)
        elif form == "which":
            _ask_for_choice(draft, word)
        elif form == "whose" and word:
            _ask_for_owner(draft, word)
        if draft.forms[word : word + 2] == ["how", "many"] and not draft.at(word + 1):
            _ask_for_number(draft, word + 2)
    if "why" in draft.forms:
        _ask_for_cause(draft)


def _ask_at(draft: Draft, word: int) -> None:
    """Ask for what a word such as *where* stands for, in the clause after it."""
    links = [edge for edge in draft.edges if word - 4 < draft.place(edge.source) < word < draft.place(edge.target)]
    links = [edge for edge in links if _is_asking(draft, edge.source) and draft.is_frame(edge.target)]
    form, following = draft.forms[word : word + 2]
    for unknown in [node for node in draft.at(word) if draft.labels[node] == "amr-unknown"]:
        if any(edge[1:] == ("ARG1", unknown) and _is_asking(draft, edge.source) for edge in draft.edges):
            draft.labels[unknown] = _ASKED[form][0]  # *can you tell me when it opens?* asks whether you can
    if len(links) == 1 and following not in _AFTER_QUESTIONS:
        how = _OF_HOW.get(following) if form == "how" else None
        _ask(draft, links[0], *(how or _ASKED[form]))


def _ask_for_choice(draft: Draft, word: int) -> None:
    """Ask for a noun and not for what it does: *it is not clear which road leads there*."""
    for noun in [node for node in draft.at(word + 1) if not draft.is_frame(node)]:
        verbs = {edge.source for edge in draft.edges if edge.target == noun and draft.place(edge.source) > word}
        for link in [edge for edge in draft.edges if edge.target in verbs and edge.role == "ARG1"]:
            if -1 < draft.place(link.source) < word and _is_asking(draft, link.source):
                draft.replace_edge(link, link._replace(target=noun))


def _ask_for_owner(draft: Draft, word: int) -> None:
    """Ask for the owner of a thing, which search has lost: *say whose umbrella it was*."""
    for owned in draft.inside(word, word + 2) - {edge.target for edge in draft.edges if edge.role == "poss"}:
        for link in [edge for edge in draft.edges if edge[1:] == ("ARG1", owned)]:
            if -1 < draft.place(link.source) < word and _is_asking(draft, link.source):
                owner = draft.new_node("person", False, owned)
                draft.replace_edge(link, link._replace(target=owner), Edge(owned, "poss", owner))


def _ask_for_number(draft: Draft, word: int) -> None:
    """Ask for the number of a noun whose number is lost: *know how many guests are coming*, *how many came?*."""
    nouns = [node for node in draft.at(word) if node not in draft.constants]
    if not nouns or "quant" in draft.below(nouns[0]) or draft.nodes_of("amr-unknown"):
        return
    owners = {nouns[0], *(edge.source for edge in draft.edges if edge.target == nouns[0] and edge.role[:3] == "ARG")}
    links = [edge for edge in draft.edges if edge.target in owners and -1 < draft.place(edge.source) < word - 2]
    asking = [edge for edge in links if _is_asking(draft, edge.source)]
    if asking:
        asked = draft.new_node("thing", False, nouns[0])
        draft.replace_edge(asking[0], asking[0]._replace(target=asked))
        draft.add_edge(nouns[0], "quant", asked)
    else:
        draft.add_below(nouns[0], "quant", "amr-unknown")


def _ask_for_cause(draft: Draft) -> None:
    """Ask for the cause of what is asked: *know why he left*."""
    for cause in draft.nodes_of("cause-01"):
        verb = draft.below(cause).get("ARG0", cause)
        if _is_asking(draft, verb):
            asked = draft.new_node("thing", False, cause)
            draft.replace_edge(Edge(cause, "ARG0", verb), Edge(cause, "ARG0", asked), Edge(verb, "ARG1", asked))
            draft.replace_edge(Edge(verb, "ARG1", draft.below(cause).get("ARG1", -1)))


def _ask(draft: Draft, link: Edge, concept: str, role: str) -> None:
    below = draft.below(link.target)
    unknown = next((node for node in below.values() if draft.labels[node] == "amr-unknown"), None)
    if unknown is None and (role in below or role == "-"):  # *what* has any role, which search knows
        return
    if link.role != "ARG1" and "ARG1" in draft.below(link.source):  # *saw him when it rained*
        return
    asked = draft.new_node(concept, False, link.target) if unknown is None else unknown
    draft.labels[asked] = concept
    draft.remove_edges(Edge(draft.top, "polarity", asked).__eq__)  # *can anyone tell us what it means?*
    draft.replace_edge(link, link._replace(role="ARG1", target=asked))
    if unknown is None:
        draft.add_edge(link.target, role, asked)


def _is_asking(draft: Draft, node: int) -> bool:
    return draft.labels[node].rpartition("-")[0] in _ASKING


def mend_direct_questions(draft: Draft) -> None:
    """Put what a question asks for in its place."""
    forms, asked = draft.forms, draft.nodes_of("amr-unknown")
    first, second, third = [*forms, ""][:3]
    is_whole = first in _AUXILIARIES and "?" in forms[-2:] and {"imperative", "amr-choice"}.isdisjoint(draft.labels)
    if is_whole and not asked and draft.is_frame(draft.top):  # *do you know why*
        asked = [draft.add_below(draft.top, "polarity", "amr-unknown")]
    if len(asked) != 1:
        return
    (unknown,) = asked
    if first == "what" and second in ("a", "an") and draft.neighbors(unknown) == {draft.top}:  # *What a day!*
        draft.removed.add(unknown)
        draft.add_below(draft.top, "mode", "expressive")
        return
    edges = [edge for edge in draft.edges if unknown in edge[::2] and edge.role != "polite"]
    if first in _AUXILIARIES and {edge[1:] for edge in edges} == {("polarity", unknown)}:
        _ask_whole(draft, unknown, edges)
    for edge in edges:
        source, role, target = edge
        below = draft.below(source)
        if role in _OF_VERBS and draft.labels[source] == "possible-01" and "ARG1" in below:  # *how far can it jump*
            draft.replace_edge(edge, Edge(below["ARG1"], _OF_VERBS[role], unknown))
        elif first == "how" and second == "much" and third in _COPULAS and source == draft.top:
            draft.top = draft.new_node("cost-01", False, unknown)
            draft.replace_edge(edge, Edge(draft.top, "ARG1", source), Edge(draft.top, "ARG2", unknown))
        elif first == "what" and role == "mod" and third in _COPULAS and not draft.at(1):  # *what time is it*
            kind = draft.new_node(draft.words[1].lemma, False, unknown)
            draft.replace_edge(edge, Edge(kind, "mod", unknown), Edge(kind, "domain", source))
            draft.move_top(source, kind)
        elif role == "ARG0" and second in _AUXILIARIES - _COPULAS:  # *who did the police arrest*
            object_ = Edge(source, "ARG1", below.get("ARG1", unknown))
            if 1 < draft.place(object_.target) < draft.place(source):
                draft.replace_edge(object_, object_._replace(target=unknown))
                draft.replace_edge(edge, edge._replace(target=object_.target))
        elif first == "whose" and source == unknown and target not in draft.constants:
            draft.replace_edge(edge, Edge(target, "poss", unknown))
        elif first == "which" and second == "of" and role[:3] == "ARG" and draft.labels[source] != "include-91":
            before = [one for one in below.values() if 1 < draft.place(one) < draft.place(source)]
            if before or source != draft.top:  # *which of your sisters lives here*
                draft.replace_edge(edge, Edge(min([*before, source], key=draft.place), "mod", unknown))


def _ask_whole(draft: Draft, unknown: int, edges: Sequence[Edge]) -> None:
    """Give the polarity of a question whose answer is yes or no to its top alone, or to the possibility it asks for.

    *Can cats swim?* is `possible-01 :polarity amr-unknown`. *Can you tell me …?*, *can you pick us up?*, *could you
    wait?* and *can you …, please?* are requests.
    """
    draft.move_top(unknown, edges[0].source)
    first, second = draft.forms[:2]
    verb = draft.words[draft.place(draft.top)].lemma
    after = (draft.words[place + 1].form for place in draft.alignments[draft.top] if place + 1 < len(draft.words))
    is_for_us = not {"me", "us"}.isdisjoint(after) and verb not in _ABILITIES
    is_asked = (first == "can" and (verb in _REQUESTED or is_for_us)) or (first == "could" and verb not in _ABILITIES)
    if second == "you" and "possible-01" not in draft.labels and (is_asked or "please" in draft.forms):
        draft.merge(unknown, draft.top)
        for role, label in (("mode", "imperative"), ("polite", "+")):
            if role not in draft.below(draft.top):
                draft.add_below(draft.top, role, label)
        return
    if first in _OF_FORMS and not any(map(draft.nodes_of, _NO_MODALS)):
        modal = draft.new_node(_OF_FORMS[first], False)
        draft.add_edge(modal, "ARG1", draft.top)
        draft.top = modal
    if edges != [Edge(draft.top, "polarity", unknown)]:
        draft.remove_edges(edges.__contains__)
        draft.add_edge(draft.top, "polarity", unknown)

"""Pronouns: lost ones come back, and all mentions of *I*, *we* and *you* are one node."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from transition_parser.graphs.amr import CONJUNCTIONS, AmrGraph, named, quoted
from transition_parser.parsing.edits.draft import Draft
from transition_parser.text import word_list
from transition_parser.transitions.amr_state import AmrWord

BEFORE_VERBS, _POSSESSIVES = (frozenset(word_list(f"edits: {name}")) for name in ("before verbs", "possessives"))
SUBJECTS = {
    form: subject for subject in "i we you he she they it".split() for form in word_list(f"edits: pronouns {subject}")
}
PRONOUNS = frozenset(SUBJECTS.values())
SEPARATORS = (",", *CONJUNCTIONS)
_OBJECTS = ("me", "him", "her", "them", "us")
_SHARED = ("i", "we", "you")  # in 1,000 gold AMRs with one of them, two have it twice


def mend_pronouns(draft: Draft) -> None:
    """Add lost pronouns beside verbs, write *i* for *me*, and make all mentions of *i*, *we* or *you* one node."""
    for node, roles, label in [*_lost(draft)]:
        draft.add_argument(node, roles, label)
    for node, label in enumerate(draft.labels):
        draft.labels[node] = SUBJECTS.get(label, label)
    _name_parts(draft)
    for pronoun in _SHARED:
        first, *others = draft.nodes_of(pronoun) or [-1]
        for node in others:
            draft.merge(node, first)


def _name_parts(draft: Draft) -> None:
    """Let a part of *us*, *you* or *them* be a person: *two of us*."""
    for node in draft.nodes_of("include-91"):
        part, whole = (draft.below(node).get(role, node) for role in ("ARG1", "ARG2"))
        if part != whole and draft.labels[part] == draft.labels[whole] and draft.labels[part] in PRONOUNS:
            draft.labels[part] = "person"


def is_owner(draft: Draft, place: int) -> bool:
    """Return True for a possessive pronoun (*sell her own house*)."""
    form, following = draft.forms[place : place + 2]
    return form in _POSSESSIVES or (form == "her" and (following == "own" or place + 1 in draft.aligned))


def _lost(draft: Draft) -> Iterator[tuple[int, Sequence[str], str]]:
    """Yield the role that a pronoun without a node may have at the verb beside it."""
    for place, form in enumerate(draft.forms[:-1]):
        verb, label = place + 1, SUBJECTS.get(form, "")
        while draft.forms[verb] in BEFORE_VERBS:
            verb += 1
        node = draft.frames.get(place - 1 if form in _OBJECTS else verb)
        is_name = form != "i" and draft.words[place].form.isupper()
        if node is None or place in draft.aligned or is_name or label == "it":
            continue
        below, around = draft.below(node), draft.around(node)
        if label not in _SHARED and any(_is_shared(draft, one) for one in below.values()):
            continue  # search knows whom the pronoun means
        if form == label and "ARG0" not in below and form not in around.values():
            yield node, ("ARG0", "ARG1"), form
        elif form in _OBJECTS and not draft.forms[place + 1].endswith("ing") and not is_owner(draft, place):
            around.pop(below.get("ARG0", -1), None)  # the subject is no object, unless the pronoun is reflexive
            others = [one for role, one in below.items() if role[:3] == "ARG" and one in around]
            inner_verb = draft.frames.get(place + 1, -1)
            subject = "ARG0" if 0 in draft.core_roles(inner_verb) else "ARG1"
            if inner_verb in others and subject in draft.below(inner_verb):
                continue  # *saw him wave*: who waves
            inner = {known for one in others for known in draft.around(one).values()}  # *want me to go*
            if label not in {*around.values(), *inner} and all(draft.place(one) > place for one in others):
                yield node, ("ARG1", "ARG2"), label


def _is_shared(draft: Draft, node: int) -> bool:
    """Return True for what several predicates have, so that pronouns probably mention it."""
    is_noun = node not in draft.constants and not draft.is_frame(node) and draft.labels[node] not in PRONOUNS
    return is_noun and sum(edge.target == node for edge in draft.edges) > 1


def with_mentions(
    graph: AmrGraph, alignments: Sequence[tuple[int, ...]], words: Sequence[AmrWord]
) -> list[tuple[int, ...]]:
    """Return the alignments; a pronoun's only node also gets all words that mention it and have no node of their own.

    Words in capitals are left out (`US`, `IT`), except `I`. A name of one word that no node has gets this word.
    """
    nodes = {label: node for node, label in enumerate(graph.labels) if label in SUBJECTS}
    aligned, found = {word for each in alignments for word in each}, [*alignments]
    for place, word in enumerate(words) if nodes else ():
        form = word.form.lower()
        node = nodes.get("i" if form == "mine" else SUBJECTS.get(form, ""))
        if node is None or form == "it" or place in aligned or (word.form.isupper() and word.form != "I"):
            continue
        if graph.labels.count(graph.labels[node]) == 1:
            found[node] = tuple(sorted((*found[node], place)))
    lost = {quoted(word.form): place for place, word in enumerate(words) if place not in aligned}
    for node, name, (text, *_) in named(graph) if lost else ():
        at = alignments[text]
        if graph.labels[text] in lost and not {words[place].form for place in at}.difference(SEPARATORS):
            found[node] = found[name] = found[text] = (lost[graph.labels[text]],)
    return found

"""Pronouns: lost ones come back, all have their subject form, and all mentions of *I*, *we* and *you* are one node."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from transition_parser.graphs.amr import AmrGraph, named, quoted
from transition_parser.parsing.edits.draft import Draft
from transition_parser.parsing.edits.lists import SEPARATORS
from transition_parser.parsing.edits.subjects import BETWEEN
from transition_parser.transitions.amr_state import AmrWord

SUBJECTS: Mapping[str, str] = {  # without `mine`, which is a noun, too
    form: forms.split()[0]
    for forms in (
        *("i me my myself", "we us our ours ourselves", "you your yours yourself yourselves"),
        *("he him his himself", "she her hers herself", "they them their theirs themselves", "it its itself"),
    )
    for form in forms.split()
}
NO_SUBJECTS = frozenset(form for form, subject in SUBJECTS.items() if form != subject)
_MENTIONS = {form: subject for form, subject in SUBJECTS.items() if form != "it"} | {"mine": "i"}  # it is often empty
_SHARED = ("i", "we", "you")  # in 1,000 gold AMRs with one of them, two have it twice
_OBJECTS = {"me": "i", "him": "he", "her": "she", "them": "they", "us": "we"}
_SUBJECTS = frozenset({*_OBJECTS.values(), "you"})


def mend_pronouns(draft: Draft) -> None:
    """Add lost pronouns beside verbs, write *i* for *me*, and make all mentions of *i*, *we* or *you* one node."""
    for node, roles, label in [*_lost(draft)]:
        draft.add_argument(node, roles, label)
    for node, label in enumerate(draft.labels):
        draft.labels[node] = SUBJECTS.get(label, label)
    for pronoun in _SHARED:
        first, *others = draft.nodes_of(pronoun) or [-1]
        for node in others:  # unless both have the same place in the graph
            relations = draft.relations(first)
            if relations.isdisjoint(draft.relations(node)) and node not in {other for other, _ in relations}:
                draft.merge(node, first)


def _lost(draft: Draft) -> Iterator[tuple[int, Sequence[str], str]]:
    """Yield the role that a pronoun without a node may have at the verb beside it."""
    for place, form in enumerate(draft.forms[:-1]):
        is_name = form != "i" and draft.words[place].form.isupper()
        if place in draft.aligned or form not in _SUBJECTS | _OBJECTS.keys() or is_name:
            continue
        verb, following = place + 1, draft.forms[place + 1]
        while draft.forms[verb] in BETWEEN:
            verb += 1
        node = draft.frames.get(place - 1 if form in _OBJECTS else verb)
        if node is None:
            continue
        below, around = draft.below(node), draft.around(node)
        if form in _SUBJECTS and "ARG0" not in below and form not in around.values():
            yield node, ("ARG0", "ARG1"), form
        elif form in _OBJECTS and not following.endswith("ing") and not (form == "her" and place + 1 in draft.aligned):
            around.pop(below.get("ARG0", -1), None)  # the subject is no object, unless the pronoun is reflexive
            others = [one for role, one in below.items() if role[:3] == "ARG" and one in around]
            if _OBJECTS[form] not in around.values() and all(draft.place(one) > place for one in others):
                yield node, ("ARG1", "ARG2"), _OBJECTS[form]


def with_mentions(
    graph: AmrGraph, alignments: Sequence[tuple[int, ...]], words: Sequence[AmrWord]
) -> list[tuple[int, ...]]:
    """Return the alignments; a pronoun's only node also gets all words that mention it and have no node of their own.

    Words in capitals are left out (`US`, `IT`), except `I`. A name of one word that no node has gets this word.
    """
    nodes = {label: node for node, label in enumerate(graph.labels) if label in SUBJECTS}
    aligned, found = {word for each in alignments for word in each}, [*alignments]
    for place, word in enumerate(words) if nodes else ():
        node = nodes.get(_MENTIONS.get(word.form.lower(), ""))
        if node is None or place in aligned or (word.form.isupper() and word.form != "I"):
            continue
        if graph.labels.count(graph.labels[node]) == 1:
            found[node] = tuple(sorted((*found[node], place)))
    lost = {quoted(word.form): place for place, word in enumerate(words) if place not in aligned}
    for node, name, (text, *_) in named(graph) if lost else ():
        at = alignments[text]
        if graph.labels[text] in lost and not {words[place].form for place in at}.difference(SEPARATORS):
            found[node] = found[name] = found[text] = (lost[graph.labels[text]],)
    return found

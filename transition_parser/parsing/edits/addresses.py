"""Web and e-mail addresses and telephone numbers become entities: `url-entity :value "…"`."""

from __future__ import annotations

import re

from transition_parser.graphs.amr import Edge, distances, quoted
from transition_parser.parsing.edits.draft import Draft
from transition_parser.transitions.amr_state import lemma_of

_ADDRESSES = {
    "email-address-entity": re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+"),
    "url-entity": re.compile(r"(https?://|www\.)\S+|\S+\.(com|org|net|gov|edu|html?)(/\S*)?"),
    "phone-number-entity": re.compile(r"(\(\d{3}\)|\d{3}-)\d{3}-\d{4}"),
}
_OF_TEXTS = ("date-entity", "-quantity", "thing")  # concepts that search gives unknown texts
_ODD = re.compile(r"\S[@./]\S|\d{3}-\d{4}")


def entity_of(text: str) -> str | None:
    """Return the concept of an address or telephone number, None for other texts."""
    return next((entity for entity, pattern in _ADDRESSES.items() if pattern.fullmatch(text)), None)


def mend_addresses(draft: Draft) -> None:
    """Give addresses their entities: concepts, strings of names, and empty dates and quantities of their words."""
    odd = [label for label in draft.labels if _ODD.search(label) or label.endswith(_OF_TEXTS)]
    for node in range(len(draft.graph)) if odd else ():
        if node in draft.constants or node in draft.removed:
            continue
        below, label = draft.below(node), draft.labels[node]
        if "name" in below and label != "date-entity":
            _mend_name(draft, node, below["name"])
        text = "".join(draft.words[place].form for place in draft.alignments[node])
        is_empty = not below and label.endswith(_OF_TEXTS)
        if entity := entity_of(lemma_of(label)) or (entity_of(text) if is_empty else None):
            draft.labels[node] = entity
            draft.add_below(node, "value", quoted(text if entity_of(text) else lemma_of(label)))
    for place, word in enumerate(draft.words):
        is_lost = place not in draft.aligned and quoted(word.form) not in draft.labels
        if is_lost and (entity := entity_of(word.form)):
            _restore(draft, place, entity)


def _restore(draft: Draft, place: int, entity: str) -> None:
    """Add an address without a node to the frame before it, as its object or as a place."""
    before = [verb for verb in draft.frames if verb < place]
    verb = draft.frames[max(before)] if before else draft.top
    below, known = draft.below(verb), draft.core_roles(verb)
    is_to = place > 0 and draft.forms[place - 1] == "to"
    role = (
        "ARG1" if before and max(before) == place - 1 else ("ARG4" if 4 in known else "ARG2") if is_to else "location"
    )
    old = Edge(verb, role, below.get(role, -1))
    if old.target >= 0 and draft.place(old.target) > place:  # *visit … for help*
        draft.replace_edge(old)
        if old.target not in distances(draft.edges, draft.top):
            draft.add_edge(verb, "purpose", old.target)
    elif old.target >= 0:
        role = "location"
    node = draft.new_node(entity, False, verb)
    draft.add_edge(verb, role, node)
    draft.add_below(node, "value", quoted(draft.words[place].form))


def _mend_name(draft: Draft, node: int, name: int) -> None:
    """Make the only string of a name that is an address the `:value` of the node."""
    touching = [edge for edge in draft.edges if name in edge[::2]]
    strings = [edge.target for edge in touching if edge.source == name]
    is_own = len(strings) == 1 and len(touching) == 2 and draft.graph.constants.issuperset(strings)
    entity = entity_of(draft.labels[strings[0]].strip('"')) if is_own else None
    if entity is not None and name != draft.graph.top:
        draft.labels[node] = entity
        draft.add_below(node, "value", draft.labels[strings[0]])
        draft.removed.update((name, *strings))

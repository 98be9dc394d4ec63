"""Types of names, and the entities of addresses and telephone numbers: `url-entity :value "…"`."""

from __future__ import annotations

import re

from transition_parser.graphs.amr import Edge, distances, named, quoted
from transition_parser.parsing.edits.draft import Draft
from transition_parser.text.names import (
    gene_product,
    known_type,
    noun_before,
    tables,
    type_in_context,
    type_of,
)
from transition_parser.transitions.amr_state import key, lemma_of

_ADDRESSES = {
    "email-address-entity": re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+"),
    "url-entity": re.compile(r"(https?://|www\.)\S+|\S+\.(com|org|net|gov|edu|html?)(/\S*)?"),
    "phone-number-entity": re.compile(r"(\(\d{3}\)|\d{3}-)\d{3}-\d{4}"),
}
_OF_PERSONS = frozenset(("he", "him", "himself", "his", "her", "hers", "herself", "she"))


def type_names(draft: Draft) -> None:
    """Give names their types.

    A noun before a name (*the film Ran*) becomes its type, and their nodes become one. Other names of unsure types get
    the types that everybody knows, or those that their head words or the words around them say. Products of genes get
    their kinds by their symbols. Names in `known` get no types of heads or symbols.
    """
    _name_cells(draft)
    forms, lemmas = [word.form for word in draft.words], [word.lemma for word in draft.words]
    names = [(node, ops, sorted(draft.alignments[node])) for node, _, ops in named(draft.graph)]
    has_genes = any(draft.labels[node] in tables()["gene"] for node, *_ in names)
    for node, ops, places in [one for one in names if one[-1]]:
        first, end, label = places[0], places[-1] + 1, draft.labels[node]
        if (noun := noun_before(forms, places)) is not None and _join_noun(draft, node, noun):
            continue
        name = [draft.labels[op].strip('"') for op in ops]
        is_known = key([draft.words[place] for place in places]) in draft.known
        is_said = label in lemmas[end : end + 2]  # `the MAPK pathway`
        before = draft.forms[first - 1]
        is_person = label == "person" and before != "the"  # no name of a person has an article
        said, kind = type_in_context(lemmas, first, end, is_person), None
        if label in tables()["gene"] and not (is_known or is_said):
            kind = gene_product(name)
        mentions = sum(edge.target == node for edge in draft.edges)
        is_mentioned = label == "person" and mentions > 1 == len(name) and not _OF_PERSONS.isdisjoint(draft.forms)
        if kind is None and label not in lemmas and not is_mentioned:  # *Zara lost her keys*
            kind = known_type(name, label, before, said)
        if kind is None and label in tables()["unsure"] and not is_known:
            kind = said or type_of(name, is_person)
        draft.labels[node] = kind or label
        if has_genes or draft.forms[end] in _GENES:
            _join_head(draft, node, end)


_GENES = ("gene", "genes")
_OF_NAMES = re.compile("receptors?|[a-z]+ases?")  # heads of names of proteins: *TNF receptor*, *S6 kinase*


def _join_head(draft: Draft, node: int, place: int) -> None:
    """Give the name of a gene or protein the head noun after it that has no node, or a node of another word."""
    form, own = draft.forms[place], [one for one in draft.at(place) if one not in draft.constants]
    if form in _GENES and draft.labels[node] not in draft.forms:
        draft.labels[node] = "gene"
    elif _OF_NAMES.fullmatch(form) and not any(draft.labels[one][:3] == form[:3] for one in own):
        name = draft.below(node)["name"]
        ops = sum(edge.source == name for edge in draft.edges)
        draft.add_edge(name, f"op{ops + 1}", draft.new_node(quoted(draft.words[place].form), True))
        draft.labels[node] = "enzyme" if "ase" in form else "protein"
        for one in own:
            draft.merge(one, node)


def _name_cells(draft: Draft) -> None:
    """Make the word before *cells* the name of a cell line, if it has capitals inside: *HeLa cells*."""
    for place, form in enumerate(draft.forms[1:], 1):
        before, owners = draft.words[place - 1], draft.at(place) if form in ("cell", "cells") else []
        names = draft.at(place - 1) if owners and re.search("[A-Z]", before.form[1:]) else []
        if len(names) == 1 and draft.labels[names[0]] == before.lemma:
            draft.merge(names[0], owners[0])
            draft.labels[owners[0]] = "cell-line"
            draft.add_name(owners[0], [before.form])


def _join_noun(draft: Draft, node: int, noun: int) -> bool:
    """Make the word `noun` the type of a named node, unless the word has nodes without an edge to this node."""
    of_noun = draft.at(noun)
    if not draft.neighbors(node).issuperset(of_noun):
        return False
    draft.labels[node] = draft.words[noun].lemma
    for other in of_noun:
        draft.merge(other, node)
    return True


def entity_of(text: str) -> str | None:
    """Return the concept of an address or telephone number, None for other texts."""
    return next((entity for entity, pattern in _ADDRESSES.items() if pattern.fullmatch(text)), None)


def mend_addresses(draft: Draft) -> None:
    """Give addresses their entities: concepts, strings of names, and words without a node."""
    for node in range(len(draft.graph)):
        below, lemma = draft.below(node), lemma_of(draft.labels[node])
        text = "".join(draft.words[place].form for place in draft.alignments[node])
        if node in draft.constants or node in draft.removed:
            continue
        if entity := entity_of(lemma) or (None if below else entity_of(text)):
            draft.labels[node] = entity
            draft.add_below(node, "value", quoted(text if entity_of(text) else lemma))
        elif "name" in below:
            _mend_name(draft, node, below["name"])
    for place, word in enumerate(draft.words):
        is_lost = place not in draft.aligned and quoted(word.form) not in draft.labels
        if is_lost and (entity := entity_of(word.form)):
            _restore(draft, place, entity)


def _restore(draft: Draft, place: int, entity: str) -> None:
    """Add an address without a node to the frame before it, as its object or as a place."""
    before = max((verb for verb in draft.frames if verb < place), default=-1)
    verb = draft.frames.get(before, draft.top)
    role = "ARG1" if -1 < before == place - 1 else "location"
    old = Edge(verb, role, draft.below(verb).get(role, -1))
    if old.target >= 0 and draft.place(old.target) > place:  # *visit … for help*
        draft.replace_edge(old)
        if old.target not in distances(draft.edges, draft.top):
            draft.add_edge(verb, "purpose", old.target)
    node = draft.new_node(entity, False, verb)
    draft.add_edge(verb, "location" if old.target >= 0 and old in draft.edges else role, node)
    draft.add_below(node, "value", quoted(draft.words[place].form))


def _mend_name(draft: Draft, node: int, name: int) -> None:
    """Make the only string of a name that is an address the `:value` of the node."""
    touching = [edge for edge in draft.edges if name in edge[::2]]
    strings = {edge.target for edge in touching if edge.source == name} & draft.graph.constants
    entity = entity_of(draft.labels[max(strings)].strip('"')) if strings and len(touching) == 2 else None
    if entity is not None and name != draft.top:
        draft.labels[node] = entity
        draft.add_below(node, "value", draft.labels[max(strings)])
        draft.removed.update((name, *strings))

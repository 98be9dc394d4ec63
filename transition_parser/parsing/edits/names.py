"""Names get the types that their sentence or their own words say."""

from __future__ import annotations

from transition_parser.graphs.amr import named
from transition_parser.parsing.edits.draft import Draft
from transition_parser.text.names import gene_product, known_type, noun_before, tables, type_in_context, type_of
from transition_parser.transitions.amr_state import key


def type_names(draft: Draft) -> None:
    """Give names their types.

    A noun before a name (*the film Ran*) becomes its type, and their nodes become one. Other names of unsure types get
    the types that everybody knows, or those that their head words or the words around them say. Products of genes, and
    unsure names beside them, get their kinds by their symbols. Names in `known` get no types of heads or symbols.
    """
    graph, words, alignments = draft.graph, draft.words, draft.alignments
    forms, lemmas = [word.form for word in words], [word.lemma for word in words]
    names = [*named(graph)]
    has_genes = any(graph.labels[node] in tables()["gene"] for node, *_ in names)
    for node, _, ops in names:
        places, label = sorted(alignments[node]), graph.labels[node]
        name = [graph.labels[op].strip('"') for op in ops]
        if name[1:] and places and noun_before(forms, places[1:]) == places[0]:  # the noun was taken for a part
            draft.labels[node] = words[places[0]].lemma
            draft.removed.add(ops[0])
        elif (noun := noun_before(forms, places)) is None or not _join_noun(draft, node, noun):
            is_known = key([words[place] for place in places]) in draft.known
            is_unsure = bool(places) and label in tables()["unsure"] and not is_known
            is_said = bool(places) and label in lemmas[places[-1] + 1 : places[-1] + 3]  # `the MAPK pathway`
            before = forms[places[0] - 1].lower() if places and places[0] else ""
            is_person = label == "person" and before != "the"  # no name of a person has an article
            said = type_in_context(lemmas, places[0], places[-1] + 1, is_person) if places else None
            kind = None
            if has_genes and places and not (is_known or is_said) and (is_unsure or label in tables()["gene"]):
                kind = gene_product(name, as_other=is_unsure)
            if kind is None and places and not (is_said or label in lemmas):
                kind = known_type(name, label, before, said)
            if kind is None and is_unsure:
                kind = said if said in tables()["work"] else type_of(name, is_person) or said
                kind = kind or ("city" if label in tables()["closed"] else None)
            draft.labels[node] = kind or label


def _join_noun(draft: Draft, node: int, noun: int) -> bool:
    """Make the word `noun` the type of a named node, unless the word has nodes without an edge to this node."""
    of_noun = [one for one, places in enumerate(draft.alignments) if tuple(places) == (noun,)]
    here = draft.relations(node)
    if len(of_noun) > 1 or any(one not in dict(here) or here & draft.relations(one) for one in of_noun):
        return False
    draft.labels[node] = draft.words[noun].lemma
    for other in of_noun:
        draft.merge(other, node)
    return True

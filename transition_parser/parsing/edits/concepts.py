"""Concepts that do not exist, such as `hostile-01`, `bit-01` or `fishermen`, become those of their words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from transition_parser.graphs.amr import Edge, distances
from transition_parser.parsing.edits.draft import Draft
from transition_parser.text import word_list
from transition_parser.text.frames import packaged
from transition_parser.text.lemmas import lemma_index, lemmatize, table
from transition_parser.transitions.amr_state import lemma_of

# AMR's own frames, frames that its annotators asked PropBank for, and one that PropBank has given up
_SPECIAL = re.compile(r".+-(91|00)|have-percentage-maximal-.+|deep-02")
_OWN_PLURALS = frozenset(word_list("edits: plurals"))
_PLURAL = re.compile(r"[a-z]+(s|men|mice|children)(-[x-z]{2})?")


def mend_concepts(draft: Draft) -> None:
    """Give frames that PropBank does not have, and plurals the concepts of their words."""
    for node, label in enumerate(draft.graph.labels):
        if node in draft.constants or node in draft.removed:
            continue
        if draft.is_frame(node):
            _mend_frame(draft, node)
        elif _is_other_plural(draft, node):
            draft.labels[node] = lemmatize([label.partition("-")[0]])[0]
        elif label == "&":
            draft.labels[node] = "and"
        elif not re.search(r"\w", label):
            _pass_over(draft, node)
    for place, node in draft.frames.items():
        if draft.forms[place : place + 2] == ["used", "to"] and place + 2 in draft.frames:
            draft.merge(node, draft.frames[place + 2])  # *used to play* is `play-01` alone
    counts = [edge for edge in draft.edges if edge.role == "quant" and draft.labels[edge.target] != "thing"]
    for owner, _, quantity in counts:  # *thing*: *I know how many left*
        if draft.labels[quantity] == "number" and "the" in draft.forms[: draft.place(quantity)][-1:]:
            continue  # *the number of wolves fell*
        for edge in [edge for edge in draft.edges if edge.target == quantity and edge.role[:3] == "ARG"]:
            draft.replace_edge(edge, edge._replace(target=owner))  # *thousands of people left*
    owned = {edge.source for edge in draft.edges if edge.role == "poss"}
    for edge in [edge for edge in draft.edges if edge.role == "part" and edge.target in owned]:
        draft.change((edge, None))  # *her bag* is no part of her


def _is_other_plural(draft: Draft, node: int) -> bool:
    """Return True for a plural that is not the lemma of its word. *Customs* is a word of its own."""
    label = draft.labels[node]
    lemmas = (draft.words[place].lemma for place in draft.alignments[node])
    return bool(_PLURAL.fullmatch(label)) and label not in (*lemmas, *_OWN_PLURALS)


def _pass_over(draft: Draft, node: int) -> None:
    """Remove a node of punctuation, and connect what it connects."""
    steps, concepts = distances(draft.edges, draft.top), draft.neighbors(node) - draft.removed - draft.constants
    below = [edge.target for edge in draft.edges if edge.source == node]  # its subject comes by an inverse role
    if concepts:
        best = min(concepts, key=lambda other: (steps[other] < steps[node], other not in below, other))
        draft.merge(node, best)


def exists(concept: str) -> bool:
    """Return True for frames of the table, AMR's own frames, and frames of verbs that evoke no frame of the table."""
    lemma, sense = lemma_of(concept), concept.rpartition("-")[2]
    if sense in packaged().senses(lemma) or _SPECIAL.fullmatch(concept):
        return True
    return lemma in lemma_index()["verb"] and not _evoked(lemma)


def _evoked(lemma: str) -> Sequence[str]:
    """Return the lemmas of the table whose frames a lemma evokes: `email` for *e-mail*."""
    lemmas = (lemma, lemma.replace("-", ""), *packaged().evoked([lemma], [lemma]))
    return [one for one in lemmas if one in packaged().rolesets]


def _mend_frame(draft: Draft, node: int) -> None:
    """Make a frame that does not exist the first frame that its lemma or word evokes, or else a concept of its own.

    That is the first frame of the evoked lemma that has the word among its aliases, if there is one.
    """
    if exists(draft.labels[node]):
        return
    lemma, places = lemma_of(draft.labels[node]), draft.alignments[node]
    forms = [draft.forms[place] for place in places]
    verb = table("exc")["verb"].get("".join(forms), [lemma])[0]  # `bite` for *bit*
    evoked = next(iter([*_evoked(verb), *_evoked(lemma)]), None)
    draft.labels[node] = f"{evoked}-{packaged().sense_of(evoked, lemma)}" if evoked else lemma
    is_noun = lemma in lemma_index()["noun"] and lemma not in lemma_index()["adj"]
    is_predicate = not (is_noun and any(edge.target == node for edge in draft.edges))
    arguments = [edge for edge in draft.edges if edge.source == node and edge.role[:3] == "ARG"]
    for edge in arguments if evoked is None else ():
        is_first = edge == min(arguments, key=lambda one: one.role) and edge.target not in draft.constants
        is_possessed = is_noun and edge.role == "ARG0"  # *my patience*, but *Cola is a beverage*
        of_first = edge._replace(role="poss") if is_possessed else Edge(edge.target, "mod", node)  # `:domain`
        draft.replace_edge(edge, of_first if is_first and (is_possessed or is_predicate) else edge._replace(role="mod"))

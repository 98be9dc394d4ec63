"""Negations that are parts of words, which AMR takes apart: *unsafe* is `safe-01 :polarity -`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from transition_parser.graphs.amr import AmrGraph
from transition_parser.parsing.draft import Draft, Edited
from transition_parser.text.frames import packaged
from transition_parser.text.lemmas import lemmatise
from transition_parser.transitions.amr_state import Word, lemma_of

# `in`, `im`, `il` and `ir` begin many words that they do not negate, such as `immediate`
_STEMS = (
    "activ|appropriate|coherent|competent|complete|consistent|correct|depend|direct|dispens|effective|efficient"
    "|experienced|flexible|frequent|legal|mature|mobil|moral|partial|patient|perfect|polite|possib|rational|regular"
    "|relevant|responsib|secure|sensitive|significan|soluble|sufficien|toleran|vulnerab|voluntar"
)
_NEGATED = re.compile(
    rf"(?!inpatient)(un|non-?|dis|i[nmlr](?={_STEMS}))(?!(?:like|less|rest|ruly|sense)$)([a-z]{{4,}})"
)
_OTHER_GRAPHS = re.compile(r".*(ers?|ors?|[ai]ble)")  # `non-smoker` is a person, `unbelievable` not possible


def negated(graph: AmrGraph, alignments: Sequence[Sequence[int]], words: Sequence[Word]) -> Edited | None:
    """Return the graph with the polarity of words with a negative prefix, None for no change.

    A concept whose lemma has no frame (`unsafe`, `unmodified-01`) becomes the first frame of the word
    without the prefix.
    """
    parts = {place: found for place, word in enumerate(words) if (found := _NEGATED.fullmatch(word.form.lower()))}
    if not parts:
        return None
    draft, negative = Draft(graph), {edge.source for edge in graph.edges if edge.role == "polarity"}
    for node, places in enumerate(alignments):
        if len(places) != 1 or node in graph.constants or places[0] not in parts:
            continue
        (prefix, stem), lemma = parts[places[0]].groups(), lemma_of(graph.labels[node])
        of_word = [one for one, others in enumerate(alignments) if tuple(others) == tuple(places)]
        if not negative.isdisjoint(of_word):
            continue
        if lemma.startswith(prefix):
            concept = None if lemma in packaged().rolesets else _frame_of(prefix, stem)
        else:
            is_whole = prefix == "dis" and words[places[0]].lemma in packaged().rolesets  # `discover` is no `cover-01`
            concept = graph.labels[node] if lemma[:4] == stem[:4] and not is_whole else None
        if concept is not None:
            draft.labels[node] = concept
            possible = (one for one in of_word if lemma_of(graph.labels[one]) == "possible")  # `undetectable`
            source = next(possible, node)
            negative.add(source)
            draft.add_edge(source, "polarity", draft.new_node("-", True, node))
    return draft.result()


def _frame_of(prefix: str, stem: str) -> str | None:
    """Return the first frame that a word evokes without its negative prefix, None where that may be no negation."""
    if prefix == "dis":
        return None
    evoked = packaged().evoked(lemmatise([stem]), [stem])
    lemma = evoked.lemma or evoked.alias
    if lemma is None or (_OTHER_GRAPHS.fullmatch(stem) and lemma != stem):
        return None
    return f"{lemma}-{packaged().senses(lemma)[0]}"

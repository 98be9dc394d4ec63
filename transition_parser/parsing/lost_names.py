"""Names that everybody knows and that search left out of AMRs."""

from __future__ import annotations

from collections.abc import Sequence

from transition_parser.graphs.amr import AmrGraph, quoted
from transition_parser.parsing.draft import Draft, Edited
from transition_parser.parsing.restoring import BETWEEN
from transition_parser.text.frames import packaged
from transition_parser.text.known_names import known_spans, known_type
from transition_parser.transitions.amr_state import Word


def with_lost_names(graph: AmrGraph, alignments: Sequence[Sequence[int]], words: Sequence[Word]) -> Edited | None:
    """Return the graph with known names that no node has, None if there are none.

    A name becomes a subject of the verb after it or, at the beginning of the sentence, of the top of the graph. It
    replaces a subject *you* that no word mentions, as in false commands.
    """
    forms, draft = [word.form for word in words], Draft(graph)
    aligned = {place for places in alignments for place in places}
    for span in known_spans(forms):
        verb = next((place for place in range(span.stop, len(forms)) if forms[place] not in BETWEEN), len(forms))
        heads = [node for node, places in enumerate(alignments) if verb in places and node not in graph.constants]
        if not span.start or forms[: span.start] == ["The"]:
            heads.append(graph.top)
        if aligned.isdisjoint(span) and heads:
            below = {edge.role: edge.target for edge in draft.edges if edge.source == heads[0]}
            lemma, _, sense = graph.labels[heads[0]].rpartition("-")
            roles = [f"ARG{role}" for role in packaged().roles(lemma, sense) if role < 2]
            roles = roles or ["ARG1" if sense == "91" else "domain"]
            name, before = forms[span.start : span.stop], forms[span.start - 1].lower() if span.start else ""
            kind, subject = known_type(name, "person", before) or "thing", below.get("ARG0", graph.top)
            if graph.labels[subject] == "you" and not aligned.intersection(alignments[subject]):
                draft.labels[subject], node = kind, subject
            elif free := [role for role in roles if role not in below]:
                node = draft.new_node(kind, False)
                draft.add_edge(heads[0], free[0], node)
            else:
                continue
            of_name = draft.new_node("name", False)
            draft.add_edge(node, "name", of_name)
            for number, form in enumerate(name, 1):
                draft.add_edge(of_name, f"op{number}", draft.new_node(quoted(form), True))
    return draft.result()

"""Names that everybody knows and that search left out of AMRs."""

from __future__ import annotations

from transition_parser.graphs.amr import quoted
from transition_parser.parsing.edits.draft import Draft
from transition_parser.parsing.edits.subjects import BETWEEN
from transition_parser.text.names import known_spans, known_type


def add_names(draft: Draft) -> None:
    """Add known names that no node has.

    A name becomes a subject of the verb after it or, at the beginning of the sentence, of the top of the graph. It
    replaces a subject *you* that no word mentions, as in false commands.
    """
    forms = [word.form for word in draft.words]
    for span in known_spans(forms):
        name, before = forms[span.start : span.stop], forms[span.start - 1].lower() if span.start else ""
        verb = next((place for place in range(span.stop, len(forms)) if forms[place] not in BETWEEN), len(forms))
        heads = [
            node
            for node, places in enumerate(draft.alignments)
            if verb in places and node not in draft.constants | draft.removed
        ]
        if not span.start or forms[: span.start] == ["The"]:
            heads.append(draft.top)
        if draft.aligned.isdisjoint(span) and {*map(quoted, name)}.isdisjoint(draft.labels) and heads:
            below = draft.below(heads[0])
            roles = [f"ARG{role}" for role in draft.core_roles(heads[0]) if role < 2]
            roles = roles or ["ARG1" if draft.labels[heads[0]].rpartition("-")[2] == "91" else "domain"]
            kind, subject = known_type(name, "person", before) or "thing", below.get("ARG0", draft.top)
            if draft.labels[subject] == "you" and draft.place(subject) < 0:
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

"""Subjects that contradict the order of the words: *Who did the police arrest?*, and *I* or *we* before a verb."""

from __future__ import annotations

from collections.abc import Iterator

from transition_parser.graphs.amr import Edge
from transition_parser.parsing.edits.draft import Draft

BETWEEN = frozenset(  # words between a subject and its verb in the active voice
    "do does did will would can could may might must shall should 'll 'd not n't never also just always really".split()
)
_SPEAKERS = frozenset(("i", "we"))
_ASKING = frozenset("who whom what which".split())
_AUXILIARIES = frozenset("did do does will would can could should".split())  # after `who` they leave it an object


def mend_subjects(draft: Draft) -> None:
    """Give the object of a question, and *I* or *we* as a subject, their places."""
    for wrong, right in _misplaced(draft):
        draft.replace_edge(wrong, right)


def _misplaced(draft: Draft) -> Iterator[tuple[Edge, Edge]]:
    """Yield edges that contradict the order of the words, each with the right one."""
    forms = draft.forms
    is_question = forms[0] in _ASKING and forms[1] in _AUXILIARIES
    for verb, node in draft.frames.items():
        below = {edge.role: edge for edge in draft.edges if edge.source == node}
        subject, other, before = below.get("ARG0"), below.get("ARG1"), verb - 1
        while forms[before] in BETWEEN:
            before -= 1
        if subject is None:
            continue
        is_asked = is_question and draft.labels[subject.target] == "amr-unknown"
        if is_asked and other and 1 < draft.place(other.target) < verb:
            yield subject, subject._replace(target=other.target)
            yield other, other._replace(target=subject.target)
            continue
        speakers = draft.nodes_of(forms[before])
        near = {draft.labels[subject.target], *draft.around(subject.target).values(), *draft.around(node).values()}
        is_relative = before - 1 in draft.alignments[subject.target]  # `the cat we saw`
        is_speaker = forms[before] in _SPEAKERS - near and '"' not in forms
        if is_speaker and len(speakers) == 1 and not is_relative:
            yield subject, subject._replace(target=speakers[0])

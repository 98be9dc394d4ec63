"""Objects that the verbs of a list share."""

from __future__ import annotations

from itertools import pairwise

from transition_parser.graphs.amr import CONJUNCTIONS
from transition_parser.parsing.edits.draft import Draft
from transition_parser.parsing.edits.pronouns import SEPARATORS


def share_objects(draft: Draft) -> None:
    """Give the object of the last two verbs of a list to those before them: *designs , builds and sells buses*."""
    for conjunction in [node for label in CONJUNCTIONS for node in draft.nodes_of(label)]:
        verbs = sorted({edge.target for edge in draft.members(conjunction)}, key=draft.place)
        between = {form for one, other in pairwise(map(draft.place, verbs)) for form in draft.forms[one + 1 : other]}
        *others, last = [draft.below(verb).get("ARG1") for verb in verbs] or [None]
        if last is not None and others[-1:] == [last] and between.issubset(SEPARATORS):
            for verb, own in zip(verbs, others, strict=False):
                if own is None and 1 in draft.core_roles(verb):
                    draft.add_edge(verb, "ARG1", last)

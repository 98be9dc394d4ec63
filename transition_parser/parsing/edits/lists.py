"""Lists get the members that search left out of them."""

from __future__ import annotations

import re
from itertools import pairwise

from transition_parser.graphs.amr import CONJUNCTIONS, named
from transition_parser.parsing.edits.draft import Draft

SEPARATORS = (",", *CONJUNCTIONS)
_NAME = re.compile("[A-Z][a-z]+( [^A-Z@-]|$)")  # no other word of the name follows


def gather_members(draft: Draft) -> None:
    """Make members of names without a node beside a member, and give verbs that a list joins one object."""
    for node, label in enumerate(draft.graph.labels):
        if label in CONJUNCTIONS:
            _gather(draft, node)
            _share(draft, node)


def _share(draft: Draft, conjunction: int) -> None:
    """Give the object of the last two verbs to those before them: *designs , builds and sells buses*."""
    members = {edge.target for edge in draft.members(conjunction)}
    places = {draft.place(node): node for node in members}
    between = {form for one, other in pairwise(sorted(places)) for form in draft.forms[one + 1 : other]}
    *others, objects = [draft.below(places[place]).get("ARG1") for place in sorted(places)] or [None]
    if objects is None or others[-1:] != [objects] or not between.issubset(SEPARATORS):
        return
    for verb, has_object in zip(sorted(places), others, strict=False):
        if has_object is None and 1 in draft.core_roles(places[verb]):
            draft.add_edge(places[verb], "ARG1", objects)


def _gather(draft: Draft, conjunction: int) -> None:
    forms, first = [word.form for word in draft.words], [min(places, default=-1) for places in draft.alignments]
    ops = {first[e.target]: i for i, e in enumerate(draft.edges) if e.source == conjunction and e.role[:2] == "op"}
    words = pairwise(place for place, form in enumerate(forms) if form not in SEPARATORS)
    divided = [(one, other) for one, other in words if 1 < other - one < 4]  # by a comma, `and` or `or`
    beside_of = [*divided, *((other, one) for one, other in divided)]
    names = {node for node, *_ in named(draft.graph)}
    inside = {place for pair in divided for place in pair if place and names}  # `However , Ann and Bob`
    lost = {i for i in inside if _NAME.match(" ".join(forms[i : i + 2]))}.difference(*draft.alignments)
    count = len(ops)
    for place in sorted(lost, reverse=True):
        beside = [draft.edges[ops[other]].target for one, other in beside_of if one == place and other in ops]
        if kinds := [draft.labels[one] for one in beside if one in names]:
            ops[place] = len(draft.edges)
            draft.add_name(draft.add_below(conjunction, "op", kinds[0]), [forms[place]])
    for order, place in enumerate(sorted(ops) if len(ops) > count else (), 1):
        draft.edges[ops[place]] = draft.edges[ops[place]]._replace(role=f"op{order}")

"""Lists get the members that search left out of them."""

from __future__ import annotations

import re
from itertools import pairwise

from transition_parser.graphs.amr import CONJUNCTIONS, Edge, named
from transition_parser.parsing.edits.draft import Draft

SEPARATORS = (",", *CONJUNCTIONS)
_NAME = re.compile("[A-Z][a-z]+( [^A-Z@-]|$)")  # no other word of the name follows


def gather_members(draft: Draft) -> None:
    """Make members of what stands beside a member: frames that have the list as argument, names without a node.

    The frames must share another argument with the member: *she* in *She wept , coughed and left*.
    """
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
    forms = [word.form for word in draft.words]
    first, edges = [min(places, default=-1) for places in draft.alignments], [*enumerate(draft.edges)]
    ops = {first[e.target]: i for i, e in edges if e.source == conjunction and e.role[:2] == "op"}
    frames = {first[e.source]: i for i, e in edges if e.target == conjunction and e.role in ("ARG1", "ARG2")}
    words = pairwise(place for place, form in enumerate(forms) if form not in SEPARATORS)
    divided = [(one, other) for one, other in words if 1 < other - one < 4]  # by a comma, `and` or `or`
    beside_of = [*divided, *((other, one) for one, other in divided)]
    names = {node for node, *_ in named(draft.graph)}
    inside = {place for pair in divided for place in pair if place and names}  # `However , Ann and Bob`
    lost = {i for i in inside if _NAME.match(" ".join(forms[i : i + 2]))}.difference(*draft.alignments)
    count, has_parent = len(ops), any(e.target == conjunction for i, e in edges if i not in frames.values())
    for place in sorted(lost.union(frames), reverse=True):
        beside = [draft.edges[ops[other]].target for one, other in beside_of if one == place and other in ops]
        frame = draft.edges[frames[place]].source if place in frames else -1
        shared = {e.target for e in draft.edges if e.source == frame and e.role[:3] == "ARG"} - {conjunction}
        if any(e.source in beside and e.role[:3] == "ARG" and e.target in shared for e in draft.edges):
            ops[place] = frames[place]
            draft.move_top(frame, conjunction)
            for i, e in edges:  # a list without a parent takes the place of the frame
                if e.target == frame and e.source not in beside and not has_parent:
                    draft.edges[i] = e._replace(target=conjunction)
            draft.edges[ops[place]] = Edge(conjunction, "op", frame)
        elif frame < 0 and (kinds := [draft.labels[one] for one in beside if one in names]):
            ops[place] = len(draft.edges)
            draft.add_name(draft.add_below(conjunction, "op", kinds[0]), [forms[place]])
    for order, place in enumerate(sorted(ops) if len(ops) > count else (), 1):
        draft.edges[ops[place]] = draft.edges[ops[place]]._replace(role=f"op{order}")

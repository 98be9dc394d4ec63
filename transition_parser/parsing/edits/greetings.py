"""What people say in a word or two: *thanks*, *see you tomorrow*, *what's up?*, *welcome*, a number, an emoji."""

from __future__ import annotations

import re
import unicodedata

from transition_parser.graphs.amr import Edge, is_number, quoted
from transition_parser.parsing.edits.draft import Draft
from transition_parser.parsing.edits.lists import SEPARATORS
from transition_parser.parsing.edits.pronouns import SUBJECTS

_OPENERS = (*SEPARATORS, "", ".", "!", "ok", "okay", "no", "yes", "so", "well", "bye", "many")
_FRAMES = {"thank": "thank-01", "thanks": "thank-01", "see": "see-01", "welcome": "welcome-01"}
_SMILEY = re.compile(r"[:;=8][-'^o]?[)(DPp/|*]+|<3")


def mend_greetings(draft: Draft) -> None:
    """Give *thanks*, *see you* and *welcome* who says and who hears them, and a lone number or emoji its concept."""
    for place, form in enumerate(draft.forms[:-1]):
        following, label = draft.forms[place + 1], _FRAMES.get(form)
        frames = [node for node in draft.at(place) if draft.labels[node] == label]
        if not frames or (place and draft.forms[place - 1] not in _OPENERS):
            continue
        if (form == "thanks" and following != "to") or (form in ("see", "thank") and following == "you"):
            _say(draft, frames[0], "ARG1", "you")
            _say(draft, frames[0], "ARG0", "i")
        elif form == "welcome" and following in ("to", "home", "back"):
            _welcome(draft, frames[0])
    if draft.forms[0] == "what" and draft.forms[2:] in (["up", "?", ""], ["up", ""]):
        for node in [node for node in draft.at(2) if draft.is_frame(node)]:
            draft.labels[node] = "up"
            for edge in [edge for edge in draft.edges if edge.source == node]:
                draft.replace_edge(edge, Edge(edge.target, "mod", node))
    if len(draft.words) == 1:
        _name_symbol(draft, draft.words[0].form)


def _say(draft: Draft, verb: int, role: str, label: str) -> None:
    """Make a pronoun an argument of a verb that is no command, in the place of another pronoun."""
    below = draft.below(verb)
    draft.removed.update({below.get("mode", verb)} & draft.constants)
    old, known = below.get(role, -1), draft.nodes_of(label)
    if old >= 0 and draft.labels[old] not in {*SUBJECTS.values()} - {label}:
        if draft.labels[old] != label and role == "ARG1":
            draft.set_role(Edge(verb, role, old), "degree")  # *thanks a lot*
            draft.add_argument(verb, (role,), label)
        return
    if old >= 0 and not known and sum(old in edge[::2] for edge in draft.edges) == 1:
        draft.labels[old] = label
        return
    node = known[0] if known else draft.new_node(label, False, verb)
    if old >= 0:
        draft.replace_edge(Edge(verb, role, old), Edge(verb, role, node))
        draft.removed.update({old} if not draft.neighbors(old) else ())
    else:
        draft.add_edge(verb, role, node)


def _welcome(draft: Draft, verb: int) -> None:
    """Make the place that somebody is welcome to no person, and nobody welcome somebody."""
    below = draft.below(verb)
    place, agent = below.get("ARG1", -1), below.get("ARG0", -1)
    if place >= 0 and "ARG2" not in below and draft.labels[place] != "you":
        draft.replace_edge(Edge(verb, "ARG1", place), Edge(verb, "ARG2", place))
    if agent >= 0 and draft.labels[agent] == "you":
        draft.replace_edge(Edge(verb, "ARG0", agent))
        draft.removed.update({agent} if not draft.neighbors(agent) else ())
    _say(draft, verb, "ARG1", "you")


def _name_symbol(draft: Draft, form: str) -> None:
    """Make a number or an emoji that stands alone the only concept."""
    is_emoji = bool(_SMILEY.fullmatch(form)) or any(unicodedata.category(letter) == "So" for letter in form)
    if is_emoji or (is_number(form) and draft.labels[draft.top] != "date-entity"):
        draft.removed.update({*range(len(draft.labels))} - {draft.top})
        draft.labels[draft.top] = "emoticon" if is_emoji else form
        if is_emoji:
            draft.add_below(draft.top, "value", quoted(form))

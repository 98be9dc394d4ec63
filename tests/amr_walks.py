"""A small action inventory for random walks of the AMR machine."""

from __future__ import annotations

from transition_parser.transitions import Action, make_system
from transition_parser.transitions.amr import AmrSystem
from transition_parser.transitions.amr_state import AmrState

FORMS = ("dogs", "New", "York", "12", '"', "(", "German", "@-@", "a", "b")
NAMED = (
    *("PRED(x)", "PRED(dog)", "VALUE(-)", 'VALUE("a b")', "DEPENDENT(polarity,-)", "DEPENDENT(mod,x)"),
    *("ENTITY(city)", "ENTITY(city,+)", 'ENTITY(country,"Germany")'),
)
ACTIONS = [*make_system("amr").actions(["ARG0", "op1", "mod"]), *map(Action.parse, NAMED)]
LEXICON = {
    "dog": {Action.parse("PRED(dog)"), Action.parse("DEPENDENT(polarity,-)")},
    "german": {Action.parse('ENTITY(country,"Germany")')},
    "new york": {Action.parse("PRED(x)")},
    "a": set(),
}


def legal_actions(system: AmrSystem, state: AmrState) -> list[Action]:
    """All that are legal in a state."""
    return [action for action in ACTIONS if system.why_illegal(state, action) is None]

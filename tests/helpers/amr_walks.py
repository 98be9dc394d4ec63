"""A small action inventory for random walks of the AMR machine."""

from transition_parser.text.frames import Frames
from transition_parser.transitions import Action, make_system
from transition_parser.transitions.amr import AmrSystem
from transition_parser.transitions.amr_state import AmrState

FORMS = ("dogs", "New", "York", "12", '"', "(", "German", "@-@", "a", "b")
NAMED = (
    *("PRED(x)", "PRED(dog)", "VALUE(-)", 'VALUE("a b")', "DEPENDENT(polarity,-)", "DEPENDENT(mod,x)"),
    *("ENTITY(city)", "ENTITY(city,+)", 'ENTITY(country,"Germany")'),
)
# A small table of frames: other senses than 01, particles, aliases of one frame and of two, of a form that is no lemma,
# of several words, and derived words
FRAMES = Frames(
    [
        "# a table for tests",
        "dog\t02|01|dog/v dogging/n",
        "give\t01|012|give/v giving/n gift/n\t03|01|give/v",
        "give-up\t07|01|give_up/v giving_up/n",
        "hound\t01|01|hound/v dogs/n gift/n",
        "new-york\t01|1|big_apple/n",
        "follow-up\t05|12|follow_up/v",
        "clear\t06|12|clear/j",
        "out-of-date\t01||out_of_date/j",
    ],
    "test",
)
ACTIONS = [
    *make_system("amr", frames=FRAMES).actions(["op", "ARG0", "op1", "mod"]),
    *map(Action.parse, NAMED),
]
LEXICON = {
    "dog": ["PRED(dog)", "DEPENDENT(polarity,-)"],
    "german": ['ENTITY(country,"Germany")'],
    "new york": ["PRED(x)"],
    "a": [],
}

EVOKING = (
    *("dogs", "dog", "gave", "up", "it", "gift", "gifts", "Giving", "clearly", "unclear", "giver", "dogged", "follow"),
    *("follow-up", "New", "York", "big", "apple", "12", '"', "(", "a", "out", "of", "date", "Zorbed"),
)


def legal_actions(system: AmrSystem, state: AmrState) -> list[Action]:
    """All that are legal in a state."""
    return [action for action in ACTIONS if system.why_illegal(state, action) is None]

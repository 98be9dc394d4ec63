"""What the function of a role adds to the scores of arcs."""

import torch

from transition_parser.modules.action_scores import FunctionScores
from transition_parser.states.table import ActionTable
from transition_parser.text.frames import FUNCTIONS, role_functions
from transition_parser.transitions import make_system

FRAME_OF = ("give-01", "fall-01", "pay-01", "no-frame")
# arc → where it leads from (0: the node on top, 1: the second node), and the number of its role; None: no such role
ARCS = {"LA(ARG0)": (0, 0), "RA(ARG2)": (1, 2), "LA(ARG2)": (0, 2), "RA(ARG0-of)": (0, 0), "RA(ARG9)": (1, 9)}
OTHERS = ("LA(mod)", "RA(op)")
TOKENS = ["</s>", "SHIFT", "MERGE", "CLOSE", "ROOT", "REDUCE", "COPY_LEMMA", "COPY_WORD", *OTHERS, *ARCS]


def make_table() -> ActionTable:
    system = make_system("amr", lexicon={"a": ["PRED(a)"]})
    return ActionTable(system, [*TOKENS, *map(str, system.frames.all), "PRED(a)"])


def test_functions():
    known = role_functions()
    functions = {frame: known.functions[known.classes.get(frame, 0)] for frame in FRAME_OF}
    named = {frame: [FUNCTIONS[i - 1] if i else None for i in row[:5]] for frame, row in functions.items()}
    assert named["give-01"] == ["PAG", "PPT", "GOL", None, None]
    assert named["fall-01"] == [None, "PPT", "EXT", "DIR", "GOL"]
    assert named["no-frame"] == [None] * 5


def test_scores_are_those_of_a_plain_loop():
    torch.manual_seed(1)
    table = make_table()
    added = FunctionScores(table, 8)
    scores, outputs = torch.randn(16, len(table.tokens)), torch.randn(16, 8)
    known = role_functions()
    classes = [known.classes.get(frame, 0) for frame in FRAME_OF]
    frames = torch.cartesian_prod(torch.tensor(classes), torch.tensor(classes))
    assert torch.equal(added(scores, outputs, frames), scores)  # a new model adds nothing
    with torch.no_grad():
        added.weight.normal_()
        found = added(scores, outputs, frames.short())
    wanted = scores.clone()
    for n, of_nodes in enumerate(frames.tolist()):
        for arc, (place, role) in ARCS.items():
            function = known.functions[of_nodes[place]][role]
            if function:
                row = added.weight[place * len(FUNCTIONS) + function - 1]
                wanted[n, table.tokens.index(arc)] += (outputs[n] * row).sum()
    assert torch.allclose(found, wanted, atol=1e-5)
    assert len((found != scores).any(0).nonzero()) == len(ARCS) - 1  # no frame has ARG9

"""Lists get the members that search left out."""

from tests.parsing.edits.helpers import draft_of
from transition_parser.parsing.edits.lists import gather_members
from transition_parser.parsing.edits.pronouns import with_mentions

LOST = '(h / help-01~5 :ARG0 (a / and~3 :op1 (p / person~0 :name (n / name~0 :op1 "Ann"~0))))'


def test_a_new_member_gets_its_word():
    draft = draft_of("Ann , Bob and she helps", LOST.replace("op1 (p", "op2 (s / she~4) :op1 (p"))
    gather_members(draft)
    done = draft.result()
    assert done is not None
    alignments = with_mentions(done.graph, [draft.alignments[node] for node in done.nodes], draft.words)
    places = {label: alignments[node] for node, label in enumerate(done.graph.labels)}
    assert places['"Ann"'] == (0,) and places['"Bob"'] == (2,) and places["she"] == (4,)

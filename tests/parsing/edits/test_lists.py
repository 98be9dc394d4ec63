"""Lists get the members that search left out."""

import pytest

from tests.parsing.edits.helpers import after, draft_of
from transition_parser.parsing.edits.lists import gather_members
from transition_parser.parsing.edits.pronouns import with_mentions

SHE = "(s / she~0)"
BOB_AND_CEM = (
    '(a / and~3 :op1 (p / person~{0} :name (n / name~{0} :op1 "Bob"~{0})) :op2 (p2 / person~{1} :name'
    ' (n2 / name~{1} :op1 "Cem"~{1})))'
)
LOST = '(h / help-01~5 :ARG0 (a / and~3 :op1 (p / person~0 :name (n / name~0 :op1 "Ann"~0))))'


@pytest.mark.parametrize(
    ("text", "graph", "expected"),
    [
        ("she wept , ran and sang",
         f"(w / weep-01~1 :ARG0 {SHE} :ARG1 (a / and~4 :op1 (r / run-02~3 :ARG0 s) :op2 (s2 / sing-01~5 :ARG0 s)))",
         "(a / and :op1 (w / weep-01 :ARG0 (s / she)) :op2 (r / run-02 :ARG0 s) :op3 (s2 / sing-01 :ARG0 s))"),
        ("she ran , wept and sang", f"(k / know-01 :ARG1 (a / and~4 :op1 (r / run-02~1 :ARG0 {SHE}) :op2 (s2 /"
         " sing-01~5 :ARG0 s) :ARG1-of (w / weep-01~3 :ARG0 s)))",
         "(k / know-01 :ARG1 (a / and :op1 (r / run-02 :ARG0 (s / she)) :op2 (w / weep-01 :ARG0 s) :op3 (s2 / sing-01"
         " :ARG0 s)))"),
        ("she wants to run and sing",
         f"(w / want-01~1 :ARG0 {SHE} :ARG1 (a / and~4 :op1 (r / run-02~3 :ARG0 s) :op2 (s2 / sing-01~5 :ARG0 s)))",
         "the same"),
        ("try , run and sing",
         "(t / try-01~0 :ARG1 (a / and~3 :op1 (r / run-02~2) :op2 (s / sing-01~4)))", "the same"),
        ("Ann , Bob and Cem help", LOST.replace("))))", ')) :op2 (p2 / person~4 :name (n2 / name~4 :op1 "Cem"~4))))'),
         '(h / help-01 :ARG0 (a / and :op1 (p / person :name (n / name :op1 "Ann")) :op2 (p3 / person :name (n3 / name'
         ' :op1 "Bob")) :op3 (p2 / person :name (n2 / name :op1 "Cem"))))'),
        ("I saw Ann , Bob and Cem", f"(s / see-01~1 :ARG1 {BOB_AND_CEM.format(4, 6)})",
         '(s / see-01 :ARG1 (a / and :op1 (p3 / person :name (n3 / name :op1 "Ann")) :op2 (p / person :name (n / name'
         ' :op1 "Bob")) :op3 (p2 / person :name (n2 / name :op1 "Cem"))))'),
        ("he cut , boiled and ate it",
         "(a / and~4 :op1 (c / cut-01~1 :ARG0 (h / he~0)) :op2 (b / boil-01~3 :ARG0 h :ARG1 (i / it~6)) :op3 (e /"
         " eat-01~5 :ARG0 h :ARG1 i))",
         "(a / and :op1 (c / cut-01 :ARG0 (h / he) :ARG1 (i / it)) :op2 (b / boil-01 :ARG0 h :ARG1 i) :op3 (e / eat-01"
         " :ARG0 h :ARG1 i))"),
        ("he ran , then boiled and ate it",
         "(a / and~5 :op1 (r / run-02~1 :ARG0 (h / he~0)) :op2 (b / boil-01~4 :ARG0 h :ARG1 (i / it~7)) :op3 (e /"
         " eat-01~6 :ARG0 h :ARG1 i))", "the same"),
        ("However , Bob and Cem help", f"(h / help-01~5 :ARG0 {BOB_AND_CEM.format(2, 4)})", "the same"),
        ("Ann , then and now helps", LOST, "the same"),
        ("Ann , her and Bob Cem", LOST, "the same"),
    ],
)  # fmt: skip
def test_what_stands_in_a_list_becomes_a_member(text, graph, expected):
    assert after(gather_members, text, graph) == expected


def test_a_new_member_gets_its_word():
    draft = draft_of("Ann , Bob and she helps", LOST.replace("op1 (p", "op2 (s / she~4) :op1 (p"))
    gather_members(draft)
    done = draft.result()
    assert done is not None
    alignments = with_mentions(done.graph, [draft.alignments[node] for node in done.nodes], draft.words)
    places = {label: alignments[node] for node, label in enumerate(done.graph.labels)}
    assert places['"Ann"'] == (0,) and places['"Bob"'] == (2,) and places["she"] == (4,)

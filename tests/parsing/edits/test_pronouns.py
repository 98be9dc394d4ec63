"""Pronouns are arguments of the verbs beside them, and share a node."""

import pytest

from tests.parsing.edits.helpers import after, draft_of
from transition_parser.parsing.edits.pronouns import SUBJECTS, mend_pronouns, with_mentions


@pytest.mark.parametrize(
    ("text", "graph", "expected"),
    [
        ("he told him it", "(t / tell-01~1 :ARG0 (h / he~0) :ARG2 h :ARG1 (i / it~3))",
         "(t / tell-01 :ARG0 (h / he) :ARG1 (i / it) :ARG2 (h2 / he))"),
        ("he saw him", "(s / see-01~1 :ARG0 (h / he~0) :ARG1 h)", "(s / see-01 :ARG0 (h / he) :ARG1 (h2 / he))"),
        ("he saw himself", "(s / see-01~1 :ARG0 (h / he~0) :ARG1 h)", "the same"),
        ("we saw her .", "(s / see-01~1 :ARG0 (w / we~0))", "(s / see-01 :ARG0 (w / we) :ARG1 (s2 / she))"),
        ("we saw her cat", "(s / see-01~1 :ARG0 (w / we~0) :ARG1 (c / cat~3))", "the same"),
        ("he saw her and she saw him",
         "(a / and~3 :op1 (s / see-01~1 :ARG0 (h / he~0)) :op2 (s2 / see-01~5 :ARG0 (s3 / she~4)))",
         "(a / and :op1 (s / see-01 :ARG0 (h / he)) :op2 (s2 / see-01 :ARG0 (s3 / she) :ARG1 h))"),
        ("cups dry so wash them", "(d / dry-02~1 :ARG1 (c / cup~0) :ARG1-of (w / wash-01~3 :ARG1 c))", "the same"),
        ("it keeps me waiting", "(k / keep-02~1 :ARG0 (i / it~0) :ARG1 (w / wait-01~3))", "the same"),
        ("love you , I told", "(t / tell-01~4 :ARG1 (l / love-01~0 :ARG1 (y / you~1)))",
         "(t / tell-01 :ARG1 (l / love-01 :ARG1 (y / you)) :ARG0 (i / i))"),
        ("she will not fall", "(f / fall-01~3 :polarity -~2)", "(f / fall-01 :polarity - :ARG1 (s / she))"),
        ("she was seen", "(s / see-01~2 :mod (o / odd~2))", "the same"),
        ("US fell", "(f / fall-01~1 :mod (o / odd~1))", "the same"),
    ],
)  # fmt: skip
def test_pronouns_are_arguments_of_the_verbs_beside_them(text, graph, expected):
    assert after(mend_pronouns, text, graph) == expected


@pytest.mark.parametrize(
    ("text", "graph", "expected"),
    [
        ("see me", "(s / see-01~0 :ARG1 (m / me~1))", "(s / see-01 :ARG1 (i / i))"),
        ("go before you leave",
         "(g / go-02~0 :ARG0 (y / you) :time (b / before~1 :op1 (l / leave-11~3 :ARG0 (y2 / you~2))))",
         "(g / go-02 :ARG0 (y / you) :time (b / before :op1 (l / leave-11 :ARG0 y)))"),
        ("I hurt me", "(h / hurt-01~1 :ARG0 (i / i~0) :ARG1 (m / me~2))", "(h / hurt-01 :ARG0 (i / i) :ARG1 i)"),
        ("you and you", "(a / and~1 :op1 (y / you~0) :op2 (y2 / you~2))", "the same"),
        ("you you", "(y / you~0 :mod (y2 / you~1))", "the same"),
        ("he saw him", "(s / see-01~1 :ARG0 (h / he~0) :ARG1 (h2 / he~2))", "the same"),
    ],
)  # fmt: skip
def test_pronouns_have_their_subject_form_and_one_node(text, graph, expected):
    assert after(mend_pronouns, text, graph) == expected


@pytest.mark.parametrize(
    ("text", "graph", "expected"),
    [
        ("I hurt me and My dog", "(h / hurt-01~1 :ARG0 (i / i~0))", [(1,), (0, 2, 4)]),
        ("We said mine is ours", "(s / say-01~1 :ARG0 (w / we~0) :ARG1 (i / i))", [(1,), (0, 4), (2,)]),
        ("we and US ; us", "(a / and~1 :op1 (w / we~0))", [(1,), (0, 4)]),
        ("he and him ; his", "(a / and~1 :op1 (h / he~0) :op2 (h2 / he~2))", [(1,), (0,), (2,)]),
        ("it seems it slept", "(s / seem-01~1 :ARG1 (s2 / sleep-01~3 :ARG0 (i / it~2)))", [(1,), (3,), (2,)]),
        ("the dog and its dog", "(a / and~2 :op1 (d / dog~1) :op2 (d2 / dog~4))", [(2,), (1,), (4,)]),
        ("You saw You and Yours", '(s / see-01~1 :ARG0 (y / you~0) :ARG1 (b / band :name (n / name~2,3,4 '
         ':op1 "You"~2 :op2 "and"~3 :op3 "Yours"~4)))', [(1,), (0,), (), (2, 3, 4), (2,), (3,), (4,)]),
    ],
)  # fmt: skip
def test_a_shared_node_of_a_pronoun_has_all_its_mentions(text, graph, expected):
    draft = draft_of(text, graph)
    assert with_mentions(draft.graph, [*draft.alignments], draft.words) == expected


def test_subject_forms():
    assert SUBJECTS["us"] == "we" and SUBJECTS["it"] == "it"

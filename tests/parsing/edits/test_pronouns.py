"""Subjects get their places; pronouns are arguments of the verbs beside them, and share a node."""

import pytest

from tests.parsing.edits.helpers import after, draft_of
from transition_parser.parsing.edits.pronouns import mend_pronouns, mend_subjects, with_mentions


@pytest.mark.parametrize(
    ("text", "graph", "expected"),
    [
        ("Who did the cat see ?", "(s / see-01~4 :ARG0 (a / amr-unknown~0) :ARG1 (c / cat~3))",
         "(s / see-01 :ARG0 (c / cat) :ARG1 (a / amr-unknown))"),
        ("Who do Tom and I like ?",
         "(l / like-01~5 :ARG0 (u / amr-unknown~0) :ARG1 (a / and~3 :op1 (t / tom~2) :op2 (i / i~4)))",
         "(l / like-01 :ARG0 (a2 / and :op1 (t / tom) :op2 (i / i)) :ARG1 (a / amr-unknown))"),
        ("Who saw the cat ?", "(s / see-01~1 :ARG0 (a / amr-unknown~0) :ARG1 (c / cat~3))", "the same"),
        ("Who did you say saw it ?", "(s / say-01~3 :ARG0 (y / you~2) :ARG1 (s2 / see-01~4 :ARG0 (a / amr-unknown~0)"
         " :ARG1 (i / it~5)))", "the same"),
        ("Tom fell and I ran , I think", "(a / and~2 :op1 (f / fall-01~1 :ARG1 (t / tom~0)) :op2 (r / run-02~4 :ARG0 t)"
         " :op3 (t2 / think-01~7 :ARG0 (i / i~3,6)))",
         "(a / and :op1 (f / fall-01 :ARG1 (t / tom)) :op2 (r / run-02 :ARG0 (i / i)) :op3 (t2 / think-01 :ARG0 i))"),
        ("Tom and I run as I like", "(r / run-02~3 :ARG0 (a / and~1 :op1 (t / tom~0) :op2 (i / i~2,5)) :manner"
         " (l / like-01~6 :ARG0 i))", "the same"),
        ("say how I get there",
         "(s / say-01~0 :ARG1 (g / get-05~3 :ARG0 (y / you) :ARG1 (i / i~2) :ARG2 (t / there~4)))",
         "(s / say-01 :ARG1 (g / get-05 :ARG0 (i / i) :ARG1 (y / you) :ARG2 (t / there)))"),
        ("the cat we saw , we think", "(c / cat~1 :ARG0-of (s / see-01~3) :ARG1-of (t / think-01~6 :ARG0 (w / we~2)))",
         "the same"),
    ],
)  # fmt: skip
def test_what_is_misplaced_gets_its_place(text, graph, expected):
    assert after(mend_subjects, text, graph) == expected


@pytest.mark.parametrize(
    ("text", "graph", "expected"),
    [
        ("had you told me", "(t / tell-01~2 :ARG0 (y / you~1) :ARG1 y :ARG2 (i / i~3))",
         "(t / tell-01 :ARG0 (y / you) :ARG2 (i / i))"),
        ("tell yourself that", "(t / tell-01~0 :ARG0 (y / you~1) :ARG1 (t2 / that~2) :ARG2 y)", "the same"),
        ("I moved", "(m / move-01~1 :ARG0 (i / i~0) :ARG1 i)", "the same"),
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
        ("she sells her own cat", "(s / sell-01~1 :ARG0 (s2 / she~0) :ARG1 (c / cat~4 :mod (o / own~3)))", "the same"),
        ("she sells her cat", "(s / sell-01~1 :ARG0 (s2 / she~0,2 :part (c / cat~3 :poss s2)) :ARG1 c)",
         "(s / sell-01 :ARG0 (s2 / she) :ARG1 (c / cat :poss s2))"),
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

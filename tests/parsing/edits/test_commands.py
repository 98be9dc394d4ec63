"""Commands and no other verbs are imperative."""

import pytest

from tests.parsing.edits.helpers import after
from transition_parser.parsing.edits.commands import mark_commands
from transition_parser.text.columns import IMPERATIVE, OTHER, UNSURE

YOU = ":mode imperative :ARG0 (y / you)"


@pytest.mark.parametrize(
    ("text", "graph", "expected"),
    [
        ("please call us", "(c / call-02~1 :ARG1 (w / we~2))", f"(c / call-02 :ARG1 (w / we) {YOU})"),
        ("Please call", "(c / call-02~1 :ARG0 (y / you~1))", "(c / call-02 :ARG0 (y / you) :mode imperative)"),
        ("can you please call ?", "(c / call-02~3 :ARG0 (y / you~1))", "the same"),
        ("do n't touch it", "(t / touch-01~2 :polarity -~1 :ARG1 (i / it~3))",
         f"(t / touch-01 :polarity - :ARG1 (i / it) {YOU})"),
        ("check the list", "(c / check-01~0 :ARG1 (l / list~2))", f"(c / check-01 :ARG1 (l / list) {YOU})"),
        ("love the place", "(l / love-01~0 :ARG1 (p / place~2))", "the same"),
        ("let 's see", "(l / let-01~0 :ARG1 (s / see-01~2))", "(s / see-01 :ARG0 (w / we) :mode imperative)"),
        ("if it rains , leave", "(l / leave-11~4 :condition (r / rain-01~2))",
         f"(l / leave-11 :condition (r / rain-01) {YOU})"),
        ("mix and bake", "(a / and~1 :op1 (m / mix-01~0 :mode imperative~0 :ARG0 (y / you~0)) :op2 (b / bake-01~2))",
         "(a / and :op1 (m / mix-01 :mode imperative :ARG0 (y / you)) :op2 (b / bake-01 :mode imperative :ARG0 y))"),
        ("cats mix and bake", "(a / and~2 :op1 (m / mix-01~1) :op2 (b / bake-01~3))", "the same"),
        ("stop", "(s / stop-01~0 :mode imperative~0)", "(s / stop-01 :mode imperative :ARG0 (y / you))"),
        ("let us go", "(g / go-02~2 :mode imperative~0 :ARG0 (w / we~1))", "the same"),
        ("let us know it", "(l / let-01~0 :ARG0 (y / you) :mode imperative~0 :ARG1 (k / know-01~2 :ARG0 (w / we~1)))",
         "the same"),
        ("Took a bus", "(t / take-01~0 :mode imperative~0 :ARG1 (b / bus~2))", "the same"),
    ],
)  # fmt: skip
def test_commands_and_no_other_verbs_are_imperative(text, graph, expected):
    assert after(mark_commands, text, graph) == expected


@pytest.mark.parametrize(
    ("text", "moods", "graph", "expected"),
    [
        ("Reply", "!", "(r / reply-01~0)", f"(r / reply-01 {YOU})"),
        ("go away", "?-", "(g / go-02~0 :direction (a / away~1))", "the same"),
        ("check the list", "?--", "(c / check-01~0 :ARG1 (l / list~2))", f"(c / check-01 :ARG1 (l / list) {YOU})"),
        ("check the list", "---", "(c / check-01~0 :ARG1 (l / list~2))", "the same"),
        ("I saw it , look", "----!", "(s / see-01~1 :ARG0 (i / i~0) :ARG1 (l / look-01~4 :ARG0 i))",
         f"(s / see-01 :ARG0 (i / i) :ARG1 (l / look-01 {YOU}))"),
        ("see file", "!-", "(s / see-01~0 :ARG0 (f / file~1))", "(s / see-01 :ARG0 (f / file) :mode imperative)"),
        ("let 's go", "!-?", "(l / let-01~0 :ARG0 (w / we~1) :ARG1 (g / go-02~2 :ARG0 w))",
         "(g / go-02 :ARG0 (w / we) :mode imperative)"),
        ("let 's not argue", "!---", "(l / let-01~0 :mode imperative~0 :ARG0 (y / you) :ARG1 (a / argue-02~3"
         " :polarity -~2 :ARG0 y))", "(a / argue-02 :polarity - :ARG0 (w / we) :mode imperative)"),
        ("nurses let him go", "-!--", "(l / let-01~1 :ARG0 (n / nurse~0) :ARG1 (g / go-02~3 :ARG0 (h / he~2)) :mode"
         " imperative~1)", "(l / let-01 :ARG0 (n / nurse) :ARG1 (g / go-02 :ARG0 (h / he)))"),
        ("we want to sing and dance", "-----!",
         "(w / want-01~1 :ARG0 (w2 / we~0) :ARG1 (a / and~4 :op1 (s / sing-01~3 :ARG0 w2) :op2 (d / dance-01~5 :ARG0"
         " w2)))", "the same"),
        ("to sing and then dance", "----?", "(a / and~2 :op1 (s / sing-01~1) :op2 (d / dance-01~4 :mode imperative~4))",
         "(a / and :op1 (s / sing-01) :op2 (d / dance-01))"),
        ("Took a bus", "---", "(t / take-01~0 :mode imperative~0 :ARG1 (b / bus~2))", "(t / take-01 :ARG1 (b / bus))"),
        ("Take care", "!-", "(c / care-01~1 :mode imperative~1 :ARG0 (y / you~1))", "the same"),
        ("could you open it , please ?", "-------", "(o / open-01~2 :ARG0 (y / you~1) :polarity (a / amr-unknown~6)"
         " :ARG1 (i / it~3))", "(o / open-01 :ARG0 (y / you) :ARG1 (i / it) :mode imperative :polite +)"),
        ("can you tell me ?", "-----", "(a / amr-unknown~4 :polite + :polarity-of (t / tell-01~2 :ARG0 (y / you~1)))",
         "(t / tell-01 :polite + :ARG0 (y / you) :mode imperative)"),
        ("stay if you do not leave", "!----!",
         "(s / stay-01~0 :mode imperative~0 :ARG1 (y / you~2) :condition (l / leave-11~5 :polarity -~4 :ARG0 y))",
         "the same"),
        ("can you swim ?", "----", "(s / swim-01~2 :ARG0 (y / you~1) :polarity (a / amr-unknown~3))", "the same"),
        ("can she tell me ?", "-----", "(t / tell-01~2 :ARG0 (s / she~1) :polarity (a / amr-unknown~4))", "the same"),
        ("imperative matter", "--", "(m / matter~1 :mod (i / imperative~0))", "the same"),
        ("Care , take it", "--!-", "(c / care-01~0 :mode imperative~0 :ARG0 (y / you~0))",
         "(c / care-01 :ARG0 (y / you))"),
    ],
)  # fmt: skip
def test_moods_that_the_model_knows_tell_more_than_rules(text, moods, graph, expected):
    names = {"!": IMPERATIVE, "?": UNSURE, "-": OTHER}
    assert after(mark_commands, text, graph, [names[mood] for mood in moods]) == expected

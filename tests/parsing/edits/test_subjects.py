"""Subjects that contradict the order of the words get their places."""

import pytest

from tests.parsing.edits.helpers import after
from transition_parser.parsing.edits.subjects import mend_subjects


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
        ("the cat we saw , we think", "(c / cat~1 :ARG0-of (s / see-01~3) :ARG1-of (t / think-01~6 :ARG0 (w / we~2)))",
         "the same"),
    ],
)  # fmt: skip
def test_what_is_misplaced_gets_its_place(text, graph, expected):
    assert after(mend_subjects, text, graph) == expected

"""Questions inside sentences have what they ask for."""

import pytest

from tests.parsing.edits.helpers import after
from transition_parser.parsing.edits.questions import mend_questions


@pytest.mark.parametrize(
    ("text", "graph", "expected"),
    [
        ('I know where he hid it',
         '(k / know-01~1 :ARG0 (i / i~0) :ARG1 (h / hide-01~4 :ARG0 (h2 / he~3) :ARG1 (i2 / it~5)))',
         '(k / know-01 :ARG0 (i / i) :ARG1 (p / place :location-of (h / hide-01 :ARG0 (h2 / he) :ARG1 (i2 / it))))'),
        ('tell me when it opens',
         '(t / tell-01~0 :ARG2 (i / i~1) :time (o / open-01~4 :ARG1 (i2 / it~3)))',
         '(t / tell-01 :ARG2 (i / i) :ARG1 (t2 / time :time-of (o / open-01 :ARG1 (i2 / it))))'),
        ('I wonder who broke it',
         '(w / wonder-01~1 :ARG0 (i / i~0) :ARG1 (b / break-01~3 :ARG1 (i2 / it~4)))',
         '(w / wonder-01 :ARG0 (i / i) :ARG1 (p / person :ARG0-of (b / break-01 :ARG1 (i2 / it))))'),
        ('tell him why you left',
         '(t / tell-01~0 :ARG2 (h / he~1) :ARG0-of (c / cause-01~2 :ARG1 (l / leave-11~4 :ARG0 (y / you~3))))',
         '(t / tell-01 :ARG2 (h / he) :ARG1 (t2 / thing :ARG0-of (c / cause-01 :ARG1 (l / leave-11 :ARG0 (y /'
         ' you)))))'),
        ('he smiled when it rained',
         '(s / smile-01~1 :ARG0 (h / he~0) :time (r / rain-01~4))',
         'the same'),
        ('I know how to swim',
         '(k / know-01~1 :ARG0 (i / i~0) :ARG1 (s / swim-01~4 :ARG0 i))',
         'the same'),
    ],
)  # fmt: skip
def test_embedded_questions(text, graph, expected):
    assert after(mend_questions, text, graph) == expected

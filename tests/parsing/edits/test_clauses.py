"""Questions inside sentences have what they ask for, and conditions their role."""

import pytest

from tests.parsing.edits.helpers import after
from transition_parser.parsing.edits.clauses import mend_conditions, mend_questions


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
        ('it is not clear why he left',
         '(c / clear-06~3 :polarity -~2 :ARG0-of (c2 / cause-01~4 :ARG1 l) :ARG1 (l / leave-11~6 :ARG0 (h / he~5)))',
         '(c / clear-06 :polarity - :ARG1 (t / thing :ARG0-of (c2 / cause-01 :ARG1 (l / leave-11 :ARG0 (h / he)))))'),
        ('we know what happened',
         '(k / know-01~1 :ARG0 (w / we~0) :ARG1 (h / happen-01~3 :ARG1 (a / amr-unknown~2)))',
         '(k / know-01 :ARG0 (w / we) :ARG1 (t / thing :ARG1-of (h / happen-01)))'),
        ('we know which book you want',
         '(k / know-01~1 :ARG0 (w / we~0) :ARG1 (w2 / want-01~5 :ARG0 (y / you~4) :ARG1 (b / book~3 :mod'
         ' (a / amr-unknown~2))))',
         '(k / know-01 :ARG0 (w / we) :ARG1 (b / book :ARG1-of (w2 / want-01 :ARG0 (y / you))))'),
        ('he smiled when it rained',
         '(s / smile-01~1 :ARG0 (h / he~0) :time (r / rain-01~4))',
         'the same'),
        ('I know where the shop is',
         '(k / know-01~1 :ARG0 (i / i~0) :ARG1 (s / shop~4))',
         '(k / know-01 :ARG0 (i / i) :ARG1 (p / place :location-of (s / shop)))'),
        ('do you know where it was ?',
         '(k / know-01~2 :ARG0 (y / you~1) :ARG1 (i / it~4 :mod (a / amr-unknown~3)))',
         '(k / know-01 :ARG0 (y / you) :ARG1 (p / place :location-of (i / it)))'),
        ('tell me where my keys are .',
         '(t / tell-01~0 :ARG2 (i / i~1,3) :ARG1 (l / location~2) :location (k / key~4 :poss i))',
         '(t / tell-01 :ARG2 (i / i) :ARG1 (p / place :location-of (k / key :poss i)))'),
        ('I know where the shop is old',
         '(k / know-01~1 :ARG0 (i / i~0) :ARG1 (s / shop~4 :mod (o / old~6)))',
         'the same'),
        ('I know how to swim',
         '(k / know-01~1 :ARG0 (i / i~0) :ARG1 (s / swim-01~4 :ARG0 i))',
         'the same'),
    ],
)  # fmt: skip
def test_embedded_questions(text, graph, expected):
    assert after(mend_questions, text, graph) == expected


@pytest.mark.parametrize(
    ("text", "graph", "expected"),
    [
        ("I go unless it rains", "(g / go-02~1 :ARG0 (i / i~0) :polarity -~2 :condition (r / rain-01~4))",
         "(g / go-02 :ARG0 (i / i) :condition (r / rain-01 :polarity -))"),
        ("you fail unless you study", "(f / fail-01~1 :ARG1 (y / you~0,3 :ARG0-of (s / study-01~4 :polarity -~2)))",
         "(f / fail-01 :ARG1 (y / you) :condition (s / study-01 :ARG0 y :polarity -))"),
        ("you fail unless you study",
         "(f / fail-01~1 :ARG1 (y / you~0,3) :ARG1-of (s / study-01~4 :ARG0 y :polarity -~2))",
         "(f / fail-01 :ARG1 (y / you) :condition (s / study-01 :ARG0 y :polarity -))"),
        ("I go if it rains", "(g / go-02~1 :ARG0 (i / i~0) :time (r / rain-01~4))",
         "(g / go-02 :ARG0 (i / i) :condition (r / rain-01))"),
        ("if it rains , I go", "(g / go-02~5 :ARG0 (i / i~4) :ARG4 (r / rain-01~2))",
         "(g / go-02 :ARG0 (i / i) :condition (r / rain-01))"),
        ("he asked if it rains", "(a / ask-01~1 :ARG0 (h / he~0) :ARG2 (r / rain-01~4))", "the same"),
        ("go even if it rains", "(g / go-02~0 :concession (r / rain-01~4))", "the same"),
        ("I went as if it rained", "(g / go-02~1 :ARG0 (i / i~0) :manner (r / rain-01~5))", "the same"),
        ('it rained , so we left',
         '(c / cause-01~3 :ARG1 (r / rain-01~1) :ARG0 (l / leave-11~5 :ARG0 (w / we~4)))',
         '(c / cause-01 :ARG0 (r / rain-01) :ARG1 (l / leave-11 :ARG0 (w / we)))'),
    ],
)  # fmt: skip
def test_conditions(text, graph, expected):
    assert after(mend_conditions, text, graph) == expected

"""Comparisons have a degree and two sides."""

import pytest

from tests.parsing.edits.helpers import after
from transition_parser.parsing.edits.comparison import mend_comparisons


@pytest.mark.parametrize(
    ("text", "graph", "expected"),
    [
        ('it is wider than the canal',
         '(h / have-degree-91~2 :ARG2 (w / wide-02~2) :ARG1 (i / it~0) :ARG4 (c / canal~5))',
         '(h / have-degree-91 :ARG2 (w / wide-02) :ARG1 (i / it) :ARG4 (c / canal) :ARG3 (m / more))'),
        ('new phones are bigger than old ones',
         '(h / have-degree-91~3 :ARG2 (b / big~3) :ARG3 (m / more~3) :ARG4 (p / phone~1 :mod (n / new~0) :mod'
         ' (o / old~5)))',
         '(h / have-degree-91 :ARG2 (b / big) :ARG3 (m / more) :ARG1 (p / phone :mod (n / new)) :ARG4 (p2 /'
         ' phone :mod (o / old)))'),
        ('he works harder than anyone',
         '(w / work-01~1 :ARG0 (h / he~0) :manner (h2 / hard-02~2) :ARG2 (a / anyone~4))',
         '(w / work-01 :ARG0 (h / he) :ARG1-of (h3 / have-degree-91 :ARG2 (h2 / hard-02) :ARG4 (a / anyone)'
         ' :ARG3 (m / more)))'),
        ('we had better call',
         '(c / call-02~3 :ARG0 (w / we~0) :ARG1-of (g / good-02~2))',
         '(r / recommend-01 :ARG1 (c / call-02 :ARG0 (w / we)))'),
        ('you had better call',
         '(h / have-degree-91~2 :ARG1 (y / you~0) :ARG2 (g / good-02~2) :ARG3 (m / most~2) :ARG6 (c / call-02~3'
         ' :ARG0 y))',
         '(r / recommend-01 :ARG1 (c / call-02 :ARG0 (y / you)))'),
        ('this river is wider than it',
         '(h / have-degree-91~4 :ARG1 (r / river~1 :ARG1-of (w / wide-02~3)) :ARG2 (r2 / river~1 :mod (t / this~0))'
         ' :ARG4 (i / it~5))',
         '(h / have-degree-91 :ARG1 (r / river :mod (t / this)) :ARG4 (i / it) :ARG2 (w / wide-02 :ARG1 r)'
         ' :ARG3 (m / more))'),
        ('she sings better than him',
         '(s / sing-01~1 :ARG0 (s2 / she~0) :ARG1-of (g / good-02~2 :ARG2-of (h / have-degree-91~2 :ARG3 (m / most~2)'
         ' :ARG2-of (h2 / have-degree-91~2 :ARG4 (h3 / he~4)))))',
         '(s / sing-01 :ARG0 (s2 / she) :ARG1-of (g / good-02 :ARG2-of (h / have-degree-91 :ARG3 (m / more) :ARG4'
         ' (h2 / he))))'),
        ('the more papers you read , the more you learn',
         '(l / learn-01~9 :ARG1 (m / more~7) :ARG0 (y / you~3,8 :ARG0-of (r / read-01~4 :ARG1 (p / paper~2 :mod (m2 /'
         ' more~1)))))',
         '(c / correlate-91 :ARG1 (m2 / more :domain (p / paper :ARG1-of (r / read-01 :ARG0 y))) :ARG2 (m / more'
         ' :ARG1-of (l / learn-01 :ARG0 (y / you))))'),
        ('the sooner , the better',
         '(h / have-degree-91~4 :ARG1 (s / soon~1) :ARG2 (g / good-02~4) :ARG3 (m / most~4))',
         '(c / correlate-91 :ARG1 (m2 / more :ARG3-of (h2 / have-degree-91 :ARG2 (s / soon))) :ARG2 (m / more'
         ' :ARG3-of (h / have-degree-91 :ARG2 (g / good-02))))'),
        ('the more the offer costs , the more it is',
         '(c / cost-01~4 :ARG2 (m / more~1) :ARG1 (o / offer-01~3 :ARG1-of (b / be-02~9 :ARG2 (m2 / more~7))))',
         '(c2 / correlate-91 :ARG1 (m / more :ARG2-of (c / cost-01 :ARG1 (o / offer-01))) :ARG2 (m2 / more :ARG2-of'
         ' (b / be-02 :ARG1 o)))'),
        ('more than four boys',
         '(b / boy~3 :quant (m / more-than~0,1 :op1 4~2))',
         'the same'),
        ('other than that',
         '(o / other~0 :mod (t / that~2))',
         'the same'),
    ],
)  # fmt: skip
def test_comparisons(text, graph, expected):
    assert after(mend_comparisons, text, graph) == expected

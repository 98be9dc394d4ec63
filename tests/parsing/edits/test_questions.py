"""Questions have what they ask for in its place."""

import pytest

from tests.parsing.edits.helpers import after
from transition_parser.parsing.edits.questions import mend_direct_questions

CASES = (  # words, tree, graph, graph after the edit
    ('what was the oldest bridge called ?', '',
     '(h / have-degree-91~3 :ARG1 (a / amr-unknown~0) :ARG2 (o / old~3) :ARG3 (m / most~3) :ARG5 (b / bridge~4 '
     ':ARG1-of (c / call-01~5)))',
     '(c / call-01 :ARG1 (b2 / bridge :ARG1-of (h / have-degree-91 :ARG2 (o / old) :ARG3 (m / most) :ARG5 (b / '
     'bridge))) :ARG2 (a / amr-unknown))'),
    ('what is their new band called ?', '',
     '(c / call-01~5 :ARG1 (b / band~4 :ARG1-of (n / new-01~3) :poss (t / they~2) :domain (a / '
     'amr-unknown~0)))',
     '(c / call-01 :ARG1 (b / band :ARG1-of (n / new-01) :poss (t / they)) :ARG2 (a / amr-unknown))'),
    ('what is the price of a ship called Ann ?', '',
     '(p / price-01~3 :ARG1 (s / ship~6 :ARG1-of (c / call-01~7 :ARG2 (n / name~8 :op1 "Ann"~8))) :ARG2 (a / '
     'amr-unknown~0))',
     'the same'),
    ('how much was that coat ?', '',
     '(c / coat~4 :mod (t / that~3) :quant (a / amr-unknown~0,1))',
     '(c2 / cost-01 :ARG1 (c / coat :mod (t / that)) :ARG2 (a / amr-unknown))'),
    ('how much rain fell ?', '',
     '(f / fall-01~3 :ARG1 (r / rain~2 :quant (a / amr-unknown~0,1)))',
     'the same'),
    ('does Ann know whether he sings ?', '',
     '(k / know-01~2 :ARG0 (p / person~1) :ARG1 (t / truth-value~3 :polarity-of (s / sing-01~5 :ARG0 (h / he~4))))',
     '(k / know-01 :ARG0 (p / person) :ARG1 (t / truth-value :polarity-of (s / sing-01 :ARG0 (h / he))) '
     ':polarity (a / amr-unknown))'),
    ('do know whether he sings .', '',
     '(k / know-01~1 :ARG1 (s / sing-01~4 :ARG0 (h / he~3)))',
     'the same'),
    ('whose are those hats ?', '',
     '(h / hat~3 :mod (t / that~2) :domain (a / amr-unknown~0))',
     '(h / hat :mod (t / that) :poss (a / amr-unknown))'),
    ('how many of our members voted ?', '',
     '(v / vote-01~5 :ARG0 (p / person~4 :ARG0-of (h / have-org-role-91~4 :ARG1 (w / we~3) :ARG2 (m / '
     'member~4) :quant (a / amr-unknown~0,1))))',
     '(v / vote-01 :ARG0 (p / person :ARG0-of (h / have-org-role-91 :ARG1 (w / we) :ARG2 (m / member)) :quant '
     '(a / amr-unknown)))'),
    ('how many times did he fall ?', '',
     '(f / fall-01~5 :ARG1 (h / he~4) :duration (a / amr-unknown~0,1))',
     '(f / fall-01 :ARG1 (h / he) :frequency (a / amr-unknown))'),
    ('how many hours did he sleep ?', '',
     '(s / sleep-01~5 :ARG0 (h / he~4) :duration (a / amr-unknown~0,1))',
     'the same'),
    ('how do you spell rhythm ?', '',
     '(s / spell-01~3 :ARG0 (y / you~2) :manner (a / amr-unknown~0) :ARG2 (r / rhythm~4))',
     '(s / spell-01 :ARG0 (y / you) :manner (a / amr-unknown) :ARG1 (r / rhythm))'),
    ('how high could she climb ?', '',
     '(p / possible-01~2 :quant (a / amr-unknown~0) :ARG1 (c / climb-01~4 :ARG0 (s / she~3)))',
     '(p / possible-01 :ARG1 (c / climb-01 :extent (a / amr-unknown) :ARG0 (s / she)))'),
    ('is it safe to swim ?', '',
     '(s / safe-01~2 :ARG1 (s2 / swim-01~4 :polarity (a / amr-unknown~5)))',
     '(s / safe-01 :ARG1 (s2 / swim-01) :polarity (a / amr-unknown))'),
    ('is she home or did she leave ?', '',
     '(o / or~3 :op1 (h / home~2 :domain (s / she~1)) :op2 (l / leave-11~6 :ARG0 s :polarity (a / '
     'amr-unknown~7)))',
     'the same'),
    ('what does your name mean ?', '',
     '(m / mean-01~4 :ARG0 (y / you~2) :ARG1 (n / name~3 :poss y) :ARG2 (a / amr-unknown~0))',
     '(m / mean-01 :ARG1 (n / name :poss (y / you)) :ARG2 (a / amr-unknown))'),
    ('what do you mean by your name ?', '',
     '(m / mean-01~3 :ARG0 (y / you~2) :ARG1 (n / name~6 :poss y) :ARG2 (a / amr-unknown~0))',
     'the same'),
    ('which of my uncles works here ?', '',
     '(w / work-01~4 :ARG0 (p / person~3 :ARG0-of (h / have-rel-role-91~3 :ARG1 (i / i~2) :ARG2 (u / '
     'uncle~3))) :ARG1 (a / amr-unknown~0) :location (h2 / here~5))',
     '(w / work-01 :ARG0 (p / person :ARG0-of (h / have-rel-role-91 :ARG1 (i / i) :ARG2 (u / uncle)) :mod (a / '
     'amr-unknown)) :location (h2 / here))'),
    ('which of them left ?', '',
     '(l / leave-11~3 :ARG0 (a / amr-unknown~0))',
     'the same'),
    ('where is my hat ?', '',
     '(h / hat~3 :poss (i / i~2) :domain (a / amr-unknown~0))',
     '(b / be-located-at-91 :ARG1 (h / hat :poss (i / i)) :ARG2 (a / amr-unknown))'),
)  # fmt: skip


@pytest.mark.parametrize(("text", "tree", "graph", "expected"), CASES)
def test_questions_for_one_thing(text, tree, graph, expected):
    assert after(mend_direct_questions, text, graph, tree=tree) == expected

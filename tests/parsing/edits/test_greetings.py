"""What people say in a word or two."""

import pytest

from tests.parsing.edits.helpers import after
from transition_parser.parsing.edits.greetings import mend_greetings

CASES = (  # words, tree, graph, graph after the edit
    ('see you tomorrow', '',
     '(s / see-01~0 :mode imperative~0 :ARG0 (y / you~1) :ARG1 y :time (t / tomorrow~2))',
     '(s / see-01 :ARG0 (i / i) :ARG1 (y / you) :time (t / tomorrow))'),
    ('bye , see you', '',
     '(a / and~1 :op1 (b / bye~0) :op2 (s / see-01~2 :ARG0 (y / you~3) :ARG1 (y2 / you)))',
     '(a / and :op1 (b / bye) :op2 (s / see-01 :ARG0 (i / i) :ARG1 (y / you)))'),
    ('did he see you ?', '',
     '(s / see-01~2 :ARG0 (h / he~1) :ARG1 (y / you~3) :polarity (a / amr-unknown~4))',
     'the same'),
    ('see it yourself', '',
     '(s / see-01~0 :mode imperative~0 :ARG0 (y / you~2) :ARG1 (i / it~1))',
     'the same'),
    ('I am fine , thanks', '',
     '(f / fine-04~2 :ARG1 (i / i~0 :ARG1-of (t / thank-01~4)))',
     '(f / fine-04 :ARG1 (i / i :ARG0-of (t / thank-01 :ARG1 (y / you))))'),
    ('thanks for your call', '',
     '(t / thank-01~0 :ARG0 (y / you~2) :ARG2 (c / call-02~3 :ARG0 y))',
     '(t / thank-01 :ARG0 (i / i) :ARG2 (c / call-02 :ARG0 y) :ARG1 (y / you))'),
    ('thanks to him we won', '',
     '(w / win-01~4 :ARG0 (w2 / we~3) :ARG1-of (t / thank-01~0 :ARG2 (h / he~2)))',
     'the same'),
    ('she thanks him', '',
     '(t / thank-01~1 :ARG0 (s / she~0) :ARG1 (h / he~2))',
     'the same'),
    ('welcome to Rome', '',
     '(w / welcome-01~0 :mode imperative~0 :ARG0 (y / you) :ARG1 (c / city~2 :name (n / name~2 :op1 '
     '"Rome"~2)))',
     '(w / welcome-01 :ARG2 (c / city :name (n / name :op1 "Rome")) :ARG1 (y / you))'),
    ('they welcome us', '',
     '(w / welcome-01~1 :ARG0 (t / they~0) :ARG1 (w2 / we~2))',
     'the same'),
    ('17', '',
     '(c / cell-line~0 :name (n / name~0 :op1 "17"~0))',
     '(x / 17)'),
    ('1984', '',
     '(d / date-entity~0 :year 1984~0)',
     'the same'),
    (':-)', '',
     '(h / have-concession-91~0)',
     '(e / emoticon :value ":-)")'),
    ('...', '',
     '(a / and~0)',
     'the same'),
    ('thank you , Ann', '',
     '(t / thank-01~0 :ARG0 (y / you~1) :ARG2 (p / person~3 :name (n / name~3 :op1 "Ann"~3)))',
     '(t / thank-01 :ARG0 (i / i) :ARG2 (p / person :name (n / name :op1 "Ann")) :ARG1 (y / you))'),
)  # fmt: skip


@pytest.mark.parametrize(("text", "tree", "graph", "expected"), CASES)
def test_greetings_and_lone_symbols(text, tree, graph, expected):
    assert after(mend_greetings, text, graph, tree=tree) == expected

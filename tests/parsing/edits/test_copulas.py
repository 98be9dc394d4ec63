"""Predicates such as *mine*, what somebody is, and *it* before an infinitive."""

import pytest

from tests.parsing.edits.helpers import after
from transition_parser.parsing.edits.copulas import mend_copulas

CASES = (  # words, tree, graph, graph after the edit
    ('the old house is ours', '3:det 3:amod 5:nsubj 5:cop 0:root',
     '(h / house~2 :mod (o / old~1) :mod (w / we~4))',
     '(b / belong-01 :ARG0 (h / house :mod (o / old)) :ARG1 (w / we))'),
    ('are these boots hers ?', '4:cop 3:det 4:nsubj 0:root 4:punct',
     '(s / she~3 :domain (b / boot~2 :mod (t / this~1) :polarity (a / amr-unknown~4)))',
     '(b2 / belong-01 :polarity (a / amr-unknown) :ARG0 (b / boot :mod (t / this)) :ARG1 (s / she))'),
    ('the gold mine is old', '3:det 3:compound 5:nsubj 5:cop 0:root',
     '(o / old~4 :domain (m / mine~2 :mod (g / gold~1)))',
     'the same'),
    ('it took us a day to find her', '2:nsubj 0:root 2:iobj 5:det 2:obj 7:mark 2:advcl 7:obj',
     '(t / take-10~1 :ARG0 (i / it~0) :ARG1 (d / day~4) :ARG2 (w / we~2) :purpose (f / find-01~6 :ARG0 i :ARG1 '
     '(s / she~7)))',
     '(t / take-10 :ARG0 (f / find-01 :ARG1 (s / she)) :ARG1 (d / day) :ARG2 (w / we))'),
    ('how long does it take to learn ?', '2:advmod 5:advmod 5:aux 5:nsubj 0:root 7:mark 5:xcomp 5:punct',
     '(t / take-10~4 :ARG1 (a / amr-unknown~0,1) :ARG0 (l / learn-01~6 :ARG0 a :ARG1 (i / it~3)))',
     '(t / take-10 :ARG1 (a / amr-unknown) :ARG0 (l / learn-01))'),
    ('it was hard to say', '3:expl 3:cop 0:root 5:mark 3:csubj',
     '(h / hard-02~2 :ARG1 (s / say-01~4 :ARG0 (i / it~0)))',
     '(h / hard-02 :ARG1 (s / say-01))'),
    ('it wants to swim', '2:nsubj 0:root 4:mark 2:xcomp',
     '(w / want-01~1 :ARG0 (i / it~0) :ARG1 (s / swim-01~3 :ARG0 i))',
     'the same'),
    ('Ann , who is my aunt , sings', '8:nsubj 6:punct 6:nsubj 6:cop 6:nmod:poss 1:acl:relcl 6:punct 0:root',
     '(s / sing-01~7 :ARG0 (p / person~0 :name (n / name~0 :op1 "Ann"~0)) :ARG1 (p2 / person~5 :ARG0-of (h / '
     'have-rel-role-91~5 :ARG1 (i / i~4) :ARG2 (a / aunt~5))))',
     '(s / sing-01 :ARG0 (p / person :name (n / name :op1 "Ann") :ARG0-of (h / have-rel-role-91 :ARG1 (i / i) '
     ':ARG2 (a / aunt))))'),
    ('Lee , a nurse , left', '6:nsubj 4:punct 4:det 1:appos 4:punct 0:root',
     '(l / leave-11~5 :ARG0 (n / nurse~3) :ARG1 (p / person~0 :name (n2 / name~0 :op1 "Lee"~0)))',
     '(l / leave-11 :ARG1 (p / person :name (n2 / name :op1 "Lee") :mod (n / nurse)))'),
    ('Rome , the city of Ann , is old', '9:nsubj 4:punct 4:det 1:appos 6:case 4:nmod 4:punct 9:cop 0:root',
     '(o / old~8 :domain (c / city~0 :name (n / name~0 :op1 "Rome"~0) :mod (c2 / city~3 :poss (p / person~5 '
     ':name (n2 / name~5 :op1 "Ann"~5)))))',
     'the same'),
)  # fmt: skip


@pytest.mark.parametrize(("text", "tree", "graph", "expected"), CASES)
def test_sentences_with_be(text, tree, graph, expected):
    assert after(mend_copulas, text, graph, tree=tree) == expected

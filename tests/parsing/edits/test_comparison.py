"""Comparisons have a degree and two sides."""

import pytest

from tests.parsing.edits.helpers import after
from transition_parser.parsing.edits.comparison import mend_comparisons

COMPARISONS = (  # words, tree, graph, graph after the edit
    ('it is wider than the canal', '3:nsubj 3:cop 0:root 6:case 6:det 3:obl',
     '(h / have-degree-91~2 :ARG2 (w / wide-02~2) :ARG1 (i / it~0) :ARG4 (c / canal~5))',
     '(h / have-degree-91 :ARG2 (w / wide-02) :ARG1 (i / it) :ARG4 (c / canal) :ARG3 (m / more))'),
    ('the red hat is nicer than the green one', '3:det 3:amod 5:nsubj 5:cop 0:root 9:case 9:det 9:amod 5:obl',
     '(n / nice-01~4 :ARG1 (h / hat~2 :ARG1-of (r / red-02~1) :ARG1-of (g / green-02~7)))',
     '(h2 / have-degree-91 :ARG1 (h / hat :ARG1-of (r / red-02)) :ARG2 (n / nice-01 :ARG1 h) :ARG3 (m / more) '
     ':ARG4 (h3 / hat :ARG1-of (g / green-02)))'),
    ('cats sleep more than dogs', '2:nsubj 0:root 2:advmod 5:case 3:obl',
     '(s / sleep-01~1 :ARG0 (c / cat~0) :ARG1 (m / more-than~2,3) :ARG2 (d / dog~4))',
     '(s / sleep-01 :ARG0 (c / cat) :ARG1-of (h / have-quant-91 :ARG3 (m / more) :ARG4 (d / dog)))'),
    ('sales are lower than ten years ago', '3:nsubj 3:cop 0:root 6:case 6:nummod 7:obl:unmarked 3:advmod',
     '(l / low-04~2 :ARG1 (s / sale-01~0) :time (b / before~6 :quant (t / temporal-quantity~5 :quant 10~4 '
     ':unit (y / year~5)) :op1 (n / now~6)))',
     '(h / have-degree-91 :ARG1 (s / sale-01) :ARG2 (l / low-04 :ARG1 s) :ARG3 (m / more) :ARG4 (b / before '
     ':quant (t / temporal-quantity :quant 10 :unit (y / year)) :op1 (n / now)))'),
    ('new phones are bigger than old ones', '2:amod 4:nsubj 4:cop 0:root 7:case 7:amod 4:obl',
     '(h / have-degree-91~3 :ARG2 (b / big~3) :ARG3 (m / more~3) :ARG4 (p / phone~1 :mod (n / new~0) :mod (o / '
     'old~5)))',
     '(h / have-degree-91 :ARG2 (b / big) :ARG3 (m / more) :ARG1 (p / phone :mod (n / new)) :ARG4 (p2 / phone '
     ':mod (o / old)))'),
    ('he works harder than anyone', '2:nsubj 0:root 2:advmod 5:case 3:obl',
     '(w / work-01~1 :ARG0 (h / he~0) :manner (h2 / hard-02~2) :ARG2 (a / anyone~4))',
     '(w / work-01 :ARG0 (h / he) :ARG1-of (h3 / have-degree-91 :ARG2 (h2 / hard-02) :ARG3 (m / more) :ARG4 (a '
     '/ anyone)))'),
    ('this river is wider than it', '2:det 4:nsubj 4:cop 0:root 6:case 4:obl',
     '(h / have-degree-91~3 :ARG1 (r / river~1 :ARG1-of (w / wide-02~3)) :ARG2 (r2 / river~1 :mod (t / '
     'this~0)) :ARG4 (i / it~5))',
     '(h / have-degree-91 :ARG1 (r / river :mod (t / this)) :ARG4 (i / it) :ARG2 (w / wide-02 :ARG1 r) :ARG3 '
     '(m / more))'),
    ('she sings better than him', '2:nsubj 0:root 2:advmod 5:case 3:obl',
     '(s / sing-01~1 :ARG0 (s2 / she~0) :ARG1-of (g / good-02~2 :ARG2-of (h / have-degree-91~2 :ARG3 (m / '
     'most~2) :ARG2-of (h2 / have-degree-91~2 :ARG4 (h3 / he~4)))))',
     '(s / sing-01 :ARG0 (s2 / she) :ARG1-of (g / good-02) :ARG1-of (h / have-degree-91 :ARG2 g :ARG3 (m / '
     'more) :ARG4 (h2 / he)))'),
    ('she earns more money than Ann', '2:nsubj 0:root 4:amod 2:obj 6:case 2:obl',
     '(e / earn-01~1 :ARG0 (s / she~0) :ARG1 (m / money~3 :quant (m2 / more~2)) :ARG3 (p / person~5 :name (n / '
     'name~5 :op1 "Ann"~5)))',
     '(e / earn-01 :ARG0 (s / she) :ARG1 (m / money :ARG1-of (h / have-quant-91 :ARG3 (m2 / more) :ARG4 (p / '
     'person :name (n / name :op1 "Ann")))))'),
    ('fewer guests came than expected', '2:amod 3:nsubj 0:root 5:mark 3:advcl',
     '(c / come-01~2 :ARG1 (g / guest~1 :quant (f / few~0)) :manner (e / expect-01~4))',
     '(c / come-01 :ARG1 (g / guest :ARG1-of (h / have-quant-91 :ARG2 (f / few) :ARG3 (m / more) :ARG4 (e / '
     'expect-01))))'),
    ('it is cheaper to rent than to buy', '3:expl 3:cop 0:root 5:mark 3:csubj 8:mark 8:mark 5:advcl',
     '(c / cheap-02~2 :ARG1 (r / rent-01~4 :purpose (b / buy-01~7)))',
     '(h / have-degree-91 :ARG1 (r / rent-01) :ARG2 (c / cheap-02 :ARG1 r) :ARG3 (m / more) :ARG4 (b / '
     'buy-01))'),
    ('he ran as fast as his dog did', '2:nsubj 0:root 4:advmod 2:advmod 8:mark 7:nmod:poss 8:nsubj 4:advcl',
     '(r / run-02~1 :ARG0 (h / he~0) :manner (f / fast-02~3) :location (d / dog~6 :poss h))',
     '(r / run-02 :ARG0 (h / he) :ARG1-of (h2 / have-degree-91 :ARG2 (f / fast-02) :ARG3 (e / equal) :ARG4 (d '
     '/ dog :poss h)))'),
    ('as many men as women left', '2:advmod 3:amod 6:nsubj 5:case 3:nmod 0:root',
     '(l / leave-11~5 :ARG0 (m / man~2 :quant (m2 / many~1) :mod (w / woman~4)))',
     '(l / leave-11 :ARG0 (m / man :ARG1-of (h / have-quant-91 :ARG2 (m2 / many) :ARG3 (e / equal) :ARG4 (w / '
     'woman))))'),
    ('he wrote as a boy', '2:nsubj 0:root 5:case 5:det 2:obl',
     '(w / write-01~1 :ARG0 (h / he~0) :time (b / boy~4))',
     'the same'),
    ('she has more pens than any boy', '2:nsubj 0:root 4:amod 2:obj 7:case 7:det 2:obl',
     '(h / have-03~1 :ARG0 (s / she~0) :ARG1 (b / boy~6 :mod (a / any~5) :mod (p / pen~3 :mod (m / more~2))))',
     '(h / have-03 :ARG0 (s / she) :ARG1 (p / pen :ARG1-of (h2 / have-quant-91 :ARG3 (m / more) :ARG4 (b / boy '
     ':mod (a / any)))))'),
    ('he sings as well as Ann', '2:nsubj 0:root 6:cc 3:fixed 3:fixed 2:conj',
     '(a / and~2,3,4 :op1 (s / sing-01~1 :ARG0 (h / he~0)) :op2 (p / person~5 :name (n / name~5 :op1 '
     '"Ann"~5)))',
     '(s / sing-01 :ARG1-of (h / have-degree-91 :ARG4 (p / person :name (n / name :op1 "Ann")) :ARG2 (w / '
     'well) :ARG3 (e / equal)) :ARG0 (h2 / he))'),
    ('he sings as well as dances', '2:nsubj 0:root 6:cc 3:fixed 3:fixed 2:conj',
     '(a / and~2,3,4 :op1 (s / sing-01~1 :ARG0 (h / he~0)) :op2 (d / dance-01~5 :ARG0 h))',
     'the same'),
    ('no hat is nicer than this', '2:det 4:nsubj 4:cop 0:root 6:case 4:obl',
     '(h / have-degree-91~4 :ARG1 (h2 / hat~1 :ARG1-of (n / nice-01~3 :polarity -~0)) :ARG3 (n2 / nice~3) '
     ':ARG4 (t / this~5))',
     '(h / have-degree-91 :ARG1 (h2 / hat) :polarity - :ARG3 (m / more) :ARG4 (t / this) :ARG2 (n / nice-01 '
     ':ARG1 h2))'),
    ('the hole is too small for us', '2:det 5:nsubj 5:cop 5:advmod 0:root 7:case 5:obl',
     '(h / have-degree-91~4 :ARG1 (h2 / hole~1) :ARG2 (s / small~4) :ARG3 (t / too~3) :ARG4 (w / we~6))',
     '(h / have-degree-91 :ARG1 (h2 / hole) :ARG2 (s / small) :ARG3 (t / too) :ARG6 (w / we))'),
    ('more than four boys', '4:advmod 1:fixed 4:nummod 0:root',
     '(b / boy~3 :quant (m / more-than~0,1 :op1 4~2))',
     'the same'),
    ('other than that', '0:root 3:case 1:obl',
     '(o / other~0 :mod (t / that~2))',
     'the same'),
)  # fmt: skip


@pytest.mark.parametrize(("text", "tree", "graph", "expected"), COMPARISONS)
def test_comparisons_have_a_degree_and_two_sides(text, tree, graph, expected):
    assert after(mend_comparisons, text, graph, tree=tree) == expected


@pytest.mark.parametrize(
    ("text", "graph", "expected"),
    [
        ('we had better call',
         '(c / call-02~3 :ARG0 (w / we~0) :ARG1-of (g / good-02~2))',
         '(r / recommend-01 :ARG1 (c / call-02 :ARG0 (w / we)))'),
        ('you had better call',
         '(h / have-degree-91~2 :ARG1 (y / you~0) :ARG2 (g / good-02~2) :ARG3 (m / most~2) :ARG6 (c / call-02~3'
         ' :ARG0 y))',
         '(r / recommend-01 :ARG1 (c / call-02 :ARG0 (y / you)))'),
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
    ],
)  # fmt: skip
def test_recommendations_and_correlations(text, graph, expected):
    assert after(mend_comparisons, text, graph) == expected

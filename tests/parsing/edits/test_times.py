"""Times of day become dates with a time."""

import pytest

from tests.parsing.edits.helpers import after
from transition_parser.parsing.edits.times import mend_times


@pytest.mark.parametrize(
    ("text", "graph", "expected"),
    [
        ('dinner is at 7 p.m .',
         '(d / dine-01~0 :time (d2 / date-entity~3,4 :weekday (x / 7-p.m.~3,4)))',
         '(d / dine-01 :time (d2 / date-entity :time "19:00"))'),
        ('it starts at 4:20 p.m. on Thursday',
         '(s / start-01~1 :ARG1 (i / it~0) :ARG2 "4:20p.m.onThursday"~3,4,5,6)',
         '(s / start-01 :ARG1 (i / it) :time (d / date-entity :time "16:20" :weekday (t / thursday)))'),
        ('met at half past four in the park',
         '(m / meet-03~0 :time (b / before~2,3 :op1 (n / now~3) :quant 4~4 :location (p / park~7)))',
         '(m / meet-03 :time (d / date-entity :time "4:30") :location (p / park))'),
        ('call me at 5 pm',
         '(c / call-02~0 :ARG1 (i / i~1))',
         '(c / call-02 :ARG1 (i / i) :time (d / date-entity :time "17:00"))'),
        ('leave at 9:30 a.m',
         '(l / leave-11~0 :time (d / date-entity~2,3 :time "9:30"~2,3))',
         'the same'),
        ('a bill of 12.50 pounds',
         '(b / bill~1 :quant 12.50~3)',
         'the same'),
    ],
)  # fmt: skip
def test_times_of_day(text, graph, expected):
    assert after(mend_times, text, graph) == expected

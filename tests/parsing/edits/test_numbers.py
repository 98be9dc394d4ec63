"""Times of day, numbers of several words, temperatures, rates and quantities."""

import pytest

from tests.parsing.edits.helpers import after
from transition_parser.parsing.edits.numbers import mend_numbers, mend_quantities, mend_times


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


@pytest.mark.parametrize(
    ("text", "graph", "expected"),
    [
        ('half a million people watched',
         '(w / watch-01~4 :ARG0 (p / person~3 :quant 1000000~2 :mod (h / half~0)))',
         '(w / watch-01 :ARG0 (p / person :quant 500000))'),
        ('a quarter of a million refugees fled',
         '(f / flee-01~6 :ARG0 (q / quarter-02~1 :ARG1 (r / refugee~5 :quant 1000000~4)))',
         '(f / flee-01 :ARG0 (r / refugee :quant 250000))'),
        ('spent half a million dollars',
         '(s / spend-02~0 :ARG1 (d / dollar~4) :ARG2 "halfamillion"~1,2,3)',
         '(s / spend-02 :ARG1 (m / monetary-quantity :unit (d / dollar) :quant 500000))'),
        ('it was minus 12 degrees Celsius',
         '(m / minus~2 :domain (i / it~0) :location (c / city~5 :name (n / name~5 :op1 "Celsius"~5) :quant (a'
         ' / angle-quantity~4 :quant 12~3 :unit (d / degree~4))))',
         '(t / temperature-quantity :domain (i / it) :quant -12 :scale (c / celsius))'),
        ('drove 50 kilometers per hour through the village',
         '(d / drive-01~0 :ARG1 (r / rate-entity-91~3 :ARG1 (d2 / distance-quantity~2 :quant 50~1 :unit (k /'
         ' kilometer~2)) :ARG2 (t / temporal-quantity~4 :quant 1~4 :unit (h / hour~4) :quant-of (v /'
         ' village~7))))',
         '(d / drive-01 :ARG1 (r / rate-entity-91 :ARG1 (d2 / distance-quantity :quant 50 :unit (k /'
         ' kilometer)) :ARG2 (t / temporal-quantity :quant 1 :unit (h / hour))) :path (v / village))'),
        ('three and a half million voters',
         '(p / person~5 :ARG0-of (v / vote-01~5) :quant (h / half~3 :op1 1000000~4))',
         '(p / person :ARG0-of (v / vote-01) :quant 3500000)'),
        ('lanes 9 - 12 upper',
         '(l / lane~0 :mod (u / upper~4) :mod 9~1)',
         'the same'),
    ],
)  # fmt: skip
def test_numbers_and_what_they_count(text, graph, expected):
    assert after(mend_numbers, text, graph) == expected


@pytest.mark.parametrize(
    ("text", "graph", "expected"),
    [
        ("over years", "(o / over~0 :op1 (t / temporal-quantity~1 :unit (y / year~1)))", "(o / over :op1 (y / year))"),
        ("over 2 years", "(o / over~0 :op1 (t / temporal-quantity~2 :quant 2~1 :unit (y / year~2)))", "the same"),
        ("years", "(t / temporal-quantity~0 :unit (y / year~0 :mod (m / many~0)))", "(y / year :mod (m / many))"),
        ("cost $ 2", "(c / cost-01~0 :ARG2 (m / monetary-quantity~1 :quant 2~2 :unit (d / dollar~1 :unit-of"
         " (m2 / monetary-quantity~1 :mod (m3 / most~0)))))",
         "(c / cost-01 :ARG2 (m / monetary-quantity :quant 2 :unit (d / dollar :mod (m2 / most))))"),
        ("3:16 PM", '(t / temporal-quantity~1 :value "3:16"~0 :unit (p / pm~1))', '(d / date-entity :time "15:16")'),
        ("12:05 AM", '(t / temporal-quantity~1 :value "12:05"~0 :unit (a / am~1))', '(d / date-entity :time "0:05")'),
        ("for 2 years", "(s / stay-01~0 :duration (t / temporal-quantity~2 :quant 2~1 :unit (y / year~2)) :ARG3 y)",
         "(s / stay-01 :ARG3 (t / temporal-quantity :quant 2 :unit (y / year)))"),
        ("turn 180", "(t / turn-01~0 :extent (a / angle-quantity~1 :year 180~1))",
         "(t / turn-01 :extent (a / angle-quantity :quant 180))"),
        ("KM", "(t / temporal-quantity~0)", "(k / km)"),
        ("vast scale", "(s / seismic-quantity~1 :mod (v / vast~0))", "(s / scale :mod (v / vast))"),
        ("=)", "(t / temporal-quantity~0)", "(t / thing)"),
        ("come soon", "(c / come-01~0 :time (d / date-entity~1))", "(c / come-01 :time (s / soon))"),
        ("come Monday", "(c / come-01~0 :time (d / date-entity~1 :weekday (m / monday~1)))", "the same"),
        ("$ cost", "(c / cost-01~1 :ARG1 (d / dollar~0) :ARG2 (m / monetary-quantity~0 :unit d))", "the same"),
    ],
)  # fmt: skip
def test_empty_quantities_and_dates(text, graph, expected):
    assert after(mend_quantities, text, graph) == expected

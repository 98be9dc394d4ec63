"""Empty dates and quantities become concepts."""

import pytest

from tests.parsing.edits.helpers import after
from transition_parser.parsing.edits.quantities import mend_quantities


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

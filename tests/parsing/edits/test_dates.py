"""Numbers of dates that no date has are mended."""

import pytest

from tests.parsing.edits.helpers import after
from transition_parser.parsing.edits.dates import mend_dates


@pytest.mark.parametrize(
    ("text", "graph", "expected"),
    [
        ("June 2025", "(d / date-entity~0 :month 6~0 :day 2025~1)", "(d / date-entity :month 6 :year 2025)"),
        ("869 June", "(d / date-entity~1 :month 6~1 :day 869~0)", "(d / date-entity :month 6)"),
        ("June 5 - 6", "(d / date-entity~0 :month 6~0 :day 5~1 :year 6~3)", "(d / date-entity :month 6 :day 5)"),
        ("June 29", "(d / date-entity~0 :month 6~0 :year 29~1)", "(d / date-entity :month 6 :day 29)"),
        ("in 05", "(i / it~0 :time (d / date-entity~1 :year 5~1))", "the same"),
        ("12 2025", "(d / date-entity~0 :day 2025~1 :year 12~0 :month 3~0)",
         "(d / date-entity :year 2025 :day 12 :month 3)"),
        ("in 98", "(i / it~0 :time (d / date-entity~1 :year 98~1))", "the same"),
        ("13 2025", "(d / date-entity~0 :month 13~0 :day 2025~1)", "(d / date-entity :day 13 :year 2025)"),
        ("13 31", "(d / date-entity~0 :month 13~0 :day 31~1)", "(d / date-entity :day 31)"),
        ("come soon", "(c / come-01~0 :time (d / date-entity~1 :day 40~1))", "(c / come-01 :time (d / date-entity))"),
    ],
)  # fmt: skip
def test_misread_numbers_of_dates(text, graph, expected):
    assert after(mend_dates, text, graph) == expected

"""Numbers of several words, temperatures and rates."""

import pytest

from tests.parsing.edits.helpers import after
from transition_parser.parsing.edits.numbers import mend_numbers


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
        ('lanes 9 - 12 upper',
         '(l / lane~0 :mod (u / upper~4) :mod 9~1)',
         'the same'),
    ],
)  # fmt: skip
def test_numbers_and_what_they_count(text, graph, expected):
    assert after(mend_numbers, text, graph) == expected

"""Search over the AMR machine: what a sentence is parsed into depends on the sentence alone."""

import random
import string
from itertools import islice

import pytest

from tests.conftest import SAMPLE_AMR
from tests.helpers.search_limits import why_beyond
from transition_parser import Parser
from transition_parser.parsing.parses import AmrParse

WORDS = [["is", "eddie", "murphy", "still", "alive"], ["calc"], ["calc", "."], ["?"]]


def assert_same(found: list[AmrParse], expected: list[AmrParse]) -> None:
    assert [parse.actions for parse in found] == [parse.actions for parse in expected]
    assert [parse.mean_log_probability for parse in found] == pytest.approx(
        [parse.mean_log_probability for parse in expected], abs=1e-5
    )


@pytest.mark.parametrize("beam", [1, 4])
def test_the_neighbors_in_a_batch_change_no_parse(beam):
    parser = Parser.load("en-amr", beam=beam, precision="fp32", threads=1)
    sentences = [*WORDS, *(entry.forms for entry in islice(parser.read(SAMPLE_AMR), 12))]
    alone = [parser.parse([words])[0] for words in sentences]
    rng = random.Random(beam)
    for count in (2, 3, len(sentences)):
        order = rng.sample(range(len(sentences)), len(sentences))
        for batch in (order[i : i + count] for i in range(0, len(order), count)):
            assert_same(parser.parse([sentences[i] for i in batch]), [alone[i] for i in batch])


def test_search_keeps_to_its_limits():
    """Letters are what the model makes loops of."""
    parser = Parser.load("en-amr", precision="fp32", threads=1)
    (parse,) = parser.parse([list(string.ascii_lowercase) * 3])
    system = parser.resources.table.system
    assert why_beyond(system.limits, parse.actions) is None
    assert len(parse.actions) <= system.max_search_actions(78) < system.max_actions(78)

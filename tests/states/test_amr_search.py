"""Search over the AMR machine: what a sentence is parsed into depends on the sentence alone."""

import string

from tests.helpers.search_limits import why_beyond
from transition_parser import Parser


def test_search_keeps_to_its_limits():
    """Letters are what the model makes loops of."""
    parser = Parser.load("en-amr", precision="fp32", threads=1)
    (parse,) = parser.parse([list(string.ascii_lowercase) * 3])
    system = parser.resources.table.system
    assert why_beyond(system.limits, parse.actions) is None
    assert len(parse.actions) <= system.max_search_actions(78) < system.max_actions(78)

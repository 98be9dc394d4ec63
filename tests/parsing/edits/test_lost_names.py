"""Known names that search left out."""

import pytest

from tests.parsing.edits.helpers import after
from transition_parser.parsing.edits.lost_names import add_names

NAME = ':name (n / name :op1 "{}"))'


@pytest.mark.parametrize(
    ("text", "graph", "expected"),
    [
        ("MIT is in Rome", "(b / be-located-at-91~1 :ARG2 (t / there~3))",
         f"(b / be-located-at-91 :ARG2 (t / there) :ARG1 (u / university {NAME.format('MIT')})"),
        ("Ikea lost it", "(l / lose-02~1 :ARG0 (y / you))", f"(l / lose-02 :ARG0 (c / company {NAME.format('Ikea')})"),
        ("The Louvre is big", "(b / big~3)", f"(b / big :domain (m / museum {NAME.format('Louvre')})"),
        ("Tom can run", "(r / run-02~2)", f"(r / run-02 :ARG0 (p / person {NAME.format('Tom')})"),
        ("Tom can run", "(r / run-02~2 :ARG0 (y / you~0))", "the same"),
        ("he can run to Tom", "(r / run-02~2 :ARG0 (h / he~0))", "the same"),
    ],
)  # fmt: skip
def test_known_names_that_no_node_has_get_one(text, graph, expected):
    assert after(add_names, text, graph) == expected

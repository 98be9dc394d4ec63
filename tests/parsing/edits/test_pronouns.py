"""Subjects get their places; pronouns are arguments of the verbs beside them, and share a node."""

import pytest

from tests.parsing.edits.helpers import draft_of
from transition_parser.parsing.edits.pronouns import with_mentions


@pytest.mark.parametrize(
    ("text", "graph", "expected"),
    [
        ("I hurt me and My dog", "(h / hurt-01~1 :ARG0 (i / i~0))", [(1,), (0, 2, 4)]),
        ("We said mine is ours", "(s / say-01~1 :ARG0 (w / we~0) :ARG1 (i / i))", [(1,), (0, 4), (2,)]),
        ("we and US ; us", "(a / and~1 :op1 (w / we~0))", [(1,), (0, 4)]),
        ("he and him ; his", "(a / and~1 :op1 (h / he~0) :op2 (h2 / he~2))", [(1,), (0,), (2,)]),
        ("it seems it slept", "(s / seem-01~1 :ARG1 (s2 / sleep-01~3 :ARG0 (i / it~2)))", [(1,), (3,), (2,)]),
        ("the dog and its dog", "(a / and~2 :op1 (d / dog~1) :op2 (d2 / dog~4))", [(2,), (1,), (4,)]),
        ("You saw You and Yours", '(s / see-01~1 :ARG0 (y / you~0) :ARG1 (b / band :name (n / name~2,3,4 '
         ':op1 "You"~2 :op2 "and"~3 :op3 "Yours"~4)))', [(1,), (0,), (), (2, 3, 4), (2,), (3,), (4,)]),
    ],
)  # fmt: skip
def test_a_shared_node_of_a_pronoun_has_all_its_mentions(text, graph, expected):
    draft = draft_of(text, graph)
    assert with_mentions(draft.graph, [*draft.alignments], draft.words) == expected

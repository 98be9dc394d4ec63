"""The heads of a draft's words."""

from tests.parsing.edits.helpers import draft_of
from transition_parser.parsing.edits.tree_view import TreeView


def test_a_conjunct_gets_no_head_below_itself():
    draft = draft_of(
        "to win to play and I sing", "(s / sing-01~6)", tree="2:mark 4:advcl 4:mark 7:conj 4:cc 7:nsubj 0:root"
    )
    view = TreeView(draft, draft.tree)
    assert view.subtree(6) == {*range(7)}

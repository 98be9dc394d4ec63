"""The heads of a draft's words."""

from tests.parsing.edits.helpers import draft_of
from transition_parser.parsing.edits.tree_view import TreeView


def test_a_conjunct_gets_no_head_below_itself():
    draft = draft_of(
        "to win to play and I sing", "(s / sing-01~6)", tree="2:mark 4:advcl 4:mark 7:conj 4:cc 7:nsubj 0:root"
    )
    view = TreeView(draft, draft.tree)
    assert view.subtree(6) == {*range(7)}


def test_an_apposition_has_a_comma_before_it():
    tree = "2:nsubj 0:root 2:obj 5:det 3:appos"
    view = TreeView(draft := draft_of("I gave Ann a book", "(g / give-01~1)", tree=tree), draft.tree)
    assert (view.relations[2], view.relations[4], view.heads[4]) == ("iobj", "obj", 1)
    view = TreeView(
        draft := draft_of("I met Ann , Bo", "(m / meet-03~1)", tree="2:nsubj 0:root 2:obj 5:punct 3:appos"), draft.tree
    )
    assert (view.relations[2], view.relations[4], view.heads[4]) == ("obj", "appos", 2)

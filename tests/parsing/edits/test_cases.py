"""Sentences with their graphs before and after one edit: the files in the folder cases."""

import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.parsing.edits.helpers import draft_of, on_one_line
from transition_parser.text.columns import IMPERATIVE, OTHER, UNSURE

MOODS = {"!": IMPERATIVE, "?": UNSURE, "-": OTHER}
NEED_TREES = ("attach", "add_arguments", "mend_owners")


def cases() -> Iterator:
    """Yield the words, tree, moods, graph and edited graph of each case.

    A file is named after the module of its edits. A block `edit: NAME` comes before the cases of an edit. The lines of
    a case: the words, `tree: HEAD:RELATION …` and `moods: …` where they matter, and the two graphs, or `the same`.
    """
    for file in sorted(Path(__file__).with_name("cases").glob("*.txt")):
        module = importlib.import_module(f"transition_parser.parsing.edits.{file.stem}")
        edit = ""
        for block in file.read_text(encoding="utf-8").rstrip("\n").split("\n\n"):
            lines = [line for line in block.split("\n") if not line.startswith("# ")]
            options = dict(line.split(": ", 1) for line in lines if line.startswith(("edit: ", "tree: ", "moods: ")))
            if "edit" in options:
                edit = options["edit"]
                continue
            text, *_, graph, expected = lines
            values = (getattr(module, edit), text, options.get("tree", ""), options.get("moods", ""), graph, expected)
            yield pytest.param(*values, id=f"{edit}: {text}")


@pytest.mark.parametrize(("edit", "text", "tree", "moods", "graph", "expected"), [*cases()])
def test_an_edit_turns_the_graph_into_the_expected_one(edit, text, tree, moods, graph, expected):
    draft = draft_of(text, graph, [MOODS[mood] for mood in moods], tree=tree)
    edit(draft)
    assert on_one_line(draft.result()) == expected
    if edit.__name__ in NEED_TREES:
        draft = draft_of(text, graph)
        edit(draft)
        assert draft.result() is None

"""AMRs after an edit, for tests of the steps after search."""

from transition_parser.parsing.draft import Edited


def on_one_line(edit: Edited | None) -> str:
    """Return the edited graph in PENMAN on one line."""
    if edit is None:
        return "the same"
    assert edit.graph.is_connected()
    assert len(edit.nodes) == len(edit.graph) and len(edit.edges) == len(edit.graph.edges)
    return " ".join(edit.graph.to_penman().split())

"""AMRs after edits, for tests."""

from collections.abc import Collection, Sequence

from transition_parser.graphs.bank import parse_entry
from transition_parser.graphs.dependency import DependencyTree
from transition_parser.modules.semantic_roles import Readings
from transition_parser.parsing.edits.draft import Draft, Edited
from transition_parser.transitions.amr import AmrSystem


def draft_of(text: str, graph: str, moods: Sequence[str] = (), known: Collection[str] = (), tree: str = "") -> Draft:
    """A sentence with a graph whose marks `~N` align nodes to words, and a tree: `HEAD:RELATION` for each word."""
    entry = parse_entry([f"# ::tok {text}", graph])
    readings = Readings(None, None, 0, moods) if moods else None
    heads, relations = zip(*(arc.split(":", 1) for arc in tree.split()), strict=True) if tree else ((), ())
    of_words = DependencyTree(tuple(map(int, heads)), relations) if tree else None
    return Draft(entry.graph, entry.alignments, AmrSystem().read(text.split()), readings, known, of_words)


def on_one_line(edit: Edited | None) -> str:
    """Return the edited graph in PENMAN on one line."""
    if edit is None:
        return "the same"
    assert edit.graph.is_connected()
    assert len(edit.nodes) == len(edit.graph) and len(edit.edges) == len(edit.graph.edges)
    return " ".join(edit.graph.to_penman().split())

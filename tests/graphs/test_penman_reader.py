"""The reader of PENMAN against the library `penman`, and without a limit of its own on the depth of calls."""

import penman
import pytest

from tests.conftest import SAMPLE_AMR
from transition_parser.graphs.amr import MAX_DEPTH
from transition_parser.graphs.bank import read_bank
from transition_parser.graphs.penman_reader import PenmanError, read_penman


def triples(text: str) -> set[tuple]:
    """Those that the library reads, with :domain as the inverse of :mod."""
    found = penman.decode(text).triples
    return {(b, ":mod", a) if role == ":domain" else (a, role, b) for a, role, b in found}


def test_the_sample_is_read_as_the_library_reads_it():
    for entry in read_bank(SAMPLE_AMR):
        assert triples(entry.graph.to_penman(None, entry.wiki, entry.variables)) == triples(entry.penman), entry.id


@pytest.mark.parametrize("levels", [300, MAX_DEPTH - 1, MAX_DEPTH, MAX_DEPTH + 1])
def test_depth_is_what_the_text_says(levels):
    text = "".join(f"(x{i} / x :ARG0 " for i in range(levels - 1)) + f"(y / y){')' * (levels - 1)}"
    if levels > MAX_DEPTH:
        with pytest.raises(PenmanError, match=f"more than {MAX_DEPTH} levels deep") as caught:
            read_penman([text])
        assert (caught.value.row, text[caught.value.column :]) == (0, "(y / y)" + ")" * MAX_DEPTH)
        return
    found = read_penman([text])
    assert len(found.graph) == levels
    assert " ".join(found.graph.to_penman(variables=found.variables).split()) == text

"""What the kernels of the AMR machine and of legality would misread is a `ValueError` that says what is wrong."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.amr_walks import LEXICON
from tests.states.test_amr_machine import machine_of, make_table
from transition_parser.kernels import amr_machine_kernels, legality_kernels
from transition_parser.kernels.amr_machine_kernels import Setting
from transition_parser.states.amr_machine import AmrMachine
from transition_parser.states.amr_rules import Nodes, Rows
from transition_parser.states.device_table import DeviceTable
from transition_parser.states.table import ActionClass
from transition_parser.transitions.amr import ARCS_IN_A_ROW
from transition_parser.transitions.amr_limits import DEFAULT_LIMITS

pytestmark = pytest.mark.skipif(
    amr_machine_kernels.library() is None or legality_kernels.library() is None, reason="there are no kernels here"
)
TABLE = make_table(("a",), LEXICON, DEFAULT_LIMITS)


def machine() -> AmrMachine:
    """Two rows, which have read two words and made three nodes."""
    made = machine_of(TABLE, [["dogs", "New", "York"], ["b", "dogs", "a"]], in_search=True)
    for token in ("SHIFT", "PRED(x)", "COPY_LEMMA", "SHIFT", "COPY_LEMMA"):
        made.apply(torch.tensor([TABLE.tokens.index(token)] * 2))
    return made


def arguments(made: AmrMachine) -> dict:
    return {
        **{"tokens": torch.tensor([TABLE.tokens.index("SWAP")] * 2), "numbers": made.numbers.clone()},
        **{"nodes": made.nodes.clone(), "named": made.named.clone()},
        **{"columns": made.legal_columns(), "context": made.context()},
    }


def changed(tensor: torch.Tensor, index: tuple[int, ...], value: int) -> torch.Tensor:
    tensor = tensor.clone()
    tensor[index] = value
    return tensor


def numbers(field: str, value: int) -> torch.Tensor:
    return changed(machine().numbers, (1, Rows._fields.index(field)), value)


def nodes(field: str, value: int) -> torch.Tensor:
    return changed(machine().nodes, (1, 0, Nodes._fields.index(field)), value)


def test_what_the_kernels_know_of_python():
    assert len(ActionClass) == amr_machine_kernels.COLUMNS and ARCS_IN_A_ROW == 4
    assert len(Rows._fields) == amr_machine_kernels.NUMBERS and len(Nodes._fields) == amr_machine_kernels.NODE
    amr_machine_kernels.take_actions(machine()._setting, **arguments(machine()))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"tokens": torch.tensor([0])}, "tokens must be"),
        ({"tokens": torch.tensor([0, 1], dtype=torch.int32)}, "tokens must be"),
        ({"tokens": torch.tensor([0, -1])}, "tokens: beyond the vocabulary"),
        ({"tokens": torch.tensor([0, len(TABLE.tokens)])}, "tokens: beyond the vocabulary"),
        ({"tokens": None}, "tokens, columns and context go together"),
        ({"numbers": machine().numbers[:, 1:]}, "numbers must be"),
        ({"numbers": machine().numbers[:1]}, "numbers must be"),
        ({"numbers": machine().numbers.int()}, "numbers must be"),
        ({"numbers": numbers("sentence", 2)}, "numbers: there is no such sentence"),
        ({"numbers": numbers("length", 4)}, "numbers: beyond the words"),
        ({"numbers": numbers("position", 4)}, "numbers: beyond the words"),
        ({"numbers": numbers("first", 3)}, "numbers: beyond the words"),
        ({"numbers": numbers("first", -1)}, "numbers: beyond the words"),
        ({"numbers": numbers("depth", 9)}, "numbers: beyond the nodes"),
        ({"numbers": numbers("depth", 8)}, "nodes: no slot is free"),
        ({"numbers": numbers("below", 3)}, "numbers: beyond the nodes"),
        ({"numbers": numbers("below", -1)}, "numbers: beyond the nodes"),
        ({"numbers": numbers("below", 0)}, "columns: not those of the rows"),
        ({"numbers": numbers("in_span", -1)}, "numbers: a span"),
        ({"nodes": nodes("word", 4)}, "nodes: beyond the words"),
        ({"nodes": nodes("word", -1)}, "nodes: beyond the words"),
        ({"nodes": machine().nodes[:, :, :3]}, "nodes must be"),
        ({"nodes": machine().nodes[:, :0]}, "nodes must have a slot"),
        ({"named": machine().named[:, :1]}, "named must be"),
        ({"named": machine().named.float()}, "named must be"),
        ({"columns": machine().legal_columns()[:, 1:]}, "columns must be"),
        ({"columns": machine().legal_columns().long()}, "columns must be"),
        ({"context": machine().context()[:, :4]}, "context must be"),
    ],
)
def test_taking_actions(change, problem):
    with pytest.raises(ValueError, match=problem):
        amr_machine_kernels.take_actions(machine()._setting, **{**arguments(machine()), **change})


@pytest.mark.parametrize("ranks", [amr_machine_kernels.stack_ranks, amr_machine_kernels.buffer_ranks])
def test_ranks(ranks):
    made = machine()
    ranks(made._setting, made.numbers, made.nodes)
    for wrong in (numbers("depth", 9), numbers("length", 4), made.numbers.int()):
        with pytest.raises(ValueError, match="numbers"):
            ranks(made._setting, wrong, made.nodes)
    with pytest.raises(ValueError, match="nodes"):
        ranks(made._setting, made.numbers, nodes("word", 9))


@given(st.data())
@settings(max_examples=300)
def test_any_numbers_are_taken_or_refused(data):
    """No state, however wrong, is read or written beyond its tensors; sanitizers would say so."""
    made, column = machine(), st.sampled_from(range(len(Rows._fields)))
    given_arguments = arguments(made)
    for _ in range(data.draw(st.integers(1, 4))):
        row = data.draw(st.integers(0, 1))
        given_arguments["numbers"][row, data.draw(column)] = data.draw(st.integers(-2, 10))
        given_arguments["nodes"][
            row, data.draw(st.integers(0, 7)), data.draw(st.integers(0, len(Nodes._fields) - 1))
        ] = data.draw(st.integers(-2, 10))
    given_arguments["tokens"] = torch.tensor([data.draw(st.integers(0, len(TABLE.tokens) - 1)) for _ in range(2)])
    given_arguments["columns"] = torch.ones_like(made.legal_columns())
    try:
        columns, context = amr_machine_kernels.take_actions(made._setting, **given_arguments)
    except ValueError:
        return
    assert columns.shape == made.legal_columns().shape and context.shape == made.context().shape


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"features": torch.zeros(2, 4, 8, dtype=torch.long)}, "fields of features more than 8; they are 4, 3 and 8"),
        ({"features": torch.zeros(2, 4, 9)}, "features must be"),
        ({"words": 5}, "words must be from 1 to 4"),
        ({"words": 0}, "words must be from 1 to 4"),
        ({"span": -1}, "span 0 or more"),
        ({"shift_word": torch.zeros(3, dtype=torch.long)}, "shift_word must be"),
        ({"most": torch.zeros(7)}, "most must be"),
        ({"top_roles": torch.zeros(7)}, "top_roles must be"),
        ({"second_roles": torch.zeros(6, dtype=torch.long)}, "second_roles must be"),
        ({"new_roles": torch.zeros(7)}, "new_roles must be"),
        ({"new_several": torch.zeros(7)}, "new_several must be"),
        ({"new_sort": torch.zeros(6, dtype=torch.long)}, "new_sort must be"),
        ({"route": torch.zeros(6, dtype=torch.long)}, "route must be"),
        ({"sense": torch.zeros(7)}, "sense must be"),
        ({"lacked": torch.zeros(1, 1)}, "lacked must be"),
    ],
)
def test_settings(change, problem):
    one = torch.zeros(7, dtype=torch.long)
    good = {"features": torch.zeros(2, 4, 9, dtype=torch.long), "words": 4, "span": 3, "labelled": False}
    good |= {"column": one, "shift_word": one, "most": one, "top_roles": one, "second_roles": one}
    good |= {"new_roles": one, "new_several": one, "new_sort": one, "route": one, "sense": one}
    good["lacked"] = torch.zeros(1, 1, dtype=torch.long)
    Setting(**good)
    with pytest.raises(ValueError, match=problem):
        Setting(**{**good, **change})


def legality(columns=None, context=None, tokens=None, **change) -> None:
    vocabulary = DeviceTable.from_table(TABLE).vocabulary()._replace(**change)
    columns = torch.ones(2, len(ActionClass), dtype=torch.bool) if columns is None else columns
    context = torch.tensor([[0, 2, 0, 3, 1, 2, -1], [1, 0, -1, 0, -1, 0, 5]]) if context is None else context
    legality_kernels.legal_anywhere(vocabulary, columns, context)
    legality_kernels.legality(vocabulary, columns, context, tokens, True)


SIZE = len(TABLE.tokens)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"columns": torch.ones(2, len(ActionClass))}, "columns must be"),
        ({"columns": torch.ones(2, 9, dtype=torch.bool)}, "column: there is no such column"),
        ({"context": torch.tensor([[0, 9, 0, 0, 0, 0, -1], [1, 0, 0, 0, 0, 0, 5]])}, "context: beyond the lexicon"),
        ({"context": torch.tensor([[0, -1, 0, 0, 0, 0, -1], [1, 0, 0, 0, 0, 0, 5]])}, "context: beyond the lexicon"),
        (
            {"context": torch.tensor([[0, 2, 0, 0, 0, 0, -1], [1, 0, 0, 0, 0, 0, SIZE]])},
            "context: beyond the vocabulary",
        ),
        ({"context": torch.tensor([[0, 2, 0, 0, 0, 0, -1]])}, "context must be"),
        ({"context": torch.tensor([[0, 2, 0, 0, 0], [1, 0, 0, 0, 0]])}, "the roles and sorts of two nodes"),
        ({"context": torch.tensor([[0], [1]])}, "context must have 2 columns"),
        ({"tokens": torch.tensor([0, SIZE])}, "tokens: beyond the vocabulary"),
        ({"tokens": torch.tensor([0, -1])}, "tokens: beyond the vocabulary"),
        ({"tokens": torch.tensor([0.0])}, "tokens must be"),
        ({"column": torch.full((SIZE,), -1)}, "column: there is no such column"),
        ({"shift_word": torch.zeros(1, dtype=torch.long)}, "shift_word must be"),
        ({"top_roles": torch.zeros(SIZE)}, "top_roles must be"),
        ({"second_roles": torch.zeros(1, dtype=torch.long)}, "second_roles must be"),
        ({"top_sorts": torch.zeros(SIZE)}, "top_sorts must be"),
        ({"second_sorts": torch.zeros(1, dtype=torch.long)}, "second_sorts must be"),
        ({"offsets": torch.arange(7) * 100}, "offsets: beyond the lexicon"),
        ({"offsets": -torch.arange(7)}, "offsets: beyond the lexicon"),
        ({"tokens_of_rows": torch.full((9,), SIZE)}, "lexicon: beyond the vocabulary"),
        ({"limited": torch.zeros(SIZE)}, "limited must be"),
    ],
)
def test_legality(change, problem):
    legality()
    legality(tokens=torch.tensor([3, 0, 7]))
    if "tokens_of_rows" in change:
        vocabulary = DeviceTable.from_table(TABLE).vocabulary()._replace(tokens=change["tokens_of_rows"])
        columns, context = torch.ones(2, len(ActionClass), dtype=torch.bool), torch.tensor([[0, 3], [0, 3]])
        with pytest.raises(ValueError, match=problem):
            legality_kernels.legality(vocabulary, columns, context, None, True)
        return
    with pytest.raises(ValueError, match=problem):
        legality(**change)

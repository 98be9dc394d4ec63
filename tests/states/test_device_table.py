"""Which tokens are legal: for some tokens the same as for all, whatever the other rows are."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.amr_walks import LEXICON
from tests.search_limits import last_arc
from tests.states.test_amr_machine import INVERSE, MORE, OF_SORTS, ONCE, make_table
from transition_parser.states.device_table import DeviceTable
from transition_parser.states.table import (
    FIRST_ROW,
    LAST_CHANCE,
    SORT_BITS,
    TOPPED,
    UNBOUND,
    UNSEEN,
    ActionClass,
    ActionTable,
)
from transition_parser.transitions import Action
from transition_parser.transitions.amr_limits import TOP, Sort, made_sort, role_given
from transition_parser.transitions.amr_state import is_listed

SHIFT_WORDS = ("a", "New")
TABLE = make_table(SHIFT_WORDS, LEXICON, OF_SORTS, (*INVERSE, *MORE))
DEVICE_TABLE = DeviceTable(TABLE)


def legality(
    table: ActionTable,
    token: int,
    columns: list[bool],
    shift: int,
    row: int,
    top: int = 0,
    second: int = 0,
    top_sort: int = 0,
    second_sort: int = 0,
    *spent: int,
) -> int:
    """The definition, token by token: 1, 0, or −1 for a role that the node has, or for nodes of unfit sorts."""
    action = table.actions[token]
    if not columns[table.column[token]] or token in spent:
        return 0
    if table.shift_word[token] >= 0 and table.shift_word[token] != shift:
        return 0
    bound = row != UNBOUND and action is not None and is_listed(action)
    if bound and (row == UNSEEN or token not in table.lexicon[row]):
        return 0
    place, role = (action and role_given(action)) or (TOP, "")
    borne = role in ONCE and (top if place == TOP else second) >> sorted(ONCE).index(role) & 1
    return -1 if borne or is_unfit(table, action, top_sort, second_sort) else 1


def is_unfit(table: ActionTable, action: Action | None, top_sort: int, second_sort: int) -> bool:
    if action is None or (action == last_arc(table) and (top_sort | second_sort) >> LAST_CHANCE & 0xFFFF):
        return False
    if made_sort(action) is Sort.SENTENCES and top_sort & TOPPED:
        return True
    sorts = (
        {sort for sort in Sort if bits & (SORT_BITS[sort] * (1 + (1 << LAST_CHANCE)))}
        for bits in (top_sort, second_sort)
    )
    return any(barred & sort for barred, sort in zip(table.system.limits.barred(action), sorts, strict=True))


def last_chance(sorts: tuple[int, ...], last: bool) -> list[int]:
    """The sorts of two nodes, moved to where they stand if no word is left and the graph can't be closed."""
    return [bits & TOPPED | (bits & ~TOPPED) << LAST_CHANCE * last for bits in sorts]


@st.composite
def situations(draw) -> tuple[torch.Tensor, torch.Tensor]:
    """Columns (R, C) and contexts (R, 2), or (R, 6) or more, of rows that know nothing of each other."""
    rows = draw(st.integers(1, 5))
    some = draw(st.lists(st.sets(st.sampled_from(ActionClass), max_size=6), min_size=rows, max_size=rows))
    shifts = st.integers(0, len(SHIFT_WORDS))
    spans = st.sampled_from([UNBOUND, UNSEEN, *range(FIRST_ROW, FIRST_ROW + len(LEXICON))])
    roles = [st.integers(0, 2 ** len(ONCE) - 1)] * 2
    sort = st.sampled_from([0, *SORT_BITS.values()])
    sorts = [st.tuples(sort, st.sampled_from([0, TOPPED])).map(sum), sort]
    spent = draw(st.integers(0, 3)) * [st.integers(-1, len(TABLE.tokens) - 1)]
    limited = (*roles, *sorts, *spent) if draw(st.booleans()) else ()
    context = draw(st.lists(st.tuples(shifts, spans, *limited), min_size=rows, max_size=rows))
    context = [(*row[:4], *last_chance(row[4:6], draw(st.booleans())), *row[6:]) for row in context]
    return torch.tensor([[column in legal for column in ActionClass] for legal in some]), torch.tensor(context)


@given(situations())
@settings(max_examples=100)
def test_legality_is_the_definition(situation):
    columns, context = situation
    legal = DEVICE_TABLE.legality(columns, context)
    for row, ok in enumerate(legal.tolist()):
        known = (columns[row].tolist(), *context[row].tolist())
        assert ok == [legality(TABLE, token, *known) for token in range(len(TABLE.tokens))]


@pytest.mark.parametrize("any_shift", [False, True])
def test_more_dimensions_are_rows(any_shift):
    columns = torch.rand(3, 4, len(ActionClass)) < 0.5
    context = torch.stack([torch.randint(0, 3, (3, 4)), torch.randint(0, FIRST_ROW + len(LEXICON), (3, 4))], -1)
    legal = DEVICE_TABLE.legality(columns, context, any_shift)
    flat = DEVICE_TABLE.legality(columns.flatten(0, 1), context.flatten(0, 1), any_shift)
    assert torch.equal(legal.flatten(0, 1), flat)

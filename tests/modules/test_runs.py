"""Sequences of unequal lengths in runs of similar ones."""

import itertools

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from transition_parser.modules import layers as module
from transition_parser.modules.layers import WIDTHS, in_rows, runs

LENGTHS = st.lists(st.integers(1, 60), max_size=12)


@given(LENGTHS, st.booleans())
def test_each_sequence_is_in_one_run_that_holds_it(lengths, few_shapes):
    found = runs(torch.tensor(lengths, dtype=torch.long), 64, few_shapes)
    there = [set(run.rows.tolist()) for run in found]
    assert sorted(itertools.chain.from_iterable(there)) == list(range(len(lengths)))
    for run, rows in zip(found, there, strict=True):
        assert all(lengths[row] <= run.width <= 64 for row in rows)
        if not few_shapes:
            assert len(run.rows) == len(rows) and (not rows or run.width == max(lengths[row] for row in rows))
        elif rows:
            assert run.width % WIDTHS == 0 and len(run.rows) % max(module._CELLS // run.width, 1) == 0
            assert len(run.rows) * run.width < len(rows) * run.width + module._CELLS


@given(LENGTHS.filter(len))
def test_no_other_cut_has_fewer_cells(lengths):
    def cost(parts):
        return sum(len(part) * max(part) + module._OVERHEAD for part in parts if part)

    ascending = sorted(lengths)
    best = min(
        cost([ascending[first:stop] for first, stop in itertools.pairwise((0, *cuts, len(ascending)))])
        for count in range(4)
        for cuts in itertools.combinations(range(1, len(ascending)), min(count, len(ascending) - 1))
    )
    found = sum(len(run.rows) * run.width + module._OVERHEAD for run in runs(torch.tensor(lengths), 64))
    assert found <= best


@pytest.mark.parametrize("few_shapes", [False, True])
def test_a_batch_with_an_outlier_is_cut(few_shapes):
    few, one = runs(torch.tensor([9, 8, 500, *[7] * 20]), 512, few_shapes)
    assert few.width in (9, 16) and one.rows.unique().tolist() == [2]


def test_elsewhere_than_on_a_cpu_all_is_one_run():
    (run,) = runs(torch.empty(5, dtype=torch.long, device="meta"), 90, True)
    assert run.rows.shape == (5,) and run.width == 90


@given(LENGTHS, st.integers(60, 99))
def test_rows_hold_as_many_sequences_as_fit(lengths, most):
    rows = in_rows(lengths, most)
    assert [i for row in rows for i in row] == list(range(len(lengths)))
    for row, after in itertools.pairwise(rows):
        filled = sum(lengths[i] for i in row)
        assert filled <= most < filled + lengths[after.start]
    assert not rows or sum(lengths[i] for i in rows[-1]) <= most


def test_a_sequence_that_is_too_long_has_a_row_of_its_own():
    assert in_rows([9, 2, 9, 2, 2], 5) == [range(1), range(1, 2), range(2, 3), range(3, 5)]

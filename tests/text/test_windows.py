"""Windows over long sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transition_parser.text.windows import windows


@st.composite
def words(draw) -> tuple[list[int], int]:
    """Sizes of words, and how many pieces a window holds."""
    longest = draw(st.integers(1, 12))
    return draw(st.lists(st.integers(0, longest), max_size=60)), longest


@given(words())
def test_each_word_is_read_once_and_no_window_is_too_long(given_words):
    sizes, longest = given_words
    found = windows(sizes, longest)
    kept = [word for window in found for word in range(window.first, window.stop) if window.keeps(word)]
    assert kept == list(range(len(sizes)))
    assert all(sum(sizes[window.first : window.stop]) <= longest for window in found)


def test_what_is_kept_has_context_on_both_sides():
    found = windows([1] * 1000, 100)
    assert all(window.kept_from - window.first >= 20 for window in found[1:])
    assert all(window.stop - window.kept_stop >= 20 for window in found[:-1])
    assert len(found) < 25


def test_a_word_that_fits_nowhere():
    with pytest.raises(ValueError, match="more than 3 pieces"):
        windows([1, 4], 3)

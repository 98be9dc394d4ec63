"""Numbers in words, against another way to write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transition_parser.text.numbers import SCALES, UNITS, number_of

WORD_OF = {value: word for word, value in UNITS.items()}
NAMED = [(10**9, "billion"), (10**6, "million"), (10**3, "thousand"), (100, "hundred")]


def written(number: int) -> list[str]:
    """A number below 10^12 in words, `twenty-five` as one word."""
    for scale, name in NAMED:
        if number >= scale:
            rest = written(number % scale) if number % scale else []
            return [*written(number // scale), name, *rest]
    if number in WORD_OF:
        return [WORD_OF[number]]
    return [f"{WORD_OF[number - number % 10]}-{WORD_OF[number % 10]}"]


@given(st.integers(0, 10**12 - 1), st.booleans(), st.booleans())
def test_written_numbers_are_read(number, split, capital):
    forms = written(number)
    if split:
        forms = " ".join(forms).replace("-", " - ").split(" ")
    if capital:
        forms[0] = forms[0].capitalize()
    assert number_of(forms) == str(number)


@given(st.integers(0, 999), st.integers(0, 9), st.sampled_from(sorted(name for name in SCALES if len(name) > 2)))
def test_digits_before_a_scale(whole, tenths, scale):
    expected = (10 * whole + tenths) * SCALES[scale]
    assert number_of([f"{whole}.{tenths}", scale]) == f"{expected / 10:.1f}".removesuffix(".0")


@pytest.mark.parametrize(
    "text",
    ["", "-", "five -", "- five", "five six", "twenty ten", "two dogs", "m", "5 m", "hundreds", "1st", "five and six"],
)
def test_other_words_are_no_numbers(text):
    assert number_of(text.split()) is None

"""How long sentences are, and where those that are too long are divided."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transition_parser.text.segmentation import is_longer, length, places_to_divide, with_short_tokens
from transition_parser.text.tokens import tokens

WORDS = st.lists(st.sampled_from(["a", "be", "c" * 100, "d" * 101, "e" * 350]), min_size=1, max_size=8)


@given(words=WORDS)
def test_long_words_count_several_times(words):
    assert length(words) == sum(len(range(0, len(word), 100)) for word in words)


@given(words=WORDS, longest=st.integers(1, 12))
def test_the_cheap_answer_is_that_of_the_length(words, longest):
    assert is_longer(words, longest) == (length(words) > longest)


@given(words=WORDS, longest=st.integers(1, 5))
def test_tokens_of_any_length_become_short_ones(words, longest):
    text = " ".join(words)
    found = list(with_short_tokens(tokens(text), longest))
    assert "".join(token.form for token in found) == "".join(words)
    assert all(text[token.start : token.end] == token.form and length(token.words) <= longest for token in found)


@given(words=WORDS, longest=st.integers(1, 12))
def test_parts_are_as_long_as_may_be(words, longest):
    found = list(with_short_tokens(tokens(" ".join(words)), longest))
    places = [0, *places_to_divide(found, 0, len(found), longest), len(found)]
    for first, end, more in zip(places, places[1:], [*places[2:], None], strict=False):
        some = [word for token in found[first:end] for word in token.words]
        assert 0 < length(some) <= longest
        if more is not None:
            assert length([*some, *found[end].words]) > longest


@pytest.mark.parametrize("text", ["don't", "1 2"])
def test_a_token_of_several_words_stays_whole(text):
    found = list(tokens(text))
    assert list(places_to_divide(found, 0, len(found), 1)) == list(range(1, len(found)))

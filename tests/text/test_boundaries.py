"""Labels of characters: the labels of known sentences give their tokens, words and ends back."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from transition_parser.text.learned_segmentation import Boundary, Unit, Units, WrittenSentence, WrittenToken, labelled

LETTERS = st.text("ab.é中👩\u0301_", min_size=1, max_size=4)
FORMS = st.lists(LETTERS, min_size=1, max_size=2).map(" ".join)
WORDS = st.lists(LETTERS, min_size=1, max_size=3).map(tuple)


@st.composite
def written_tokens(draw) -> WrittenToken:
    form, words = draw(FORMS), draw(WORDS)
    return WrittenToken(form, words if len(words) > 1 else (form,), draw(st.booleans()))


SENTENCES = st.lists(
    st.builds(WrittenSentence, st.lists(written_tokens(), min_size=1, max_size=5).map(tuple), st.booleans()), max_size=6
)


def units_of(text: str, labels: bytes, cuts: list[int], holds_blanks: bool = True, most: int = 100) -> list[Unit]:
    """The tokens of a paragraph that comes in the pieces between the cuts."""
    units, found, used = Units(0, holds_blanks, most), [], 0
    places = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    for first, end in pairwise(places):
        size = len("".join(text[first:end].split()))
        found += units.read(text[first:end], labels[used : used + size])
        used += size
    return [*found, *units.rest()]


@given(sentences=SENTENCES, cuts=st.lists(st.integers(0, 100)))
def test_the_labels_of_sentences_give_their_tokens_back(sentences, cuts):
    paragraphs = list(labelled(sentences))
    found = [unit for text, labels in paragraphs for unit in units_of(text, labels, cuts)]
    known = [(sentence, token) for sentence in sentences for token in sentence.tokens]
    assert [unit.form for unit in found] == [token.form for _sentence, token in known]
    for unit, (sentence, token) in zip(found, known, strict=True):
        assert bool(unit.label & Boundary.SEVERAL) == (len(token.words) > 1)
        assert bool(unit.label & Boundary.SENTENCE) == (token is sentence.tokens[-1])
    opening = sum(sentence.opens_paragraph for sentence in sentences[1:])
    assert len(paragraphs) == (1 + opening if sentences else 0)


@given(sentences=SENTENCES, cuts=st.lists(st.integers(0, 100)), most=st.integers(1, 5), blanks=st.booleans())
def test_tokens_are_where_they_say_and_no_longer_than_allowed(sentences, cuts, most, blanks):
    for text, labels in labelled(sentences):
        found = units_of(text, labels, cuts, blanks, most)
        assert found == units_of(text, labels, [], blanks, most)
        assert "".join(unit.space + unit.form for unit in found) == text
        for unit in found:
            assert text[unit.start : unit.start + len(unit.form)] == unit.form
            assert len(unit.form) <= most and (blanks or " " not in unit.form)


def test_only_a_single_blank_may_stand_inside_a_token():
    for space in ("  ", "\n", "\t", " \n"):
        assert [unit.form for unit in units_of(f"20{space}000", b"\0\0\0\0\1", [])] == ["20", "000"]
    assert [unit.form for unit in units_of("20\u00a0000", b"\0\0\0\0\1", [])] == ["20\u00a0000"]

"""Sentences that a labeler of characters finds: nothing is lost, and stretches and windows change nothing."""

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.text.test_tokens import TEXTS
from transition_parser.text.learned_segmentation import (
    Boundary,
    Habits,
    LearnedSegmenter,
    MultiWords,
    WrittenSentence,
    WrittenToken,
    labeled,
    units,
)
from transition_parser.text.tokens import Token


class Hashes:
    """A labeler whose labels depend on all characters of their context, and on nothing else."""

    context = 3

    def __call__(self, text: str, first: int, end: int) -> bytes:
        padded = "\0" * self.context + text + "\0" * self.context
        around = (padded[i : i + 2 * self.context + 1] for i in range(first, end))
        return bytes((0, 0, 1, 1, 3, 5, 7)[zlib.crc32(part.encode()) % 7] for part in around)


SEGMENTER = LearnedSegmenter(Hashes(), {None: Habits(MultiWords({"a": ("b", "c")}, {"b": ("", "b")}), True)})
STRETCHES = st.integers(1, 40)


def sentences(text: str, stretch: int = 1 << 14, longest: int = 4000, segmenter: LearnedSegmenter = SEGMENTER) -> list:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LearnedSegmenter, "stretch", stretch)
        return list(segmenter.sentences(text.split("\n"), longest))


@given(text=TEXTS, stretch=STRETCHES, longest=st.sampled_from([2, 4000]))
def test_stretches_change_nothing(text, stretch, longest):
    assert sentences(text, stretch, longest) == sentences(text, longest=longest)


@given(
    words=st.lists(st.text("ab.", min_size=1, max_size=4), max_size=20), space=st.sampled_from(["  ", "\n", "\t \r"])
)
def test_the_kind_of_white_space_does_not_matter(words, space):
    segmenter = LearnedSegmenter(Hashes(), {None: Habits()})
    found, other = (sentences(between.join(words), segmenter=segmenter) for between in (" ", space))
    assert [[token.words for token in s.tokens] for s in found] == [[token.words for token in s.tokens] for s in other]


@given(paragraphs=st.lists(st.text("ab. ", min_size=1).filter(str.strip), max_size=4))
def test_paragraphs_are_divided_apart(paragraphs):
    found = sentences("\n\n".join(paragraphs))
    apart = [sentence for paragraph in paragraphs for sentence in sentences(paragraph)]
    assert [sentence.text for sentence in found] == [sentence.text for sentence in apart]
    assert [sentence.opens_paragraph for sentence in found] == [sentence.opens_paragraph for sentence in apart]


def test_words_that_do_not_spell_their_token_have_its_position():
    assert Token(3, ("de", "le"), "du").spans == [(3, 5), (3, 5)]
    assert Token(3, ("do", "n't")).spans == [(3, 5), (5, 8)]


LETTERS = st.text("ab.é中👩\u0301_", min_size=1, max_size=4)
FORMS = st.lists(LETTERS, min_size=1, max_size=2).map(" ".join)
WORDS = st.lists(LETTERS, min_size=1, max_size=3).map(tuple)


TOKENS = st.builds(
    lambda form, words, flag: WrittenToken(form, words if words[1:] else (form,), flag),
    FORMS,
    WORDS,
    st.booleans(),
)
SENTENCES = st.lists(
    st.builds(WrittenSentence, st.lists(TOKENS, min_size=1, max_size=5).map(tuple), st.booleans()), max_size=6
)


@given(sentences=SENTENCES)
def test_the_labels_of_sentences_give_their_tokens_back(sentences):
    paragraphs = list(labeled(sentences))
    found = [(text[u.start : u.end], u.label) for text, labels in paragraphs for u in units(text, labels, True, 100)]
    known = [(sentence, token) for sentence in sentences for token in sentence.tokens]
    assert [form for form, _label in found] == [token.form for _sentence, token in known]
    for (_form, label), (sentence, token) in zip(found, known, strict=True):
        assert bool(label & Boundary.SEVERAL) == (len(token.words) > 1)
        assert bool(label & Boundary.SENTENCE) == (token is sentence.tokens[-1])
    opening = sum(sentence.opens_paragraph for sentence in sentences[1:])
    assert len(paragraphs) == (1 + opening if sentences else 0)


@given(sentences=SENTENCES, most=st.integers(1, 5), blanks=st.booleans())
def test_tokens_hold_all_characters_and_are_no_longer_than_allowed(sentences, most, blanks):
    for text, labels in labeled(sentences):
        forms = [text[unit.start : unit.end] for unit in units(text, labels, blanks, most)]
        assert "".join("".join(forms).split()) == "".join(text.split())
        assert all(len(form) <= most and (blanks or " " not in form) for form in forms)


def test_only_a_single_blank_may_stand_inside_a_token():
    for space in ("  ", "\n", "\t", " \n"):
        assert len([*units(f"20{space}000", b"\0\0\0\0\1", True, 9)]) == 2
    assert len([*units("20\u00a0000", b"\0\0\0\0\1", True, 9)]) == 1


DU, DES = ("de", "le"), ("de", "les")
KNOWN = MultiWords.of_examples(
    [
        *[("du", DU), ("du", DU), ("du", ("d", "u")), ("Du", ("De", "le")), ("des", DES)],
        *[("dirgli", ("dir", "gli")), ("wsagt", ("w", "sagt")), ("don't", ("do", "n't")), ("ha", ("x", "y"))],
    ]
)


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ("du", "de le"),  # the most frequent words
        ("Du", "De le"),
        ("Des", "De les"),
        ("DES", "DE LES"),
        ("vedergli", "veder gli"),
        ("Can't", "Ca n't"),
        ("Wgeht", "W geht"),
        ("zzz", "zzz"),
        ("gli", "gli"),  # nothing is left for the first word
    ],
)
def test_words_of_a_form(form, words):
    assert " ".join(KNOWN.words(form)) == words


def test_an_end_at_which_few_tokens_are_divided_is_no_suffix():
    with_article = [(f"ha{word}a", ("ha", f"{word}a")) for word in ("bot", "kel", "dim")]
    known = MultiWords.of_examples([*with_article, ("sela", ("sel", "a"))])
    assert known.words("hamora") == ("ha", "mora") and known.words("sela") == ("sel", "a")

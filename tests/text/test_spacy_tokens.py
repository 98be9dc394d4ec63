"""The tokens of AMRs are those of spaCy, but for words that spaCy takes for contractions."""

import re
import tracemalloc

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import SAMPLE, SAMPLE_AMR
from transition_parser.text.spacy_tokens import tokenise

# ℳ is a letter in Unicode, but not in spaCy's list of letters
WORDS = "id Id wed Wed hed Hed hows whys wheres".split()
DIFFERENT = re.compile(rf"ℳ|(?<!\w)({'|'.join(WORDS)}|(?<=::)id)(?!\w)")


@pytest.fixture(scope="module")
def of_spacy():
    tokenizer = spacy.blank("en").tokenizer
    return lambda part: [token.text for token in tokenizer(part)]


def compare(of_spacy, text: str) -> int:
    parts = [part for part in set(re.findall(r"\S{1,500}", text)) if not DIFFERENT.search(part)]
    assert [tokenise(part) for part in parts] == [of_spacy(part) for part in parts]
    return len(parts)


@pytest.mark.parametrize("path", [SAMPLE, SAMPLE_AMR])
def test_texts_have_the_tokens_of_spacy(of_spacy, path):
    assert compare(of_spacy, path.read_text()) > 500


@pytest.mark.slow
def test_corpora_have_the_tokens_of_spacy(of_spacy, corpora):
    paths = [*corpora.glob("amr/*/*.amr"), *corpora.glob("text/*.txt")]
    assert sum(compare(of_spacy, path.read_text()) for path in paths) > 100_000


def test_exceptions_are_those_of_spacy(of_spacy):
    rules = [rule for rule in spacy.blank("en").tokenizer.rules if not rule.isspace() and rule.strip(".") not in WORDS]
    assert len(rules) > 1300
    for before, after in (("", ""), ("(", ".)"), ("x-", ","), ("", "'s"), ("<", "/")):
        texts = [f"{before}{rule}{after}" for rule in rules]
        assert [tokenise(text) for text in texts] == [of_spacy(text) for text in texts]


@given(st.text("aZé0.,'’-–:;/()<>!?$%°&@#_*+=^~\"…", min_size=1, max_size=30))
def test_punctuation_is_divided_as_by_spacy(of_spacy, text):
    assert tokenise(text) == of_spacy(text)


WHOLE = "Enter your id here|They wed in May|Meet me on Wed|Id cards|Mr. Hed|as is his wont|the cant of thieves|the hows"


@pytest.mark.parametrize("text", WHOLE.split("|"))
def test_words_are_no_contractions(text):
    assert tokenise(text) == text.split()


def test_contractions_without_an_apostrophe():
    assert tokenise("I cant and he wont, shed; Im Ive dont") == "I ca nt and he wo nt , shed ; I m I ve do nt".split()


def test_memory_does_not_grow_with_new_words():
    def use(first: int, last: int) -> int:
        for number in range(first, last):
            tokenise(f"w{number}")
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        full = use(0, 40_000)  # more than the cache holds
        # A full cache makes its dict anew from time to time (1 MB); kept words would take 100 bytes each or more.
        assert use(40_000, 100_000) < full + 2_000_000
    finally:
        tracemalloc.stop()

"""Tokens with their places: of UD English, and of spaCy but for words that spaCy takes for contractions."""

import re
from pathlib import Path

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import SAMPLE, SAMPLE_AMR
from transition_parser.text.characters import Clusters
from transition_parser.text.spacy_tokens import tokenize, tokens_of_spacy
from transition_parser.text.tokens import Token, tokens

DIVISIONS = pytest.mark.parametrize("divide", [tokens, tokens_of_spacy])
# whatever UTF-8 can hold, and what the rules are about more often than chance has it
TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"])),
    st.text("ab1 .,'’\"-_@:/)(!?\0\t\n\r\x1c\x85\u200d\u2028\u0301\ufe0f👩🏽é"),
    st.lists(
        st.sampled_from("don't e-mail U.S. Mr. http://a.b ... :) 5/12 a@b.com gonna dogs' \n !! '' x".split(" "))
    ).map("".join),
)


def shown(text: str) -> str:
    """What shows of a text, without white space."""
    return "".join(Clusters.of(text).shown.split())


def rejoined(text: str, found: list[Token]) -> str:
    """The text, made of the tokens and of what is between them, of which nothing shows."""
    parts, end = [], 0
    for token in found:
        assert not shown(text[end : token.start])
        parts += [text[end : token.start], token.form]
        end = token.end
    return "".join([*parts, text[end:]])


@DIVISIONS
@given(text=TEXTS)
def test_tokens_and_what_is_between_them_make_the_text(divide, text):
    found = list(divide(text))
    assert rejoined(text, found) == text
    assert "".join(shown(token.form) for token in found) == shown(text)
    for token in found:
        assert all(token.words)
        assert [text[start:end] for start, end in token.spans] == list(token.words)


TOKENS = Path(__file__).with_name("tokens.txt").read_text(encoding="utf-8").rstrip("\n").split("\n\n")


@pytest.mark.parametrize("pair", TOKENS)
def test_words_of_ud_english(pair):
    """Of a line the tokens are in the next one, with + between words of a token."""
    text, expected = pair.split("\n")
    assert ["+".join(token.words) for token in tokens(text)] == expected.split(" ")


UNITS = "a a. aa. ! http:// a@ - 1/ 1- 's a's e- .com \u0301 http://. ( a- _a www. :) a_ ' a've a, <- =- -=> #a @a a.b"


@DIVISIONS
@pytest.mark.parametrize("unit", [*UNITS.split(" "), "A. ", " "])
def test_the_time_is_linear(divide, unit):
    """40,000 characters without a line break: were the time quadratic, they would take minutes."""
    text = unit * (40_000 // len(unit))
    assert "".join(token.form for token in divide(text)) == "".join(text.split())


# ℳ is a letter in Unicode, but not in spaCy's list of letters
WORDS = "id Id wed Wed hed Hed hows whys wheres".split()
DIFFERENT = re.compile(rf"ℳ|(?<!\w)({'|'.join(WORDS)}|(?<=::)id)(?!\w)")


@pytest.fixture(scope="module")
def of_spacy():
    tokenizer = spacy.blank("en").tokenizer
    return lambda part: [token.text for token in tokenizer(part)]


def compare(of_spacy, text: str) -> int:
    parts = [part for part in set(re.findall(r"\S{1,500}", text)) if not DIFFERENT.search(part)]
    assert [tokenize(part) for part in parts] == [of_spacy(part) for part in parts]
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
        assert [tokenize(text) for text in texts] == [of_spacy(text) for text in texts]


@given(st.text("aZé0.,'’-–:;/()<>!?$%°&@#_*+=^~\"…", min_size=1, max_size=30))
def test_punctuation_is_divided_as_by_spacy(of_spacy, text):
    assert tokenize(text) == of_spacy(text)


WHOLE = "Enter your id here|They wed in May|Meet me on Wed|Id cards|Mr. Hed|as is his wont|the cant of thieves|the hows"


@pytest.mark.parametrize("text", WHOLE.split("|"))
def test_words_are_no_contractions(text):
    assert tokenize(text) == text.split()


def test_contractions_without_an_apostrophe():
    assert tokenize("I cant and he wont, shed; Im Ive dont") == "I ca nt and he wo nt , shed ; I m I ve do nt".split()

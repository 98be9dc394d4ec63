"""Tokens with their places: of UD English, and of spaCy but for words that spaCy takes for contractions."""

import re

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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("She didn't go.", ["She", "did+n't", "go", "."]),
        ("Can’t I? I'd've cannot gonna", ["Ca+n’t", "I", "?", "I+'d+'ve", "can+not", "gon+na"]),
        ("the dogs' and Anna's", ["the", "dogs+'", "and", "Anna+'s"]),
        ("O'Neill Shi'ite", ["O'Neill", "Shi'ite"]),
        ("a follow-up e-mail, non-human", ["a", "follow", "-", "up", "e-mail", ",", "non-human"]),
        ("Well... no!! Really?!", ["Well", "...", "no", "!!", "Really", "?!"]),
        ("Mr. Hale of the U.S. Army, etc.", ["Mr.", "Hale", "of", "the", "U.S.", "Army", ",", "etc", "."]),
        ("J. Smith, Inc.", ["J.", "Smith", ",", "Inc."]),
        ("Ask a.b@c.com (http://c.com/d?e=1).", ["Ask", "a.b@c.com", "(", "http://c.com/d?e=1", ")", "."]),
        ("5/12 12/5/2001 9:30am 1,000.50 3rd 1990s", ["5/12", "12/5/2001", "9:30", "am", "1,000.50", "3rd", "1990s"]),
        ("713-664-7478 5-10 $5 10%", ["713-664-7478", "5", "-", "10", "$", "5", "10", "%"]),
        ("nice:) :-( <3 and/or w/ me", ["nice", ":)", ":-(", "<3", "and", "/", "or", "w/", "me"]),
        ("-----****", ["-----", "****"]),
        ("He can't, wont and cannot", ["He", "ca+n't", ",", "wo+nt", "and", "can+not"]),
        ("As was his wont, the cant of id", ["As", "was", "his", "wont", ",", "the", "cant", "of", "id"]),
        ("''so'' ``it''", ["''", "so", "''", "``", "it", "''"]),
        ("12 F.3d 45 (2d Cir.), 9 So.2d 1", ["12", "F.3d", "45", "(", "2d", "Cir.", ")", ",", "9", "So.2d", "1"]),
        ("a --> b <- c => d <=> e >= f <3", ["a", "-->", "b", "<-", "c", "=>", "d", "<=>", "e", ">=", "f", "<3"]),
        (
            "Call foo.bar() now.then see a.b, foo.baz.",
            ["Call", "foo.bar", "(", ")", "now", ".", "then", "see", "a", ".", "b", ",", "foo.baz", "."],
        ),
        ("@jane_doe #SoHappy #1 C# @5 A@B", ["@jane_doe", "#SoHappy", "#", "1", "C", "#", "@", "5", "A@B"]),
        ("Y'all're y’all lemme gimme", ["Y'+all+'re", "y’+all", "lem+me", "gim+me"]),
    ],
)
def test_words_of_ud_english(text, expected):
    assert ["+".join(token.words) for token in tokens(text)] == expected


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

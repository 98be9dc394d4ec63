"""Tokens with their places: of UD English, and of AMRs."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transition_parser.text.characters import Clusters
from transition_parser.text.tokens import Token, tokenize, tokens, tokens_of_amrs

DIVISIONS = pytest.mark.parametrize("divide", [tokens, tokens_of_amrs])
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


AMRS = """IL-6's GSK-3beta and ERK1/2, 1/2 of 32P|IL-6 's GSK-3beta and ERK1/2 , 1/2 of 32P
i. b. m. , the C. I. A. (|i. b. m. , the C. I. A. (
Neither do I.|Neither do I .
Smith et al. (Fig. 2), e-mail and/or mail|Smith et al . ( Fig . 2 ) , e - mail and/or mail
She didn't, gonna cannot.|She did n't , gon na can not .
They do n't like Ann 's cat.|They do n't like Ann 's cat .
as is his wont, the cant of thieves|as is his wont , the cant of thieves"""


@pytest.mark.parametrize("pair", AMRS.split("\n"))
def test_words_of_amrs(pair):
    text, expected = pair.split("|")
    assert tokenize(text) == expected.split()

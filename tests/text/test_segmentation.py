"""Sentences with their places: nothing of a text is lost or comes twice; abbreviations; sentences that are too long."""

from pathlib import Path

import pytest
from hypothesis import given

from tests.conftest import SAMPLE
from tests.text.test_learned_segmentation import SEGMENTER
from tests.text.test_tokens import TEXTS, shown
from transition_parser.graphs.conllu import read_conllu
from transition_parser.text.segmentation import ENGLISH, LONGEST, length

SEGMENTERS = pytest.mark.parametrize("segmenter", [ENGLISH, SEGMENTER])


def blocks(name: str) -> list[str]:
    """The blocks of lines of a file beside this one."""
    return Path(__file__).with_name(f"{name}.txt").read_text(encoding="utf-8").rstrip("\n").split("\n\n")


def segmented(text, longest=LONGEST, segmenter=ENGLISH):
    return segmenter.sentences(text.split("\n"), longest)


def sentences(text: str) -> list[str]:
    return [sentence.text for sentence in segmented(text)]


@SEGMENTERS
@given(text=TEXTS)
def test_sentences_and_what_is_between_them_make_the_text(segmenter, text):
    end = 0
    for sentence in segmented(text, segmenter=segmenter):
        first, last = sentence.tokens[0], sentence.tokens[-1]
        assert not shown(text[end : sentence.start])
        end = last.end
        assert sentence.start == first.start and text[first.start : end] == sentence.text
        assert all(text[token.start : token.end] == token.form for token in sentence.tokens)
        assert all(token.words and all(token.words) for token in sentence.tokens)
        assert sentence.space_after or not text[end : end + 1].isspace()
    assert not shown(text[end:])


@pytest.mark.parametrize("between", [" ", "\n"])
@pytest.mark.parametrize("stretch", [1, 50, 1000])
def test_long_paragraphs_are_divided_as_short_ones_are(stretch, between, monkeypatch):
    some = [str(sentence.comment("text")) for sentence in read_conllu(SAMPLE)]
    text = between.join(
        [*some, "It is 5. in. or 6 in. of it, he said. p. 7 and p. 8 say so, in Salem, Ore. and Del. or so."]
    )
    whole = list(segmented(text))
    assert len(whole) > 10
    monkeypatch.setattr(type(ENGLISH), "stretch", stretch)
    assert list(segmented(text)) == whole


@pytest.mark.parametrize(
    ("segmenter", "line", "count"),
    [
        *((ENGLISH, line, 200_000) for line in ("Go now. Stop that!", "a", "3 " * 50_000, "a" * 100_000)),
        *((SEGMENTER, line, 2_000) for line in ("Go now. Stop that!", "3 " * 20_000, "a" * 20_000)),
    ],
)
def test_a_paragraph_without_end_is_divided_before_it_is_read(segmenter, line, count):
    def lines():
        for _ in range(count):
            yield line
        raise AssertionError("all of it was read")

    found = segmenter.sentences(lines(), longest=count // 200 if segmenter is ENGLISH else 100)
    assert [next(found).opens_paragraph for _ in range(3)] == [True, False, False]


@SEGMENTERS
@pytest.mark.parametrize("stretch", [7, 1 << 18])
@given(text=TEXTS)
def test_sentences_are_divided_where_they_are_too_long(segmenter, stretch, text):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(segmenter), "stretch", stretch)
        some = list(segmented(text, longest=3, segmenter=segmenter))
    tokens = [token for sentence in some for token in sentence.tokens]
    assert "".join(shown(token.form) for token in tokens) == shown(text)
    for sentence in some:
        words = [word for token in sentence.tokens for word in token.words]
        assert length(words) <= 3 or len(sentence.tokens) == 1
        assert text[sentence.start :].startswith(sentence.text)


def test_what_goes_on_is_told():
    found = list(segmented("1 2 3 4 5. Six is here.", longest=3))
    assert [(sentence.text, sentence.goes_on) for sentence in found] == [
        ("1 2 3", True),
        ("4 5.", False),
        ("Six is here", True),
        (".", False),
    ]
    assert [sentence.opens_paragraph for sentence in found] == [True, False, False, False]


@given(text=TEXTS)
def test_paragraphs_are_divided_by_blank_lines_alone(text):
    opened = [sentence.start for sentence in segmented(text) if sentence.opens_paragraph]
    lines = [shown(line) for line in text.split("\n")]
    assert len(opened) == sum(bool(line) and (i == 0 or not lines[i - 1]) for i, line in enumerate(lines))


def test_a_paragraph_is_divided_before_the_next_is_read():
    read = []
    found = ENGLISH.sentences(read.append(line) or line for line in ["Go. Stop.", "", "Wait."])
    assert next(found).text == "Go." and read == ["Go. Stop.", ""]


@pytest.mark.parametrize("lines", blocks("sentences"))
def test_where_sentences_end(lines):
    expected = lines.split("\n")
    assert sentences(" ".join(expected)) == expected


def test_sentences_without_white_space_between_them():
    first, second = segmented("Go.Stop.")
    assert (first.text, first.space_after, second.text, second.space_after) == ("Go.", False, "Stop.", True)


def test_line_breaks():
    assert sentences("One sentence\nin two lines. Another\n\none") == ["One sentence\nin two lines.", "Another", "one"]
    assert sentences("Take\na. 3 eggs\nb. 5 figs\nC. salt") == ["Take", "a. 3 eggs", "b. 5 figs", "C. salt"]
    assert sentences("Bring\n- bread\n* salt\n1. tea\nb) milk") == ["Bring", "- bread", "* salt", "1. tea", "b) milk"]
    assert sentences("One.\r\n\r\nTwo") == ["One.", "Two"]


@pytest.mark.parametrize(
    "unit", ["a)", "a. ", '" ', ":) ", '."', "?", "\n", "\n ", ")", "Hi. ", "( ", "\0", "👩\u200d"]
)
def test_the_time_is_linear(unit):
    text = "x." + unit * (40_000 // len(unit))
    found = list(segmented(text))
    assert "".join(shown(sentence.text) for sentence in found) == shown(text)


@pytest.mark.parametrize("case", blocks("abbreviations"), ids=lambda case: case.split()[0])
def test_sentences_are_not_divided_after_abbreviations(case):
    """Each of the abbreviations may stand at {} in the sentences below them."""
    abbreviations, *templates = case.split("\n")
    texts = [template.format(abbreviation) for abbreviation in abbreviations.split() for template in templates]
    divided = [text for text in texts if len([*segmented(f"It rained. {text} We slept.")]) != 3]
    assert len(divided) <= 0.02 * len(texts), divided


@pytest.mark.parametrize(
    "texts",
    [
        "Come in. Bob waits.|He said no. Bob left.|It is the best art. Bob paints.|Look at the sun. Bob did.",
        "They are ill. Bob is well.|She has 5 ft. We have 6.|They ran 3 mi. Bob ran 4.",
        "He is from Salem, Ore. It is far.|I use Yahoo! It works.|I love Oxford! Bob does not.",
        "Who is Bob? Nobody knows.|We left at 9 a.m. The sun shone.",
        "I have an app. Bob has none.|He went to the U.S. It was far.|It was hot. i slept.|Ask me. Bob knows.",
    ],
)
def test_sentences_end_with_words_that_may_be_abbreviations(texts):
    for text in texts.split("|"):
        assert len([*segmented(text)]) == 2, text

"""What `Parser.parse` takes, without a model."""

import dataclasses
import math
from types import MappingProxyType

import numpy as np
import pytest

from transition_parser.base.errors import InputError, ParserWarning
from transition_parser.graphs.bank import AmrEntry
from transition_parser.graphs.conllu import Sentence
from transition_parser.parsing.texts import Reading, checked_forms, sentences_from, sentences_of_texts, whole_sentences

# as the class of pandas.NA, whose truth value is an error
NAType = type("NAType", (), {"__bool__": None, "__repr__": lambda self: "<NA>"})
KINDS = pytest.mark.parametrize("kind", [Sentence, AmrEntry])
DOGS, CATS = ["Dogs", "bark", "."], ["Cats", "sleep", "."]


@KINDS
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("Dogs bark.", [DOGS]),
        (["Dogs bark.", "Cats sleep."], [DOGS, CATS]),
        (["Dogs bark.", "Stop"], [DOGS, ["Stop"]]),
        (["Stop\n"], [["Stop"]]),
        (["Stop", "Go", "Why?"], [["Stop"], ["Go"], ["Why", "?"]]),
        ([DOGS, CATS], [DOGS, CATS]),
        ([tuple(DOGS), CATS], [DOGS, CATS]),
        ([], []),
        ("", []),
        ([""], []),
        (["", "Dogs bark.", " ", "Stop"], [DOGS, ["Stop"]]),
        ([None, "Dogs bark.", None, "Stop"], [DOGS, ["Stop"]]),
        ([math.nan, "Dogs bark.", NAType(), np.float64("nan"), "Stop"], [DOGS, ["Stop"]]),
    ],
    ids=repr,
)
def test_what_is_accepted(kind, given, expected):
    found = sentences_from(given, Reading(kind))
    assert [sentence.forms for sentence in found] == expected
    assert all(type(sentence) is kind for sentence in found)


@KINDS
def test_sentences_are_taken_as_they_are(kind):
    one = kind.from_words(DOGS)
    found = sentences_from([one, CATS], Reading(kind))
    assert found[0] is one and found[1].forms == CATS


def test_a_word_of_a_tree_may_hold_white_space():
    assert sentences_from([["1 000", "men"]], Reading(Sentence))[0].forms == ["1 000", "men"]
    for blank in " \t\n\r":
        with pytest.raises(InputError, match=r"sentence 1: word 1 is '1.*000': .* (blanks|tabs)"):
            sentences_from([[f"1{blank}000", "men"]], Reading(AmrEntry))


@KINDS
@pytest.mark.parametrize(
    ("given", "said"),
    [
        (5, "5 can't be parsed: give a text, a list of texts, a list of lists of words"),
        (None, "None can't be parsed"),
        (b"Dogs bark.", r"b'Dogs bark\.' can't be parsed"),
        (MappingProxyType({"Dogs": 1}), "can't be parsed"),
        (Sentence.from_words(DOGS), "can't be parsed"),
        (AmrEntry.from_words(DOGS), "can't be parsed"),
        (["Dogs bark.", 7], "item 2 is 7, not a string: a list of texts holds only strings"),
        (["Dogs bark.", DOGS], "item 2 is .*, not a string"),
        ([DOGS, []], "sentence 2: it has no words"),
        ([DOGS, ["a", ""]], "sentence 2: word 2 is ''"),
        ([DOGS, ["a", 5]], "sentence 2: word 2 is 5, not a string"),
        ([DOGS, [CATS]], "sentence 2: word 1 is .*, not a string"),
        ([["a\tb"]], r"sentence 1: word 1 is 'a\\tb'"),
        ([DOGS, "Cats sleep."], r"item 2 of the list is 'Cats sleep\.': give a text"),
        ([DOGS, 5], "item 2 of the list is 5: give"),
    ],
    ids=repr,
)
def test_what_is_not(kind, given, said):
    with pytest.raises(InputError, match=said):
        sentences_from(given, Reading(kind))


@KINDS
def test_the_sentences_of_each_text(kind):
    found = list(sentences_of_texts(iter(["Go. Stop.", "", " \n", "Wait."]), Reading(kind)))
    assert [[sentence.forms for sentence in some] for some in found] == [
        [["Go", "."], ["Stop", "."]],
        [],
        [],
        [["Wait", "."]],
    ]
    assert [[sentence.id for sentence in some] for some in found] == [["1", "2"], [], [], ["1"]]


@KINDS
@pytest.mark.parametrize("missing", [None, math.nan, np.float64("nan"), NAType(), ""])
def test_a_missing_text_is_an_empty_text_everywhere(kind, missing):
    texts = [missing, "Go.", missing]
    assert [len(some) for some in sentences_of_texts(texts, Reading(kind))] == [0, 1, 0]
    assert [one and one.forms for one in whole_sentences(texts, Reading(kind))] == [None, ["Go", "."], None]


@pytest.mark.parametrize(
    ("kind", "other", "said"), [(Sentence, AmrEntry, "into trees"), (AmrEntry, Sentence, "into AMRs")]
)
def test_sentences_of_the_other_kind(kind, other, said):
    with pytest.raises(InputError, match=f"{said}: give {kind.__name__}, not {other.__name__}"):
        sentences_from([DOGS, other.from_words(CATS)], Reading(kind))


@pytest.mark.parametrize("kind", [Sentence, AmrEntry])
def test_a_sentence_that_is_too_long_is_refused(kind):
    sentence = dataclasses.replace(kind.from_words(["a"] * 5), path="x.conllu", line=7)
    assert checked_forms(sentence, Reading(kind, longest=5), 3) == ["a"] * 5
    with pytest.raises(
        InputError,
        match=r"x.conllu:7: sentence 3 has 5 words, but only 4 are allowed: divide it, or allow it with --longest",
    ):
        checked_forms(sentence, Reading(kind, longest=4), 3)
    with pytest.raises(
        InputError, match=r"sentence 1 has 2 words \(counted as 11, because of long words\), but only 10 are"
    ):
        checked_forms(kind.from_words(["a", "b" * 1000]), Reading(kind, longest=10), 1)
    of_text = dataclasses.replace(sentence, spans=((0, 1),) * 5)
    assert checked_forms(of_text, Reading(kind, longest=4), 3) == ["a"] * 5  # its rules of tokens may find some more


@KINDS
def test_a_sentence_that_may_not_be_divided_is_refused_where_it_is_too_long(kind):
    found = whole_sentences(["", "Go on now"], Reading(kind, longest=3))
    assert [sentence and sentence.forms for sentence in found] == [None, ["Go", "on", "now"]]
    with pytest.raises(InputError, match=r"^text 2 has 4 words, but only 3 are allowed: divide it"):
        whole_sentences(["", "I can't go"], Reading(kind, longest=3))  # a token of two words
    with pytest.raises(InputError, match=r"^text 1 has 1 words \(counted as 2, because of long words\)"):
        whole_sentences(["a" * 101], Reading(kind, longest=1))


@KINDS
def test_characters_that_no_file_holds_are_replaced_with_one_warning(kind):
    texts = ["Go on.", "bad \0 here", None, "worse \udc80\ud83d"]
    expected = [["Go", "on", "."], ["bad", "\ufffd", "here"], ["worse", "\ufffd\ufffd"]]
    for take, name in (
        (lambda: sentences_from(texts, Reading(kind)), "text 2"),
        (lambda: [one for some in sentences_of_texts(texts, Reading(kind)) for one in some], "text 2"),
        (lambda: [one for one in whole_sentences(texts, Reading(kind)) if one is not None], "text 2"),
    ):
        with pytest.warns(ParserWarning, match=f"^{name}: character 5 is a zero byte or half .* U\\+FFFD") as warned:
            found = [sentence.forms for sentence in take()]
        assert len(warned) == 1 and "".join(map("".join, found)) == "".join(map("".join, expected))


@KINDS
def test_long_sentences_are_named_once_a_call_at_the_line_of_the_caller(kind):
    texts = ["Go. 1 2 3 4", "1 2 3 4 5"]
    for take in (sentences_from, lambda *given: list(sentences_of_texts(*given))):
        with pytest.warns(ParserWarning, match=r"^text 1: sentence 2 is longer than 3 words") as warned:
            take(texts, Reading(kind, longest=3))
        assert [one.filename for one in warned] == [__file__]

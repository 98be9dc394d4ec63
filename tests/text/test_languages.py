"""The language of a text, and text with paragraphs of several languages."""

import pytest

from transition_parser.text.languages import LANGUAGES, SegmenterOfLanguages, identify, surely_not_english
from transition_parser.text.segmentation import ENGLISH, LONGEST, Segmenter

# written for this test; Hungarian is not among the languages
TEXTS = {
    "de": "Der alte Mann geht jeden Morgen mit seinem Hund durch den kleinen Wald.",
    "fr": "Le vieil homme se promène chaque matin avec son chien dans la petite forêt.",
    "ja": "おじいさんは毎朝、犬を連れて小さな森を歩きます。",
    "ar": "يمشي الرجل العجوز كل صباح مع كلبه في الغابة الصغيرة.",
    "nb": "Den gamle mannen går hver morgen med hunden sin gjennom den lille skogen.",
    "en": "The old man walks through the small forest with his dog every morning.",
}
HUNGARIAN = "Az öregember minden reggel a kutyájával sétál a kis erdőben, és közben énekel."


@pytest.mark.parametrize("language", TEXTS)
def test_languages_are_told_by_a_sentence(language):
    assert identify(TEXTS[language]) == language
    assert identify(TEXTS[language] * 1000) == language


def test_serbian_in_latin_letters_is_not_croatian():
    assert identify("Stari čovek svakog jutra posle doručka šeta sa svojim psom kroz malu šumu.") == "sr"
    assert identify("Stari čovjek svakog jutra poslije doručka šeće sa svojim psom kroz malu šumu.") == "hr"


def test_other_languages_and_text_without_letters_are_unknown():
    assert identify(HUNGARIAN) is None
    assert identify("12 + 30 = 42") is None and identify("") is None
    assert identify(TEXTS["de"], {"de", "fr"}) == "de"


def test_only_text_that_is_surely_not_english_is_called_so():
    assert surely_not_english(TEXTS["de"]) == "de" and surely_not_english(TEXTS["ar"]) == "ar"
    assert surely_not_english(HUNGARIAN) is None  # it is not English, but no model reads it
    for text in (TEXTS["en"], "Dogs bark.", "Ja.", "Novartis acquired Chiron last year in Basel.", "", "1 2 3 4 5 6"):
        assert surely_not_english(text) is None


def test_a_short_text_has_the_language_before_it_unless_another_is_far_likelier():
    short = {"ar": "القطة تنام.", "he": "החתול ישן.", "hi": "बिल्ली सो रही है।", "el": "Ναι, ευχαριστώ."}
    for language, text in short.items():
        assert identify(text, before="ko") == language
    assert [identify(text, before="fr") for text in ("Oui.", "Berlin", "12", "OK!")] == ["fr"] * 4
    assert identify(TEXTS["de"], before="fr") == "de"


def segmenter() -> SegmenterOfLanguages:
    of_languages = dict.fromkeys((None, *LANGUAGES), ENGLISH)
    return SegmenterOfLanguages(of_languages, lambda text, before: identify(text, before=before))


@pytest.mark.parametrize("first", ["", "\n", "\n \n"])
def test_each_paragraph_has_its_language_and_its_place(first):
    text = first + f"{TEXTS['de']} {TEXTS['de']}\n\n{TEXTS['fr']}\nOui.\n\n\nBerlin\n\n{HUNGARIAN}\n"
    found = list(segmenter().sentences(text.split("\n")))
    assert [one.language for one in found] == ["de", "de", "fr", "fr", "fr", None]  # a short paragraph follows on
    assert [one.opens_paragraph for one in found] == [True, False, True, False, True, True]
    for one in found:
        assert text[one.start :].startswith(one.text)
        assert [text[token.start : token.end] for token in one.tokens] == [token.form for token in one.tokens]


def test_a_short_sentence_of_syllables_or_words_is_enough():
    text = f"{TEXTS['de']}\n\n私は昨日新しい本を買いました。\n\n{TEXTS['fr']}\n\n나는 어제 서점에서 새 책을 샀다."
    assert [one.language for one in segmenter().sentences(text.split("\n"))] == ["de", "ja", "fr", "ko"]


def test_a_long_paragraph_is_read_as_it_comes():
    taken = 0

    def lines():
        nonlocal taken
        while True:
            taken += 1
            yield TEXTS["fr"]

    assert next(segmenter().sentences(lines())).language == "fr"
    assert taken < 2 * Segmenter.stretch / len(TEXTS["fr"])
    assert next(segmenter().sentences([TEXTS["fr"]], LONGEST)).language == "fr"

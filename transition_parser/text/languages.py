"""Languages: their codes, the language of a text, and the division of text with paragraphs of several languages."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING

from transition_parser.text import word_list
from transition_parser.text.characters import shows
from transition_parser.text.segmentation import LONGEST, FindLanguage, Segmenter, TextSentence
from transition_parser.text.tokens import Token

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

# ISO 639-1 code → English name, of the languages that the model `xx` has learned
LANGUAGES: Mapping[str, str] = {
    "af": "Afrikaans", "ar": "Arabic", "be": "Belarusian", "cs": "Czech", "cy": "Welsh", "da": "Danish",
    "de": "German", "el": "Greek", "en": "English", "es": "Spanish", "fa": "Persian", "fi": "Finnish",
    "fr": "French", "ga": "Irish", "gl": "Galician", "he": "Hebrew", "hi": "Hindi", "hr": "Croatian",
    "hy": "Armenian", "id": "Indonesian", "is": "Icelandic", "it": "Italian", "ja": "Japanese", "ka": "Georgian",
    "kk": "Kazakh", "ko": "Korean", "lt": "Lithuanian", "lv": "Latvian", "nb": "Norwegian", "nl": "Dutch",
    "pl": "Polish", "pt": "Portuguese", "ro": "Romanian", "ru": "Russian", "sk": "Slovak", "sl": "Slovenian",
    "sr": "Serbian", "sv": "Swedish", "te": "Telugu", "th": "Thai", "tr": "Turkish", "ug": "Uyghur",
    "uk": "Ukrainian", "vi": "Vietnamese", "zh": "Chinese",
}  # fmt: skip
_CODES = {name.lower(): code for code, name in LANGUAGES.items()}
# the identifier's code of a variety → the code of the language whose treebank is nearest
_NEAREST = {"no": "nb", "nn": "nb", "bs": "hr"}
_LOOKED_AT = 1000  # characters of a text by which its language is found
# a paragraph of fewer letters has the language of the one before it, unless another is likelier by so many nats:
# of 1,500 short sentences of the 45 languages 98 % keep their own, and 6 % would keep another
_SHORT, _LIKELIER = 20, 6.0
# the language is unknown where the identifier prefers another one by so many nats. On development data none of 3,300
# sentences of the 45 languages is, and all of Hungarian, which is not among them.
_FOREIGN = 20.0


def language_of(name: str) -> str | None:
    """Return the code of a language by its code or English name, in any case; None for any other name.

    >>> language_of("de"), language_of("German"), language_of("Klingon")
    ('de', 'de', None)
    """
    name = name.lower()
    return name if name in LANGUAGES else _CODES.get(name)


def identify(text: str, among: Collection[str] = LANGUAGES, before: str | None = None) -> str | None:
    """Return the most likely of some languages of a text; None where it is surely of another one, or has no letters.

    before: the language of the text before it, one of them, which a short text has unless another is far likelier
    """
    ranked = _ranked(text)
    found = _likeliest(ranked, among)
    if before is None or _letters(text) >= _SHORT:
        return found
    scores = dict(reversed(ranked))
    return found if ranked and scores[found or ranked[0][0]] - scores[before] > _LIKELIER else before


def _ranked(text: str) -> list[tuple[str, float]]:
    """Return languages with their scores, best first; none where the text has no letters."""
    text = text[:_LOOKED_AT]
    if not any(map(str.isalpha, text)):
        return []
    ranked = [(_NEAREST.get(code, code), score) for code, score in _identifier().rank(text)]
    return [("sr", ranked[0][1]), *ranked] if ranked[0][0] == "hr" and _is_serbian(text) else ranked


# Serbian in Latin letters is Croatian to the identifier
_IJEKAVIAN = r"[bcdmprstvz]je[cdhklmnrstvzčšž]|[cdlmnrstv]ije[cčdklmnrsštž]"  # Croatian, anywhere in a word


def _either(name: str) -> str:
    """Return a pattern of the words that one of the two languages has, and of beginnings of such words."""
    beginnings, whole = ("|".join(word_list(f"{name}: {what}")) for what in ("beginnings", "words"))
    return rf"\b(?:{beginnings})|\b(?:{whole})\b"


# patterns of Serbian and of Croatian: words that one of them has, and then words that it has more often
_SERBIAN_OR_CROATIAN = (
    (re.compile(_either("serbian")), re.compile(f"{_either('croatian')}|{_IJEKAVIAN}")),
    (re.compile(r"\b(?:da|sa)\b"), re.compile(r"\b(?:s|te|kako|nakon|uz|no|kad|će)\b")),
)


def _is_serbian(text: str) -> bool:
    """Return True if a text in Latin letters, which the identifier finds Croatian, is rather Serbian."""
    text = text.lower()
    counts = ([len(words.findall(text)) for words in pair] for pair in _SERBIAN_OR_CROATIAN)
    return next((serbian > croatian for serbian, croatian in counts if serbian != croatian), False)


def _likeliest(ranked: Sequence[tuple[str, float]], among: Collection[str]) -> str | None:
    found, score = next((one for one in ranked if one[0] in among), (None, 0.0))
    return None if found is None or ranked[0][1] - score > _FOREIGN else found


_ENGLISH = frozenset(word_list("english"))  # by which texts are known without loading the identifier
_FEW = 5  # words of a text that are too few to say that it is not English


def surely_not_english(text: str) -> str | None:
    """Return the language of a text that is surely not English, and is one of `LANGUAGES`; else None."""
    forms = text[:_LOOKED_AT].lower().split()
    if len(forms) < _FEW or not _ENGLISH.isdisjoint(forms):
        return None
    ranked = _ranked(text)
    return None if _likeliest(ranked, ("en",)) else _likeliest(ranked, LANGUAGES)


@cache
def _identifier() -> LanguageIdentifier:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # imported late, because most texts need no identifier

    return LanguageIdentifier.from_model_file(MODEL_FILE)


class SegmenterOfLanguages(Segmenter):
    """A segmenter that finds the language of each paragraph, and divides it as texts of this language are divided.

    of_languages: code → segmenter; None → the segmenter for other languages
    find: returns the language of a text, given that of the text before it, as `identify` does
    """

    def __init__(self, of_languages: Mapping[str | None, Segmenter], find: FindLanguage) -> None:
        self.of_languages, self.find = of_languages, find

    def tokens(self, text: str) -> Iterator[Token]:
        return self.of_languages[self.find(text, None)].tokens(text)

    def sentences(self, lines: Iterable[str], longest: int = LONGEST) -> Iterator[TextSentence]:
        rest, here, language = iter(lines), 0, None

        def paragraph(head: list[str]) -> Iterator[str]:
            nonlocal here
            for line in chain(head, rest):
                here += len(line) + 1
                if not shows(line):
                    return
                yield line

        while head := _head(rest):
            start, text = here, " ".join(head)
            language = self.find(text, language)
            for one in self.of_languages[language].sentences(paragraph(head), longest):
                placed = tuple(Token(start + token.start, token.words, token.written) for token in one.tokens)
                yield one._replace(tokens=placed, language=language)


def _letters(text: str) -> int:
    """Return the number of letters; one of Han, Kana, Hangul or a similar script counts as two."""
    return sum(1 + (character >= "\u1000") for character in text if character.isalpha())


def _head(lines: Iterator[str]) -> list[str]:
    """Return the next lines by which the language of a paragraph is found. A blank line that ends it comes last."""
    head: list[str] = []
    for line in lines:
        head.append(line)
        if not shows(line) or sum(map(len, head)) > _LOOKED_AT:
            break
    return head

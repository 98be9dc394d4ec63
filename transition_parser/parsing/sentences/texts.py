"""Sentences to parse from texts and other Python objects. `spans` holds the places of the words in the text."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import chain, count
from typing import Any, TypeGuard, TypeVar

from transition_parser.base.errors import InputError, errors_at, input_error, warn
from transition_parser.graphs.bank import AmrEntry
from transition_parser.graphs.conllu import Row, Sentence
from transition_parser.text.columns import ABSENT, UNKNOWN, Columns
from transition_parser.text.segmentation import (
    ENGLISH,
    LONGEST,
    Segmenter,
    TextSentence,
    is_longer,
    length,
    one_sentence,
)
from transition_parser.text.spacy_tokens import tokens_of_spacy
from transition_parser.text.tokens import Token

T = TypeVar("T", Sentence, AmrEntry)


def sentences_of_text(
    sentences: Iterable[TextSentence], kind: type[T], first: int = 1, path: str | None = None
) -> Iterator[T]:
    """Yield each sentence as a `kind`, for AMRs with spaCy's tokens; `first`: the number of the first one."""
    for number, sentence in enumerate(sentences, first):
        tokens: Sequence[Token] = sentence.tokens
        if kind is AmrEntry:
            tokens = [Token(sentence.start + token.start, token.words) for token in tokens_of_spacy(sentence.text)]
        yield as_kind(sentence, tokens, kind, number, path)


def as_kind(
    one: TextSentence,
    tokens: Sequence[Token],
    kind: Any,
    number: int,
    path: str | None,
    line: int | None = None,
    place: int = 0,
) -> Any:
    """Return a sentence with the given tokens as a `kind`.

    line: the line that holds the sentence, None where sentences and lines differ
    place: the position in the file of the text that the tokens count from
    """
    spans = tuple((start + place, end + place) for token in tokens for start, end in token.spans)
    of_line = {} if line is None else {"line": str(line)}
    if kind is Sentence:
        about = {"sent_id": number, **of_line, "text": one.line, **({LANG: one.language} if one.language else {})}
        comments = [*["# newpar"] * one.opens_paragraph, *(f"# {key} = {value}" for key, value in about.items())]
        return kind(rows_of(one), tuple(comments), path, line, spans)
    metadata = {"id": str(number), **of_line, "snt": one.line}
    with errors_at(path, line):  # of a word with a blank
        entry = kind.from_words([token.form for token in tokens], metadata)
    return replace(entry, path=path, line=line, spans=spans)


LANG = "lang"  # the key of the comment with the ISO code of a sentence's language, as `Parse.language` reads it

# characters that no UTF-8 file of text holds: zero bytes and halves of surrogate pairs
NO_TEXT = re.compile("[\0\ud800-\udfff]")

_LOOKED_AT = 20  # number of texts or lines in which markup is looked for
_CHARACTERS_LOOKED_AT = 5_000  # of each text
_MARKUP = {
    "CoNLL-U": re.compile(r"^1(?:-\d+)?(?:\t[^\t\n]+){6,}|^1(?:-\d+)?(?: +\S+){2} +(?:[A-Z]+|_)(?: +\S+){6}", re.M),
    "an AMR bank": re.compile(r"^# ::(?:id|snt|tok) .*\n(?:#.*\n)*\s*\(\S+ /", re.M),
}

MORE = "--longest N (in Python longest=N), which takes more memory and time"


class TextWarnings:
    """Warnings about the texts of one call or one file. Each kind of warning is given once, for the first text."""

    def __init__(self, of_markup: bool = True) -> None:
        self._replaced = self._divided = False
        self._unseen = _LOOKED_AT if of_markup else 0
        self._seen = ""

    def markup(self, text: str, name: str) -> None:
        """Look at the next text or line, and warn if the first ones look like CoNLL-U or an AMR bank."""
        if not self._unseen:
            return
        self._unseen -= 1
        self._seen += text[:_CHARACTERS_LOOKED_AT].rstrip("\n") + "\n"
        looks_like = next((what for what, form in _MARKUP.items() if form.search(self._seen)), None)
        if looks_like is not None:
            self._unseen = 0
            warn(
                f"{name}: looks like {looks_like}, but is read as text: give the name of such a file to Parser.read "
                "(CoNLL-U has tabs between its columns), or raw=True (--raw) to read it as text without this warning"
            )

    def replaced(self, text: str, name: str) -> str:
        """Return the text with U+FFFD for each character that no file of text holds, and warn of the first text."""
        bad = NO_TEXT.search(text)
        if bad and not self._replaced:
            self._replaced = True
            warn(
                f"{name}: character {bad.start() + 1} is a zero byte or half of a surrogate pair, read as U+FFFD; "
                "other such characters are read as U+FFFD, too, without a warning"
            )
        return NO_TEXT.sub("\ufffd", text) if bad else text

    def divided(self, sentences: Iterable[TextSentence], name: str, longest: int) -> Iterator[TextSentence]:
        """Yield the same sentences, and warn of the first one that was divided because it is longer than `longest`."""
        for number, sentence in enumerate(sentences, 1):
            if sentence.goes_on and not self._divided:
                self._divided = True
                warn(
                    f"{name}: sentence {number} is longer than {longest} words and is divided there; later sentences "
                    f"that are too long are divided, too; allow longer sentences with {MORE}"
                )
            yield sentence


def rows_of(sentence: TextSentence) -> tuple[Row, ...]:
    """Return the rows of a sentence."""
    rows: list[Row] = []
    number = 0
    for token, space in zip(sentence.tokens, sentence.spaces, strict=True):
        misc = "_" if space else "SpaceAfter=No"
        last = number + len(token.words)
        if len(token.words) > 1:
            rows.append(Row(f"{number + 1}-{last}", token.form, misc=misc))
            misc = "_"
        rows += (Row(str(number + k), word, misc=misc) for k, word in enumerate(token.words, 1))
        number = last
    return tuple(rows)


def without_mark(line: str) -> str:
    """Return the first line of a text with a tab in place of a byte-order mark, so that no character moves."""
    return line.replace("\ufeff", "\t", 1) if line.startswith("\ufeff") else line


def is_missing(text: object) -> bool:
    """Return True for None, and for NaN and `pandas.NA`, which stand for it in columns of pandas."""
    return text is None or (isinstance(text, float) and text != text) or type(text).__name__ == "NAType"


def on_one_line(text: str) -> str:
    """Return the text with one space for each stretch of white space."""
    return " ".join(text.split())


# --- Python objects ------------------------------------------------------------


def warn_of_traps(given: object) -> None:
    """Warn if a text is the name of a file, or if a list of texts looks like the words of one sentence."""
    if isinstance(given, str) and os.path.isfile(given):
        warn(f"the text {_quoted(given)} is the name of a file, but is parsed as text: give a pathlib.Path of the file")
    elif isinstance(given, list | tuple) and len(given) > 1:
        are_words = all(isinstance(one, str) and one.split() == [one] for one in given)
        if are_words and not all(one[-1] in ".!?" for one in given):
            what = f"the strings of a list are {len(given)} texts, but each of these is one word"
            warn(f"{what}: give the words of one sentence as parser(words) or parser.parse([words])")


def sentences_from(given: Any, kind: type[T], longest: int = LONGEST, segmenter: Segmenter = ENGLISH) -> list[T]:
    """Return the sentences that an object stands for, each a `kind`."""
    warned = TextWarnings()
    if isinstance(given, str):
        name = "the text"
        return list(sentences_of_text(_divided(warned.replaced(given, name), name, longest, segmenter, warned), kind))
    if not _is_list(given):
        raise InputError(f"{_quoted(given)} can't be parsed: {_accepted(kind)}")
    items = list(given)
    if items and isinstance(next((item for item in items if not is_missing(item)), ""), str):
        return list(sentences_of_text(chain.from_iterable(_divided_texts(items, longest, segmenter)), kind))
    found = []
    for number, item in enumerate(items, 1):
        if isinstance(item, kind):
            found.append(item)
            continue
        if isinstance(item, Sentence | AmrEntry):
            graphs = "AMRs" if kind is AmrEntry else "trees"
            raise InputError(f"the model parses into {graphs}: give {kind.__name__}, not {type(item).__name__}")
        if isinstance(item, str) or not _is_list(item):
            raise InputError(f"item {number} of the list is {_quoted(item)}: {_accepted(kind)}")
        found.append(_one(list(item), kind, f"sentence {number}", warned))
    return found


def sentences_of_texts(
    texts: Any, kind: type[T], longest: int = LONGEST, segmenter: Segmenter = ENGLISH
) -> Iterator[list[T]]:
    """Return an iterator that yields for each text of an iterable the list of its sentences."""
    if not _is_list(texts):
        raise InputError(f"{_quoted(texts)} is not a list (or other iterable) of texts")
    return (list(sentences_of_text(divided, kind)) for divided in _divided_texts(texts, longest, segmenter))


def _divided_texts(texts: Iterable, longest: int, segmenter: Segmenter) -> Iterator[list[TextSentence]]:
    warned = TextWarnings()
    for number, text in enumerate(texts, 1):
        text, name = "" if is_missing(text) else text, f"text {number}"
        if not isinstance(text, str):
            raise InputError(f"item {number} is {_quoted(text)}, not a string: a list of texts holds only strings")
        yield _divided(warned.replaced(text, name), name, longest, segmenter, warned)


def whole_sentences(
    given: Any, kind: type[T], longest: int = LONGEST, segmenter: Segmenter = ENGLISH
) -> list[T | None]:
    """Return each text of a list as one sentence of the class `kind`, divided into tokens but never into sentences."""
    if not _is_list(given):
        raise InputError(f"{_quoted(given)} is not a list of sentences: give a list of strings")
    warned, ids = TextWarnings(), count(1)
    whole: list[T | None] = []
    for number, item in enumerate(given, 1):
        item = "" if is_missing(item) else item
        if not isinstance(item, str):
            raise InputError(f"sentence {number} is {_quoted(item)}, not a string")
        text = without_mark(warned.replaced(item, f"sentence {number}"))
        one = one_sentence(segmenter.tokens(text), text)
        whole += [None] if one is None else sentences_of_text([one], kind, next(ids))
        if whole[-1] is not None and is_longer(whole[-1].forms, longest):
            raise InputError(f"sentence {number} {too_long(whole[-1].forms, longest)}")
    return whole


def checked_forms(sentence: object, kind: type[T], number: int, longest: int = LONGEST) -> list[str]:
    """Return the words of a sentence."""
    if not isinstance(sentence, kind):
        raise InputError(f"sentence {number} is {_quoted(sentence)}, not of the class {kind.__name__}")
    entry: Sentence | AmrEntry = sentence
    forms = entry.forms
    if not forms:
        raise input_error(f"sentence {number} has no words", entry.path, entry.line)
    if not all(forms):
        raise input_error(f"sentence {number}: word {forms.index('') + 1} is empty", entry.path, entry.line)
    if is_longer(forms, longest) and not entry.spans:
        raise input_error(f"sentence {number} {too_long(forms, longest)}", entry.path, entry.line)
    return forms


def check_given(
    sentence: Sentence | AmrEntry, values: Mapping[str, Sequence[str]], columns: Columns, number: int
) -> None:
    """Raise `InputError` where a word lacks a value that the model reads, and that words of training had."""
    for column, of_words in values.items():
        lacking = {UNKNOWN, ABSENT}.difference(columns.values.get(column, ()))
        if word := next((i for i, value in enumerate(of_words, 1) if value in lacking), 0):
            named = "" if sentence.id else f"sentence {number}: "
            problem = (
                f"{named}word {word} has no {column.upper()}, which the model reads "
                "and does not predict: give CoNLL-U with this column, or a model that was trained with --tag-loss"
            )
            raise input_error(problem, sentence.path, sentence.line, sentence.id)


def too_long(words: Sequence[str], longest: int) -> str:
    """Return the message for a sentence that is longer than `longest`, with a remedy."""
    counted = length(words)
    as_many = "" if counted == len(words) else f" (counted as {counted}, because of long words)"
    return f"has {len(words)} words{as_many}, but only {longest} are allowed: divide it, or allow it with {MORE}"


def _divided(text: str, name: str, longest: int, segmenter: Segmenter, warned: TextWarnings) -> list[TextSentence]:
    warned.markup(text, name)
    return list(warned.divided(segmenter.sentences(without_mark(text).split("\n"), longest), name, longest))


def _one(words: list, kind: type[T], name: str, warned: TextWarnings) -> T:
    with errors_at(name):
        if not words:
            raise InputError("it has no words")
        for number, word in enumerate(words, 1):
            if not isinstance(word, str):
                raise InputError(f"word {number} is {_quoted(word)}, not a string")
            if not word.strip():
                raise InputError(f"word {number} is {word!r}, which is empty or white space")
        return kind.from_words([warned.replaced(word, name) for word in words])


def _is_list(given: object) -> TypeGuard[Iterable]:
    return isinstance(given, Iterable) and not isinstance(given, str | bytes | bytearray | Mapping | Set)


def _accepted(kind: type) -> str:
    return f"give a text, a list of texts, a list of lists of words, a list of {kind.__name__}, or a pathlib.Path"


def _quoted(given: object) -> str:
    """Return the beginning of the representation of a value, for messages."""
    text = repr(given)
    return text if len(text) <= 40 else f"{text[:40]}… ({type(given).__name__})"

"""Sentences to parse from the Python objects that `Parser.parse` takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain
from typing import Any, TypeGuard, TypeVar

from transition_parser.base.errors import InputError, input_error
from transition_parser.graphs.bank import AmrEntry
from transition_parser.graphs.conllu import Sentence
from transition_parser.parsing.sentences.texts import MORE, NO_TEXT, OF_TEXT, TextWarnings, is_missing, without_mark
from transition_parser.text.columns import UNKNOWN
from transition_parser.text.segmentation import (
    ENGLISH,
    LONGEST,
    Segmenter,
    TextSentence,
    is_longer,
    length,
    one_sentence,
)

T = TypeVar("T", Sentence, AmrEntry)


def sentences_from(given: Any, kind: type[T], longest: int = LONGEST, segmenter: Segmenter = ENGLISH) -> list[T]:
    """Return the sentences that an object stands for, each a `kind`.

    - a string is a text, which is divided into sentences and tokens here; an empty one has no sentences
    - a list of strings is a list of texts, whatever they hold; None and NaN stand for an empty text
    - a list of lists of strings is a list of sentences, each the list of its words
    - a list of `kind` is taken as it is; it may be mixed with lists of words

    Other iterables may stand for lists, except sets and mappings, because their order is not the order of a text.

    longest: maximum length of a sentence; longer sentences of texts are divided, with a warning
    segmenter: divides texts into sentences and tokens, by default by rules for English

    In a list of texts, U+FFFD replaces characters that no file of text holds (`NO_TEXT`), with a warning.

    Raises `InputError` for anything else, for a list of words that is empty or has a word that is empty, and for a
    single text, or a word, with characters that no file of text holds.
    """
    if isinstance(given, str):
        _check_characters(given, "the text")
        return list(OF_TEXT[kind](_divided(given, "the text", longest, segmenter, TextWarnings())))
    if not _is_list(given):
        raise InputError(f"{_shown(given)} can't be parsed: {_accepted(kind)}")
    items = list(given)
    if items and isinstance(next((item for item in items if not is_missing(item)), ""), str):
        return list(OF_TEXT[kind](chain.from_iterable(_divided_texts(items, longest, segmenter))))
    return [_sentence(item, kind, number) for number, item in enumerate(items, 1)]


def sentences_of_texts(
    texts: Any, kind: type[T], longest: int = LONGEST, segmenter: Segmenter = ENGLISH
) -> Iterator[list[T]]:
    """Return an iterator that yields for each text of an iterable the list of its sentences.

    The sentences are numbered from 1 on in each text. An empty text, None or NaN has no sentences. U+FFFD replaces
    characters that no file of text holds (`NO_TEXT`), with a warning.

    longest, segmenter: see `sentences_from`

    Raises `InputError` for an argument that is no iterable of strings, and when an item is taken that is not a string.
    """
    if not _is_list(texts):
        raise InputError(f"{_shown(texts)} is not a list (or other iterable) of texts")
    return (list(OF_TEXT[kind](divided)) for divided in _divided_texts(texts, longest, segmenter))


def _divided_texts(texts: Iterable, longest: int, segmenter: Segmenter) -> Iterator[list[TextSentence]]:
    warned = TextWarnings()
    for number, text in enumerate(texts, 1):
        text = None if is_missing(text) else text
        if text is not None and not isinstance(text, str):
            raise InputError(f"item {number} is {_shown(text)}, not a string: a list of texts holds only strings")
        name = f"text {number}"
        yield _divided(warned.replaced(text or "", name), name, longest, segmenter, warned)


def whole_sentences(
    given: Any, kind: type[T], longest: int = LONGEST, segmenter: Segmenter = ENGLISH
) -> list[T | None]:
    """Return each text of a list as one sentence of the class `kind`, divided into tokens but never into sentences.

    None and NaN stand for a text without words. U+FFFD replaces characters that no file of text holds (`NO_TEXT`), with
    a warning.

    longest: maximum length of a sentence
    segmenter: divides texts into tokens, by default by rules for English

    Raises `InputError` for anything but a list of texts, and for a sentence that is too long.
    """
    if not _is_list(given):
        raise InputError(f"{_shown(given)} is not a list of sentences: give a list of strings")
    warned = TextWarnings()
    divided: list[TextSentence | None] = []
    for number, item in enumerate(given, 1):
        item = None if is_missing(item) else item
        if item is not None and not isinstance(item, str):
            raise InputError(f"sentence {number} is {_shown(item)}, not a string")
        text = without_mark(warned.replaced(item or "", f"sentence {number}"))
        divided.append(one_sentence(segmenter.tokens(text), text))
    sentences = OF_TEXT[kind](one for one in divided if one is not None)
    whole = [None if one is None else next(sentences) for one in divided]
    for number, sentence in enumerate(whole, 1):
        if sentence is not None and is_longer(sentence.forms, longest):
            raise InputError(f"sentence {number} {too_long(sentence.forms, longest)}")
    return whole


def checked_forms(sentence: object, kind: type[T], number: int, longest: int = LONGEST) -> list[str]:
    """Return the words of a sentence.

    number: the number of the sentence, for messages
    longest: maximum length of a sentence without `spans`; long sentences of texts were divided when the text was read

    Raises `InputError` where the sentence is not a `kind`, has no words, has an empty word, or is too long.
    """
    if not isinstance(sentence, kind):
        raise InputError(f"sentence {number} is {_shown(sentence)}, not of the class {kind.__name__}")
    entry: Sentence | AmrEntry = sentence
    forms = entry.forms
    if not forms:
        raise input_error(f"sentence {number} has no words", entry.path, entry.line)
    if not all(forms):
        raise input_error(f"sentence {number}: word {forms.index('') + 1} is empty", entry.path, entry.line)
    if is_longer(forms, longest) and not entry.spans:
        raise input_error(f"sentence {number} {too_long(forms, longest)}", entry.path, entry.line)
    return forms


def check_given(sentence: Sentence | AmrEntry, values: Mapping[str, Sequence[str]], number: int) -> None:
    """Raise `InputError` where a word of a sentence lacks a value that the model reads but does not predict.

    values: column → its values for the words, `UNKNOWN` for none
    number: the number of the sentence, for messages
    """
    for column, of_words in values.items():
        if UNKNOWN in of_words:
            named = "" if sentence.id else f"sentence {number}: "
            problem = (
                f"{named}word {of_words.index(UNKNOWN) + 1} has no {column.upper()}, which the model reads "
                "and does not predict: give CoNLL-U with this column, or a model that was trained with --tag-loss"
            )
            raise input_error(problem, sentence.path, sentence.line, sentence.id)


def too_long(words: Sequence[str], longest: int) -> str:
    """Return the message for a sentence that is longer than `longest`, with a remedy."""
    counted = length(words)
    as_many = "" if counted == len(words) else f" (counted as {counted}, because of long words)"
    return f"has {len(words)} words{as_many}, but only {longest} are allowed: divide it, or allow it with {MORE}"


def _sentence(item: Any, kind: type[T], number: int) -> T:
    if isinstance(item, kind):
        return item
    if isinstance(item, Sentence | AmrEntry):
        graphs = "AMRs" if kind is AmrEntry else "trees"
        raise InputError(f"the model parses into {graphs}: give {kind.__name__}, not {type(item).__name__}")
    if isinstance(item, str) or not _is_list(item):
        raise InputError(f"item {number} of the list is {_shown(item)}: {_accepted(kind)}")
    return _one(list(item), kind, f"sentence {number}: ")


def _divided(text: str, name: str, longest: int, segmenter: Segmenter, warned: TextWarnings) -> list[TextSentence]:
    warned.markup(text, name)
    return list(warned.divided(segmenter.sentences(without_mark(text).split("\n"), longest), name, longest))


def _one(words: list, kind: type[T], where: str) -> T:
    if not words:
        raise InputError(f"{where}it has no words")
    for number, word in enumerate(words, 1):
        if not isinstance(word, str):
            raise InputError(f"{where}word {number} is {_shown(word)}, not a string")
        if not word.strip():
            raise InputError(f"{where}word {number} is {word!r}, which is empty or white space")
        _check_characters(word, f"{where}word {number}")
    try:
        return kind.from_words(words)
    except InputError as error:
        raise InputError(f"{where}{error}") from None


def _check_characters(text: str, name: str) -> None:
    """Raise `InputError` for characters that no file of text holds (`NO_TEXT`)."""
    if NO_TEXT.search(text):
        raise InputError(f"{name} holds a zero byte or half of a surrogate pair: {_shown(text)}")


def _is_list(given: object) -> TypeGuard[Iterable]:
    return isinstance(given, Iterable) and not isinstance(given, str | bytes | bytearray | Mapping | Set)


def _accepted(kind: type) -> str:
    return f"give a text, a list of texts, a list of lists of words, a list of {kind.__name__}, or a pathlib.Path"


def _shown(given: object) -> str:
    text = repr(given)
    return text if len(text) <= 40 else f"{text[:40]}… ({type(given).__name__})"

"""Sentences to parse from text. Comments hold the text, and `spans` holds the positions of the words in the text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from transition_parser.base.errors import warn
from transition_parser.graphs.bank import AmrEntry
from transition_parser.graphs.conllu import Row, Sentence
from transition_parser.text.segmentation import TextSentence
from transition_parser.text.spacy_tokens import tokens_of_spacy
from transition_parser.text.tokens import Span, Token


def trees_of_text(sentences: Iterable[TextSentence], first: int = 1) -> Iterator[Sentence]:
    """Yield each sentence with the rows of `rows_of` and its comments.

    The comments are `# newpar` where a paragraph opens, the sentence's number as `# sent_id`, and `# text`.

    first: number of the first sentence
    """
    for number, sentence in enumerate(sentences, first):
        paragraph = ["# newpar"] * sentence.opens_paragraph
        comments = (*paragraph, f"# sent_id = {number}", f"# text = {sentence.line}")
        yield Sentence(rows_of(sentence), comments, spans=_spans(sentence.tokens))


def amrs_of_text(sentences: Iterable[TextSentence], first: int = 1) -> Iterator[AmrEntry]:
    """Yield each sentence as an entry with its metadata.

    The metadata are the sentence's number as `# ::id`, `# ::snt`, and the words that spaCy's rules find as `# ::tok`.

    first: number of the first sentence
    """
    for number, sentence in enumerate(sentences, first):
        tokens = [Token(sentence.start + token.start, token.words) for token in tokens_of_spacy(sentence.text)]
        metadata = {"id": str(number), "snt": sentence.line}
        entry = AmrEntry.from_words([token.form for token in tokens], metadata)
        yield replace(entry, spans=_spans(tokens))


def sentence_of_line(
    sentence: TextSentence, kind: type, number: int, path: str, line: int, place: int
) -> Sentence | AmrEntry:
    """Return the sentence that a line of a file holds, a `kind`.

    number: the number of the sentence
    line: the number of the line
    place: the position of the line in the file
    """
    spans = tuple((start + place, end + place) for start, end in _spans(sentence.tokens))
    if kind is Sentence:
        comments = (f"# sent_id = {number}", f"# line = {line}", f"# text = {sentence.line}")
        return Sentence(rows_of(sentence), comments, path, line, spans)
    metadata = {"id": str(number), "line": str(line), "snt": sentence.line}
    entry = AmrEntry.from_words([token.form for token in sentence.tokens], metadata)
    return replace(entry, path=path, line=line, spans=spans)


# characters that no UTF-8 file of text holds: zero bytes and halves of surrogate pairs
NO_TEXT = re.compile("[\0\ud800-\udfff]")

_LOOKED_AT = 20  # number of texts or lines in which markup is looked for
_CHARACTERS_LOOKED_AT = 5_000  # of each text
_MARKUP = {
    "CoNLL-U": re.compile(r"^1(?:-\d+)?(?:\t[^\t\n]+){6,}|^1(?:-\d+)?(?: +\S+){2} +(?:[A-Z]+|_)(?: +\S+){6}", re.M),
    "an AMR bank": re.compile(r"^# ::(?:id|snt|tok) .*\n(?:#.*\n)*\s*\(\S+ /", re.M),
}

MORE = "--longest N (in Python longest=N), which takes more memory and time"

# class of sentences → the function that makes such sentences from text
OF_TEXT: dict[type, Callable[..., Iterator[Any]]] = {
    Sentence: trees_of_text,
    AmrEntry: amrs_of_text,
}


class TextWarnings:
    """Warnings about the texts of one call or one file. Each kind of warning is given once, for the first text.

    of_markup: True to warn of markup that is read as text
    """

    def __init__(self, of_markup: bool = True) -> None:
        self._replaced = self._divided = False
        self._unseen = _LOOKED_AT if of_markup else 0
        self._seen = ""

    def markup(self, text: str, name: str) -> None:
        """Look at the next text or line, and warn if the first ones look like CoNLL-U or an AMR bank.

        name: name of the text for the message
        """
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
        """Return the text with U+FFFD for each character that no file of text holds, and warn of the first text.

        name: name of the text for the message
        """
        bad = NO_TEXT.search(text)
        if bad and not self._replaced:
            self._replaced = True
            warn(
                f"{name}: character {bad.start() + 1} is a zero byte or half of a surrogate pair, read as U+FFFD; "
                "other such characters are read as U+FFFD, too, without a warning"
            )
        return NO_TEXT.sub("\ufffd", text) if bad else text

    def divided(
        self, sentences: Iterable[TextSentence], name: str, longest: int, first: int = 1
    ) -> Iterator[TextSentence]:
        """Yield the same sentences, and warn of the first one that was divided because it is longer than `longest`.

        name: name of the text for the message
        first: number of the first sentence
        """
        for number, sentence in enumerate(sentences, first):
            if sentence.goes_on and not self._divided:
                self._divided = True
                warn(
                    f"{name}: sentence {number} is longer than {longest} words and is divided there; later sentences "
                    f"that are too long are divided, too; allow longer sentences with {MORE}"
                )
            yield sentence


def rows_of(sentence: TextSentence) -> tuple[Row, ...]:
    """Return the rows of a sentence.

    A token of several words has a range row (`1-2`), and `SpaceAfter=No` marks a token without white space behind it.
    """
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
    """Return the first line of a text with a blank in place of a byte-order mark, so that no character moves."""
    return line.replace("\ufeff", " ", 1) if line.startswith("\ufeff") else line


def is_missing(text: object) -> bool:
    """Return True for None, and for NaN and `pandas.NA`, which stand for it in columns of pandas."""
    return text is None or (isinstance(text, float) and text != text) or type(text).__name__ == "NAType"


def on_one_line(text: str) -> str:
    """Return the text with one space for each stretch of white space."""
    return " ".join(text.split())


def _spans(tokens: Iterable[Token]) -> tuple[Span, ...]:
    return tuple(span for token in tokens for span in token.spans)

"""Sentences to parse: from texts, lists of words and other Python objects, and files of text, CoNLL-U or AMRs."""

from __future__ import annotations

import os
import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import chain, count, groupby, islice
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeGuard, TypeVar

from transition_parser.base.errors import InputError, errors_at, input_error, warn
from transition_parser.base.files import opened, unpacked_name
from transition_parser.base.model_files import short_repr
from transition_parser.graphs.bank import AmrEntry, parse_bank
from transition_parser.graphs.conllu import COLUMNS, Row, Sentence, check_line_ends, decoded, parse_conllu
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
from transition_parser.text.tokens import Token, tokenize, tokens_of_amrs

if TYPE_CHECKING:
    from transition_parser.parsing.given import Given

T = TypeVar("T")
Layout = Literal["raw", "tokenize", "tokens", "vertical"]

LANG = "lang"  # the key of the comment with the ISO code of a sentence's language, as `Parse.language` reads it
MORE = "--longest N (in Python longest=N), which takes more memory and time"

# characters that no UTF-8 file of text holds: zero bytes and halves of surrogate pairs
_NO_TEXT = re.compile("[\0\ud800-\udfff]")
_NO_BLANKS = re.compile(r"[^ \t]+")
_BANK_COMMENT = re.compile(rb"(?:\xef\xbb\xbf)?# ::(?:id|snt|tok)\s")
_TEXT = 'text (--raw, in Python the layout "raw", reads any file as text)'


class Reading(NamedTuple):
    """The way in which sentences are read.

    kind: the class of the sentences
    layout: the layout of text, see `Parser.read`
    longest: maximum length of a sentence in words; a longer sentence of raw text is divided, with a warning
    segmenter: divides text into sentences and tokens, by default by rules for English
    """

    kind: type[Sentence] | type[AmrEntry]
    layout: Layout | None = None
    longest: int = LONGEST
    segmenter: Segmenter = ENGLISH


class ToParse(NamedTuple):
    """A sentence to parse, its words as the network reads them (`normalize`), the facts about it, and its domain."""

    sentence: Any
    words: list[str]
    facts: Given | None = None
    domain: str | None = None


class TextReader:
    """A reader of sentences from texts. It gives each kind of warning once, for the first text."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self._replaced = self._divided = False

    def of_lines(self, lines: Iterable[str], name: str, first: int = 1) -> Iterator[Any]:
        """Yield the sentences of the lines of a text; `spans` has the places of words in the text.

        lines: each with its line end
        name: the name of the text in messages
        first: the number of the first sentence of raw text
        """
        _, layout, longest, segmenter = self.reading
        checked = self._checked(lines, name)
        found: Iterable[tuple[TextSentence, int | None, int]]
        if layout in (None, "raw"):
            whole = segmenter.sentences((line.removesuffix("\n") for line in checked), longest)
            found = ((one, None, 0) for one in whole)
        else:
            found = self._as_given(checked, name)
        for number, (one, line, place) in enumerate(found, first):
            if one.goes_on and not self._divided:
                self._divided = True
                warn(
                    f"{name}: sentence {number} is longer than {longest} words and is divided there; later sentences "
                    f"that are too long are divided, too; allow longer sentences with {MORE}"
                )
            yield self.made(one, number, name, line, place)

    def of_text(self, text: str, name: str, first: int = 1) -> Iterator[Any]:
        """Return an iterator over the sentences of a string, see `of_lines`."""
        return self.of_lines((f"{line}\n" for line in self.readable(text, name).split("\n")), name, first)

    def of_words(self, words: Sequence[Any], name: str) -> Any:
        """Return the sentence that a list of words is. Raises `InputError` for a list of anything else."""
        with errors_at(name):
            if not words:
                raise InputError("it has no words")
            for number, word in enumerate(words, 1):
                if not isinstance(word, str):
                    raise InputError(f"word {number} is {short_repr(word)}, not a string")
                if not word.strip():
                    raise InputError(f"word {number} is {word!r}, which is empty or white space")
            return self.reading.kind.from_words([self.readable(word, name) for word in words])

    def readable(self, text: str, name: str) -> str:
        """Return the text with U+FFFD for each character that no file of text holds, and warn of the first one."""
        bad = _NO_TEXT.search(text)
        if bad and not self._replaced:
            self._replaced = True
            warn(
                f"{name}: character {bad.start() + 1} is a zero byte or half of a surrogate pair, read as U+FFFD; "
                "other such characters are read as U+FFFD, too, without a warning"
            )
        return _NO_TEXT.sub("\ufffd", text) if bad else text

    def _checked(self, lines: Iterable[str], name: str) -> Iterator[str]:
        for number, line in enumerate(lines, 1):
            if self.reading.layout not in (None, "raw"):
                check_line_ends([line.rstrip("\r\n")], name, number)
            yield without_mark(line) if number == 1 else line

    def _as_given(self, lines: Iterable[str], name: str) -> Iterator[tuple[TextSentence, int, int]]:
        """Yield each sentence of a line, or of several lines with a word each, with its first line and its place."""
        place, longest = 0, self.reading.longest
        for line, text, tokens in self._by_words(lines) if self.reading.layout == "vertical" else self._by_lines(lines):
            one = one_sentence(islice(tokens, longest + 1), text)  # all tokens may fill the memory
            if one is not None and is_longer([word for token in one.tokens for word in token.words], longest):
                problem = f"the sentence has more than {longest} words: divide it, or allow it with {MORE}"
                raise input_error(problem, name, line)
            if one is not None:
                yield one, line, place
            place += len(text)

    def _by_lines(self, lines: Iterable[str]) -> Iterator[tuple[int, str, Iterable[Token]]]:
        for line, written in enumerate(lines, 1):
            text = written.rstrip("\r\n") if written.strip() else ""
            is_tokenized = self.reading.layout == "tokens" or not text
            spaced = (Token(match.start(), (match[0],)) for match in _NO_BLANKS.finditer(text))
            yield line, written, spaced if is_tokenized else self.reading.segmenter.tokens(text)

    def _by_words(self, lines: Iterable[str]) -> Iterator[tuple[int, str, Iterable[Token]]]:
        for has_words, group in groupby(enumerate(lines, 1), lambda one: _word_of(one[1]) != ""):
            text, tokens, first = "", list[Token](), 0
            for line, written in group:
                if has_words:
                    word, first = _word_of(written), first or line
                    tokens.append(Token(len(text) + written.index(word), (word,)))
                text += written
                if len(tokens) > self.reading.longest:  # `_as_given` refuses them
                    break
            yield first, text, tokens

    def made(self, one: TextSentence, number: int, name: str, line: int | None = None, place: int = 0) -> Any:
        """Return a sentence of a text as a `kind`, for AMRs with their tokens unless the text gives the tokens.

        line: the line that holds the sentence, None where sentences and lines differ
        place: the position in the text of the first character from which tokens count
        """
        tokens: Sequence[Token] = one.tokens
        if self.reading.kind is AmrEntry and self.reading.layout not in ("tokens", "vertical"):
            tokens = [Token(one.start + token.start, token.words) for token in tokens_of_amrs(one.text)]
        spans = tuple((start + place, end + place) for token in tokens for start, end in token.spans)
        of_line = {} if line is None else {"line": str(line)}
        if self.reading.kind is Sentence:
            about = {"sent_id": number, **of_line, "text": one.line, **({LANG: one.language} if one.language else {})}
            comments = [*["# newpar"] * one.opens_paragraph, *(f"# {key} = {value}" for key, value in about.items())]
            return Sentence(_rows_of(one), tuple(comments), name, line, spans)
        metadata = {"id": str(number), **of_line, "snt": one.line}
        with errors_at(name, line):  # of a word with a blank
            entry = AmrEntry.from_words([token.form for token in tokens], metadata)
        return replace(entry, path=name, line=line, spans=spans)


def _word_of(line: str) -> str:
    """Return the word of a line, which ends at a tab."""
    return line.strip().partition("\t")[0].rstrip()


def _rows_of(sentence: TextSentence) -> tuple[Row, ...]:
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


# --- Python objects ------------------------------------------------------------


def warn_of_traps(given: object) -> None:
    """Warn if a text is the name of a file, or if a list of texts looks like the words of one sentence."""
    if isinstance(given, str) and os.path.isfile(given):
        warn(f"the text {short_repr(given)} is the name of a file, but is parsed as text: give a pathlib.Path of it")
    elif isinstance(given, list | tuple) and len(given) > 1:
        are_words = all(isinstance(one, str) and one.split() == [one] for one in given)
        if are_words and not all(one[-1] in ".!?" for one in given):
            what = f"the strings of a list are {len(given)} texts, but each of these is one word"
            warn(f"{what}: give the words of one sentence as parser(words) or parser.parse([words])")


def sentences_from(given: Any, reading: Reading) -> list[Any]:
    """Return the sentences that an object stands for, see `Parser.parse`."""
    reader, kind = TextReader(reading), reading.kind
    if isinstance(given, str):
        return list(reader.of_text(given, "the text"))
    if not _is_list(given):
        raise InputError(f"{short_repr(given)} can't be parsed: {_accepted(kind)}")
    items, found = list(given), list[Any]()
    if items and isinstance(next((item for item in items if not is_missing(item)), ""), str):
        for text, name in _named(items):
            found += reader.of_text(text, name, len(found) + 1)
        return found
    for number, item in enumerate(items, 1):
        if isinstance(item, kind):
            found.append(item)
        elif isinstance(item, Sentence | AmrEntry):
            graphs = "AMRs" if kind is AmrEntry else "trees"
            raise InputError(f"the model parses into {graphs}: give {kind.__name__}, not {type(item).__name__}")
        elif isinstance(item, str) or not _is_list(item):
            raise InputError(f"item {number} of the list is {short_repr(item)}: {_accepted(kind)}")
        else:
            found.append(reader.of_words(list(item), f"sentence {number}"))
    return found


def sentences_of_texts(texts: Any, reading: Reading) -> Iterator[list[Any]]:
    """Return an iterator that yields for each text of an iterable the list of its sentences."""
    reader = TextReader(reading)
    return (list(reader.of_text(text, name)) for text, name in _named(_listed(texts)))


def whole_sentences(texts: Any, reading: Reading) -> list[Any | None]:
    """Return each text of a list as one sentence, divided into tokens but never into sentences; None without words."""
    reader, found, number = TextReader(reading), list[Any](), 0
    for text, name in _named(_listed(texts)):
        text = without_mark(reader.readable(text, name))
        one = one_sentence(reading.segmenter.tokens(text), text)
        number += one is not None
        found.append(one and reader.made(one, number, name))
        if one and is_longer(found[-1].forms, reading.longest):
            raise InputError(f"{name} {_too_long(found[-1].forms, reading.longest)}")
    return found


def _listed(texts: Any) -> Iterable:
    if not _is_list(texts):
        raise InputError(f"{short_repr(texts)} is not a list (or other iterable) of texts")
    return texts


def _named(texts: Iterable) -> Iterator[tuple[str, str]]:
    """Yield each text with its name for messages; a missing text is an empty one."""
    for number, text in enumerate(texts, 1):
        text = "" if is_missing(text) else text
        if not isinstance(text, str):
            raise InputError(f"item {number} is {short_repr(text)}, not a string: a list of texts holds only strings")
        yield text, f"text {number}"


def checked_forms(sentence: object, reading: Reading, number: int) -> list[str]:
    """Return the words of a sentence to parse. Raises `InputError` for a sentence that can't be parsed."""
    if not isinstance(sentence, reading.kind):
        raise InputError(f"sentence {number} is {short_repr(sentence)}, not of the class {reading.kind.__name__}")
    entry: Sentence | AmrEntry = sentence
    forms, problem = entry.forms, ""
    if not forms:
        problem = " has no words"
    elif not all(forms):
        problem = f": word {forms.index('') + 1} is empty"
    elif is_longer(forms, reading.longest) and not entry.spans:  # texts were divided when they were read
        problem = f" {_too_long(forms, reading.longest)}"
    if problem:
        raise input_error(f"sentence {number}{problem}", entry.path, entry.line)
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


def _too_long(words: Sequence[str], longest: int) -> str:
    counted = length(words)
    as_many = "" if counted == len(words) else f" (counted as {counted}, because of long words)"
    return f"has {len(words)} words{as_many}, but only {longest} are allowed: divide it, or allow it with {MORE}"


def _is_list(given: object) -> TypeGuard[Iterable]:
    return isinstance(given, Iterable) and not isinstance(given, str | bytes | bytearray | Mapping | Set)


def _accepted(kind: type) -> str:
    return f"give a text, a list of texts, a list of lists of words, a list of {kind.__name__}, or a pathlib.Path"


# --- files ---------------------------------------------------------------------


def read_sentences(path: str | os.PathLike, reading: Reading) -> Iterator[Any]:
    """Yield the sentences of a file, `-` for standard input, as they are read.

    Without a layout, a file is CoNLL-U where its first line that is no comment has ten columns, or where its name ends
    in `.conllu`. It is an AMR bank where it opens with comments that have an id, a sentence or tokens and a graph or a
    blank line after them, or where its name ends in `.amr`; the graphs of a bank are not read. Any other file is text.
    Text without sentences gives a `ParserWarning`; CoNLL-U and banks without sentences are an `InputError`.
    """
    with opened(path) as (file, name):
        head, is_text = ([], True) if reading.layout else _head_of(file, name, reading.kind)
        lines, empty = chain(head, file), True
        of_text = (decoded(raw, name, number) for number, raw in enumerate(lines, 1))
        for sentence in TextReader(reading).of_lines(of_text, name) if is_text else _of_blocks(lines, name, reading):
            empty = False
            yield sentence
        if empty:
            error = input_error("the file holds no sentences", name)
            if not is_text:
                raise error
            warn(str(error))  # an error would keep other files from being parsed


def _of_blocks(lines: Iterable[bytes], name: str, reading: Reading) -> Iterator[Any]:
    """Yield the sentences of CoNLL-U or an AMR bank. Entries of a bank get tokens."""
    if reading.kind is Sentence:
        yield from parse_conllu(lines, name)
        return
    for entry in parse_bank(lines, name, graphs=False):
        words = entry.tokens or tokenize(entry.text)
        yield replace(entry, metadata={**entry.metadata, "tok": " ".join(words)})


def _head_of(lines: Iterator[bytes], name: str, kind: type) -> tuple[list[bytes], bool]:
    """Return the first lines of a file, which show whether it is CoNLL-U, a bank or text, and True if it is text."""
    head: list[bytes] = []
    of_bank, shown = False, b""
    for line in lines:
        head.append(line)
        shown = line.removeprefix(BOM_UTF8)
        of_bank |= _BANK_COMMENT.match(line) is not None
        # the first line that is no comment, or the end of an entry without a graph, after which a pipe may pause
        if of_bank if not line.strip() else not shown.startswith(b"#"):
            break
    suffix = os.path.splitext(unpacked_name(name))[1]
    is_rows = shown.count(b"\t") == len(COLUMNS) - 1 and not shown.startswith(b"#")
    is_conllu = suffix == ".conllu" or is_rows
    is_bank = suffix == ".amr" or (of_bank and (not shown.strip() or shown.lstrip().startswith((b"#", b"("))))
    if kind is Sentence and is_bank:
        raise input_error(f"the file is an AMR bank, but the model parses into trees: give CoNLL-U or {_TEXT}", name)
    if kind is AmrEntry and is_conllu:
        raise input_error(f"the file is CoNLL-U, but the model parses into AMRs: give an AMR bank or {_TEXT}", name)
    return head, not (is_bank or is_conllu)


_NEW_DOCUMENT = re.compile(r"#\s*newdoc\b")


def read_files(paths: Sequence[str], reading: Reading) -> Iterator[Any]:
    """Yield the sentences of files (`-` for standard input), one file after another.

    Of several files, each is a document with a name of its own, and sentences of text get unique ids.
    """
    if len(paths) == 1:
        yield from read_sentences(paths[0], reading)
        return
    taken: set[str] = set()
    for path in paths:
        stem = "stdin" if path == "-" else "_".join(PurePath(unpacked_name(path)).stem.split())
        names = chain([stem], (f"{stem}-{i}" for i in count(2)))
        name = next(one for one in names if one not in taken)
        taken.add(name)
        for i, sentence in enumerate(read_sentences(path, reading)):
            yield _of_document(sentence, name, opens=i == 0)


def _of_document(sentence: Sentence | AmrEntry, name: str, opens: bool) -> Sentence | AmrEntry:
    id_ = f"{name}-{sentence.id}"
    if isinstance(sentence, AmrEntry):
        return replace(sentence, metadata={**sentence.metadata, "id": id_}) if sentence.spans else sentence
    comments = [*sentence.comments]
    if sentence.spans:  # it comes from text
        comments[comments.index(f"# sent_id = {sentence.id}")] = f"# sent_id = {id_}"
    if opens and not any(map(_NEW_DOCUMENT.match, comments)):
        comments.insert(0, f"# newdoc id = {name}")
    return replace(sentence, comments=tuple(comments))

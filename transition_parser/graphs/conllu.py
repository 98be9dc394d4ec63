"""A reader and a writer of CoNLL-U (https://universaldependencies.org/format.html) that lose nothing."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import groupby, takewhile, zip_longest
from typing import NamedTuple

from transition_parser.base.errors import input_error, shortened
from transition_parser.base.files import open_input
from transition_parser.graphs.dependency import DependencyTree

COLUMNS = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
MAY_HOLD_SPACES = ("FORM", "LEMMA", "MISC")

_OPENS = re.compile(r"#\s*new(doc|par)\b")
_ALTERNATIVE = re.compile(r"# nbest = (?!1/)\d+/\d+")
_NUMBER = re.compile(r"0|[1-9][0-9]{0,8}")


@lru_cache(maxsize=1 << 10)  # called several times for each word of a treebank
def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None


class Row(NamedTuple):
    """One line of ten columns, each as written in the file."""

    id: str
    form: str
    lemma: str = "_"
    upos: str = "_"
    xpos: str = "_"
    feats: str = "_"
    head: str = "_"
    deprel: str = "_"
    deps: str = "_"
    misc: str = "_"

    @property
    def is_word(self) -> bool:
        """True for a syntactic word, False for a multi-word range (`3-4`) or an empty node (`8.1`)."""
        return _is_number(self.id)

    @property
    def is_range(self) -> bool:
        """True for a multi-word range (`3-4`)."""
        return "-" in self.id

    @property
    def span(self) -> tuple[int, int]:
        """The numbers of the first and the last word of a range."""
        first, last = self.id.split("-")
        return int(first), int(last)

    @property
    def space_after(self) -> bool:
        """False where MISC says that no space follows."""
        return "SpaceAfter=No" not in self.misc.split("|")


@dataclass(frozen=True)
class Sentence:
    """One sentence of a CoNLL-U file.

    path, line: the file and the line where the sentence begins, for messages
    spans: (start, end) of each word in the text that was parsed, in characters, with `end` excluded; () unless
        the words were cut from raw text
    """

    rows: tuple[Row, ...]
    comments: tuple[str, ...] = ()
    path: str | None = None
    line: int | None = None
    spans: tuple[tuple[int, int], ...] = ()

    @classmethod
    def from_words(cls, words: Iterable[str], comments: tuple[str, ...] = ()) -> Sentence:
        """Return a sentence without annotation. Raises `InputError` for words that CoNLL-U can't hold."""
        words = list(words)
        for number, form in enumerate(words, 1):
            if not form or set(form) & set("\t\n\r"):
                raise input_error(f"word {number} is {form!r}: words must not be empty or contain tabs or line breaks")
        return cls(tuple(Row(str(i), form) for i, form in enumerate(words, 1)), comments)

    @property
    def words(self) -> list[Row]:
        """The syntactic words, without ranges and empty nodes."""
        return list(self._words)

    @cached_property
    def _words(self) -> tuple[Row, ...]:
        return tuple(row for row in self.rows if row.is_word)

    @property
    def forms(self) -> list[str]:
        """The forms of the syntactic words."""
        return [row.form for row in self._words]

    @property
    def id(self) -> str | None:
        """The value of `# sent_id = ...`, None if there is none."""
        return self.comment("sent_id")

    def comment(self, key: str) -> str | None:
        """Return the value of the first comment `# key = ...`, None if there is none."""
        for comment in self.comments:
            name, _, value = comment[1:].partition("=")
            if name.strip() == key:
                return value.strip()
        return None

    def token_rows(self) -> Iterator[tuple[Row, Sequence[Row]]]:
        """Yield each token, a multi-word range or a word outside ranges, with the words that it stands for."""
        last = 0  # the last word of the latest range
        for row in self.rows:
            if row.is_range:
                first, last = row.span
                yield row, self._words[first - 1 : last]
            elif row.is_word and int(row.id) > last:
                yield row, (row,)

    @property
    def text(self) -> str:
        """The value of `# text = ...`.

        Without that comment, the text is made from the tokens. A space follows each token that has no
        `SpaceAfter=No`.
        """
        return self.comment("text") or "".join(_tokens_with_spaces(self)).strip(" ")

    @property
    def is_alternative(self) -> bool:
        """True for another parse of the previous sentence (`# nbest = 2/5`)."""
        return any(_ALTERNATIVE.fullmatch(comment) for comment in self.comments)

    @property
    def opens_paragraph(self) -> bool:
        """True for the first sentence of a paragraph or document (`# newpar`, `# newdoc`)."""
        return any(map(_OPENS.match, self.comments))

    def tree(self) -> DependencyTree:
        """Return the tree of HEAD and DEPREL. Raises `InputError` at the line that breaks the tree."""
        words = self.words
        for number, row in enumerate(words, 1):
            if not _is_number(row.head):
                raise self._error(number, f"word {number} has HEAD {shortened(row.head)!r}, not a number")
        tree = DependencyTree(tuple(int(row.head) for row in words), tuple(row.deprel for row in words))
        problem = tree.why_invalid()
        if problem:
            raise self._error(*problem)
        return tree

    def with_tree(self, tree: DependencyTree, misc_key: str = "", values: Sequence[str] = ()) -> Sentence:
        """Return the sentence with another tree. DEPS and empty nodes, which belong to the tree before it, go.

        misc_key: a key of MISC whose values go with the tree before it
        values: the new value of this key for each word; by default the words have none
        """
        arcs = zip_longest(tree.heads, tree.relations, values)
        rows: list[Row] = []
        for row in self.rows:
            if not (row.is_word or row.is_range):  # an empty node, which only DEPS connects
                continue
            parts = () if row.misc == "_" else row.misc.split("|")
            misc = [part for part in parts if not part.startswith(f"{misc_key}=")]
            if row.is_word:
                head, relation, value = next(arcs)
                row = row._replace(head=str(head), deprel=relation)
                misc += [f"{misc_key}={value}"] * (value is not None)
            rows.append(row._replace(deps="_", misc="|".join(misc) or "_"))
        return replace(self, rows=tuple(rows))

    def with_tags(
        self, upos: Sequence[str] = (), lemmas: Sequence[str] = (), xpos: Sequence[str] = (), feats: Sequence[str] = ()
    ) -> Sentence:
        """Return the sentence with the given tags and lemmas for words that have none.

        `feats` is used only if no word of the sentence has features. Otherwise `_` means that a word has no features.
        """
        if feats and any(row.feats != "_" for row in self._words):
            feats = ()
        columns: list[Sequence[str]] = [*zip(*self._words, strict=True)]
        for name, values in (("lemma", lemmas), ("upos", upos), ("xpos", xpos), ("feats", feats)):
            if values:
                place = Row._fields.index(name)
                own = columns[place]
                columns[place] = [new if old == "_" else old for old, new in zip(own, values, strict=True)]
        tagged = map(Row._make, zip(*columns, strict=True))
        return replace(self, rows=tuple(next(tagged) if row.is_word else row for row in self.rows))

    def untagged(self, kept: Collection[str] = ()) -> Sentence:
        """Return the sentence without lemmas, tags and features, so that a model has to predict them.

        kept: the columns of these that stay (`lemma`, `upos`, `xpos`, `feats`)
        """
        removed = {name: "_" for name in ("lemma", "upos", "xpos", "feats") if name not in kept}
        return replace(self, rows=tuple(row._replace(**removed) for row in self.rows))

    def __str__(self) -> str:
        lines = [*self.comments, *("\t".join(row) for row in self.rows)]
        return "\n".join(lines) + "\n\n"

    def _error(self, number: int, problem: str) -> Exception:
        index = [i for i, row in enumerate(self.rows) if row.is_word][number - 1]
        line = None if self.line is None else self.line + len(self.comments) + index
        return input_error(problem, self.path, line, self.id)


def _tokens_with_spaces(sentence: Sentence) -> Iterator[str]:
    """Yield the tokens, each with the space after it. A multi-word token stands for its words."""
    return (row.form + " " * row.space_after for row, _ in sentence.token_rows())


def raw_text(sentences: Iterable[Sentence]) -> str:
    """Return the text of consecutive sentences, with a blank line before each new document or paragraph."""
    parts: list[str] = []
    for sentence in sentences:
        if parts and sentence.opens_paragraph:
            parts.append("\n\n")
        parts.extend(_tokens_with_spaces(sentence))
    return "".join(parts)


def read_conllu(path: str | os.PathLike) -> Iterator[Sentence]:
    """Yield the sentences of a file one by one. Raises `InputError` for a malformed sentence."""
    with open_input(path) as file:
        yield from parse_conllu(file, str(path))


def parse_conllu(lines: Iterable[bytes], path: str | None = None) -> Iterator[Sentence]:
    """Yield the sentences of an iterable of UTF-8 encoded lines. Raises `InputError` for a malformed sentence."""
    for start, block in blocks(lines, path):
        check_line_ends(block, path, start)
        comments = tuple(takewhile(lambda line: line.startswith("#"), block))
        sentence = Sentence((), comments, path, start)
        rows = [line.split("\t") for line in block[len(comments) :]]
        begin = start + len(comments)
        for number, cells in enumerate(rows, begin):
            if problem := _why_malformed(cells):
                raise input_error(problem, path, number, sentence.id)
        if wrong := _why_wrong_ids([cells[0] for cells in rows]):
            raise input_error(wrong[1], path, begin + wrong[0], sentence.id)
        yield replace(sentence, rows=tuple(Row(*cells) for cells in rows))


def blocks(lines: Iterable[bytes], path: str | None) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of the first line, and the lines, of each block of lines between blank lines."""
    numbered = ((number, decode_line(raw, path, number)) for number, raw in enumerate(lines, 1))
    for has_text, run in groupby(numbered, lambda one: bool(one[1].strip())):
        if has_text:
            numbers, block = zip(*run, strict=True)
            yield numbers[0], [*block]


def decode_line(raw: bytes, path: str | None, number: int) -> str:
    """Return a line of a text file without its end and without a byte-order mark. Raises as `decoded` does."""
    return decoded(raw, path, number).rstrip("\r\n").removeprefix("\ufeff" if number == 1 else "")


def decoded(raw: bytes, path: str | None, number: int) -> str:
    """Return a line of a text file with all its characters."""
    try:
        line = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        problem = f"byte {error.start + 1} of the line is not UTF-8: is this a text file?"
        raise input_error(problem, path, number) from None
    if "\0" in line:
        raise input_error("the line holds a zero byte: is this a text file?", path, number)
    return line


def check_line_ends(block: list[str], path: str | None, start: int) -> None:
    """Raise `InputError` for a carriage return inside a line, because other programs end the line there."""
    for number, line in enumerate(block, start):
        if "\r" in line:
            problem = (
                "a carriage return (CR) inside the line: lines end in LF or CR LF, so convert the file, for example by"
            )
            raise input_error(f"{problem} `tr '\\r' '\\n'`", path, number)


def _why_malformed(cells: list[str]) -> str | None:
    if len(cells) != len(COLUMNS):
        hint = "" if len(cells) > 1 else ": is the file CoNLL-U?"
        return f"{len(cells)} columns separated by tabs, 10 expected{hint}"
    if "\t".join(cells).split() == cells:  # the usual case: no cell is empty or holds white space
        return None
    for name, cell in zip(COLUMNS, cells, strict=True):
        if not cell:
            return f"column {name} is empty: write _ for no value"
        if name not in MAY_HOLD_SPACES and cell.split() != [cell]:
            return f"column {name} holds white space ({shortened(cell)!r}), which only {', '.join(MAY_HOLD_SPACES)} may"
    return None


def _why_wrong_ids(ids: Sequence[str]) -> tuple[int, str] | None:
    """Return the index of the first ID that does not fit, and the problem; None for the IDs of a whole sentence."""
    word = range_end = empty = 0
    for index, id_ in enumerate(ids):
        (first, dash, last), (whole, dot, part) = id_.partition("-"), id_.partition(".")
        if _is_number(id_):
            if int(id_) != word + 1:
                return index, f"the ID is {id_}, but word {word + 1} is expected"
            word, empty = word + 1, 0
        elif dash and _is_number(first) and _is_number(last):
            if int(first) != word + 1 or int(last) < int(first):
                return index, f"the range {id_} does not begin at the word that follows it ({word + 1})"
            if range_end > word:
                return index, f"the range {id_} overlaps the range that ends at word {range_end}"
            range_end = int(last)
        elif dot and _is_number(whole) and _is_number(part):
            if (int(whole), int(part)) != (word, empty + 1):
                return index, f"the ID is {id_}, but the empty node {word}.{empty + 1} is expected"
            empty += 1
        else:
            return index, f"ID {shortened(id_)!r} is not a word number, a range (3-4) or an empty node (8.1)"
    if not word:
        return len(ids) - 1, "the sentence has no words: is the file CoNLL-U?"
    if range_end > word:
        return len(ids) - 1, f"a range ends at word {range_end}, but the sentence has {word} words"
    return None

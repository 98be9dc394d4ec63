"""The sentences of English text, with their places in it.

A sentence ends at a blank line, and where its tokens say so. The rules were found on the training texts of English-EWT:
weblogs, news groups, e-mails, reviews and answers (`run/bench/segmentation.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from transition_parser.text.tokens import EMOTICON, Token, tokens


class TextSentence(NamedTuple):
    """text: as written. tokens: with their places in the whole text. opens_paragraph: True for the first sentence of a
    paragraph. space_after: False where the next sentence follows without white space."""

    text: str
    tokens: tuple[Token, ...]
    opens_paragraph: bool
    space_after: bool

    @property
    def start(self) -> int:
        """Its place in the whole text."""
        return self.tokens[0].start


def segmented(text: str) -> Iterator[TextSentence]:
    """Yields the sentences of a text in order; between them is nothing but white space.

    >>> [sentence.text for sentence in segmented("Mr. Hale slept. (He was ill.) Was he?")]
    ['Mr. Hale slept.', '(He was ill.)', 'Was he?']
    """
    return segmented_lines(text.split("\n"))


def segmented_lines(lines: Iterable[str]) -> Iterator[TextSentence]:
    """The same, from lines without their ends; a paragraph is divided when the blank line behind it was read."""
    for start, paragraph in _paragraphs(lines):
        found = [Token(start + token.start, token.words) for token in tokens(paragraph)]
        first = 0
        for end in _ends(found, paragraph, start):
            some = tuple(found[first:end])
            written = paragraph[some[0].start - start : some[-1].end - start]
            attached = end < len(found) and found[end].start == some[-1].end
            yield TextSentence(written, some, first == 0, not attached)
            first = end


def _paragraphs(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Each stretch of lines that are not blank, with its place."""
    block: list[str] = []
    start = here = 0
    for line in lines:
        if line.strip():
            start = start if block else here
            block.append(line)
        elif block:
            yield start, "\n".join(block)
            block = []
        here += len(line) + 1
    if block:
        yield start, "\n".join(block)


_FINAL = re.compile(r"[.!?]+|…")
_ELLIPSIS = re.compile(r"\.\.+|…")
_CLOSING = re.compile(r"[)\]}\"”’»']|''|’’")
_EMOTICON = re.compile(EMOTICON)
_DRAWN_LINE = re.compile(r"([-=*_~#])\1{4,}")
_ADDRESS = re.compile(r"(https?://|www\.).*|\S+@\S+\.\w+")
_DATE = re.compile(r"\d{1,2}/\d{1,2}/\d{2,4}")
_TIME = re.compile(r"\d{1,2}:\d\d(:\d\d)?")
_HALF_OF_DAY = re.compile(r"[AaPp][Mm]")
_TIME_ZONE = re.compile(r"[CEMP][DS]T|GMT|UTC|Central|Eastern|Mountain|Pacific")
_BULLET = re.compile(r"[-*•·–]")
_ITEM_NUMBER = re.compile(r"\d{1,3}|[A-Za-z]")
_TITLE = re.compile(r"(Mr|Mrs|Ms|Dr|Prof|Rev|Hon|St|Mt|Ft|Gen|Col|Lt|Capt|Sgt|Gov|Sen|Reps?|Pres|No|vs|[A-Z])\.")
# words that names seldom begin with
_OPENING = frozenset(
    "The A An This That These Those It He She We They I You In On At If But And When While As There What Who How Why "
    "My His Her Our Their Its For So Then However After Please Also No Yes Some One".split()
)


def _ends(tokens: Sequence[Token], text: str, start: int) -> Iterator[int]:
    """How many tokens of a paragraph stand before the end of each of its sentences. start: of the paragraph."""
    first = 0
    for i in range(1, len(tokens)):
        space = text[tokens[i - 1].end - start : tokens[i].start - start]
        if _opens(tokens, i, first, space):
            yield i
            first = i
    yield len(tokens)


def _opens(tokens: Sequence[Token], i: int, first: int, space: str) -> bool:
    """True where a sentence opens with token i. first: the token that the sentence before it opens with. space: before
    token i."""
    before, after = tokens[i - 1].form, tokens[i].form
    if "\n" in space and (_BULLET.fullmatch(after) or _is_item_number(tokens, i)):
        return True
    if _FINAL.fullmatch(after) or _EMOTICON.fullmatch(after) or (not space and _CLOSING.fullmatch(after)):
        return False
    last = _before_closing(tokens, i - 1, first)
    if _FINAL.fullmatch(tokens[last].form):
        return _opens_after_mark(tokens, i, last, first, space)
    if last < i - 1 and _EMOTICON.fullmatch(before):
        return not after[0].islower()
    if before.endswith("."):
        return after in _OPENING and not _TITLE.fullmatch(before)
    return _opens_beside(tokens, i)


def _opens_after_mark(tokens: Sequence[Token], i: int, mark: int, first: int, space: str) -> bool:
    """The same after a final mark, and perhaps quotes, brackets and emoticons."""
    after = tokens[i].form
    if mark < i - 1 or _ELLIPSIS.fullmatch(tokens[mark].form):
        return not after[0].islower()
    if not space:
        return after[0].isupper()
    of_item = mark - 1 == first or (mark - 1 > first and tokens[mark - 2].form == ":")
    return not (of_item and _is_item_number(tokens, mark - 1))


def _opens_beside(tokens: Sequence[Token], i: int) -> bool:
    """The same without a final mark: beside lines that are drawn with characters, after addresses on the Internet, and
    around the date and time in the head of a letter."""
    before, after = tokens[i - 1].form, tokens[i].form
    if _DRAWN_LINE.fullmatch(before) or _DRAWN_LINE.fullmatch(after):
        return True
    if _ADDRESS.fullmatch(before):
        return after[0].isupper() or _ADDRESS.fullmatch(after) is not None
    if _HALF_OF_DAY.fullmatch(before) and i > 1 and _TIME.fullmatch(tokens[i - 2].form):
        return after[0].isupper() and not _TIME_ZONE.fullmatch(after)
    return before[0].isupper() and _DATE.fullmatch(after) is not None


def _before_closing(tokens: Sequence[Token], i: int, first: int) -> int:
    """The token before the quotes, brackets and emoticons that end with token i."""
    while i > first and (
        _EMOTICON.fullmatch(tokens[i].form)
        or (_CLOSING.fullmatch(tokens[i].form) and tokens[i - 1].end == tokens[i].start)
    ):
        i -= 1
    return i


def _is_item_number(tokens: Sequence[Token], i: int) -> bool:
    """True for the `1` or `a` of `1.`, `a)`."""
    return (
        i + 1 < len(tokens)
        and tokens[i + 1].form in (".", ")")
        and tokens[i].end == tokens[i + 1].start
        and _ITEM_NUMBER.fullmatch(tokens[i].form) is not None
    )

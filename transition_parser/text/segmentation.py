"""The sentences of text in stretches, and the rules for English, found on the training texts of English-EWT."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import ClassVar, NamedTuple

from transition_parser.text import word_list
from transition_parser.text.characters import Clusters, shows
from transition_parser.text.tokens import CONTEXT, EMOTICON, Token, tokens, tokens_of_shown


def stretches(lines: Iterable[str], most: int) -> Iterator[tuple[int, str, bool]]:
    """Yield (position, text, True at its end) of the stretches of each paragraph, with all of its characters."""
    block: list[str] = []
    size = start = here = 0
    is_open = False
    for line in lines:
        if shows(line):
            start = start if block else here
            for piece in _pieces(line, most):
                if size > most:
                    yield start, "".join(block), False
                    block, start, size = [], start + size, 0
                block.append(piece)
                size += len(piece)
            block.append("\n")
            size, is_open = size + 1, True
        elif is_open:
            yield start, "".join(block), True
            block, size, is_open = [], 0, False
        here += len(line) + 1
    if is_open:
        yield start, "".join(block), True


def _pieces(line: str, most: int) -> Iterator[str]:
    """Yield a line in pieces of up to `most` characters. A piece ends after a blank if its second half has one."""
    first = 0
    while len(line) - first > most:
        end = line.rfind(" ", first + most // 2, first + most) + 1 or first + most
        yield line[first:end]
        first = end
    yield line[first:]


LONGEST = 4000
LONG_WORD = 100  # in a long word, this many characters count as one word


def length(words: Iterable[str]) -> int:
    """Return the length of a sentence in words; a long word counts once for each 100 characters or part of them."""
    return sum(1 + (len(word) - 1) // LONG_WORD for word in words)


def is_longer(words: Sequence[str], longest: int) -> bool:
    """Return True where the sentence is longer than `longest`. The test is cheap for ordinary sentences."""
    return len(words) + sum(map(len, words)) // LONG_WORD > longest and length(words) > longest


def with_short_tokens(tokens: Iterable[Token], longest: int) -> Iterator[Token]:
    """Yield the tokens. A token of more than `longest` × `LONG_WORD` characters is divided into parts."""
    most = longest * LONG_WORD
    for token in tokens:
        form = token.form
        if len(form) <= most:
            yield token
        else:
            yield from (Token(token.start + i, (form[i : i + most],)) for i in range(0, len(form), most))


def places_to_divide(tokens: Sequence[Token], first: int, end: int, longest: int) -> Iterator[int]:
    """Yield each token at which a part of a sentence that is longer than `longest`, first ≤ i < end, begins."""
    is_short = tokens[end - 1].end - tokens[first].start <= longest
    if is_short and all(token.written is None for token in tokens[first:end]):  # words are no more than characters
        return
    so_far = 0
    for i in range(first, end):
        more = length(tokens[i].words)
        if so_far and so_far + more > longest:
            yield i
            so_far = 0
        so_far += more


_UNSURE = 8  # the next characters may change this many tokens at the end of a stretch, and sentence ends there


class TextSentence(NamedTuple):
    """A sentence of a text."""

    text: str  # as written
    tokens: tuple[Token, ...]  # with their positions in the whole text
    opens_paragraph: bool
    space_after: bool  # False where the next sentence follows without white space
    goes_on: bool = False  # True where the sentence was too long and the next one continues it
    language: str | None = None  # its ISO code, where it was looked for and found

    @property
    def start(self) -> int:
        """The position of the sentence in the whole text."""
        return self.tokens[0].start

    @property
    def spaces(self) -> list[bool]:
        """For each token True where white space follows."""
        ends = (self.text[a.end - self.start : b.start - self.start] for a, b in pairwise(self.tokens))
        return [*(any(map(str.isspace, between)) for between in ends), self.space_after]

    @property
    def line(self) -> str:
        """The tokens with a space where white space is between them; characters that do not show are left out there."""
        parts = (token.form + " " * space for token, space in zip(self.tokens, self.spaces, strict=True))
        return "".join(parts).removesuffix(" ")


FindLanguage = Callable[[str, str | None], str | None]  # as `languages.identify`: text, language before it → language


class Segmenter:
    """A way to divide text into sentences and tokens. Paragraphs end at blank lines, and are read in stretches."""

    stretch: ClassVar[int] = 1 << 14  # the approximate number of characters that are segmented at once

    def read(self, text: str, first: int, is_end: bool, longest: int) -> tuple[list[Token], list[int]]:
        """Return tokens of a stretch from `first` on, and for each end of a sentence the number of tokens before it.

        text: the stretch, in which each character is a cluster that shows (`Clusters`)
        is_end: False where the paragraph goes on; then ends that the next characters may change are left out
        """
        raise NotImplementedError

    def context(self, text: str) -> int:
        """Return the number of characters at the end of a text on which what follows may depend."""
        raise NotImplementedError

    def tokens(self, text: str) -> Iterator[Token]:
        """Yield the tokens of a text that is one sentence."""
        raise NotImplementedError

    def of_domain(self, domain: str | None, find: FindLanguage | None = None) -> Segmenter:
        """Return the segmenter of a domain; with `find`, one that finds the language of each paragraph, a domain."""
        return self

    def sentences(self, lines: Iterable[str], longest: int = LONGEST) -> Iterator[TextSentence]:
        """Yield the sentences of a text. All characters between sentences are white space."""
        # rest: the end of the stretch, from the start of a sentence whose end is not yet known, with context before it
        opens, rest, context = True, "", 0
        for start, stretch, is_end in stretches(lines, self.stretch):
            start, text = start - len(rest), rest + stretch
            clusters = Clusters.of(text)
            tokens, ends = self.read(clusters.shown, context, is_end, longest)
            first = 0
            for end, goes_on in _borders(tokens, ends, longest):
                written = [token.in_text(clusters) for token in tokens[first:end]]
                some = tuple(Token(start + t.start, t.words, t.written) for t in written)
                attached = end < len(tokens) and tokens[end].start == tokens[end - 1].end
                yield TextSentence(text[written[0].start : written[-1].end], some, opens, not attached, goes_on)
                opens, first = False, end
            begins = tokens[first].start if first < len(tokens) else context
            context = self.context(clusters.shown[:begins])
            rest = text[clusters.starts[begins - context] :] if begins < len(clusters.starts) else ""
            if is_end:
                opens, rest, context = True, "", 0


def _borders(tokens: Sequence[Token], ends: Iterable[int], longest: int) -> Iterator[tuple[int, bool]]:
    """Yield for each end of a sentence the number of tokens before it, and True if it cuts a long sentence."""
    first = 0
    for end in ends:
        yield from ((place, True) for place in places_to_divide(tokens, first, end, longest))
        yield end, False
        first = end
    if first < len(tokens):
        yield from ((place, True) for place in places_to_divide(tokens, first, len(tokens), longest))


class EnglishRules(Segmenter):
    """The segmenter for English, by the rules of this module and of `text.tokens`."""

    def tokens(self, text: str) -> Iterator[Token]:
        return tokens(text)

    def read(self, text: str, first: int, is_end: bool, longest: int) -> tuple[list[Token], list[int]]:
        in_text = tokens_of_shown(text, first)
        found = [*(with_short_tokens(in_text, longest) if len(text) > longest * LONG_WORD else in_text)]
        ends, start = [], 0
        for i in range(1, len(found)):
            if _opens(found, i, start, text[found[i - 1].end : found[i].start]):
                ends.append(i)
                start = i
        ends += [len(found)] * bool(found)
        return found, ends if is_end else [end for end in ends if end < len(found) - _UNSURE]

    def context(self, text: str) -> int:
        return min(len(text), CONTEXT)


ENGLISH = EnglishRules()


def one_sentence(tokens: Iterable[Token], text: str) -> TextSentence | None:
    """Return the tokens of a text as one sentence, None if there are none."""
    found = tuple(tokens)
    return TextSentence(text[found[0].start : found[-1].end], found, False, True) if found else None


_FINAL = re.compile(r"[.!?]+|…")
_NOT_FIRST = re.compile(r"[,;:]")
_ELLIPSIS = re.compile(r"\.\.+|…")
_CLOSING = re.compile(r"[)\]}\"”’»']|''|’’")
_OPENERS = {'"': '"', "'": "`", "''": "``", "’": "‘"}  # closing mark that may be something else → what it closes
_QUOTED = 100  # tokens before a closing mark among which its opening mark is looked for
_EMOTICON = re.compile(EMOTICON)
_DRAWN_LINE = re.compile(r"([-=*_~#])\1{4,}")
_ADDRESS = re.compile(r"(https?://|www\.).*|\S+@\S+\.\w+")
_DATE = re.compile(r"\d{1,2}/\d{1,2}/\d{2,4}")
_TIME = re.compile(r"\d{1,2}:\d\d(:\d\d)?")
_BEFORE_DATE = re.compile(r"On|By|Since|Until|From|For|Before|After|Dated|Date|(Sun|Mon|Tue|Wed|Thu|Fri|Sat)\w*\.?")
_HALF_OF_DAY = re.compile(r"[AaPp][Mm]")
_TIME_ZONE = re.compile(r"[CEMP][DS]T|GMT|UTC|Central|Eastern|Mountain|Pacific")
_BULLET = re.compile(r"[-*•·–]")
_ITEM_NUMBER = re.compile(r"\d{1,3}|[A-Za-z]")
_TITLE = re.compile(rf"({'|'.join(word_list('titles'))}|[A-Z])\.")
_OPENING = frozenset(word_list("openings"))


def _opens(tokens: Sequence[Token], i: int, first: int, space: str) -> bool:
    """Return True where a sentence opens with token i."""
    before, after = tokens[i - 1].form, tokens[i].form
    if "\n" in space and (_BULLET.fullmatch(after) or _is_item_number(tokens, i)):
        return True
    if (
        _FINAL.fullmatch(after)
        or _NOT_FIRST.fullmatch(after)
        or _EMOTICON.fullmatch(after)
        or _closes(tokens, i, first)
    ):
        return False
    last = i - 1  # the last token that is not a closing quote, closing bracket or emoticon
    while last > first and (_EMOTICON.fullmatch(tokens[last].form) or _closes(tokens, last, first)):
        last -= 1
    if _FINAL.fullmatch(tokens[last].form):
        if last < i - 1 or _ELLIPSIS.fullmatch(tokens[last].form):
            return not after[0].islower()
        if not space:
            return after[0].isupper()
        of_item = last - 1 == first or (last - 1 > first and tokens[last - 2].form == ":")
        return not (of_item and _is_item_number(tokens, last - 1))
    if last < i - 1 and _EMOTICON.fullmatch(before):
        return not after[0].islower()
    if before[-1] in ".!?":
        return after in _OPENING and not _TITLE.fullmatch(before)
    if _DRAWN_LINE.fullmatch(before) or _DRAWN_LINE.fullmatch(after):
        return True
    if _ADDRESS.fullmatch(before):
        return after[0].isupper() or _ADDRESS.fullmatch(after) is not None
    if _HALF_OF_DAY.fullmatch(before) and i > 1 and _TIME.fullmatch(tokens[i - 2].form):
        return after[0].isupper() and not _TIME_ZONE.fullmatch(after)
    return (  # the head of a forwarded message: name, date and time
        before[0].isupper()
        and _DATE.fullmatch(after) is not None
        and i + 1 < len(tokens)
        and _TIME.fullmatch(tokens[i + 1].form) is not None
        and not _BEFORE_DATE.fullmatch(before)
    )


def _closes(tokens: Sequence[Token], i: int, first: int) -> bool:
    """Return True if token i closes a quotation or bracket of the sentence that begins at token `first`."""
    form = tokens[i].form
    if not _CLOSING.fullmatch(form):
        return False
    if tokens[i - 1].end == tokens[i].start:
        return True
    if form not in _OPENERS or i + 1 == len(tokens):
        return True
    if tokens[i].end == tokens[i + 1].start and tokens[i + 1].form[0].isalnum():
        return False
    marks = [k for k in range(max(first, i - _QUOTED), i) if tokens[k].form in (form, _OPENERS[form])]
    # a quotation of several sentences ends with a mark that no other of its last sentence opens
    if marks and (k := marks[0]) > first and (tokens[k - 1].end == tokens[k].start or _FINAL.match(tokens[k - 1].form)):
        del marks[0]
    return len(marks) % 2 == 1 or tokens[i + 1].form[0].islower()


def _is_item_number(tokens: Sequence[Token], i: int) -> bool:
    """Return True if token i is the number or letter of a list item, as in `1.` and `a)`."""
    return (
        i + 1 < len(tokens)
        and tokens[i + 1].form in (".", ")")
        and tokens[i].end == tokens[i + 1].start
        and _ITEM_NUMBER.fullmatch(tokens[i].form) is not None
    )

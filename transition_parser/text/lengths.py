"""The lengths of sentences, and the longest that is parsed: memory and time grow with them, time with the square."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from transition_parser.text.tokens import Token

LONGEST = 4000
LONG_WORD = 100  # characters of a word that count as a word


def length(words: Iterable[str]) -> int:
    """How long a sentence is: the number of its words, where a word of more than 100 characters counts as one for each
    100 of them.

    >>> length(["It", "is", "a" * 250])
    5
    """
    return sum(1 + (len(word) - 1) // LONG_WORD for word in words)


def is_longer(words: Sequence[str], longest: int) -> bool:
    """True where the sentence is longer than `longest`; this is cheap for ordinary sentences."""
    return len(words) + sum(map(len, words)) // LONG_WORD > longest and length(words) > longest


def with_short_tokens(tokens: Iterable[Token], longest: int) -> Iterator[Token]:
    """The tokens, in parts where one of them is longer than a whole sentence may be."""
    most = longest * LONG_WORD
    for token in tokens:
        form = token.form
        if len(form) <= most:
            yield token
        else:
            yield from (Token(token.start + i, (form[i : i + most],)) for i in range(0, len(form), most))


def places_to_divide(tokens: Sequence[Token], first: int, end: int, longest: int) -> Iterator[int]:
    """Yields before which of the tokens `first` < i < `end` their sentence is divided, so that no part of it is longer
    than `longest`; nowhere if it is not. A token of several words stays whole."""
    if tokens[end - 1].end - tokens[first].start <= longest:  # characters: there are no more words
        return
    so_far = 0
    for i in range(first, end):
        more = length(tokens[i].words)
        if so_far and so_far + more > longest:
            yield i
            so_far = 0
        so_far += more

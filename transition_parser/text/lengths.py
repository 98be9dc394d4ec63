"""The length of sentences, and its limit. Parsing memory grows with the length, parsing time with its square."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from transition_parser.text.tokens import Token

LONGEST = 4000
LONG_WORD = 100  # in a long word, this many characters count as one word


def length(words: Iterable[str]) -> int:
    """Return the length of a sentence in words, where a long word counts once for each 100 characters or part of them.

    >>> length(["It", "is", "a" * 250])
    5
    """
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
    """Yield the number of each token at which a new part of the sentence, the tokens `first` ≤ i < `end`, begins.

    No part is longer than `longest`. A sentence of up to `longest` stays whole. Tokens of several words stay whole.
    """
    if tokens[end - 1].end - tokens[first].start <= longest:  # there are at most as many words as characters
        return
    so_far = 0
    for i in range(first, end):
        more = length(tokens[i].words)
        if so_far and so_far + more > longest:
            yield i
            so_far = 0
        so_far += more

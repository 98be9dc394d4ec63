"""A notice for one release: text that looks tokenised was read as tokens before, and is read as raw text now."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator

from transition_parser.base.errors import ParserWarning

_SEEN = 20  # texts that are looked at, at the most
_APART = re.compile(r"\S\s+[.,;:!?]+(?=\s|$)")
_ATTACHED = re.compile(r"\w[,;:!?](?=\s|$)")


def looks_tokenised(text: str) -> bool:
    """True for text with white space before its punctuation.

    >>> looks_tokenised("Well , Mr. Hale slept ."), looks_tokenised("Well, he slept.")
    (True, False)
    """
    return bool(_APART.search(text)) and not _ATTACHED.search(text)


class TokenisedCheck:
    """Looks at the first texts of an input as they pass, and warns where most of them look tokenised."""

    def __init__(self) -> None:
        self._seen = self._tokenised = 0

    def passing(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        """Yields the lines of a file; those that are not blank are looked at."""
        rest = iter(lines)
        for line in rest:
            self.see(line.decode("utf-8", "replace"))
            yield line
            if self._seen == _SEEN:
                break
        self.end()
        yield from rest

    def see(self, text: str) -> None:
        """Looks at a text, unless enough have been seen."""
        if self._seen < _SEEN and text.strip():
            self._seen += 1
            self._tokenised += looks_tokenised(text)
            if self._seen == _SEEN:
                self._warn()

    def end(self) -> None:
        """Warns where fewer texts came than are looked at."""
        if self._seen < _SEEN:
            self._warn()

    def _warn(self) -> None:
        if 2 * self._tokenised > self._seen:
            warnings.warn(
                "text is read as raw now, and this looks tokenised: --tokens (tokenised=True in Python) keeps one "
                "sentence a line and its tokens, --raw (raw=True) reads it as it is read now, without this line",
                ParserWarning,
                stacklevel=2,
            )

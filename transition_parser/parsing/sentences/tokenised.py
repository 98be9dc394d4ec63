"""A warning, for one release only, that text which looks tokenised is now read as raw text, and no longer as tokens."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from transition_parser.base.errors import warn

_SEEN = 20  # maximum number of texts that are looked at
_APART = re.compile(r"\S\s+[.,;:!?]+(?=\s|$)")
_ATTACHED = re.compile(r"\w[,;:!?](?=\s|$)")


def looks_tokenised(text: str) -> bool:
    """Return True for text with white space before its punctuation.

    >>> looks_tokenised("Well , Mr. Hale slept ."), looks_tokenised("Well, he slept.")
    (True, False)
    """
    return bool(_APART.search(text)) and not _ATTACHED.search(text)


class TokenisedCheck:
    """A check of the first texts of an input as they pass, which warns where most of them look tokenised."""

    def __init__(self) -> None:
        self._seen = self._tokenised = 0

    def passing(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the lines of a file, and look at the first lines that are not blank."""
        rest = iter(lines)
        for line in rest:
            self.see(line.decode("utf-8", "replace"))
            yield line
            if self._seen == _SEEN:
                break
        self.end()
        yield from rest

    def see(self, text: str) -> None:
        """Count a text that is not blank, up to `_SEEN` texts. Warn at the last text if most look tokenised."""
        if self._seen < _SEEN and text.strip():
            self._seen += 1
            self._tokenised += looks_tokenised(text)
            if self._seen == _SEEN:
                self._warn()

    def end(self) -> None:
        """End an input. If it had fewer than `_SEEN` texts, warn where most of them look tokenised."""
        if self._seen < _SEEN:
            self._warn()

    def _warn(self) -> None:
        if 2 * self._tokenised > self._seen:
            warn(
                "the text is read as raw text, but it looks tokenised: give --tokens (tokenised=True in "
                "Python) to keep its lines as sentences and its tokens, or --raw (raw=True) to read it as raw "
                "text without this warning"
            )

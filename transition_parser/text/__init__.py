"""Floor 1 (see CONTRIBUTING.md): texts as sentences and tokens, words as pieces and lemmas; files of this folder."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path


def text_of(name: str) -> str:
    """Return the text of a file of this folder."""
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def word_list(name: str) -> list[str]:
    """Return the list of `words.tsv` with a name.

    >>> word_list("states")[:3]
    ['Ark', 'Cal', 'Del']
    """
    return _lists()[name].split(" ")


@cache
def _lists() -> Mapping[str, str]:
    rows = (line.partition("\t") for line in text_of("words.tsv").splitlines() if not line.startswith("#"))
    return {name: listed for name, _, listed in rows}

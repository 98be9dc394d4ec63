"""Texts that must stay out of training data, because models are evaluated on them."""

from __future__ import annotations

import os
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator

from transition_parser.base.errors import InputError
from transition_parser.graphs.bank import read_bank
from transition_parser.graphs.conllu import read_conllu

LEAST = 8  # texts of at least this many words are also compared with parts of other texts


class Excluded:
    """Texts to keep out of training data.

    Texts are compared by their letters and digits alone, in lower case and without accents, so that tokenisation and
    punctuation do not matter. A sentence is excluded if it is one of the texts. It is also excluded if it contains one
    of the texts, or is a part of one; the contained sentence must have `LEAST` or more words with a letter or digit.

    >>> excluded = Excluded(["You can't see it."])
    >>> "You ca n't see it !" in excluded, "You see it" in excluded
    (True, False)
    """

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._whole: set[str] = set()
        self._long: dict[str, list[str]] = defaultdict(list)  # first characters of long texts → the texts
        for text in texts:
            letters = squeezed(text)
            if letters and letters not in self._whole:
                self._whole.add(letters)
                if _is_long(text):
                    self._long[letters[:LEAST]].append(letters)
        self._all = "\n".join(sorted(self._whole))

    def __contains__(self, text: str) -> bool:
        letters = squeezed(text)
        if letters in self._whole or (_is_long(text) and letters in self._all):
            return True
        for start in range(len(letters) - LEAST + 1):
            for other in self._long.get(letters[start : start + LEAST], ()):
                if letters.startswith(other, start):
                    return True
        return False


def read_texts(paths: Iterable[str | os.PathLike]) -> Iterator[str]:
    """Yield each sentence of CoNLL-U files (`.conllu`) and AMR banks, both as written and as its words joined.

    Raises `InputError` for a broken file, and for a file without sentences.
    """
    for path in paths:
        found = False
        for text in _conllu_texts(path) if str(path).endswith(".conllu") else _bank_texts(path):
            found = True
            yield text
        if not found:
            raise InputError(f"{path}: the file has no sentences to exclude")


def _conllu_texts(path: str | os.PathLike) -> Iterator[str]:
    for sentence in read_conllu(path):
        yield " ".join(sentence.forms)
        yield sentence.text


def _bank_texts(path: str | os.PathLike) -> Iterator[str]:
    for entry in read_bank(path, graphs=False):
        yield from filter(None, (entry.metadata.get(key) for key in ("snt", "tok")))


def squeezed(text: str) -> str:
    """Return the letters and digits of a text in lower case, without accents.

    >>> squeezed("The café's 2nd ...")
    'thecafes2nd'
    """
    plain = unicodedata.normalize("NFKD", text).casefold()
    return "".join(character for character in plain if character.isalnum())


def _is_long(text: str) -> bool:
    return sum(any(character.isalnum() for character in word) for word in text.split()) >= LEAST

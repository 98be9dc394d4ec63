"""The symbols of sentences (pieces) or of derivations (actions), and their ids, from `dict.*.txt`."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from transition_parser.base.errors import input_error
from transition_parser.base.model_files import read_text, shown

SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")  # symbols with the first ids; the file does not list them
_PAD, _EOS, _UNK = range(1, len(SPECIAL))
_OVERWRITE = "#fairseq:overwrite"
_COUNT = re.compile(r"[0-9]{1,18}")
_ENTRY = re.compile(rf"\S+ {_COUNT.pattern}(?: {_OVERWRITE})?")


class Vocabulary:
    """Symbols with consecutive ids, as `fairseq.data.Dictionary` numbers them, without importing fairseq.

    A symbol that is listed twice has its last id. `counts` are frequencies in training.
    """

    def __init__(self, symbols: Sequence[str] = (), counts: Sequence[int] | None = None) -> None:
        self.symbols = (*SPECIAL, *symbols)
        self.counts = (*[1] * len(SPECIAL), *([0] * len(symbols) if counts is None else counts))
        self._ids = {symbol: i for i, symbol in enumerate(self.symbols)}

    def __len__(self) -> int:
        return len(self.symbols)

    def __contains__(self, symbol: str) -> bool:
        return symbol in self._ids

    def __getitem__(self, index: int) -> str:
        """Return the symbol with this id; `<unk>` for an id beyond the last."""
        return self.symbols[index] if index < len(self.symbols) else self.symbols[_UNK]

    def index(self, symbol: str) -> int:
        """Return the id of a symbol; the id of `<unk>` for a symbol that is not listed."""
        return self._ids.get(symbol, _UNK)

    def pad(self) -> int:
        return _PAD

    def eos(self) -> int:
        return _EOS

    def unk(self) -> int:
        return _UNK

    @classmethod
    def load(cls, path: str | os.PathLike) -> Vocabulary:
        """Read a file of `fairseq-preprocess`. Raises `InputError`, which names the line, for any other.

        A line has a symbol and its count. `#fairseq:overwrite` follows if the symbol replaces an earlier equal symbol.
        """
        counts: list[int] = []
        symbols: list[str] = []
        listed = dict.fromkeys(SPECIAL, "a special symbol")
        lines = read_text(path, "run `fairseq-preprocess` on the folder first").split("\n")
        for number, line in enumerate(lines[:-1] if not lines[-1] else lines, 1):
            symbol, *fields = line.rstrip().split(" ")
            overwrite = fields[1:] == [_OVERWRITE]
            problem = None if _ENTRY.fullmatch(line) else _why_not_an_entry(symbol, fields, overwrite)
            if not problem and symbol in listed and not overwrite:
                problem = f"{shown(symbol)} is also {listed[symbol]}"
            if problem:
                raise input_error(problem, path, number)
            listed[symbol] = f"in line {number}"
            symbols.append(symbol)
            counts.append(int(fields[0]))
        return cls(symbols, counts)


def _why_not_an_entry(symbol: str, fields: Sequence[str], overwrite: bool) -> str | None:
    if not symbol and not fields:
        return "a blank line: each line is a symbol and its count"
    if not symbol or symbol.split() != [symbol] or not (len(fields) == 1 or overwrite):
        return "not a symbol and its count with one space between them"
    if not _COUNT.fullmatch(fields[0]):
        return f"the count of {shown(symbol)} is not a number: {shown(fields[0])}"
    return None

"""The files of a folder that a model needs besides its weights: dictionaries, `spm.model`, `parser.json` and others."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file
from torch import Tensor

from transition_parser.base.errors import errors_at, input_error, shortened
from transition_parser.base.model_files import read_text, short_repr
from transition_parser.states.table import VERSION, ActionTable
from transition_parser.text.columns import FILE_NAME as COLUMNS
from transition_parser.text.columns import FORMS_FILE, Columns
from transition_parser.text.pieces import FILE_NAME as PIECES
from transition_parser.text.pieces import OPEN, WORD_LIST, Pieces, WordCache, load_words
from transition_parser.text.segmentation import ENGLISH, Segmenter
from transition_parser.transitions.config import FILE_NAME as PARSER
from transition_parser.transitions.config import LEXICON_FILE as LEXICON
from transition_parser.transitions.config import ParserConfig

SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")  # symbols with the first ids; the file does not list them
_PAD, _EOS, _UNK = range(1, len(SPECIAL))
_OVERWRITE = "#fairseq:overwrite"
_COUNT = re.compile(r"[0-9]{1,18}")
_ENTRY = re.compile(rf"\S+ {_COUNT.pattern}(?: {_OVERWRITE})?")


class Vocabulary:
    """Symbols with consecutive ids and counts, as `fairseq.data.Dictionary` numbers them, without importing fairseq."""

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
        """Read a file of `fairseq-preprocess`. Raises `InputError`, which names the line, for any other."""
        counts: list[int] = []
        symbols: list[str] = []
        listed = dict.fromkeys(SPECIAL, "a special symbol")
        lines = read_text(path, "run `fairseq-preprocess` on the folder first").split("\n")
        for number, line in enumerate(map(str.rstrip, lines[:-1] if not lines[-1] else lines), 1):
            symbol, *fields = line.split(" ")
            overwrite = fields[1:] == [_OVERWRITE]
            problem = None if _ENTRY.fullmatch(line) else "not a symbol and its count with one space between them"
            if not problem and symbol in listed and not overwrite:
                problem = f"{short_repr(symbol)} is also {listed[symbol]}"
            if problem:
                raise input_error(problem, path, number)
            listed[symbol] = f"in line {number}"
            symbols.append(symbol)
            counts.append(int(fields[0]))
        return cls(symbols, counts)


SOURCE, TARGET = "src", "act"
FILES = (f"dict.{SOURCE}.txt", f"dict.{TARGET}.txt", PIECES, PARSER)
WORD_FILES = (COLUMNS, FORMS_FILE, WORD_LIST)  # only for models that read or predict their contents
SEGMENTER_FILES = ("segmenter.json", "segmenter.safetensors")  # a learned segmenter: its description, its weights
LABELER = "semantic_roles.safetensors"  # `modules.semantic_roles`, for a model of AMRs
TABLE = "table.safetensors"  # of exported models: the arrays of `ActionTable`, which take a second to compute for AMRs
OPTIONAL_FILES = (LEXICON, *WORD_FILES, *SEGMENTER_FILES, TABLE, LABELER)
_NOT_OF_ALL = (*WORD_FILES, *SEGMENTER_FILES, TABLE, LABELER)
_FILLER = re.compile(r"madeupword\d{4}")  # a symbol with which fairseq-preprocess fills up dictionaries


@dataclass(frozen=True)
class Resources:
    """The two dictionaries, the word splitter, the transition system, and all other files of a data folder or model."""

    source_dictionary: Vocabulary
    target_dictionary: Vocabulary
    parser: ParserConfig
    pieces: Pieces
    table: ActionTable
    fingerprint: str  # SHA-256 of the files that every model reads; it identifies them
    columns: Columns = field(default_factory=Columns)
    frequent_words: tuple[str, ...] | None = None  # words of the training data, the most frequent first
    segmenter: Segmenter = ENGLISH  # divides raw text; `storage.exports` loads learned segmenters
    model: str | None = None  # the name and the version of the model, for its parses
    language: str | None = None  # the language of the model, where its card states one
    _kept_ids: WordCache[list[int]] = field(default_factory=WordCache, init=False, compare=False, repr=False)

    @classmethod
    def load(cls, folder: str | os.PathLike) -> Resources:
        """Read a folder. Raises `InputError` for a missing or invalid file, and for files that do not fit together."""
        parser = ParserConfig.load(folder)
        source_path, target_path = (Path(folder, name) for name in FILES[:2])
        source, target = Vocabulary.load(source_path), Vocabulary.load(target_path)
        pieces = Pieces.load(folder)
        contents = b"".join(path.read_bytes() for path in cls.files(folder, without=_NOT_OF_ALL))
        fingerprint = hashlib.sha256(contents).hexdigest()
        counts = parser.lexicon.counts if parser.lexicon else {}
        stored = _stored_table(Path(folder, TABLE), fingerprint)
        with errors_at(target_path if stored is None else Path(folder, TABLE)):
            table = ActionTable(parser.transition_system(), target.symbols, counts=counts, stored=stored)
        if stored is None:  # else these files have been checked before the table was stored
            inventory, actions = pieces.inventory(), [*map(str, parser.actions())]
            known = [token for token, action in zip(table.tokens, table.actions, strict=True) if action is not None]
            spans = parser.lexicon.spans.values() if parser.lexicon else ()
            _check_symbols(source, inventory, inventory, f"pieces of {PIECES}", source_path)
            _check_symbols(target, actions, known, f"actions of {PARSER}", target_path)
            _check_symbols(target, [*chain.from_iterable(spans)], known, f"actions of {LEXICON}", target_path)
        columns, words = Columns.load(folder), load_words(folder)
        return cls(source, target, parser, pieces, table, fingerprint, columns, words)

    @staticmethod
    def files(folder: str | os.PathLike, without: Collection[str] = ()) -> list[Path]:
        """Return the files that `load` reads, except optional files whose names are in `without`."""
        optional = (Path(folder, name) for name in OPTIONAL_FILES if name not in without)
        return [*(Path(folder, name) for name in FILES), *(path for path in optional if path.is_file())]

    @staticmethod
    def copy(folder: str | os.PathLike, dest: str | os.PathLike, without: Collection[str] = ()) -> None:
        """Copy the files that `load` reads to `dest`, except optional files whose names are in `without`."""
        for path in Resources.files(folder, without):
            shutil.copyfile(path, Path(dest, path.name))

    def store_table(self, folder: str | os.PathLike) -> None:
        """Write the action table into `folder`, if it takes long to compute: for AMRs with a lexicon."""
        if self.table.lexicon is not None:
            arrays = self.table.arrays()
            save_file(arrays, Path(folder, TABLE), _table_of(self.fingerprint, arrays))

    def sample(self, words: Sequence[str], p: float, draws: Iterator[float]) -> Tensor:
        """Return sampled piece ids of normalized words, with `</s>`; for `p` and `draws` see `Pieces.sample`."""
        return self.encode_pieces([piece for word in self.pieces.sample(words, p, draws) for piece in word])

    def encode_all(self, sentences: Sequence[Sequence[str]]) -> list[Tensor]:
        """Return the piece ids of sentences of normalized words, each with `</s>`, by one call of sentencepiece."""
        words = dict.fromkeys(word for sentence in sentences for word in sentence)
        ids = self._kept_ids.values(
            words, lambda new: ([*map(self._piece_id, word)] for word in self.pieces.split(new))
        )
        return [self._ended([i for word in sentence for i in ids[word]]) for sentence in sentences]

    def encode_pieces(self, pieces: list[str]) -> Tensor:
        """Return the ids of pieces, with `</s>`. An empty list is encoded as one empty word."""
        return self._ended([*map(self._piece_id, pieces)])

    def _ended(self, ids: list[int]) -> Tensor:
        ended = [*(ids or [self._piece_id(OPEN)]), self.source_dictionary.eos()]
        return torch.from_numpy(np.array(ended, np.int64))  # `torch.tensor` takes several times as long

    def _piece_id(self, piece: str) -> int:
        found = self.source_dictionary.index(piece)
        if found == self.source_dictionary.unk() and piece.startswith(OPEN):
            return self.source_dictionary.index(OPEN)  # an unknown piece must mark the start of its word all the same
        return found

    def words(self, tokens: list[int]) -> list[str]:
        """Return the normalized words that the piece ids of a sentence spell; padding and `</s>` are skipped."""
        dictionary = self.source_dictionary
        special = (dictionary.pad(), dictionary.eos())
        return self.pieces.words([dictionary[i] for i in tokens if i not in special])

    def features_of(self, sentences: Iterable[Sequence[str]], in_search: bool = False) -> Tensor | None:
        """Return `ActionTable.features` of B sentences of normalized words, (B, P, F) int64, 0 at padding."""
        if not self.table.labeled_shift and self.table.lexicon is None:
            return None
        rows = [torch.tensor(self.table.features(words, in_search)) for words in sentences]
        return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)

    def opens_word(self) -> Tensor:
        """Return (V,) bool, True for the piece ids that open a word; V is the size of the source dictionary."""
        return torch.tensor([symbol.startswith(OPEN) for symbol in self.source_dictionary.symbols])


def _table_of(fingerprint: str, arrays: Mapping[str, np.ndarray]) -> dict[str, str]:
    digest = hashlib.sha256()
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype} {array.shape}".encode() + array.tobytes())
    return {"of": f"{VERSION} {fingerprint} {digest.hexdigest()}"}  # one key: safetensors writes several in any order


def _stored_table(path: Path, fingerprint: str) -> dict[str, np.ndarray] | None:
    """Return the stored arrays of an `ActionTable`; None where there are none of this version and of these files.

    Arrays that were changed after they were stored are of no version.
    """
    if not path.is_file():
        return None
    try:
        with safe_open(path, framework="np") as file:
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            return arrays if file.metadata() == _table_of(fingerprint, arrays) else None
    except (SafetensorError, OSError, TypeError, ValueError) as error:
        raise input_error(f"can't be read ({shortened(str(error))}): export the model again", path) from None


def _check_symbols(listed: Vocabulary, needed: Collection[str], known: Collection[str], what: str, path: Path) -> None:
    """Raise `InputError` unless a dictionary's file lists all symbols of `needed`, and none that is not `known`."""
    own = [symbol for symbol in listed.symbols[len(SPECIAL) :] if not _FILLER.fullmatch(symbol)]
    lacking, unknown = sorted({*needed}.difference(own)), sorted({*own}.difference(known))
    for symbols, problem in ((lacking, "does not list all"), (unknown, "lists symbols that are not")):
        if symbols:
            more = f" and {len(symbols) - 1} more" if len(symbols) > 1 else ""
            raise input_error(
                f"{problem} {what}: {short_repr(symbols[0])}{more}; the files of the folder must be from one run of "
                "`transition-parser preprocess` and `fairseq-preprocess --task transition_parsing`",
                path,
            )

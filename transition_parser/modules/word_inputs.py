"""The inputs of words besides pieces: tags, corpora, letters, affixes, tables of words, pretrained encoders.

To add an input, write its class, and list it in `INPUTS` and `InputOptions` at the end of this file. Shapes: B
sentences, P positions (the words of the longest sentence, and the root), W different words.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transition_parser.data.resources import Resources
from transition_parser.kernels import search_kernels
from transition_parser.modules.options import WIDEST, ModelOptions, option
from transition_parser.modules.pretrained import PretrainedWords
from transition_parser.modules.word_input import OptionalInput, padded_rows, projected_width
from transition_parser.modules.word_tables import TableInput, VectorInput
from transition_parser.text.columns import DOMAIN, UNKNOWN, UPOS, XPOS, Annotations, Columns
from transition_parser.text.columns import FILE_NAME as COLUMNS

_SUFFIXES, _PREFIXES = (1, 2, 3, 4, 5), (2, 3)  # the lengths of the affixes that are read
_ROWS = 2048  # the number of vectors for the affixes of a length; affixes with the same hash share a vector
_LETTERS = 24  # a word of more letters is read by its first 12 and its last 12 letters


def _width_option(what: str) -> Any:
    """Return an option for the width of the embeddings of a column."""
    return option(
        0, f"width of the embeddings of {what}; by default they are as wide as words", least=0, most=WIDEST,
        since_later=True,
    )  # fmt: skip


class ColumnInput(OptionalInput):
    """An embedding of each value of a column of the data; embedding 0 is for values that are not known.

    dim: width of the embeddings.
    dropout: fraction of training sentences in which the column is masked.
    projected: the result of `projected_width`. Embeddings of this width are not projected.
    """

    column: ClassVar[str]
    files = (COLUMNS,)

    def __init__(self, dim: int, columns: Columns, dropout: float = 0.0, projected: int | None = None) -> None:
        super().__init__()
        self.columns, self.dropout = columns, dropout
        self.embed = nn.Embedding(columns.count(self.column), dim)
        self.project_to(None if projected == dim else projected, dim)

    def masked(self, training: bool) -> float:
        """Return the fraction of sentences in which the column is masked, which happens in training alone."""
        return self.dropout if training else 0.0

    def start_at_zero(self) -> None:
        nn.init.zeros_(self.embed.weight)

    def read(self, sentences: Sequence[Sequence[str]], annotations: Annotations) -> dict[str, Tensor]:
        """Return the values of the column as tensors by name.

        ids: (B, P); the ids of the values, 0 at the root, at padding and for unknown values.
        """
        given = annotations.get(self.column) or [[UNKNOWN] * len(words) for words in sentences]
        return {"ids": padded_rows([self.columns.ids(self.column, values) for values in given], sentences)}

    def forward(self, inputs: Mapping[str, Tensor], x: Tensor) -> Tensor:
        """Return the vectors of the values, (B, P, width)."""
        return self.project(self.embed(inputs["ids"]))


class TagInput(ColumnInput):
    """An embedding of the tag of each word."""

    name, switch, column = "tags", "read_tags", UPOS

    @dataclass(frozen=True)
    class Options(ModelOptions):
        """The options of tags."""

        read_tags: bool = option(
            False,
            "words have embeddings of their UPOS tags (the column `upos` of the data), too; with --tag-loss, the model "
            "predicts the tags itself in parsing; without --tag-loss, all sentences must have tags",
            since_later=True,
        )
        tag_dropout: float = option(
            0.5,
            "with --tag-loss: share of training sentences whose tags are all read as unknown",
            least=0.0,
            most=1.0,
            since_later=True,
        )
        tag_width: int = _width_option("tags")

        def contradictions(self) -> str | None:
            return TagInput.without_switch(self, "tag_width") or super().contradictions()

    @classmethod
    def make(cls, options: Any, dim: int, resources: Resources) -> TagInput:
        width, projected = options.tag_width or dim, projected_width(options, dim)
        return cls(width, resources.columns, options.tag_dropout, bool(options.tag_loss), projected)

    def __init__(
        self, dim: int, columns: Columns, dropout: float, predicted: bool, projected: int | None = None
    ) -> None:
        super().__init__(dim, columns, dropout if predicted else 0.0, projected)
        self.predicted = predicted

    @property
    def needs_values(self) -> bool:
        return not self.predicted

    def masked(self, training: bool) -> float:
        """Return the fraction of sentences whose tags are masked.

        Outside training, a model that predicts tags reads its own predictions. Another model reads the given tags.
        """
        return self.dropout if training else float(self.predicted)


class XposInput(ColumnInput):
    """An embedding of the XPOS tag of each word, from the treebank's own tag set, such as that of the Penn Treebank."""

    name, switch, column = XPOS, "read_xpos", XPOS

    @dataclass(frozen=True)
    class Options(ModelOptions):
        """The options of XPOS tags."""

        read_xpos: bool = option(
            False,
            "words have embeddings of their XPOS tags (the column `xpos` of the data), too, which must be given",
            since_later=True,
        )
        xpos_width: int = _width_option("XPOS tags")

        def contradictions(self) -> str | None:
            return XposInput.without_switch(self, "xpos_width") or super().contradictions()

    @classmethod
    def make(cls, options: Any, dim: int, resources: Resources) -> XposInput:
        return cls(options.xpos_width or dim, resources.columns, projected=projected_width(options, dim))

    @property
    def needs_values(self) -> bool:
        return True


class DomainInput(ColumnInput):
    """An embedding of the corpus that a sentence is from, given to all its words (a treebank embedding).

    Source: Stymne et al. 2018
    """

    name, switch, column = DOMAIN, "read_domain", DOMAIN

    @dataclass(frozen=True)
    class Options(ModelOptions):
        """The options of corpora."""

        read_domain: bool = option(
            False,
            "words have an embedding of the corpus that their sentence is from (the column `domain` of the data), too",
            since_later=True,
        )
        domain_dropout: float = option(
            0.2, "share of training sentences whose corpus is hidden", least=0.0, most=1.0, since_later=True
        )
        domain_width: int = _width_option("corpora")

        def contradictions(self) -> str | None:
            return DomainInput.without_switch(self, "domain_width") or super().contradictions()

    @classmethod
    def make(cls, options: Any, dim: int, resources: Resources) -> DomainInput:
        width, projected = options.domain_width or dim, projected_width(options, dim)
        return cls(width, resources.columns, options.domain_dropout, projected)

    def __init__(self, dim: int, columns: Columns, dropout: float = 0.0, projected: int | None = None) -> None:
        super().__init__(dim, columns, dropout, projected)
        self.start_at_zero()

    def read(self, sentences: Sequence[Sequence[str]], annotations: Annotations) -> dict[str, Tensor]:
        """Return the corpora of sentences as tensors by name.

        ids: (B,); the id of each sentence's corpus, 0 for a corpus that is not known.
        """
        given = annotations.get(DOMAIN) or [[UNKNOWN] for _ in sentences]
        return {"ids": torch.tensor([self.columns.ids(DOMAIN, values)[0] for values in given], dtype=torch.long)}

    def forward(self, inputs: Mapping[str, Tensor], x: Tensor) -> Tensor:
        """Return the vectors of corpora, (B, 1, width); an unknown corpus has the mean of all vectors."""
        weight = self.embed.weight
        mean = torch.cat([weight[1:].mean(0, keepdim=True), weight[1:]])
        return self.project(F.embedding(inputs["ids"], mean))[:, None]


class CharacterInput(OptionalInput):
    """A character CNN: convolutions over the letters of each word, and the largest value of each filter.

    Source: Ma and Hovy 2016, sec. 2.1. Letters are bytes of UTF-8. A long word is read by its first and last letters.

    dim: the result of `projected_width`.
    width: width of the embeddings of letters.
    windows: the number of letters that each convolution sees; each convolution has `width` filters. By default there is
        one convolution, which sees three letters and has 2 · `width` filters.
    """

    name, switch, reads_forms = "characters", "character_width", True

    @dataclass(frozen=True)
    class Options(ModelOptions):
        """The options of letters."""

        character_width: int = option(
            0,
            "width of the embeddings of letters, by which a character CNN reads words, too; 0: no CNN",
            least=0,
            most=1024,
            since_later=True,
        )
        character_windows: str = option(
            "",
            "numbers of letters that the convolutions of the character CNN see, such as 1,2,3,5; each convolution has "
            "--character-width filters; by default there is one that sees 3 letters, with twice as many filters",
            since_later=True,
        )

        @property
        def windows(self) -> list[int]:
            """The numbers in `character_windows`."""
            return [int(size) for size in self.character_windows.split(",") if size]

        def contradictions(self) -> str | None:
            sizes = self.character_windows.split(",") if self.character_windows else []
            if not all(map(_is_window, sizes)):
                return f"--character-windows must be numbers from 1 to {_LETTERS}, not {self.character_windows!r:.60}"
            if sizes and not self.character_width:
                return "--character-windows is for words that are read by letters: give --character-width, too"
            return super().contradictions()

    @classmethod
    def make(cls, options: Any, dim: int, resources: Resources) -> CharacterInput:
        return cls(projected_width(options, dim), options.character_width, options.windows)

    def __init__(self, dim: int | None, width: int, windows: Sequence[int] = ()) -> None:
        super().__init__()
        self.embed = nn.Embedding(257, width, padding_idx=0)
        if windows:
            self.convolve = nn.ModuleList(nn.Conv1d(width, width, size, padding=size // 2) for size in windows)
        else:
            self.convolve = nn.Conv1d(width, 2 * width, 3, padding=1)
        self.project_to(dim, len(windows) * width or 2 * width)
        self._tables: _LetterTables | None = None

    def read(self, sentences: Sequence[Sequence[str]], annotations: Annotations) -> dict[str, Tensor]:
        """Return the letters of words as tensors by name.

        bytes: (W, L) for L letters; the bytes of the W different words, plus 1, and 0 at padding.
        word: (B, P); the index of each word among the W words. 0, an empty word, at the root and at padding.
        """
        distinct, word = _distinct(sentences)
        contents = [one.encode("utf-8", "replace") for one in distinct]
        contents = [c if len(c) <= _LETTERS else c[: _LETTERS // 2] + c[-_LETTERS // 2 :] for c in contents]
        read = np.frombuffer(b"".join(c.ljust(_LETTERS, b"\0") for c in contents), np.uint8).reshape(-1, _LETTERS)
        there = np.arange(_LETTERS) < np.array([*map(len, contents)])[:, None]
        return {"bytes": torch.from_numpy((read + np.int64(1)) * there), "word": word}

    def forward(self, inputs: Mapping[str, Tensor], x: Tensor) -> Tensor:
        """Return the vectors of words by their letters, (B, P, width)."""
        letters = inputs["bytes"]
        computed = not torch.is_grad_enabled() and search_kernels.supports_letters(self.embed.weight, self._filters)
        found = self._looked_up(letters) if computed else None
        return F.embedding(inputs["word"], self.project(self._convolved(letters) if found is None else found))

    def train(self, mode: bool = True) -> Self:
        """Set the mode, and drop the tables of `_looked_up`, which does not notice all changes that optimisers make."""
        self._tables = None
        return super().train(mode)

    def _convolved(self, letters: Tensor) -> Tensor:
        """Return the largest value of each filter for each word, (W, windows · filters), from letters (W, L)."""
        embedded = self.embed(letters).transpose(1, 2)  # a window of even size gives one value too many
        found = torch.cat([some(embedded)[..., :_LETTERS] for some in self._convolutions], 1).relu()
        found = found * (letters > 0)[:, None].to(found.dtype)  # 0 at padding, so that it is never the maximum
        return found.amax(2)

    def _looked_up(self, letters: Tensor) -> Tensor | None:
        """Return the result of `_convolved`, from tables of products; None if a product is not finite."""
        weights = [self.embed.weight, *(part for some in self._convolutions for part in some.parameters())]
        made_of = [(weight.data_ptr(), 0 if weight.is_inference() else weight._version) for weight in weights]
        if self._tables is None or self._tables.made_of != made_of:
            self._tables = _LetterTables.of(self.embed, self._convolutions, made_of)
        tables = self._tables
        if not tables.finite:
            return None
        found = search_kernels.letter_maxima(letters, tables.sizes, tables.products, tables.biases)
        return found.to(self.embed.weight.dtype)

    @property
    def _convolutions(self) -> list[nn.Conv1d]:
        return [*self.convolve] if isinstance(self.convolve, nn.ModuleList) else [self.convolve]

    @property
    def _filters(self) -> int:
        return self._convolutions[0].out_channels


class _LetterTables(NamedTuple):
    """The products of each letter with the weights of convolutions, which `search_kernels.letter_maxima` adds up.

    made_of: the addresses and versions of the weights; other values mean that the tables are out of date
    sizes, products, biases: see `letter_maxima`
    finite: False where a product is infinite or not a number
    """

    made_of: list[tuple[int, int]]
    sizes: list[int]
    products: Tensor
    biases: Tensor
    finite: bool

    @classmethod
    def of(
        cls, embed: nn.Embedding, convolutions: Sequence[nn.Conv1d], made_of: list[tuple[int, int]]
    ) -> _LetterTables:
        """Return the tables of some convolutions over embedded letters."""
        letters = embed.weight.detach().float()
        parts = [letters @ some.weight.detach().float().permute(2, 1, 0) for some in convolutions]
        biases = torch.stack([some.bias.detach().float() for some in convolutions])
        products = torch.cat(parts)
        finite = bool(products.isfinite().all() and biases.isfinite().all())
        return cls(made_of, [len(part) for part in parts], products, biases, finite)


class AffixInput(OptionalInput):
    """The sum of vectors of a word's prefixes and suffixes, and of the word itself, all in lower case.

    Vectors are found by a hash of the affix, so that every affix has a vector. A short word is its own affix.

    dim: the result of `projected_width`.
    width: width of the vectors.
    dropout: probability that training leaves out the vector of the whole word.

    Source: the hash embeddings of spaCy, Miranda et al. 2022, sec. 2, with one hash for each affix.
    """

    name, switch, reads_forms = "affixes", "affix_width", True

    @dataclass(frozen=True)
    class Options(ModelOptions):
        """The options of affixes."""

        affix_width: int = option(
            0, "width of the vectors of prefixes and suffixes that words are read by, too; 0: none", least=0, most=1024,
            since_later=True,
        )  # fmt: skip
        affix_dropout: float = option(
            0.0,
            "probability that training leaves out the vector of the whole word, so that it is read by its affixes",
            least=0.0,
            most=1.0,
            since_later=True,
        )

    @classmethod
    def make(cls, options: Any, dim: int, resources: Resources) -> AffixInput:
        return cls(projected_width(options, dim), options.affix_width, options.affix_dropout)

    def __init__(self, dim: int | None, width: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = dropout
        self.embed = nn.EmbeddingBag(len(_affixes("")) * _ROWS, width, mode="sum")
        nn.init.normal_(self.embed.weight, std=width**-0.5)
        self.project_to(dim, width)

    def read(self, sentences: Sequence[Sequence[str]], annotations: Annotations) -> dict[str, Tensor]:
        """Return the affixes of words as tensors by name.

        affixes: (W, affixes); the row in the table of vectors of each affix of the W different words.
        word: (B, P); the index of each word among the W words. 0, an empty word, at the root and at padding.
        """
        distinct, word = _distinct(sentences)
        return {"affixes": torch.tensor([*map(_affix_rows, distinct)]), "word": word}

    def forward(self, inputs: Mapping[str, Tensor], x: Tensor) -> Tensor:
        """Return the vectors of words by their affixes, (B, P, width)."""
        rows, weights = inputs["affixes"], None
        if self.training and self.dropout:
            weights = torch.ones(rows.shape, dtype=self.embed.weight.dtype, device=rows.device)
            weights[:, 0].bernoulli_(1.0 - self.dropout)
        return F.embedding(inputs["word"], self.project(self.embed(rows, per_sample_weights=weights)))


def _distinct(sentences: Sequence[Sequence[str]]) -> tuple[list[str], Tensor]:
    """Return the different words, preceded by an empty word, and the index of each word of the sentences, (B, P)."""
    index: dict[str, int] = {"": 0}
    rows = [[index.setdefault(word, len(index)) for word in words] for words in sentences]
    return list(index), padded_rows(rows, sentences)


def _affixes(word: str) -> list[str]:
    return [word, *(word[:size] for size in _PREFIXES), *(word[-size:] for size in _SUFFIXES)]


@lru_cache(maxsize=1 << 14)
def _affix_rows(word: str) -> tuple[int, ...]:
    """Return the row of the vector of each affix of a word. Each kind and length of affix has its own `_ROWS` rows."""
    affixes = (affix.encode("utf-8", "replace") for affix in _affixes(word.lower()))
    return tuple(first * _ROWS + zlib.crc32(affix) % _ROWS for first, affix in enumerate(affixes))


def _is_window(size: str) -> bool:
    return size.isascii() and size.isdigit() and len(size) < 9 and 1 <= int(size) <= _LETTERS


# The inputs are made in this order. The random numbers of their weights depend on it.
INPUTS: tuple[type[OptionalInput], ...] = (
    TagInput, XposInput, DomainInput, CharacterInput, AffixInput, TableInput, VectorInput, PretrainedWords,
)  # fmt: skip


class InputOptions(
    VectorInput.Options,
    TableInput.Options,
    AffixInput.Options,
    CharacterInput.Options,
    DomainInput.Options,
    XposInput.Options,
    TagInput.Options,
    PretrainedWords.Options,
):
    """The options of all inputs. The flags of the last base class come first."""

"""The inputs of words besides pieces: tags, corpora, letters, affixes, tables of words. `words` adds them up.

To add an input, write its class, and list it in `words`. Shapes: B sentences, P positions (words and root), W different
words.
"""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transition_parser.base.errors import InputError
from transition_parser.data.resources import Resources
from transition_parser.kernels import encoders
from transition_parser.modules.layers import in_few_shapes, linear, padded
from transition_parser.modules.options import ModelOptions, option, share_option, size_option
from transition_parser.text.columns import DOMAIN, UNKNOWN, UPOS, Annotations
from transition_parser.text.columns import FILE_NAME as COLUMNS
from transition_parser.text.pieces import MOST_WORDS, WORD_LIST

NO_ANNOTATIONS: Annotations = MappingProxyType({})
ADD, CONCAT = "add", "concat"  # the values of `--join-inputs`
_SUFFIXES, _PREFIXES = (1, 2, 3, 4, 5), (2, 3)  # the lengths of the affixes that are read
_ROWS = 2048  # the number of vectors for the affixes of a length; affixes with the same hash share a vector
_LETTERS = 24  # a word of more letters is read by its first 12 and its last 12 letters


class WordInput(nn.Module, ABC):
    """A module that makes vectors of words, which an encoder reads. An option switches it on, for every model.

    needs_values: True if sentences to parse must have values in the column, because the model does not predict them
    embed: its embeddings, if it has any
    project: its last layer
    output_width: the width of its vectors where they stand beside others
    """

    name: ClassVar[str]  # among the tensors of a batch and in the names of parameters
    switch: ClassVar[str]  # the option that switches the input on
    width_option: ClassVar[str] = ""  # the option for the width of its embeddings, 0 for the width of words
    column: ClassVar[str | None] = None  # the annotation column of the data that it reads
    reads_forms: ClassVar[bool] = False  # True if it can stand for pieces
    files: ClassVar[tuple[str, ...]] = ()  # of a data folder; models without the input go without them
    Options: ClassVar[type[ModelOptions]]
    needs_values = False
    embed: nn.Module
    project: nn.Module
    output_width: int

    def __init__(self, options: Any, dim: int, resources: Resources) -> None:
        """Make the input for words `dim` wide. Raises `InputError` if the data lacks what the input needs."""
        super().__init__()
        self.words_width = None if options.join_inputs == CONCAT else dim

    @classmethod
    def is_wanted(cls, options: ModelOptions) -> bool:
        return bool(getattr(options, cls.switch))

    def embedding_width(self, options: Any, dim: int) -> int:
        return (getattr(options, self.width_option) if self.width_option else 0) or dim

    def project_from(self, own: int, always: bool = True) -> None:
        """Add the layer from the input's `own` width to that of words; `always` False: only if they differ."""
        width = self.words_width
        self.project = nn.Identity() if width is None or (width == own and not always) else linear(own, width)
        self.output_width = own if width is None else width

    def start_at_zero(self) -> None:
        """Set the weights of the last layer to 0 so that the input adds nothing until it learns."""
        last = self.embed if isinstance(self.project, nn.Identity) else self.project
        for parameter in last.parameters():
            nn.init.zeros_(parameter)

    def masked(self, training: bool) -> float:
        """Return the fraction of sentences in which the column is masked (its values read as unknown), by default 0."""
        return 0.0

    @abstractmethod
    def read(self, sentences: Sequence[Sequence[str]], annotations: Annotations) -> dict[str, Tensor]:
        """Return the tensors of sentences that `forward` reads, by name, on the CPU; the root is the last position.

        sentences: B sentences of normalized words.
        annotations: the columns of these sentences; columns may be missing.
        """

    @abstractmethod
    def forward(self, inputs: Mapping[str, Tensor], x: Tensor) -> Tensor:
        """Return the vectors of words, (B, P, width) or of a shape that broadcasts to (B, P, width).

        inputs: the result of `read`.
        x: (B, P, dim); the vectors of the words, before the vectors of this input are added or appended.
        """


def padded_rows(rows: Sequence[Sequence[int]], sentences: Sequence[Sequence[str]]) -> Tensor:
    """Return rows with one number per word as a tensor (B, P) int64, with 0 at the root and at padding."""
    padded = np.zeros((len(rows), max(map(len, sentences), default=0) + 1), np.int64)
    for i, row in enumerate(rows):
        padded[i, : len(row)] = row
    return torch.from_numpy(padded)


def _width_option(what: str) -> Any:
    return size_option(0, f"width of the embeddings of {what}; by default they are as wide as words", least=0)


class ColumnInput(WordInput):
    """An embedding of each value of a column, 0 for unknown values; training masks it in some sentences."""

    column: ClassVar[str]
    embed: nn.Embedding
    files = (COLUMNS,)

    def __init__(self, options: Any, dim: int, resources: Resources, dropout: float = 0.0) -> None:
        super().__init__(options, dim, resources)
        width = self.embedding_width(options, dim)
        self.columns, self.dropout = resources.columns, dropout
        self.embed = nn.Embedding(self.columns.count(self.column), width)
        self.project_from(width, always=False)

    def masked(self, training: bool) -> float:
        return self.dropout if training else 0.0

    def read(self, sentences: Sequence[Sequence[str]], annotations: Annotations) -> dict[str, Tensor]:
        """Return `ids`, (B, P): the ids of the values, 0 at the root, at padding and for unknown values."""
        given = annotations.get(self.column) or [[UNKNOWN] * len(words) for words in sentences]
        return {"ids": padded_rows([self.columns.ids(self.column, values) for values in given], sentences)}

    def forward(self, inputs: Mapping[str, Tensor], x: Tensor) -> Tensor:
        return self.project(self.embed(inputs["ids"]))


class TagInput(ColumnInput):
    """An embedding of the UPOS tag of each word."""

    name, switch, width_option, column = "tags", "read_tags", "tag_width", UPOS

    @dataclass(frozen=True)
    class Options(ModelOptions):
        read_tags: bool = option(
            False,
            "words have embeddings of their UPOS tags, too, which the model predicts with --tag-loss; without it all "
            "sentences must have tags",
        )
        tag_dropout: float = share_option(0.5, "with --tag-loss: share of training sentences whose tags are hidden")
        tag_width: int = _width_option("tags")

    def __init__(self, options: Any, dim: int, resources: Resources) -> None:
        super().__init__(options, dim, resources, options.tag_dropout if options.tag_loss else 0.0)
        self.needs_values = not options.tag_loss

    def masked(self, training: bool) -> float:
        """Return the fraction of sentences whose tags are masked; in parsing all, if the model predicts them."""
        return self.dropout if training else float(not self.needs_values)


class DomainInput(ColumnInput):
    """An embedding of the corpus that a sentence is from, given to all its words (Stymne et al. 2018)."""

    name, switch, column = DOMAIN, "read_domain", DOMAIN

    @dataclass(frozen=True)
    class Options(ModelOptions):
        read_domain: bool = option(False, "words have an embedding of the corpus that their sentence is from, too")
        domain_dropout: float = share_option(0.2, "share of training sentences whose corpus is hidden")

    def __init__(self, options: Any, dim: int, resources: Resources) -> None:
        super().__init__(options, dim, resources, options.domain_dropout)
        self.start_at_zero()

    def read(self, sentences: Sequence[Sequence[str]], annotations: Annotations) -> dict[str, Tensor]:
        """Return `ids`, (B,): the id of each sentence's corpus, 0 for a corpus that is not known."""
        given = annotations.get(DOMAIN) or [[UNKNOWN] for _ in sentences]
        return {"ids": torch.tensor([self.columns.ids(DOMAIN, values)[0] for values in given], dtype=torch.long)}

    def forward(self, inputs: Mapping[str, Tensor], x: Tensor) -> Tensor:
        """Return the vectors of corpora, (B, 1, width); an unknown corpus has the mean of all vectors."""
        weight = self.embed.weight
        mean = torch.cat([weight[1:].mean(0, keepdim=True), weight[1:]])
        return self.project(F.embedding(inputs["ids"], mean))[:, None]


class CharacterInput(WordInput):
    """A character CNN over the UTF-8 bytes of a word (of a long one, the first and last): the maximum of each filter.

    Source: Ma and Hovy 2016, sec. 2.1
    """

    name, switch, reads_forms = "characters", "character_width", True

    @dataclass(frozen=True)
    class Options(ModelOptions):
        character_width: int = size_option(
            0, "width of the embeddings of letters, by which a character CNN reads words, too", least=0, most=1024
        )
        character_windows: str = option(
            "",
            "numbers of letters that the convolutions of the character CNN see, such as 1,2,3,5, with "
            "--character-width filters each; by default one that sees 3 letters, with twice as many filters",
        )

        def contradictions(self) -> str | None:
            sizes = self.character_windows.split(",") if self.character_windows else []
            if not {*sizes} <= {*map(str, range(1, _LETTERS + 1))}:
                return f"--character-windows must be numbers from 1 to {_LETTERS}, not {self.character_windows!r:.60}"
            if sizes and not self.character_width:
                return "--character-windows is for words that are read by letters: give --character-width, too"
            return super().contradictions()

    def __init__(self, options: Any, dim: int, resources: Resources) -> None:
        super().__init__(options, dim, resources)
        width = options.character_width
        windows = [int(size) for size in options.character_windows.split(",") if size]
        self.embed = nn.Embedding(257, width, padding_idx=0)
        if windows:
            self.convolve = nn.ModuleList(nn.Conv1d(width, width, size, padding=size // 2) for size in windows)
        else:
            self.convolve = nn.Conv1d(width, 2 * width, 3, padding=1)
        self.project_from(len(windows) * width or 2 * width)
        self._tables: tuple[list[int], Tensor, Tensor] | None = None  # see `use_kernels`

    def read(self, sentences: Sequence[Sequence[str]], annotations: Annotations) -> dict[str, Tensor]:
        """Return `bytes` (W, L), plus 1, 0 at padding, of different words, and `word` (B, P), their indices."""
        distinct, word = _distinct(sentences)
        contents = [one.encode("utf-8", "replace") for one in distinct]
        contents = [c if len(c) <= _LETTERS else c[: _LETTERS // 2] + c[-_LETTERS // 2 :] for c in contents]
        read = np.frombuffer(b"".join(c.ljust(_LETTERS, b"\0") for c in contents), np.uint8).reshape(-1, _LETTERS)
        there = np.arange(_LETTERS) < np.array([*map(len, contents)])[:, None]
        return {"bytes": torch.from_numpy((read + np.int64(1)) * there), "word": word}

    def forward(self, inputs: Mapping[str, Tensor], x: Tensor) -> Tensor:
        letters = inputs["bytes"]
        if self._tables is not None and not torch.is_grad_enabled():
            found = encoders.letter_maxima(letters, *self._tables).to(self.embed.weight.dtype)
        else:
            found = self._convolved(padded(letters) if in_few_shapes(letters) else letters)
        return F.embedding(inputs["word"], self.project(found))

    def _convolved(self, letters: Tensor) -> Tensor:
        """Return the largest value of each filter for each word, (W, windows · filters), from letters (W, L)."""
        embedded = self.embed(letters).transpose(1, 2)  # a window of even size gives one value too many
        found = torch.cat([some(embedded)[..., :_LETTERS] for some in self._convolutions], 1).relu()
        found = found * (letters > 0)[:, None].to(found.dtype)  # 0 at padding, so that it is never the maximum
        return found.amax(2)

    def use_kernels(self) -> None:
        """Keep the products of letters with weights, if a kernel can add them up. The weights must not change any more.

        `en-ewt` has 0.6 of its speed without.
        """
        letters, convolutions = self.embed.weight.detach().float(), self._convolutions
        products = [letters @ some.weight.detach().float().permute(2, 1, 0) for some in convolutions]
        biases = torch.stack([some.bias.detach().float() for some in convolutions])
        if not encoders.supports_letters(self.embed.weight, convolutions[0].out_channels):
            return
        if all(bool(some.isfinite().all()) for some in (*products, biases)):
            self._tables = [*map(len, products)], torch.cat(products), biases

    @property
    def _convolutions(self) -> list[nn.Conv1d]:
        return [*self.convolve] if isinstance(self.convolve, nn.ModuleList) else [self.convolve]


class AffixInput(WordInput):
    """The sum of vectors of a word's prefixes and suffixes, and of the word itself, all in lower case, found by a hash.

    Source: the hash embeddings of spaCy, Miranda et al. 2022, sec. 2, with one hash for each affix
    """

    name, switch, reads_forms = "affixes", "affix_width", True

    @dataclass(frozen=True)
    class Options(ModelOptions):
        affix_width: int = size_option(
            0, "width of the vectors of prefixes and suffixes that words are read by, too", least=0, most=1024
        )
        affix_dropout: float = share_option(0.0, "probability that training leaves out the vector of the whole word")

    def __init__(self, options: Any, dim: int, resources: Resources) -> None:
        super().__init__(options, dim, resources)
        width, self.dropout = options.affix_width, options.affix_dropout
        self.embed = nn.EmbeddingBag(len(_affixes("")) * _ROWS, width, mode="sum")
        nn.init.normal_(self.embed.weight, std=width**-0.5)
        self.project_from(width)

    def read(self, sentences: Sequence[Sequence[str]], annotations: Annotations) -> dict[str, Tensor]:
        """Return `affixes` (W, affixes), the rows of W different words, and `word` (B, P), the index of each word."""
        distinct, word = _distinct(sentences)
        return {"affixes": torch.tensor([*map(_affix_rows, distinct)]), "word": word}

    def forward(self, inputs: Mapping[str, Tensor], x: Tensor) -> Tensor:
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


class TableInput(WordInput):
    """An embedding of each of the most frequent words of the training data; embedding 0 is for all other words.

    A word that is not among them is looked up in lower case, too.
    Source: Zhang et al. 2017, sec. 4: 20,000 words, from GloVe. Unlike there, random words train embedding 0, too, and
    all embeddings start at random.
    """

    name, switch, width_option, files = "table", "word_table", "word_table_width", (WORD_LIST,)
    reads_forms = True

    @dataclass(frozen=True)
    class Options(ModelOptions):
        word_table: int = option(
            0,
            "the N most frequent words of the training data have learned embeddings, too; all others share one (the "
            "papers: N = 20000)",
            least=0,
            most=MOST_WORDS,
        )
        word_table_width: int = _width_option("--word-table")
        word_table_dropout: float = share_option(
            0.1, "probability that training reads a word of --word-table by the embedding that others share"
        )

    def __init__(self, options: Any, dim: int, resources: Resources) -> None:
        super().__init__(options, dim, resources)
        width, words = self.embedding_width(options, dim), resources.frequent_words
        self.dropout = options.word_table_dropout
        if words is None:
            raise InputError(f"the data has no {WORD_LIST}: preprocess it again with `transition-parser preprocess`")
        self._index = {word: i for i, word in enumerate(words[: options.word_table], 1)}
        self.embed = nn.Embedding(len(self._index) + 1, width)
        nn.init.normal_(self.embed.weight, std=width**-0.5)
        self.project_from(width, always=False)

    def read(self, sentences: Sequence[Sequence[str]], annotations: Annotations) -> dict[str, Tensor]:
        """Return `word`, (B, P): rows of the table; 0 for words that are not found, for the root and for padding."""
        index = self._index
        rows = [[index.get(w) or index.get(w.lower(), 0) for w in words] for words in sentences]
        return {"word": padded_rows(rows, sentences)}

    def forward(self, inputs: Mapping[str, Tensor], x: Tensor) -> Tensor:
        word = inputs["word"]
        if self.training and self.dropout:
            word = word.masked_fill(torch.rand(word.shape, device=word.device) < self.dropout, 0)
        return self.project(self.embed(word))

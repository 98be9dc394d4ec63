"""The inputs of words that are tables: one vector for each word, trained with the model or pretrained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transition_parser.base.errors import InputError
from transition_parser.data.resources import Resources
from transition_parser.modules.options import WIDEST, ModelOptions, option
from transition_parser.modules.word_input import OptionalInput, padded_rows, projected_width
from transition_parser.text.columns import Annotations
from transition_parser.text.word_vectors import FILE_NAME as WORD_LIST
from transition_parser.text.word_vectors import (
    MOST_WORDS,
    VECTORS_FILE,
    WORDS_FILE,
    WordVectors,
    check_has_vectors,
    check_has_words,
)


class TableInput(OptionalInput):
    """An embedding of each of the most frequent words of the training data, trained with the model.

    Embedding 0 is for all other words. To train embedding 0, training also reads it for random words of the table.
    Embeddings start at random or from pretrained vectors.

    Source: Zhang et al. 2017, sec. 4: 20,000 words, which start from GloVe. In the paper embedding 0 learns from rare
    words alone; here `--word-table-dropout 0` does the same.

    dim: width of the embeddings.
    words: the words that have embeddings.
    dropout: probability that training reads a word by embedding 0.
    from_vectors: True if the embeddings start from the vectors of the data, see `start`.
    projected: the result of `projected_width`. Embeddings of this width are not projected, unless they start from
        vectors.
    """

    name, switch, reads_forms, files = "table", "word_table", True, (WORD_LIST,)

    @dataclass(frozen=True)
    class Options(ModelOptions):
        """The options of tables that are trained."""

        word_table: int = option(
            0,
            "the N most frequent words of the training data have learned embeddings, too; all other words share one "
            "embedding (the papers: N = 20000); 0: none",
            least=0,
            most=MOST_WORDS,
            since_later=True,
        )
        word_table_width: int = option(
            0,
            "width of the embeddings of --word-table; by default they are as wide as words",
            least=0,
            most=WIDEST,
            since_later=True,
        )
        word_table_dropout: float = option(
            0.1,
            "with --word-table: probability that training reads a word by the embedding that all other words share, so "
            "that this embedding is learned",
            least=0.0,
            most=1.0,
            since_later=True,
        )
        word_table_vectors: bool = option(
            False,
            "the embeddings of --word-table start from pretrained vectors (preprocess --vectors); words without a "
            "vector start at random",
            since_later=True,
        )

        def contradictions(self) -> str | None:
            problem = TableInput.without_switch(self, "word_table_width", "word_table_vectors")
            return problem or super().contradictions()

    @classmethod
    def make(cls, options: Any, dim: int, resources: Resources) -> TableInput:
        return cls(
            options.word_table_width or dim,
            check_has_words(resources.frequent_words)[: options.word_table],
            options.word_table_dropout,
            options.word_table_vectors,
            projected_width(options, dim),
        )

    def __init__(
        self, dim: int, words: Sequence[str], dropout: float, from_vectors: bool, projected: int | None = None
    ) -> None:
        super().__init__()
        self.dropout, self.from_vectors = dropout, from_vectors
        self._index = {word: i for i, word in enumerate(words, 1)}
        self.embed = nn.Embedding(len(words) + 1, dim)
        nn.init.normal_(self.embed.weight, std=dim**-0.5)
        self.project_to(None if projected == dim and not from_vectors else projected, dim)

    def start(self, resources: Resources) -> None:
        """Copy the pretrained vectors of the data into the embeddings, if `from_vectors`.

        Raises `InputError` where the data has no vectors, or vectors of another width.
        """
        if not self.from_vectors:
            return
        table = check_has_vectors(resources.vectors)
        width = table.vectors.shape[1]
        if width != self.embed.embedding_dim:
            raise InputError(
                f"--word-table-vectors: the vectors of the data are {width} wide, the embeddings "
                f"{self.embed.embedding_dim}: give --word-table-width {width}"
            )
        places = {word: i for i, word in enumerate(table.words)}
        found = {row: places.get(word, places.get(word.lower())) for word, row in self._index.items()}
        pairs = [(row, place) for row, place in found.items() if place is not None]
        if pairs:
            rows, of_table = map(list, zip(*pairs, strict=True))
            self.embed.weight.data[rows] = torch.from_numpy(table.vectors[of_table]).float()

    def start_at_zero(self) -> None:
        if isinstance(self.project, nn.Identity):
            nn.init.zeros_(self.embed.weight)
        super().start_at_zero()

    def read(self, sentences: Sequence[Sequence[str]], annotations: Annotations) -> dict[str, Tensor]:
        """Return the words as tensors by name.

        A word that the table lacks is looked up in lower case.

        word: (B, P); rows of the table; 0 for words that are not found, for the root and for padding.
        """
        return {"word": _rows_of(self._index, sentences)}

    def forward(self, inputs: Mapping[str, Tensor], x: Tensor) -> Tensor:
        """Return the vectors of words, (B, P, width)."""
        word = inputs["word"]
        if self.training and self.dropout:
            word = word.masked_fill(torch.rand(word.shape, device=word.device) < self.dropout, 0)
        return self.project(self.embed(word))


class VectorInput(OptionalInput):
    """Pretrained vectors of words from a table, projected by a linear layer if inputs are added up.

    dim: the result of `projected_width`.
    table: the words and their vectors.
    tuned: True if the vectors are trained; False if they are frozen.
    """

    name, switch, reads_forms, files = "vectors", "read_vectors", True, (WORDS_FILE, VECTORS_FILE)

    @dataclass(frozen=True)
    class Options(ModelOptions):
        """The options of tables of vectors."""

        read_vectors: bool = option(
            False, "words have pretrained vectors of a table (preprocess --vectors), too", since_later=True
        )
        tune_vectors: bool = option(
            False, "with --read-vectors: train the vectors, and one vector for all words without a vector",
            since_later=True,
        )  # fmt: skip

        def contradictions(self) -> str | None:
            return VectorInput.without_switch(self, "tune_vectors") or super().contradictions()

    @classmethod
    def make(cls, options: Any, dim: int, resources: Resources) -> VectorInput:
        table = check_has_vectors(resources.vectors)
        return cls(projected_width(options, dim), table, options.tune_vectors)

    vectors: Tensor

    def __init__(self, dim: int | None, table: WordVectors, tuned: bool = False) -> None:
        super().__init__()
        self._index = {word: i for i, word in enumerate(table.words, 1)}
        vectors = torch.from_numpy(table.vectors).float()
        vectors = F.pad(vectors, (0, 0, 1, 0))
        if tuned:
            self.vectors = nn.Parameter(vectors)
        else:
            self.register_buffer("vectors", vectors, persistent=False)
        self.project_to(dim, vectors.size(1))

    def read(self, sentences: Sequence[Sequence[str]], annotations: Annotations) -> dict[str, Tensor]:
        """Return the words as tensors by name.

        A word that the table lacks is looked up in lower case.

        word: (B, P); rows of the table, counted from 1; 0 for words that are not found, the root and padding.
        """
        return {"word": _rows_of(self._index, sentences)}

    def forward(self, inputs: Mapping[str, Tensor], x: Tensor) -> Tensor:
        """Return the vectors of words, (B, P, width)."""
        return self.project(F.embedding(inputs["word"], self.vectors).to(x.dtype))


def _rows_of(index: Mapping[str, int], sentences: Sequence[Sequence[str]]) -> Tensor:
    """Return the row of each word of sentences, (B, P), or that of the word in lower case, or 0 if `index` lacks both.

    index: word → row, counted from 1.
    """
    return padded_rows([[index.get(w) or index.get(w.lower(), 0) for w in words] for words in sentences], sentences)

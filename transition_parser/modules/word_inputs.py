"""Small inputs of words beside pieces and pretrained encoders: tags, corpora, letters, tables of vectors.

Each input has three methods. `read` makes tensors of sentences, on the CPU. `forward` makes vectors of these tensors,
which are added to the words. After `start_at_zero` the input adds nothing until it learns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transition_parser.modules.linear import linear
from transition_parser.text.columns import DOMAIN, UNKNOWN, UPOS, Columns, Marks
from transition_parser.text.word_vectors import WordVectors

_LETTERS = 24  # most letters of a word that are read; of a longer word half of them are from its end


class TagInput(nn.Module):
    """An embedding of the tag of each word.

    Embedding 0 is for words whose tag is not known.

    dropout: fraction of training sentences whose tags are masked.
    """

    def __init__(self, dim: int, columns: Columns, dropout: float = 0.0) -> None:
        super().__init__()
        self.columns, self.dropout = columns, dropout
        self.embed = nn.Embedding(columns.count(UPOS), dim)

    def start_at_zero(self) -> None:
        nn.init.zeros_(self.embed.weight)

    def read(self, sentences: Sequence[Sequence[str]], marks: Marks) -> dict[str, Tensor]:
        """Return the tags of words as tensors.

        ids: (B, P); 0 at the root and at padding.
        """
        given = marks.get(UPOS) or [[UNKNOWN] * len(words) for words in sentences]
        return {"ids": _padded([self.columns.ids(UPOS, values) for values in given], sentences)}

    def forward(self, inputs: Mapping[str, Tensor], x: Tensor) -> Tensor:
        """Return the vectors of tags, (B, P, dim)."""
        return self.embed(inputs["ids"])


class DomainInput(nn.Module):
    """An embedding of the corpus that a sentence is from, added to all its words: treebank embeddings.

    Source: Stymne et al. 2018

    dropout: fraction of training sentences whose corpus is masked.
    """

    def __init__(self, dim: int, columns: Columns, dropout: float = 0.0) -> None:
        super().__init__()
        self.columns, self.dropout = columns, dropout
        self.embed = nn.Embedding(columns.count(DOMAIN), dim)
        self.start_at_zero()

    def start_at_zero(self) -> None:
        nn.init.zeros_(self.embed.weight)

    def read(self, sentences: Sequence[Sequence[str]], marks: Marks) -> dict[str, Tensor]:
        """Return the corpora of sentences as tensors.

        ids: (B,); 0 for a corpus that is not known.
        """
        given = marks.get(DOMAIN) or [[UNKNOWN] for _ in sentences]
        return {"ids": torch.tensor([self.columns.ids(DOMAIN, values)[0] for values in given], dtype=torch.long)}

    def forward(self, inputs: Mapping[str, Tensor], x: Tensor) -> Tensor:
        """Return the vectors of corpora, (B, 1, dim); an unknown corpus has the mean of all vectors."""
        weight = self.embed.weight
        mean = torch.cat([weight[1:].mean(0, keepdim=True), weight[1:]])
        return F.embedding(inputs["ids"], mean)[:, None]


class CharacterInput(nn.Module):
    """Convolutions over the letters of each word, and the largest value of each.

    Source: Ma and Hovy 2016, sec. 2.1. Letters are bytes of UTF-8; of a long word the first and the last are read.

    windows: the number of letters that each convolution sees, each convolution with `width` filters. By default one
        convolution sees three letters, with twice as many filters.
    """

    def __init__(self, dim: int, width: int, windows: Sequence[int] = ()) -> None:
        super().__init__()
        self.embed = nn.Embedding(257, width, padding_idx=0)
        if windows:
            self.convolve = nn.ModuleList(nn.Conv1d(width, width, size, padding=size // 2) for size in windows)
        else:
            self.convolve = nn.Conv1d(width, 2 * width, 3, padding=1)
        self.project = linear(len(windows) * width or 2 * width, dim)

    def start_at_zero(self) -> None:
        nn.init.zeros_(self.project.weight)

    def read(self, sentences: Sequence[Sequence[str]], marks: Marks) -> dict[str, Tensor]:
        """Return the letters of words as tensors.

        bytes: (W, L); the bytes of the W different words, counted from 1, and 0 at padding.
        word: (B, P); the index of each word among the W words. 0, an empty word, at the root and at padding.
        """
        index: dict[str, int] = {"": 0}
        rows = [[index.setdefault(word, len(index)) for word in words] for words in sentences]
        contents = [word.encode("utf-8", "replace") for word in index]
        contents = [c if len(c) <= _LETTERS else c[: _LETTERS // 2] + c[-_LETTERS // 2 :] for c in contents]
        read = np.frombuffer(b"".join(c.ljust(_LETTERS, b"\0") for c in contents), np.uint8).reshape(-1, _LETTERS)
        there = np.arange(_LETTERS) < np.array([*map(len, contents)])[:, None]
        return {"bytes": torch.from_numpy((read + np.int64(1)) * there), "word": _padded(rows, sentences)}

    def forward(self, inputs: Mapping[str, Tensor], x: Tensor) -> Tensor:
        """Return the vectors of words by their letters, (B, P, dim)."""
        letters = inputs["bytes"]
        embedded = self.embed(letters).transpose(1, 2)
        if isinstance(self.convolve, nn.ModuleList):  # a window of even size gives one value more than letters
            found = torch.cat([some(embedded)[..., :_LETTERS] for some in self.convolve], 1).relu()
        else:
            found = self.convolve(embedded).relu()
        found = found * (letters > 0)[:, None].to(found.dtype)  # padding behind a word counts for nothing
        return F.embedding(inputs["word"], self.project(found.amax(2)))


class VectorInput(nn.Module):
    """Pretrained vectors of words from a table: the vectors stay as they are, and a linear layer projects them.

    table: the words and their vectors.
    """

    vectors: Tensor

    def __init__(self, dim: int, table: WordVectors) -> None:
        super().__init__()
        self._index = {word: i for i, word in enumerate(table.words, 1)}
        vectors = torch.from_numpy(table.vectors).float()
        self.register_buffer("vectors", F.pad(vectors, (0, 0, 1, 0)), persistent=False)
        self.project = linear(vectors.size(1), dim)

    def start_at_zero(self) -> None:
        nn.init.zeros_(self.project.weight)

    def read(self, sentences: Sequence[Sequence[str]], marks: Marks) -> dict[str, Tensor]:
        """Return the words as tensors.

        A word that the table lacks is looked up in lower case.

        word: (B, P); rows of the table, counted from 1; 0 for words that are not found.
        """
        rows = [[self._index.get(word) or self._index.get(word.lower(), 0) for word in words] for words in sentences]
        return {"word": _padded(rows, sentences)}

    def forward(self, inputs: Mapping[str, Tensor], x: Tensor) -> Tensor:
        """Return the projected vectors of words, (B, P, dim)."""
        return self.project(F.embedding(inputs["word"], self.vectors).to(x.dtype))


def _padded(rows: Sequence[Sequence[int]], sentences: Sequence[Sequence[str]]) -> Tensor:
    """Return (B, P), with 0 at the root and at padding."""
    padded = np.zeros((len(rows), max(map(len, sentences), default=0) + 1), np.int64)
    for i, row in enumerate(rows):
        padded[i, : len(row)] = row
    return torch.from_numpy(padded)

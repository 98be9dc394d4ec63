"""A file on disk with a float16 vector of each word of many sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from transition_parser.base.errors import input_error
from transition_parser.base.files import alone_in, replacing

CHUNK = 256  # the number of sentences computed at once


class VectorStore:
    """A file of word vectors, (all words, width) float16, of sentences with `lengths` words, written whole."""

    def __init__(self, path: Path, lengths: Sequence[int], width: int) -> None:
        self.path, self.width = path, width
        self.offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        self._bytes = int(self.offsets[-1]) * width * 2

    @property
    def is_filled(self) -> bool:
        """True where the file is there."""
        return self.path.is_file() and self.path.stat().st_size == self._bytes

    def fill(self, compute: Callable[[range], Sequence[np.ndarray]], step: Callable[[int], None]) -> None:
        """Write the file unless it is there. Raises `InputError` if the folder may not be written, or the disk is full.

        compute: returns an array (words, width) for each sentence of a range; step: reports the number of sentences
        added
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with alone_in(self.path.parent):  # all processes of a distributed training call `fill`
                if self.is_filled:
                    return
                with replacing(self.path) as temporary, open(temporary, "wb") as file:
                    for first in range(0, len(self.offsets) - 1, CHUNK):
                        some = range(first, min(first + CHUNK, len(self.offsets) - 1))
                        file.writelines(np.ascontiguousarray(one, np.float16).tobytes() for one in compute(some))
                        step(len(some))
        except OSError as error:
            raise input_error(
                f"{error.strerror or error}: the vectors of {self.offsets[-1]} words need {self._bytes >> 20} MB "
                "(--pretrained-cache names another folder)",
                self.path,
            ) from None

    def batch(self, sentences: Sequence[int]) -> Tensor:
        """Return the vectors of B sentences, (B, P, width) float16, 0 at the root and at padding."""
        shape = int(self.offsets[-1]), self.width
        memory = np.memmap(self.path, np.float16, "r", shape=shape) if self._bytes else None
        lengths = [int(self.offsets[i + 1] - self.offsets[i]) for i in sentences]
        vectors = np.zeros((len(lengths), max(lengths, default=0) + 1, self.width), np.float16)
        for row, i in enumerate(sentences):
            if lengths[row] and memory is not None:
                vectors[row, : lengths[row]] = memory[self.offsets[i] : self.offsets[i + 1]]
        return torch.from_numpy(vectors)

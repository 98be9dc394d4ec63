"""A file on disk with a float16 vector of each word of many sentences, filled step by step."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from transition_parser.base.errors import input_error
from transition_parser.base.files import alone_in, replacing

CHUNK = 256  # the number of sentences computed between two updates of `path.json`


class VectorStore:
    """A file of word vectors, (number of all words, width) float16, that is filled step by step.

    The file `path` holds the vectors. The file `path.json` holds the number of sentences whose vectors are there, so
    that an interrupted `fill` can be continued.
    """

    def __init__(self, path: Path, lengths: Sequence[int], width: int) -> None:
        self.path, self.width = path, width
        self.offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        self._note = path.with_name(path.name + ".json")

    @property
    def done(self) -> int:
        """The number of leading sentences whose vectors are stored; 0 if the files are missing or damaged."""
        try:
            done = json.loads(self._note.read_text(encoding="utf-8"))["done"]
            size = self.path.stat().st_size
        except (OSError, ValueError, KeyError, TypeError):
            return 0
        whole = type(done) is int and 0 <= done < len(self.offsets) and size == self._bytes()
        return done if whole else 0

    def fill(self, compute: Callable[[range], Sequence[np.ndarray]], step: Callable[[int], None]) -> None:
        """Compute the missing vectors.

        Raises `InputError` if the disk is full or may not be written.

        compute: takes a range of sentence indices, and returns an array (words, width) for each sentence
        step: reports progress; called with the number of sentences already stored, then with the size of each chunk
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with alone_in(self.path.parent):  # all processes of a distributed training call `fill`
                self._fill(compute, step)
        except OSError as error:
            raise input_error(
                f"{error.strerror or error}: the vectors of {self.offsets[-1]} words need {self._bytes() >> 20} MB "
                "(--pretrained-cache names another folder)",
                self.path,
            ) from None

    def _fill(self, compute: Callable[[range], Sequence[np.ndarray]], step: Callable[[int], None]) -> None:
        done = self.done
        if not self.path.is_file() or self.path.stat().st_size != self._bytes():
            with replacing(self.path) as temporary, open(temporary, "wb") as file:
                if self._bytes() and hasattr(os, "posix_fallocate"):
                    os.posix_fallocate(file.fileno(), 0, self._bytes())  # a full disk raises now, not after an hour
                else:
                    file.truncate(self._bytes())
        step(done)
        while done < len(self.offsets) - 1:
            some = range(done, min(done + CHUNK, len(self.offsets) - 1))
            vectors = np.concatenate([np.zeros((0, self.width), np.float16), *compute(some)])
            with open(self.path, "r+b") as file:
                file.seek(int(self.offsets[some.start]) * self.width * 2)
                file.write(np.ascontiguousarray(vectors, dtype=np.float16).tobytes())
                file.flush()
                os.fsync(file.fileno())
            done = some.stop
            with replacing(self._note) as temporary:
                temporary.write_text(json.dumps({"done": done}), encoding="utf-8")
            step(len(some))

    def batch(self, sentences: Sequence[int]) -> Tensor:
        """Return the vectors of B sentences, (B, P, width) float16, 0 at the root and at padding."""
        shape = int(self.offsets[-1]), self.width
        memory = np.memmap(self.path, np.float16, "r", shape=shape) if self._bytes() else None
        lengths = [int(self.offsets[i + 1] - self.offsets[i]) for i in sentences]
        vectors = np.zeros((len(lengths), max(lengths, default=0) + 1, self.width), np.float16)
        for row, i in enumerate(sentences):
            if lengths[row] and memory is not None:
                vectors[row, : lengths[row]] = memory[self.offsets[i] : self.offsets[i + 1]]
        return torch.from_numpy(vectors)

    def _bytes(self) -> int:
        return int(self.offsets[-1]) * self.width * 2

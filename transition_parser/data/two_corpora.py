"""Two corpora with different kinds of graphs, whose batches train one encoder."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from fairseq.data import FairseqDataset

from transition_parser.data.dataset import TransitionDataset

ALSO = "also"  # the key that is True in samples and batches of the second corpus


class TwoCorpora(FairseqDataset):
    """The sentences of the first corpus, followed by the sentences of the second. No batch mixes the two corpora."""

    def __init__(self, first: TransitionDataset, second: TransitionDataset) -> None:
        self.corpora = first, second

    def __len__(self) -> int:
        return sum(map(len, self.corpora))

    def _split(self, indices: Sequence[int]) -> list[np.ndarray]:
        indices, first = np.asarray(indices, dtype=np.int64), len(self.corpora[0])
        return [indices[indices < first], indices[indices >= first] - first]

    def _joined(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        return np.concatenate([first, second + len(self.corpora[0])])

    def __getitem__(self, index: int) -> dict:
        first = len(self.corpora[0])
        if index < first:
            return {**self.corpora[0][index], ALSO: False}
        return {**self.corpora[1][index - first], ALSO: True}

    def collater(self, samples: list[dict]) -> dict:
        """Return a batch as `TransitionDataset.collater` does, with `also` in `net_input` for the second corpus."""
        if not samples or not samples[0][ALSO]:
            return self.corpora[0].collater(samples)
        batch = self.corpora[1].collater(samples)
        batch["net_input"][ALSO] = True
        return batch

    # --- fairseq's interface ----------------------------------------------------------------

    def num_tokens_vec(self, indices: np.ndarray) -> np.ndarray:
        """Return `num_tokens` of many sentences of either corpus."""
        sizes = np.zeros(len(indices), dtype=np.int64)
        inside = np.asarray(indices) < len(self.corpora[0])
        first, second = self._split(indices)
        sizes[inside], sizes[~inside] = self.corpora[0].num_tokens_vec(first), self.corpora[1].num_tokens_vec(second)
        return sizes

    def num_tokens(self, index: int) -> int:
        return int(self.num_tokens_vec(np.array([index]))[0])

    def size(self, index: int) -> tuple[int, int]:
        first = len(self.corpora[0])
        return self.corpora[0].size(index) if index < first else self.corpora[1].size(index - first)

    def ordered_indices(self) -> np.ndarray:
        """Return the indices of the first corpus, then of the second, each ordered by length."""
        return self._joined(*(corpus.ordered_indices() for corpus in self.corpora))

    def batch_by_size(self, indices, max_tokens=None, max_sentences=None, required_batch_size_multiple=1):
        """Return the batches of the first corpus, then of the second."""
        first, second = (
            corpus.batch_by_size(some, max_tokens, max_sentences, required_batch_size_multiple)
            for corpus, some in zip(self.corpora, self._split(indices), strict=True)
        )
        return [*first, *(np.asarray(batch) + len(self.corpora[0]) for batch in second)]

    def filter_indices_by_size(self, indices, max_sizes):
        """Return all indices, and an empty list, as `TransitionDataset` does."""
        return indices, []

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch of both corpora."""
        for corpus in self.corpora:
            corpus.set_epoch(epoch)

"""fairseq's dataset of sentences and their derivations (action sequences). Its batches hold the parser states, too."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing.sharedctypes import RawValue
from typing import NamedTuple

import numpy as np
import torch
from fairseq.data import FairseqDataset, data_utils
from torch import Tensor

from transition_parser.base.errors import InputError
from transition_parser.data.resources import Resources
from transition_parser.states.costs import GoldTrees
from transition_parser.states.machine import make_machine
from transition_parser.states.states import TREE, DeviceTable
from transition_parser.states.table import ActionClass
from transition_parser.text.columns import UNKNOWN, Annotations

CACHE_BYTES = 1 << 30
_PIECES = 1  # part of the seed of word splitting, so that masking has other random numbers
ReadWords = Callable[[Sequence[Sequence[str]], Annotations], Mapping[str, Mapping[str, Tensor]]]
TagTargets = Callable[[Annotations, int], dict[str, Tensor]]


class _Known(NamedTuple):
    features: Tensor | None  # (B, P, F); `ActionTable.features` of words and root
    states: dict[str, Tensor] | None  # `States` (B, T, …) before each of T actions
    trees: GoldTrees | None  # in place of `states`, with `trees=True`

    @property
    def bytes(self) -> int:
        tensors = [self.features, *(self.states or {}).values(), *(self.trees or ())]
        return sum(t.numel() * t.element_size() for t in tensors if t is not None)


@dataclass(frozen=True)
class WordData:
    """The annotations of the words of a corpus, and functions that turn annotations into tensors."""

    annotations: Annotations = field(default_factory=dict)  # column → sentence → value of each word
    masked: Mapping[str, float] = field(default_factory=dict)  # column → fraction of sentences, drawn each epoch
    read: ReadWords | None = None  # makes the word inputs of the model besides pieces
    targets: TagTargets | None = None  # makes the targets (B, P, …) of the tag predictors

    def split(self, ids: Sequence[int], seed: int, epoch: int) -> tuple[Annotations, Annotations]:
        """Return the annotations of the sentences `ids` twice: as the model reads them, and as prediction targets."""
        annotations = {name: [column[i] for i in ids] for name, column in self.annotations.items()}
        draws = [np.random.default_rng([seed, epoch, i]).random() for i in ids if self.masked]
        read, rest = dict(annotations), dict(annotations)
        for name, fraction in self.masked.items():
            known = annotations[name]
            unknown = [[UNKNOWN] * len(values) for values in known]
            hidden = [draw < fraction for draw in draws]
            read[name] = [no if hide else yes for yes, no, hide in zip(known, unknown, hidden, strict=True)]
            rest[name] = [yes if hide else no for yes, no, hide in zip(known, unknown, hidden, strict=True)]
        return read, rest


class TransitionDataset(FairseqDataset):
    """fairseq's pairs of piece ids and action ids, 1-D tensors that end in `</s>`, of sentences of normalized words.

    alpha: the probability of leaving out a merge of pieces
    """

    def __init__(
        self,
        resources: Resources,
        words: Sequence[Sequence[str]],
        source: Sequence[Tensor],
        target: Sequence[Tensor],
        annotations: WordData = WordData(),
        *,
        needs: Collection[str] = (),
        trees: bool = False,
        references: Sequence[object] | None = None,
        alpha: float | None = None,
        seed: int = 1,
    ) -> None:
        if len(source) != len(target):
            raise ValueError(
                f"{len(source)} sentences, but {len(target)} derivations: both must come from one run of "
                "`transition-parser preprocess` and `fairseq-preprocess`"
            )
        self.resources, self.annotations = resources, annotations
        self.words, self.source, self.target = words, source, target
        self._lengths = np.array([[*map(len, side)] for side in (source, target)]).T  # (N, 2)
        self.dictionary = resources.source_dictionary
        self.opens = resources.opens_word()
        self.device_table = DeviceTable(resources.table)
        self.needs, self.trees, self.references = needs, trees, references
        self.alpha, self.seed = alpha, seed
        self._epoch = RawValue("q", 1)  # shared memory, because processes that load data live longer than an epoch
        self._cache: dict[tuple[int, ...], _Known] = {}
        self._cached_bytes = 0

    def __len__(self) -> int:
        return len(self.source)

    def __getitem__(self, index: int) -> dict:
        source = self.source[index]
        if self.alpha:
            source = self.resources.sample(self.words[index], self.alpha, self._draws(index))
        return {"id": index, "source": source, "target": self.target[index]}

    def _draws(self, index: int) -> Iterator[float]:
        """Yield the random numbers that sample the pieces of a sentence, the same in any process and order."""
        generator = np.random.default_rng([self.seed, self.epoch, index, _PIECES])
        while True:
            yield from generator.random(64).tolist()

    def collater(self, samples: list[dict]) -> dict:
        """Return fairseq's batch: `id`, `nsentences`, `ntokens`, `net_input` and `target`."""
        if not samples:
            return {}
        source, target = self._collated(samples, "source"), self._collated(samples, "target")
        ids = [int(s["id"]) for s in samples]
        known = self._known(ids, source, target)
        net_input = {
            "src_tokens": source,
            "src_lengths": torch.tensor([len(s["source"]) for s in samples]),
            "prev_output_tokens": self._collated(samples, "target", move_eos_to_beginning=True),
            "states": known.states,
            "trees": None if known.trees is None else known.trees._asdict(),
        }
        batch = {
            "id": torch.tensor(ids),
            "nsentences": len(samples),
            "ntokens": int((target != self.dictionary.pad()).sum()),
            "net_input": net_input,
            "target": target,
        }
        if known.features is not None:
            net_input["features"] = known.features
        read, rest = self.annotations.split(ids, self.seed, self.epoch)
        if self.annotations.read is not None:
            net_input["words"] = self.annotations.read([self.words[i] for i in ids], read)
        if self.annotations.targets is not None:
            wide = int(self.opens[source].sum(1).max()) + 1  # one more for the artificial root
            batch["tags"] = self.annotations.targets(rest, wide)
        if self.references is not None:
            batch["references"] = [(self.words[i], self.references[i]) for i in ids]
        return batch

    def _known(self, ids: list[int], source: Tensor, target: Tensor) -> _Known:
        """Return the parts of a batch that do not depend on the epoch, cached: fairseq's batches stay the same."""
        key = tuple(ids)
        if key in self._cache:
            return self._cache[key]
        words = [self.words[i] for i in ids]
        features, needs = self.resources.features_of(words), TREE if self.trees else self.needs
        machine = make_machine(self.device_table, self.opens[source].sum(1), features, needs)
        if self.trees:
            states = machine.last_states(target)
            finished = states.columns[:, -1, ActionClass.END]
            if self.references is None and not bool(finished.all()):
                raise ValueError(
                    f"the actions of sentence {ids[int((~finished).nonzero()[0, 0])]} do not build its tree: were "
                    "the sentences and actions made by one `transition-parser preprocess`?"
                )
            known = _Known(features, None, GoldTrees.of_last(states))
        else:
            known = _Known(features, machine.unroll(target).tensors(), None)
        if self._cached_bytes + known.bytes <= CACHE_BYTES:
            self._cached_bytes += known.bytes
            self._cache[key] = known
        return known

    def _collated(self, samples: list[dict], side: str, **options) -> Tensor:
        pad, eos = self.dictionary.pad(), self.dictionary.eos()
        return data_utils.collate_tokens([sample[side] for sample in samples], pad, eos, **options)

    # --- fairseq's interface ----------------------------------------------------------------

    def num_tokens(self, index: int) -> int:
        """Return the greater of source and target length, for batching by `--max-tokens`."""
        return max(self.size(index))

    def num_tokens_vec(self, indices: np.ndarray) -> np.ndarray:
        return self._lengths[indices].max(1)

    def size(self, index: int) -> tuple[int, int]:
        source, target = self._lengths[index].tolist()
        return source, target

    def ordered_indices(self) -> np.ndarray:
        """Return the indices by length, in random order within one length by `seed` alone, also after resuming."""
        order = np.random.default_rng(self.seed).permutation(len(self))
        return order[np.argsort(self.num_tokens_vec(order), kind="mergesort")]

    def batch_by_size(self, indices, max_tokens=None, max_sentences=None, required_batch_size_multiple=1):
        """Return the indices, in their order, as the largest batches within both limits.

        The tokens of a batch are its sentences times the longest; a sentence of more than `max_tokens` is a batch by
        itself. The size of a batch is less than `required_batch_size_multiple`, or a multiple of it. fairseq's function
        makes the same batches, but leaves out the last, and has to be compiled.
        """
        if not len(indices):
            raise InputError("the data hold no sentences")
        most_tokens, most_sentences = max_tokens or np.inf, max_sentences or np.inf
        lengths, ends = self.num_tokens_vec(indices).tolist(), [0]
        while ends[-1] < len(lengths):
            start, size, longest = ends[-1], 0, lengths[ends[-1]]
            while not size or (size < most_sentences and (size + 1) * longest <= most_tokens):
                size += 1
                if start + size == len(lengths):
                    break
                longest = max(longest, lengths[start + size])
            ends.append(start + size - size % required_batch_size_multiple * (size > required_batch_size_multiple))
        return np.split(np.asarray(indices), ends[1:-1])

    @property
    def sizes(self) -> np.ndarray:
        return self._lengths

    def filter_indices_by_size(self, indices, max_sizes):
        """Return all indices, and an empty list: fairseq would leave out sentences longer than `--max-tokens`."""
        return indices, []

    @property
    def epoch(self) -> int:
        return self._epoch.value

    def set_epoch(self, epoch: int) -> None:
        self._epoch.value = epoch

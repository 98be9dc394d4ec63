"""Sentences with their derivations, as batches that hold the parser states too."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import torch
from fairseq.data import FairseqDataset, data_utils
from torch import Tensor

from transition_parser.data.resources import Resources
from transition_parser.states.batched import unroll
from transition_parser.states.correct import GoldTrees
from transition_parser.states.device_table import DeviceTable
from transition_parser.states.machine import make_machine
from transition_parser.states.states import TREE
from transition_parser.text.columns import UNKNOWN, Marks
from transition_parser.transitions.spec import Column

CACHE_BYTES = 1 << 30
_PIECES = 1  # seeds word splitting with other random numbers than the hiding of tags
ReadWords = Callable[[Sequence[int], Sequence[Sequence[str]], Marks], Mapping[str, Mapping[str, Tensor]]]
TagTargets = Callable[[Marks, int], dict[str, Tensor]]


class _Known(NamedTuple):
    """The parts of a batch that are the same in all epochs.

    features: features of the words (`ActionTable.features`)
    states: the `States` of the derivations, by field
    trees: the trees that the derivations build, where trees are asked for
    """

    features: Tensor | None
    states: dict[str, Tensor] | None
    trees: GoldTrees | None

    @property
    def bytes(self) -> int:
        """The size in memory, in bytes."""
        tensors = [self.features, *(self.states or {}).values(), *(self.trees or ())]
        return sum(t.numel() * t.element_size() for t in tensors if t is not None)


class TransitionDataset(FairseqDataset):
    """Pairs of piece ids and action ids; for parsing, the actions may be missing.

    sources, targets: indexable, 1-D id tensors that end in `</s>`
    alpha: the probability with which merges of pieces are left out, drawn anew each epoch (BPE-dropout, Provilkov et
        al. 2020); None: pieces are not sampled
    references: gold graphs, which batches hold as they are
    needs: the fields of `States` that the model reads
    read_words: makes the word inputs beside pieces from the numbers, the normalised words and the marks of some
        sentences
    marks: the columns of values of the sentences
    tag_targets: makes the targets of the tag predictors from marks
    hidden: column that the model reads → fraction of sentences in which the column is masked, drawn anew each epoch; a
        value that the model can read is not a prediction target
    trees: True for batches that have the gold trees as `trees`, in place of the states before each action
    """

    def __init__(
        self,
        sources: Sequence[Tensor],
        source_sizes: np.ndarray,
        targets: Sequence[Tensor] | None,
        target_sizes: np.ndarray | None,
        resources: Resources,
        alpha: float | None = None,
        seed: int = 1,
        shuffle: bool = True,
        references: Sequence[object] | None = None,
        needs: Collection[str] = (),
        read_words: ReadWords | None = None,
        marks: Marks = MappingProxyType({}),
        tag_targets: TagTargets | None = None,
        hidden: Mapping[str, float] = MappingProxyType({}),
        trees: bool = False,
    ) -> None:
        if targets is not None and len(sources) != len(targets):
            raise ValueError(f"{len(sources)} sentences, but {len(targets)} derivations")
        self.sources, self.targets = sources, targets
        self.source_sizes, self.target_sizes = source_sizes, target_sizes
        self.resources = resources
        self.dictionary = resources.source_dictionary
        self.opens = resources.opens_word()
        self.device_table = DeviceTable.of(resources.table)
        self.alpha, self.seed, self.shuffle, self.references = alpha, seed, shuffle, references
        self.needs, self.read_words, self.trees = needs, read_words, trees
        self.marks, self.tag_targets, self.hidden, self.epoch = marks, tag_targets, hidden, 1
        self._cache: dict[tuple[int, ...], _Known] = {}
        self._cached_bytes = 0
        self.words = [resources.words(source.tolist()) for source in sources] if alpha else None

    def __len__(self) -> int:
        return len(self.sources)

    def __getitem__(self, index: int) -> dict:
        source = self.sources[index]
        if self.words:
            source = self.resources.sample(self.words[index], self.alpha, self._draws(index))
        return {
            "id": index,
            "source": source,
            "target": None if self.targets is None else self.targets[index],
        }

    def _draws(self, index: int) -> Iterator[float]:
        """Yield the random numbers that split the words of a sentence.

        The numbers do not depend on the process or on the order in which sentences are read.
        """
        generator = np.random.default_rng([self.seed, self.epoch, index, _PIECES])
        while True:
            yield from generator.random(64).tolist()

    def collater(self, samples: list[dict]) -> dict:
        """Return fairseq's batch: `id`, `nsentences`, `ntokens`, `net_input` and `target`.

        The batch also has `references`, `tags` and `trees` where the dataset has gold graphs, tag targets or gold
        trees.
        """
        if not samples:
            return {}
        source = self._collated(samples, "source")
        net_input = {
            "src_tokens": source,
            "src_lengths": torch.tensor([len(s["source"]) for s in samples]),
        }
        batch = {
            "id": torch.tensor([s["id"] for s in samples]),
            "nsentences": len(samples),
            "ntokens": int(net_input["src_lengths"].sum()),
            "net_input": net_input,
            "target": None,
        }
        target = None if self.targets is None else self._collated(samples, "target")
        known = self._known(batch["id"].tolist(), source, target)
        if known.features is not None:
            net_input["features"] = known.features
        marks = {name: [column[s["id"]] for s in samples] for name, column in self.marks.items()}
        read, rest = self._hide(marks, [s["id"] for s in samples])
        if self.read_words is not None:
            words = [self.resources.words(tokens) for tokens in source.tolist()]
            net_input["words"] = self.read_words(batch["id"].tolist(), words, read)
        if self.tag_targets is not None:
            wide = int(self.opens[source].sum(1).max()) + 1  # one more for the artificial root
            batch["tags"] = self.tag_targets(rest, wide)
        if self.references is not None:
            batch["references"] = [self.references[s["id"]] for s in samples]
        if target is not None:
            net_input["prev_output_tokens"] = self._collated(samples, "target", move_eos_to_beginning=True)
            net_input["states"] = known.states
            batch["target"] = target
            if known.trees is not None:
                batch["trees"] = known.trees._asdict()
            batch["ntokens"] = int((target != self.dictionary.pad()).sum())
        return batch

    def _hide(self, marks: Marks, ids: Sequence[int]) -> tuple[Marks, Marks]:
        """Return the marks that the model can read, and the marks that it has to predict, of some sentences."""
        draws = [np.random.default_rng([self.seed, self.epoch, index]).random() for index in ids if self.hidden]
        read, rest = dict(marks), dict(marks)
        for name, share in self.hidden.items():
            hide = [draw < share for draw in draws]
            read[name] = [_unknown(v) if h else v for v, h in zip(marks[name], hide, strict=True)]
            rest[name] = [v if h else _unknown(v) for v, h in zip(marks[name], hide, strict=True)]
        return read, rest

    def _known(self, ids: list[int], source: Tensor, target: Tensor | None) -> _Known:
        """Return the parts of a batch that do not depend on the epoch or on the split into pieces.

        fairseq's batches stay the same from epoch to epoch, so these parts are made once where memory allows. With
        `--num-workers 0` they cost nothing from the second epoch on; other workers begin anew in each epoch.
        """
        key = tuple(ids)
        if key in self._cache:
            return self._cache[key]
        features, states, trees = self.resources.features(source), None, None
        if target is not None:
            needs = TREE if self.trees else self.needs
            machine = make_machine(self.device_table, self.opens[source].sum(1), features, needs)
            unrolled = unroll(machine, target)
            if self.trees:
                _check_finished(unrolled.columns[:, -1, Column.END], ids)
                trees = GoldTrees.of_last(unrolled)
            else:
                states = unrolled.tensors()
        known = _Known(features, states, trees)
        if self._cached_bytes + known.bytes <= CACHE_BYTES:
            self._cached_bytes += known.bytes
            self._cache[key] = known
        return known

    def _collated(self, samples: list[dict], side: str, **options) -> Tensor:
        pad, eos = self.dictionary.pad(), self.dictionary.eos()
        return data_utils.collate_tokens([sample[side] for sample in samples], pad, eos, **options)

    # --- fairseq's interface ----------------------------------------------------------------

    def num_tokens(self, index: int) -> int:
        """Return the longer of source and target length, for batching by `--max-tokens`."""
        return int(max(self.size(index)))

    def num_tokens_vec(self, indices: np.ndarray) -> np.ndarray:
        """Return `num_tokens` of many sentences."""
        sizes = self.source_sizes[indices]
        return sizes if self.target_sizes is None else np.maximum(sizes, self.target_sizes[indices])

    def size(self, index: int) -> tuple[int, int]:
        """Return the numbers of pieces and of actions, each with `</s>`; 0 actions where there are no derivations."""
        target = 0 if self.target_sizes is None else self.target_sizes[index]
        return int(self.source_sizes[index]), int(target)

    def ordered_indices(self) -> np.ndarray:
        """Return the indices ordered by length, in random order within one length.

        The order depends on the seed alone. fairseq seeds numpy by the epoch in which training was started or resumed,
        so that resumed training would have other batches.
        """
        order = np.random.default_rng(self.seed).permutation(len(self)) if self.shuffle else np.arange(len(self))
        return order[np.argsort(self.num_tokens_vec(order), kind="mergesort")]

    def batch_by_size(self, indices, max_tokens=None, max_sentences=None, required_batch_size_multiple=1):
        """Return fairseq's batches, and one more with the sentences that fairseq leaves out.

        fairseq leaves out the last batch where its size is no multiple of `required_batch_size_multiple`. The longest
        sentences would then never be trained on, validated or parsed.
        """
        batches = list(super().batch_by_size(indices, max_tokens, max_sentences, required_batch_size_multiple))
        rest = np.asarray(indices)[sum(map(len, batches)) :]
        return [*batches, rest] if len(rest) else batches

    @property
    def sizes(self) -> np.ndarray:
        """The lengths of sources and targets, (sentences, 2), or of sources alone, (sentences,)."""
        if self.target_sizes is None:
            return self.source_sizes
        return np.stack([self.source_sizes, self.target_sizes], 1)

    def filter_indices_by_size(self, indices, max_sizes):
        """Return the indices without sentences that are longer than `max_sizes`, and the indices that are left out."""
        return data_utils.filter_paired_dataset_indices_by_size(
            self.source_sizes, self.target_sizes, indices, max_sizes
        )

    @property
    def supports_prefetch(self) -> bool:
        return False

    @property
    def can_reuse_epoch_itr_across_epochs(self) -> bool:
        return True

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch, which changes the sampled segmentations and the hidden tags, in the same way for the same
        seed."""
        self.epoch = epoch


def _check_finished(finished: Tensor, ids: Sequence[int]) -> None:
    """Raise `ValueError` where the actions of a sentence build no tree.

    finished: (B,) bool, True for derivations that end legally
    """
    if not bool(finished.all()):
        sentence = ids[int((~finished).nonzero()[0, 0])]
        raise ValueError(
            f"the actions of sentence {sentence} do not build its tree: were the sentences and actions made by one "
            "`transition-parser preprocess`?"
        )


def _unknown(values: Sequence[str]) -> list[str]:
    return [UNKNOWN] * len(values)

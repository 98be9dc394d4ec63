"""Training of segmenters: the network that divides raw text into sentences and tokens as a treebank does."""

from __future__ import annotations

import os
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from transition_parser.base.errors import input_error
from transition_parser.base.process import progress
from transition_parser.graphs.conllu import Sentence, read_conllu
from transition_parser.modules.boundaries import BoundaryNetwork, EncoderPieces, NetworkLabeler, flags_of
from transition_parser.preprocess.dependency import balanced
from transition_parser.text.characters import EDGE, UNKNOWN, Characters, Clusters
from transition_parser.text.columns import domain_of
from transition_parser.text.learned_segmentation import (
    Habits,
    LearnedSegmenter,
    MultiWords,
    WrittenSentence,
    WrittenToken,
    labeled,
)

Paths = Sequence[str | os.PathLike]
_WINDOW, _WINDOWS = 500, 2  # the number of characters in a window, and of windows in a batch
_SEED = 1
_HIDDEN = 0.02  # probability of replacing a character by `UNKNOWN`; its Unicode category stays
_PARAGRAPH_BREAK = 0.05  # probability of a paragraph end where the treebank has none
_CHARACTERS_SEEN, _MOST_EPOCHS = 6_000_000, 150
_LEAST_EPOCHS, _SIZE = {False: 10, True: 20}, {False: 64, True: 96}  # of one domain, of several


@dataclass(frozen=True)
class SegmenterOptions:
    """The options of training a segmenter."""

    epochs: int | None = None  # by default enough for about 6 million characters, from 10 (several domains: 20) to 150
    size: int | None = None  # of the network's layers, by default 64 (several domains: 96)
    layers: int = 6
    dropout: float = 0.1
    decay: float = 0.998  # of the running mean of the weights (Polyak averaging), which becomes the segmenter
    rate: float = 3e-3  # the largest learning rate
    pretrained: str | None = None  # the encoder whose pieces help where no blanks are between words, if in four bits


def train_segmenter(
    sentences: Sequence[WrittenSentence], options: SegmenterOptions = SegmenterOptions()
) -> LearnedSegmenter:
    """Return a segmenter that divides text as a treebank does, or the treebank of each domain."""
    shown = [*filter(None, map(_shown, sentences))]
    known = Characters.of_texts(map(_text, shown))
    by_domain: dict[str | None, list[WrittenSentence]] = {}
    for sentence in sentences:
        by_domain.setdefault(sentence.domain, []).append(sentence)
    if len(by_domain) > 1:
        sizes = [sum(len(sentence.tokens) for sentence in some) for some in by_domain.values()]
        shown = [*filter(None, map(_shown, balanced([*by_domain.values()], sizes)))]
    joins = any(_joins_words([*filter(None, map(_shown, some))]) for some in by_domain.values())
    pieces = EncoderPieces.of(options.pretrained) if joins else None
    domains = [] if None in by_domain else [*by_domain]
    size = options.size or _SIZE[bool(domains)]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(_SEED)
        table = pieces and pieces.table
        network = BoundaryNetwork(len(known), size, options.layers, options.dropout, table, len(domains))
        mean = AveragedModel(network, multi_avg_fn=get_ema_multi_avg_fn(options.decay))
        labeler = NetworkLabeler(mean.module, known, pieces, domains)
        corpus = _Corpus(shown, labeler)
        epochs = options.epochs or min(max(_CHARACTERS_SEEN // corpus.size, _LEAST_EPOCHS[bool(domains)]), _MOST_EPOCHS)
        optimizer = torch.optim.Adam(network.parameters(), options.rate)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
        for _epoch in progress(range(epochs), "training the segmenter", epochs):
            for batch in corpus.batches():
                optimizer.zero_grad()
                _loss(network(batch.ids, batch.kinds, batch.codes, batch.domains), batch).backward()
                torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
                optimizer.step()
                mean.update_parameters(network)
            schedule.step()
    return LearnedSegmenter(labeler, {domain: _habits(some) for domain, some in by_domain.items()})


def _habits(sentences: Iterable[WrittenSentence]) -> Habits:
    tokens = [token for sentence in sentences for token in sentence.tokens]
    examples = ((" ".join(t.form.split()), t.words) for t in tokens if len(t.words) > 1)
    return Habits(MultiWords.of_examples(examples), any(len(token.form.split()) > 1 for token in tokens))


def _joins_words(sentences: Iterable[WrittenSentence]) -> bool:
    """Return True where more than a twentieth of the tokens end between letters, as in Chinese."""
    pairs = [pair for sentence in sentences for pair in pairwise(sentence.tokens)]
    joined = sum(not one.space_after and (one.form[-1] + other.form[0]).isalpha() for one, other in pairs)
    return joined > len(pairs) / 20


class _Batch(NamedTuple):
    """B windows of T characters of training text; `context` characters on each side have no label to learn."""

    ids: Tensor  # (B, T) long, the numbers of the characters
    kinds: Tensor  # (B, T) long, the numbers of their Unicode categories
    codes: Tensor  # (B, T) long, the codes of their pieces
    domains: Tensor  # (B, T) long, the numbers of their domains, −1 for none
    flags: Tensor  # (B, T − 2 context, 3) float, 1 where a character has the flag END, SEVERAL or SENTENCE
    counts: Tensor  # (B, T − 2 context) float, 1 where a character has a label, 0 at white space and edges


def _loss(scores: Tensor, batch: _Batch) -> Tensor:
    """Return the loss of a batch. The flags SEVERAL and SENTENCE count only where a token ends."""
    losses = binary_cross_entropy_with_logits(scores, batch.flags, reduction="none")
    others = losses[..., 1:].sum(-1) * batch.flags[..., 0]
    return ((losses[..., 0] + others) * batch.counts).sum() / batch.counts.sum().clamp(min=1)


class _Corpus:
    """The training text. Paragraph ends, windows and hidden characters are drawn anew in each epoch."""

    def __init__(self, sentences: Sequence[WrittenSentence], labeler: NetworkLabeler) -> None:
        self._context, self._random = labeler.network.context, random.Random(_SEED)
        self._parts = [_part(sentence, labeler) for sentence in sentences]
        self._opens = [sentence.opens_paragraph for sentence in sentences[1:]] + [True]
        edge = torch.zeros(self._context)
        self._edges = (
            edge.long() + EDGE, edge.long() + EDGE, edge.long(), edge.long() - 1, edge[:, None].expand(-1, 3), edge,
        )  # fmt: skip

    @property
    def size(self) -> int:
        """The number of characters."""
        return sum(len(part[0]) for part in self._parts)

    def batches(self) -> Iterator[_Batch]:
        """Yield the batches of an epoch in random order."""
        ids, kinds, codes, domains, flags, counts = self._stream()
        ids = torch.where(torch.rand(len(ids)) < _HIDDEN, torch.where(ids == EDGE, EDGE, UNKNOWN), ids)
        inner, around = _WINDOW, _WINDOW + 2 * self._context
        starts = torch.arange(0, len(ids) - around + 1, inner)
        for some in starts[torch.randperm(len(starts))].split(_WINDOWS):
            read, told = some[:, None] + torch.arange(around), some[:, None] + torch.arange(inner) + self._context
            yield _Batch(ids[read], kinds[read], codes[read], domains[read], flags[told], counts[told])

    def _stream(self) -> list[Tensor]:
        """Return the tensors of a `_Batch` for the whole text, with `EDGE` around paragraphs and at the end."""
        pieces = [self._edges]
        for part, opens in zip(self._parts, self._opens, strict=True):
            if opens or self._random.random() < _PARAGRAPH_BREAK:
                size = len(part[0]) - int(part[-1][-1] == 0)  # without the blank after the sentence
                pieces += (tuple(tensor[:size] for tensor in part), self._edges)
            else:
                pieces.append(part)
        pieces += [self._edges] * (2 + _WINDOW // self._context)
        first = self._random.randrange(self._context)  # so that windows begin elsewhere in each epoch
        return [torch.cat(tensors)[first:] for tensors in zip(*pieces, strict=True)]


def _part(sentence: WrittenSentence, labeler: NetworkLabeler) -> tuple[Tensor, ...]:
    """Return the tensors of a `_Batch` of a sentence, with the blank after it if there is one."""
    ((_text_only, labels),) = labeled([sentence])
    text = _text(sentence)
    counts = torch.tensor([character != " " for character in text])
    flags = torch.zeros(len(text), 3)
    flags[counts] = flags_of(labels)
    domain = -1 if sentence.domain is None else labeler.domains.index(sentence.domain)
    domains = torch.full((len(text),), domain)
    return *map(torch.tensor, labeler.inputs(text)), domains, flags, counts.float()


def _shown(sentence: WrittenSentence) -> WrittenSentence | None:
    """Return a sentence with the shown forms that the network reads (`Clusters`), None where nothing shows."""
    shown = (token._replace(form=Clusters.of(token.form).shown) for token in sentence.tokens)
    tokens = tuple(token for token in shown if token.form.strip())
    return sentence._replace(tokens=tokens) if tokens else None


def _text(sentence: WrittenSentence) -> str:
    """Return the text of a sentence with one blank for each run of white space."""
    return "".join(" ".join(token.form.split()) + " " * token.space_after for token in sentence.tokens)


def written_sentences(paths: Paths) -> list[WrittenSentence]:
    """Return the sentences of CoNLL-U files, each with its domain where there are several.

    Raises `InputError` for malformed files.
    """
    several = len(paths) > 1
    return [
        _written(sentence, path, domain_of(path) if several else None)
        for path in paths
        for sentence in read_conllu(path)
    ]


def _written(sentence: Sentence, path: str | os.PathLike, domain: str | None) -> WrittenSentence:
    tokens = [
        WrittenToken(row.form, tuple(word.form for word in words), row.space_after)
        for row, words in sentence.token_rows()
    ]
    if not all(token.form.strip() for token in tokens):
        raise input_error("a token is white space: a segmenter can't learn it", path, sentence.line, sentence.id)
    return WrittenSentence(tuple(tokens), sentence.opens_paragraph, domain)

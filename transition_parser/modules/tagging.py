"""The annotation columns that models predict, such as UPOS and FEATS, trained along with the parser.

Id 0 stands for no label. Shapes: B sentences, P or `wide` positions (words of the longest sentence, and the root).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transition_parser.modules.layers import HiddenLayer, linear, of_rows
from transition_parser.modules.words import WordOptions
from transition_parser.text.columns import ABSENT, DOMAIN, KNOWN, LEMMA, UNKNOWN, UPOS, Annotations, Columns, predicted

_FAR = float("-inf")
UNUSUAL = 3.0  # by how many nats a label that a word has in training may be less likely than the best label
HIDDEN_DROPOUT = 0.1  # of the hidden layers of `TagHeads`


def preferred(scores: Tensor, usual: Tensor) -> Tensor:
    """Return the scores (…, V) of labels, −inf but for usual ones, (…, V) bool, where one of them is likely enough.

    That is where it is less likely than the best label by at most `UNUSUAL` nats.
    """
    usual = usual & (scores > scores.amax(-1, keepdim=True) - UNUSUAL)
    return scores.masked_fill(~usual & usual.any(-1, keepdim=True), _FAR)


class LabelLoss(NamedTuple):
    """The loss of a column, summed over words, in nats; the number of right predictions, and of words with a target."""

    loss: Tensor
    right: Tensor
    words: Tensor


class OneLabel:
    """A column with one label for each word: one softmax over the labels."""

    def __init__(self, columns: Columns, name: str) -> None:
        self.name, self.columns = name, columns
        self._values = (UNKNOWN, *(UNKNOWN if value == ABSENT else value for value in columns.values[name]))

    def targets(self, sentences: Sequence[Sequence[str]], wide: int) -> Tensor:
        """Return the target ids (B, wide); 0 at the root, at padding, and for values that training has not seen."""
        rows = [self.columns.ids(self.name, values) for values in sentences]
        return torch.tensor([[*ids, *[0] * (wide - len(ids))] for ids in rows])

    def scores(self, scores: Tensor, legal: Tensor | None = None) -> Tensor:
        """Return the scores (…, labels) as floats, −inf for id 0 and for labels that are not legal."""
        scores = F.pad(scores[..., 1:].float(), (1, 0), value=_FAR)
        return scores if legal is None else scores.masked_fill(~legal, _FAR)

    def loss(self, scores: Tensor, target: Tensor) -> LabelLoss:
        """Return the cross-entropy of scores (B, P, labels), for the words whose target, (B, P), is not 0."""
        known = target > 0
        scores, target = scores[known].float(), target[known]
        scores[:, 0] = _FAR
        loss = F.cross_entropy(scores, target, reduction="sum")
        return LabelLoss(loss, (scores.argmax(-1) == target).sum(), known.sum())

    def best(self, scores: Tensor, legal: Tensor | None = None) -> Tensor:
        """Return the ids (B, P) of the best labels; the root and padding get ids, too."""
        return self.scores(scores, legal).argmax(-1)

    def values(self, ids: Sequence[Any]) -> list[str]:
        """Return the value of each word, `_` for id 0 and for "absent"."""
        return [self._values[i] for i in ids]


class RankedLabels(OneLabel):
    """A column with several labels for each word: at most `most` of the best, within `margin` nats, best first."""

    most, margin = 8, UNUSUAL

    def best(self, scores: Tensor, legal: Tensor | None = None) -> Tensor:
        """Return ids (B, P, K), best first, then 0, for K ≤ `most`; see `OneLabel.best`."""
        best, ids = self.scores(scores, legal).topk(min(self.most, scores.size(-1) - 1), -1)
        return ids * (best > best[..., :1] - self.margin)

    def values(self, ids: Sequence[Any]) -> list[str]:
        return [" ".join(self._values[i] for i in of_word if i) or UNKNOWN for of_word in ids]


class LabelSet:
    """A column of sets of labels (`Case=Nom`): for each attribute a softmax over its labels and "absent" (score 0)."""

    def __init__(self, columns: Columns, name: str) -> None:
        self.name, self.columns, self._column = name, columns, KNOWN[name]
        blocks: dict[str, list[int]] = {}
        for id_, label in enumerate(columns.values[name], 1):
            blocks.setdefault(label.partition("=")[0], [0]).append(id_)
        gap, wide = columns.count(name), max(map(len, blocks.values()), default=1)
        # a row for each attribute: 0 for "absent", then the ids of its labels, then `gap` as padding
        rows = [[*ids, *[gap] * (wide - len(ids))] for ids in blocks.values()]
        self._blocks = torch.tensor(rows, dtype=torch.long).view(len(rows), wide)
        self._places = {ids[k]: (row, k) for row, ids in enumerate(blocks.values()) for k in range(1, len(ids))}
        self._targets: dict[str, list[int]] = {}
        self._values: dict[tuple[int, ...], str] = {}

    def targets(self, sentences: Sequence[Sequence[str]], wide: int) -> Tensor:
        """Return the targets (B, wide, attributes): 0 for "absent", or the number of the attribute's label."""
        nothing = self._target(UNKNOWN)
        rows = [[*map(self._target, values), *[nothing] * (wide - len(values))] for values in sentences]
        return torch.tensor(rows, dtype=torch.long).view(len(rows), wide, len(self._blocks))

    def _target(self, value: str) -> list[int]:
        found = self._targets.get(value)
        if found is None:
            ids = [] if value == UNKNOWN else self.columns.ids(self.name, self._column.labels(value))
            known = value != UNKNOWN and 0 not in ids
            found = [0 if known else -1] * len(self._blocks)
            for row, place in map(self._places.__getitem__, ids if known else ()):
                found[row] = place
            self._targets[value] = found
        return found

    def scores(self, scores: Tensor) -> Tensor:
        """Return (…, attributes, places) as floats from (…, labels): "absent", the attribute's labels, then −inf."""
        scores = scores[..., 1:].float()
        edge = scores.new_zeros(*scores.shape[:-1], 1)
        blocks = self._blocks.to(scores.device)
        return torch.cat([edge, scores, edge + _FAR], -1).index_select(-1, blocks.flatten()).unflatten(-1, blocks.shape)

    def loss(self, scores: Tensor, target: Tensor) -> LabelLoss:
        """Return the negative log-likelihood of the sets, targets (B, P, attributes); right are whole sets."""
        scores = self.scores(scores)
        loss = F.cross_entropy(scores.flatten(0, 2), target.flatten(), ignore_index=-1, reduction="sum")
        return LabelLoss(loss, (scores.argmax(-1) == target).all(-1).sum(), (target >= 0).all(-1).sum())

    def best(self, scores: Tensor, legal: Tensor | None = None) -> Tensor:
        """Return the label ids (B, P, attributes) of the best set, 0 for absent; see `OneLabel.best`."""
        if legal is not None:
            scores = scores.masked_fill(~legal, _FAR)
        places = self.scores(scores).argmax(-1, keepdim=True)
        return self._blocks.to(scores.device).expand(*places.shape[:-1], -1).gather(-1, places).squeeze(-1)

    def values(self, ids: Sequence[Any]) -> list[str]:
        for of_word in map(tuple, ids):
            if of_word not in self._values:
                labels = self.columns.of_ids(self.name, [i for i in of_word if i])
                self._values[of_word] = self._column.value(labels)
        return [self._values[tuple(of_word)] for of_word in ids]


class RankedSets(LabelSet):
    """A column of sets of labels whose sets in training are known: some of those of the word's tag, best first.

    Like `RankedLabels`, it gives at most `most` sets, within `margin` nats.
    """

    most, margin = RankedLabels.most, RankedLabels.margin

    def __init__(self, columns: Columns, name: str) -> None:
        super().__init__(columns, name)
        self._ids: dict[str, int] = {}  # set → id, in the order of the first use
        self._sets: dict[int, dict[str, list[str]]] = {}  # domain, by id → `Columns.sets_of_tags`
        self._choices: dict[tuple[int, int], tuple[Tensor, Tensor]] = {}

    def best_of_tags(self, scores: Tensor, tags: Tensor, domains: Tensor | None) -> Tensor:
        """Return the ids (B, P, K) of the best sets of each word, best first, then 0, for K ≤ `most`.

        scores: (B, P, labels); tags: (B, P), ids of UPOS; domains: (B,)
        """
        scores = F.pad(scores[..., 1:].float(), (1, 0))  # "absent" has the score 0
        domains = torch.zeros(len(tags), dtype=torch.long, device=tags.device) if domains is None else domains
        best = torch.zeros(*tags.shape, self.most, dtype=torch.long, device=tags.device)
        keys = torch.stack([domains[:, None].expand_as(tags), tags], -1)
        for domain, tag in keys.flatten(0, 1).unique(dim=0).tolist():
            there = (tags == tag) & (domains == domain)[:, None]
            ids, labels = (one.to(tags.device) for one in self._choices_of(domain, tag))
            some, places = scores[there][:, labels].sum(-1).topk(min(self.most, len(ids)), -1)
            best[..., : places.size(-1)][there] = ids[places] * (some > some[:, :1] - self.margin)
        return best

    def _choices_of(self, domain: int, tag: int) -> tuple[Tensor, Tensor]:
        """Return the ids (K,) of the sets of a tag in a domain, and the ids (K, L) of their labels, then 0."""
        if (domain, tag) not in self._choices:
            (name,) = self.columns.of_ids(UPOS, [tag])
            values = self._of_domain(domain).get(name) or self._of_domain(0).get(name) or [ABSENT]
            ids = [self._ids.setdefault(value, len(self._ids) + 1) for value in values]
            labels = [torch.tensor(self.columns.ids(self.name, self._column.labels(value))) for value in values]
            padded = nn.utils.rnn.pad_sequence([one.long() for one in labels], batch_first=True)
            self._choices[domain, tag] = torch.tensor(ids), padded
        return self._choices[domain, tag]

    def _of_domain(self, domain: int) -> dict[str, list[str]]:
        if domain not in self._sets:
            name = self.columns.of_ids(DOMAIN, [domain])[0] if domain else None
            self._sets[domain] = self.columns.of_domain(name).sets_of_tags()
        return self._sets[domain]

    def values(self, ids: Sequence[Any]) -> list[str]:
        names = (UNKNOWN, *self._ids)
        return [" ".join(names[i] for i in of_word if i) for of_word in ids]


def seen_labels(columns: Columns, name: str) -> Tensor | None:
    """Return (tags, labels) bool: True for labels that training has seen with a UPOS tag; None if unknown."""
    if name not in columns.seen:
        return None
    seen = torch.zeros(columns.count(UPOS), columns.count(name), dtype=torch.bool)
    seen[0] = True
    seen[torch.tensor(columns.ids_seen(name), dtype=torch.long).view(-1, 2).unbind(1)] = True
    return seen


# (number of a sentence, the UPOS tags of its words) → True for each word whose lemma needs no prediction
Settled = Callable[[int, Sequence[str]], Sequence[bool]]


class Predicted(NamedTuple):
    """The predicted columns of each sentence, and the ids (B, P) of the words' UPOS tags, predicted or known."""

    tags: list[Tags]
    upos: Tensor


Tags = dict[str, Any]  # column → the value of each word of a sentence; of a semantic role labeler its `Readings`


class TagHeads(nn.ModuleDict):
    """A linear layer for each column that is predicted and that the data has, after a hidden layer if `hidden` > 0.

    dim: the width of the input; hidden: the width of the hidden layer of each column
    """

    def __init__(self, dim: int, columns: Columns, weight: float, hidden: int = 0) -> None:
        sizes = {name: columns.count(name) for name in predicted() if name in columns}
        super().__init__(
            {
                name: HiddenLayer(dim, hidden, size, HIDDEN_DROPOUT) if hidden else linear(dim, size)
                for name, size in sizes.items()
            }
        )
        self.columns, self.weight = columns, weight
        self._labels: dict[str, OneLabel | LabelSet] = {}
        for name in self:
            of_sets = RankedSets if columns.lists_sets and UPOS in sizes else LabelSet
            kind = of_sets if KNOWN[name].is_set else RankedLabels if name == LEMMA else OneLabel
            self._labels[name] = kind(columns, name)
        self._seen = {name: seen for name in self if (seen := seen_labels(columns, name)) is not None}
        self._limits: dict[str, Tensor] = {}  # column → (domains + 1, labels) bool, after `limit_domains`

    def best_tags(self, words: Tensor) -> Tensor:
        """Return the ids (B, P) of the best UPOS tags; the root and padding get ids, too."""
        return self._labels[UPOS].best(self[UPOS](words))

    def predict(
        self,
        words: Tensor,
        lengths: Sequence[int],
        tags: Sequence[Sequence[str]] = (),
        domains: Tensor | None = None,
        usual: Sequence[Sequence[Sequence[str]]] = (),
        settled: Settled | None = None,
    ) -> Predicted:
        """Return the predicted values of each column, limited to those seen with known UPOS `tags` (`_`: not known).

        usual: for each word the UPOS tags that it has in training (none: not known); the best of them is predicted
            unless another is far likelier (`preferred`)
        settled: says of which words the lemma needs no prediction, so that it stays `_`
        words: (B, P, dim), `EncoderOut.tagged`; domains: (B,), `EncoderOut.domains`
        """
        best: dict[str, Tensor] = {}
        of_words = torch.zeros(words.shape[:2], dtype=torch.long, device=words.device)  # ids of UPOS, which comes first
        for name, head in self.items():
            labels = self._labels[name]
            if name == LEMMA:
                best[name] = self._rules(words, self._unsettled(of_words, lengths, settled), domains)
                continue
            scores, legal = head(words), None
            if name in self._seen:
                legal = self._seen[name].to(words.device)[of_words]
            if name in self._limits and domains is not None:
                limit = self._limits[name].to(words.device)[domains][:, None].expand(-1, words.size(1), -1)
                legal = limit if legal is None else legal & limit
            if isinstance(labels, OneLabel) and name == UPOS:
                scores = labels.scores(scores, legal)
                best[name] = of_words = (self._usual(scores, usual) if usual else scores).argmax(-1)
                if tags:
                    known = labels.targets(tags, of_words.size(1)).to(of_words.device)
                    of_words = torch.where(known > 0, known, of_words)
            elif isinstance(labels, RankedSets):
                best[name] = labels.best_of_tags(scores, of_words, domains)
            else:
                best[name] = labels.best(scores, legal)
        values = {name: ids.cpu().tolist() for name, ids in best.items()}
        of_sentences = [
            {name: self._labels[name].values(ids[i][:length]) for name, ids in values.items()}
            for i, length in enumerate(lengths)
        ]
        return Predicted(of_sentences, of_words)

    def limit_domains(self, labels: Sequence[Mapping[str, Sequence[str]]]) -> None:
        """Predict for sentences of a domain, by its id less one, only these labels of columns."""
        for name in self:
            limits = torch.zeros(len(labels) + 1, self.columns.count(name), dtype=torch.bool)
            limits[0] = True
            for row, of_domain in zip(limits[1:], labels, strict=True):
                row[self.columns.ids(name, of_domain.get(name, ()))] = True
            self._limits[name] = limits

    def _unsettled(self, tags: Tensor, lengths: Sequence[int], settled: Settled | None) -> Tensor:
        """Return (B, P) bool: True for the words whose lemma needs a prediction; `tags` are ids of UPOS."""
        unsettled = torch.zeros(tags.shape, dtype=torch.bool)
        for i, (ids, length) in enumerate(zip(tags.tolist(), lengths, strict=True)):
            of_words = (
                settled(i, self.columns.of_ids(UPOS, ids[:length])) if settled and UPOS in self else [False] * length
            )
            unsettled[i, :length] = ~torch.tensor(of_words, dtype=torch.bool)
        return unsettled.to(tags.device)

    def _rules(self, words: Tensor, there: Tensor, domains: Tensor | None) -> Tensor:
        """Return the ids (B, P, K) of the best lemma rules of the words `there` (B, P), among those of their domain."""
        labels = self._labels[LEMMA]
        best = torch.zeros(*there.shape, RankedLabels.most, dtype=torch.long, device=words.device)
        if not there.any():
            return best
        if domains is None or LEMMA not in self._limits:
            domains = torch.zeros(len(words), dtype=torch.long, device=words.device)
        scores, of_rows_there = of_rows(self[LEMMA], words[there]), domains[:, None].expand_as(there)[there]
        ranked = best.new_zeros(len(scores), RankedLabels.most)
        for domain in of_rows_there.unique().tolist():
            rows = of_rows_there == domain
            if LEMMA in self._limits:  # of thousands of rules a language has some hundred
                kept = F.pad(self._limits[LEMMA][domain, 1:].nonzero()[:, 0] + 1, (1, 0)).to(words.device)
                ids = kept[labels.best(scores[rows][:, kept])]
            else:
                ids = labels.best(scores)
            ranked[rows, : ids.size(-1)] = ids
        best[there] = ranked
        return best

    def _usual(self, scores: Tensor, usual: Sequence[Sequence[Sequence[str]]]) -> Tensor:
        """Return scores (B, P, tags), preferring the usual tags of each word."""
        allowed = torch.zeros(scores.shape, dtype=torch.bool)
        for i, sentence in enumerate(usual):
            for k, tags in enumerate(sentence):
                allowed[i, k, self.columns.ids(UPOS, tags)] = True
        return preferred(scores, allowed.to(scores.device))

    def targets(self, annotations: Annotations, wide: int) -> dict[str, Tensor]:
        """Return the targets of each column, (B, wide) or (B, wide, attributes); see `OneLabel` and `LabelSet`."""
        return {name: labels.targets(annotations[name], wide) for name, labels in self._labels.items()}

    def loss(self, words: Tensor, targets: Mapping[str, Tensor]) -> tuple[Tensor, dict[str, LabelLoss]]:
        """Return the weighted loss of a batch, and the loss of each column."""
        found = {name: self._labels[name].loss(of_rows(head, words), targets[name]) for name, head in self.items()}
        loss = sum((of_column.loss for of_column in found.values()), words.new_zeros((), dtype=torch.float))
        return self.weight * loss, found


def tag_heads(options: WordOptions, dim: int, columns: Columns) -> TagHeads | None:
    """Return the heads that the options ask for; None where the data has nothing to predict."""
    if not options.tag_loss:
        return None
    heads = TagHeads(dim, columns, options.tag_loss, options.tag_hidden)
    return heads if len(heads) else None


def check_tagged(weight: float, *heads: TagHeads | None) -> None:
    """Raise `InputError` if the tag loss has a weight other than 0, but no trained model has heads for tags."""
    if weight and not any(heads):
        Columns().count(predicted()[0])

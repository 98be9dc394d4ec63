"""Beam search and greedy search over the batched state machine, and the ranks of what it finds."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from torch import Tensor

from transition_parser.base.errors import NotFiniteError
from transition_parser.modules.contract import ActionScores, Hypothesis, ParserModel
from transition_parser.modules.encoder import EncoderOut
from transition_parser.parsing.parses import NbestRank, SentenceParse
from transition_parser.states.guide import Guide

T = TypeVar("T")


# Finished sentences stay until at most this share of the batch is unfinished: removing them copies all other states.
_DROP_BELOW = 0.8
_STEPS_BETWEEN_CHECKS = 8  # on an accelerator, where checking for finished hypotheses makes the host wait


@torch.inference_mode()
def search(
    model: ParserModel,
    encoder_out: EncoderOut,
    beam: int = 1,
    nbest: int = 1,
    lenpen: float = 1.0,
    guide: Guide | None = None,
) -> list[list[Hypothesis]]:
    """Return for each sentence its `nbest` best derivations, best first.

    beam: number of hypotheses kept for each sentence; 1 is greedy search
    lenpen: exponent of the length. Finished hypotheses are ranked by log-probability / (number of actions + 1) **
        lenpen, as in fairseq. With 1 this is about the mean log-probability of an action; a larger exponent prefers
        longer derivations.
    guide: keeps derivations to the facts that are given about some of the sentences

    In a final state only `</s>` is legal, with probability 1, so no network step is spent on it. Raises
    `NotFiniteError` where scores are not numbers.
    """
    found = model.decoder.search_at_once(encoder_out, beam) if guide is None else None
    if found is None:
        tokens, scores, lengths, sentences = _Search(model, encoder_out, beam, guide).run()
    else:
        there = torch.arange(found.steps.size(1)) < found.counts[:, None]
        places = tuple(index.numpy() for index in there.nonzero(as_tuple=True))
        tokens, scores = found.actions.numpy()[places], found.added.numpy()[places].astype(np.float64)
        lengths, sentences = found.steps.numpy()[places], places[0]
    totals, counted = scores.sum(1), lengths + 1.0
    best: list[list[Hypothesis]] = [[] for _ in range(len(encoder_out.lengths))]
    for i in np.lexsort((-totals / counted**lenpen, sentences)).tolist():
        if len(best[sentences[i]]) < nbest:
            steps = slice(lengths[i])
            hypothesis = Hypothesis(tokens[i, steps].tolist(), scores[i, steps].tolist(), float(totals[i] / counted[i]))
            best[sentences[i]].append(hypothesis)
    if not all(best):
        raise NotFiniteError("the scores of actions are not finite")
    return best


class _Step(NamedTuple):
    """One step of search of all R rows of the batch."""

    tokens: Tensor  # (R,) int64; the token that each row took
    scores: Tensor  # (R,) float; the log-probability of each token
    origin: Tensor | None  # (R,) int64; the row of the previous step that each row continues; None for the same row
    finished: Tensor  # (R,) bool; True for rows that became final in this step


class _Search:
    """The search of one batch. A sentence has `width` rows (hypotheses); rows of log-probability −inf are dead."""

    def __init__(self, model: ParserModel, encoder_out: EncoderOut, beam: int, guide: Guide | None) -> None:
        self.decoder, self.beam, self.guide = model.decoder, beam, guide
        self.state = self.decoder.start(encoder_out)
        self.state.greedy = beam == 1
        sentences, device = len(encoder_out.lengths), encoder_out.words.device
        # a sentence has no end if no action is legal, as by a wrong table, or if scores on a device are not numbers
        self.most = self.decoder.table.system.max_actions(encoder_out.words.size(1)) + 1
        self.width = 1
        self.tokens = torch.full((sentences,), self.decoder.table.end, device=device)
        self.totals = torch.zeros(sentences, 1, device=device)
        self.finished = torch.zeros(sentences, dtype=torch.long, device=device)  # number of finished hypotheses
        self.steps: list[_Step] = []
        self.sentence_of_row: list[np.ndarray] = []  # one array for each step
        self.sentence = np.arange(sentences)  # the sentence that each group of rows belongs to
        self.moved: Tensor | None = None  # row of the last step that each row continues; None if no rows were dropped
        self.on_host = device.type == "cpu"  # True where reading a tensor costs nothing
        self.some_finished = False  # True where hypotheses may have finished since sentences were last dropped

    def run(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return the tokens and scores (D, T), zero-padded, the lengths and the sentences of D finished derivations."""
        while len(self.sentence) and len(self.steps) < self.most:
            for _ in range(1 if self.on_host else _STEPS_BETWEEN_CHECKS):
                self._step()
            if self.some_finished:
                self._drop_what_is_done()
        return self._derivations()

    def _step(self) -> None:
        """Take one step in every row, and keep the `beam` best continuations of each sentence."""
        scores = self.decoder.step(self.tokens, self.state)
        if self.guide is not None:
            scores = scores._replace(legal=self.guide.restrict(scores.legal, self.state.machine))
        actions = scores.legal.size(1)
        self.totals, added, index = _best_continuations(scores, self.totals, min(self.beam, self.width * actions))
        self.width = index.size(1)
        # greedy search ranks nothing, so no row moves
        rows = self.state.reorder_beam(index.div(actions, rounding_mode="floor")) if self.beam > 1 else None
        self.tokens = (index % actions).flatten()
        if self.moved is not None:
            rows = self.moved if rows is None else self.moved[rows]
            self.moved = None
        self.state.machine.apply(self.tokens)
        # end rows that are final now, and sentences with `beam` finished hypotheses
        final = self.state.machine.is_final().view(-1, self.width) & (self.totals > float("-inf"))
        if not self.on_host or bool(final.any()):
            self.some_finished = True
            self.finished = self.finished + final.sum(1)
            dead = final | (self.finished >= self.beam)[:, None]
            self.totals = self.totals.masked_fill(dead, float("-inf"))
        self.steps.append(_Step(self.tokens, added.flatten(), rows, final.flatten()))
        self.sentence_of_row.append(self.sentence.repeat(self.width))

    def _drop_what_is_done(self) -> None:
        """Remove finished sentences from the batch, unless more than `_DROP_BELOW` of the sentences are unfinished."""
        self.some_finished = False
        alive = (self.totals > float("-inf")).any(1).cpu().numpy()
        if alive.sum() > _DROP_BELOW * len(alive):
            return
        keep = alive.nonzero()[0]
        self.sentence = self.sentence[keep]
        if len(keep):
            groups = torch.from_numpy(keep).to(self.tokens.device)
            rows = self.state.select_sentences(groups)
            self.moved = rows
            self.tokens, self.totals = self.tokens[rows], self.totals[groups]
            self.finished = self.finished[groups]

    def _derivations(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Follow each finished hypothesis from its last action back to the first."""
        ends = [finished.nonzero()[0] for finished in _on_host([step.finished for step in self.steps])]
        last, rows = np.repeat(np.arange(len(ends)), [len(rows) for rows in ends]), np.concatenate(ends)
        sentences = np.array([self.sentence_of_row[step][row] for step, row in zip(last, rows, strict=True)])
        tokens = np.zeros((len(rows), len(self.steps)), dtype=np.int64)
        scores = np.zeros(tokens.shape)
        taken, added = (_on_host([getattr(step, name) for step in self.steps]) for name in ("tokens", "scores"))
        origins = iter(_on_host([step.origin for step in self.steps if step.origin is not None])[::-1])
        for number in reversed(range(len(self.steps))):
            there = (last >= number).nonzero()[0]
            here = rows[there]
            tokens[there, number] = taken[number][here]
            scores[there, number] = added[number][here]
            if self.steps[number].origin is not None:
                rows[there] = next(origins)[here]
        return tokens, scores, last + 1, sentences


def _on_host(tensors: list[Tensor]) -> list[np.ndarray]:
    """Return one-dimensional tensors as arrays, with a single copy from the device."""
    if not tensors:
        return []
    sizes = np.cumsum([len(tensor) for tensor in tensors])[:-1]
    return np.split(torch.cat(tensors).cpu().numpy(), sizes)


def _best_continuations(scores: ActionScores, totals: Tensor, beam: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return the best continuations of the (B, W) hypotheses: their totals, the scores added, and flat indices."""
    added = scores.log_probabilities().view(*totals.shape, -1)
    # the softmax of a row without legal actions (its total is −inf) is NaN, which `topk` would prefer
    added = added.masked_fill((scores.legal < 0).view_as(added), float("-inf"))
    added = added.masked_fill((totals == float("-inf"))[..., None], float("-inf"))
    best, index = (totals[..., None] + added).flatten(1).topk(beam, 1)
    if best.device.type == "cpu" and bool(best.isnan().any()):  # the check would make other devices wait
        raise NotFiniteError("the scores of actions are not finite")
    return best, added.flatten(1).gather(1, index), index


# --- alternatives -----------------------------------------------------------------------------


P = TypeVar("P", bound=SentenceParse)


def ranked(parses: Sequence[P], most: int) -> P:
    """Return the best of a sentence's parses, with up to `most` − 1 alternatives; parses of one graph are merged.

    Confidence in a part is the mass of the derivations that have it, and its mean confidence over the mass not found.
    """
    scale = 1.0 / max(sum(parse.probability for parse in parses), 1.0)  # only rounding makes the sum exceed 1
    parses = [replace(parse, probability=parse.probability * scale) for parse in parses]
    groups: dict[Hashable, list[P]] = {}
    for parse in parses:
        groups.setdefault(parse.graph_key(), []).append(parse)
    confidences = _confidences(parses)
    best = [replace(group[0], probability=sum(parse.probability for parse in group)) for group in groups.values()]
    for i, parse in enumerate(best[:most]):
        parts = parse.parts().items()
        fields: dict[str, Any] = {name: tuple(confidences[name, part] for part in of_field) for name, of_field in parts}
        best[i] = replace(parse, place=NbestRank(i + 1, min(most, len(best))), **fields)
    return replace(best[0], alternatives=tuple(best[1:most]))


def _confidences(parses: Sequence[SentenceParse]) -> dict[tuple[str, Hashable], float]:
    """Return (name of a field of confidences, part) → the confidence in the part, for all parts of all parses."""
    with_part: dict[tuple[str, Hashable], list[tuple[float, float]]] = {}
    for parse in parses:
        # the probabilities of long derivations underflow to 0
        weight = max(parse.probability, sys.float_info.min)
        for name, parts in parse.parts().items():
            for part, own in dict(zip(parts, getattr(parse, name), strict=True)).items():
                with_part.setdefault((name, part), []).append((weight, own))
    unseen = max(1.0 - sum(parse.probability for parse in parses), 0.0)
    confidences = {}
    for key, found in with_part.items():
        mass = sum(weight for weight, _ in found)
        confidences[key] = min(mass + unseen * sum(weight * own for weight, own in found) / mass, 1.0)
    return confidences

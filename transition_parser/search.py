"""Beam search and greedy search over the batched state machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from transition_parser.kernels import search_kernels
from transition_parser.modules.decoder import ActionDecoder, ActionScores, SearchState
from transition_parser.modules.encoder import EncoderOut

# Sentences that are done leave the batch when so few others are left: it means copying what those have stored.
_DROP_BELOW = 0.8


@dataclass(frozen=True)
class Hypothesis:
    """A finished derivation.

    tokens: the action ids, without `</s>`. step_scores: the log-probability of each. score: their
    sum, divided by (number of actions + 1) ** lenpen, as fairseq ranks hypotheses.
    """

    tokens: list[int]
    step_scores: list[float]
    score: float


@torch.inference_mode()
def search(
    decoder: ActionDecoder,
    encoder_out: EncoderOut,
    beam: int = 1,
    nbest: int = 1,
    lenpen: float = 1.0,
) -> list[list[Hypothesis]]:
    """For each sentence its `nbest` best derivations, best first.

    In a final state only `</s>` is legal, with probability 1, so a hypothesis is complete as soon
    as its state is final, and no network step is spent on `</s>`.
    """
    return _Search(decoder, encoder_out, beam, nbest, lenpen).run()


class _Step(NamedTuple):
    """What the rows of one step took: tokens and their log-probabilities, (R,), and which row of the step before each
    goes on from, (R,); None where each goes on from its own."""

    tokens: Tensor
    scores: Tensor
    origin: Tensor | None


class _Search:
    """The book-keeping of one batch. Each unfinished sentence has `width` rows; −inf marks a dead one."""

    def __init__(self, decoder: ActionDecoder, encoder_out: EncoderOut, beam: int, nbest: int, lenpen: float) -> None:
        self.decoder, self.beam, self.nbest, self.lenpen = decoder, beam, nbest, lenpen
        self.state: SearchState = decoder.start(encoder_out)
        sentences = len(encoder_out.lengths)
        device = encoder_out.words.device
        self.sentence = list(range(sentences))  # which one each group of rows belongs to
        self.width = 1
        self.tokens = torch.full((sentences,), decoder.table.end, device=device)
        self.scores = torch.zeros(sentences, 1, device=device)
        self.steps: list[_Step] = []
        self.moved: Tensor | None = None  # which row of the last step each row was, if rows were dropped since
        self.ends: list[tuple[int, int, int]] = []  # of what has finished: sentence, last step, its row
        self.finished = [0] * sentences  # how many hypotheses of each sentence

    def run(self) -> list[list[Hypothesis]]:
        while self.sentence:
            self._step()
            self.state.machine.advance(self.tokens)
            self._collect()
        return self._hypotheses()

    def _step(self) -> None:
        """Every row takes its step, and each sentence keeps its `beam` best continuations."""
        scores = self.decoder.step(self.tokens, self.state, (self.scores > float("-inf")).flatten())
        actions = scores.legal.size(1)
        self.scores, added, index = _choose(scores, self.scores, min(self.beam, self.width * actions))
        self.width = index.size(1)
        # greedily nothing is ranked, and no row moves
        rows = self.state.branch(index.div(actions, rounding_mode="floor")) if self.beam > 1 else None
        tokens = (index % actions).flatten()
        self.tokens = tokens if scores.tokens is None else scores.tokens[tokens]
        if self.moved is not None:
            rows = self.moved if rows is None else self.moved[rows]
            self.moved = None
        self.steps.append(_Step(self.tokens, added.flatten(), rows))

    def _collect(self) -> None:
        """Takes out the rows whose state the last action made final, and the sentences that are done."""
        final = self.state.machine.is_final().view(len(self.sentence), self.width)
        final = final & (self.scores > float("-inf"))
        if not bool(final.any()):
            return
        for group, place in final.nonzero().tolist():
            sentence = self.sentence[group]
            self.ends.append((sentence, len(self.steps) - 1, group * self.width + place))
            self.finished[sentence] += 1
        self.scores = self.scores.masked_fill(final, float("-inf"))
        alive = (self.scores > float("-inf")).any(1).tolist()
        keep = [
            group
            for group, sentence in enumerate(self.sentence)
            if alive[group] and self.finished[sentence] < self.beam
        ]
        if len(keep) <= _DROP_BELOW * len(self.sentence):
            self._drop_all_but(keep)
        elif len(keep) < len(self.sentence):
            done = torch.ones(len(self.sentence), dtype=torch.bool, device=self.scores.device)
            done[keep] = False
            self.scores = self.scores.masked_fill(done[:, None], float("-inf"))

    def _drop_all_but(self, keep: list[int]) -> None:
        self.sentence = [self.sentence[group] for group in keep]
        if not keep:
            return
        groups = torch.tensor(keep, device=self.tokens.device)
        self.moved = self.state.keep(groups)
        self.tokens, self.scores = self.tokens[self.moved], self.scores[groups]

    def _hypotheses(self) -> list[list[Hypothesis]]:
        """The best of each sentence: all of `ends` are followed from their last action back to the first at once."""
        sentences, last, rows = (np.array(x) for x in zip(*self.ends, strict=True))
        tokens = np.zeros((len(rows), len(self.steps)), dtype=np.int64)
        scores = np.zeros(tokens.shape)
        for number in reversed(range(len(self.steps))):
            step = self.steps[number]
            taken = (last >= number).nonzero()[0]
            here = rows[taken]
            tokens[taken, number] = step.tokens.cpu().numpy()[here]
            scores[taken, number] = step.scores.cpu().numpy()[here]
            if step.origin is not None:
                rows[taken] = step.origin.cpu().numpy()[here]
        totals = scores.sum(1) / (last + 2.0) ** self.lenpen
        found: list[list[Hypothesis]] = [[] for _ in self.finished]
        for i in np.lexsort((-totals, sentences)).tolist():
            if len(found[sentences[i]]) < self.nbest:
                steps = slice(last[i] + 1)
                hypothesis = Hypothesis(tokens[i, steps].tolist(), scores[i, steps].tolist(), float(totals[i]))
                found[sentences[i]].append(hypothesis)
        return found


def _choose(scores: ActionScores, totals: Tensor, beam: int) -> tuple[Tensor, Tensor, Tensor]:
    """The best continuations of the hypotheses of each sentence, (B, beam) each: their totals, what they add, and
    which they are, hypothesis × U + action. totals: (B, W), so far."""
    if search_kernels.supports(scores.found):
        return search_kernels.best_continuations(scores.found, scores.rows, scores.legal, totals, beam)
    added = torch.log_softmax(scores.masked(), -1).view(*totals.shape, -1)
    best, index = (totals[..., None] + added).flatten(1).topk(beam, 1)
    return best, added.flatten(1).gather(1, index), index

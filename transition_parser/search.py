"""Beam search and greedy search over the batched state machine."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from transition_parser.modules.decoder import ActionDecoder, SearchState
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


class _Search:
    """The book-keeping of one batch. Each unfinished sentence has `width` rows; −inf marks a dead one."""

    def __init__(self, decoder: ActionDecoder, encoder_out: EncoderOut, beam: int, nbest: int, lenpen: float) -> None:
        self.decoder, self.beam, self.nbest, self.lenpen = decoder, beam, nbest, lenpen
        self.state: SearchState = decoder.start(encoder_out)
        sentences = len(encoder_out.lengths)
        device = encoder_out.words.device
        self.finished: list[list[Hypothesis]] = [[] for _ in range(sentences)]
        self.sentence = list(range(sentences))  # which one each group of rows belongs to
        self.width = 1
        self.tokens = torch.full((sentences,), decoder.table.end, device=device)
        self.scores = torch.zeros(sentences, 1, device=device)
        self.history = torch.zeros(sentences, 0, dtype=torch.long, device=device)
        self.step_scores = torch.zeros(sentences, 0, device=device)

    def run(self) -> list[list[Hypothesis]]:
        while self.sentence:
            if self.beam == 1:
                self._greedy_step()
            else:
                self._step()
            self.state.machine.advance(self.tokens)
            self._collect()
        return [sorted(h, key=lambda x: -x.score)[: self.nbest] for h in self.finished]

    def _step(self) -> None:
        """Every row takes its step, and each sentence keeps its `beam` best continuations."""
        logits, some = self.decoder.step(self.tokens, self.state)
        log_probs = torch.log_softmax(logits, -1).view(len(self.sentence), self.width, -1)
        vocabulary = log_probs.size(-1)
        totals = (self.scores.unsqueeze(-1) + log_probs).flatten(1)
        best, index = totals.topk(min(self.beam, totals.size(1)), 1)
        origin = index.div(vocabulary, rounding_mode="floor")
        added = log_probs.flatten(1).gather(1, index).flatten()
        base = torch.arange(len(self.sentence), device=index.device)[:, None] * self.width
        rows = (base + origin).flatten()
        self.state.branch(origin)
        self.history, self.step_scores = self.history[rows], self.step_scores[rows]
        self.width, self.scores = best.size(1), best
        tokens = (index % vocabulary).flatten()
        self.tokens = tokens if some is None else some[tokens]
        self.history = torch.cat([self.history, self.tokens[:, None]], 1)
        self.step_scores = torch.cat([self.step_scores, added[:, None]], 1)

    def _greedy_step(self) -> None:
        """Every row takes its best action: nothing is ranked, and no row moves."""
        logits, some = self.decoder.step(self.tokens, self.state)
        best, index = logits.max(-1)
        added = best - logits.logsumexp(-1)
        self.scores = self.scores + added[:, None]
        self.tokens = index if some is None else some[index]
        self.history = torch.cat([self.history, self.tokens[:, None]], 1)
        self.step_scores = torch.cat([self.step_scores, added[:, None]], 1)

    def _collect(self) -> None:
        """Takes out the rows whose state the last action made final, and the sentences that are done."""
        final = self.state.machine.is_final().view(len(self.sentence), self.width)
        final = final & (self.scores > float("-inf"))
        if not bool(final.any()):
            return
        for group, place in final.nonzero().tolist():
            self._finish(group, group * self.width + place)
        self.scores = self.scores.masked_fill(final, float("-inf"))
        alive = (self.scores > float("-inf")).any(1).tolist()
        keep = [
            group
            for group, sentence in enumerate(self.sentence)
            if alive[group] and len(self.finished[sentence]) < self.beam
        ]
        if len(keep) <= _DROP_BELOW * len(self.sentence):
            self._drop_all_but(keep)
        elif len(keep) < len(self.sentence):
            done = torch.ones(len(self.sentence), dtype=torch.bool, device=self.scores.device)
            done[keep] = False
            self.scores = self.scores.masked_fill(done[:, None], float("-inf"))

    def _finish(self, group: int, row: int) -> None:
        tokens, steps = self.history[row].tolist(), self.step_scores[row].tolist()
        score = sum(steps) / (len(steps) + 1) ** self.lenpen
        self.finished[self.sentence[group]].append(Hypothesis(tokens, steps, score))

    def _drop_all_but(self, keep: list[int]) -> None:
        self.sentence = [self.sentence[group] for group in keep]
        if not keep:
            return
        groups = torch.tensor(keep, device=self.tokens.device)
        rows = (groups[:, None] * self.width + torch.arange(self.width, device=groups.device)).flatten()
        self.state.keep(groups)
        self.tokens, self.scores = self.tokens[rows], self.scores[groups]
        self.history, self.step_scores = self.history[rows], self.step_scores[rows]

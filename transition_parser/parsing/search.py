"""Beam search and greedy search over the batched state machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from transition_parser.base.errors import NotFiniteError
from transition_parser.kernels.trees import FoundDerivations
from transition_parser.modules.contract import ActionScores, GraphDecoder, Hypothesis, ParserModel
from transition_parser.modules.encoder import EncoderOut
from transition_parser.parsing.guide import Guide
from transition_parser.states.machine import Machine

# Finished sentences stay until at most this share of the batch is unfinished: removing them copies all other states.
_DROP_BELOW = 0.8
_STEPS_BETWEEN_CHECKS = 8  # on an accelerator, where checking for finished hypotheses makes the host wait


class Observed(NamedTuple):
    """One step of search as an observer sees it: R hypotheses (rows) before their next action.

    origin: (R,) int64; the row of the previous observed step that each row continues; None if row i continues row i
    tokens: (R,) int64; the latest action of each row; `</s>` at the first step
    machine: the parser states of the rows
    scores: the scores of the next action
    alive: (R,) bool; False for finished and discarded rows
    """

    origin: Tensor | None
    tokens: Tensor
    machine: Machine
    scores: ActionScores
    alive: Tensor


Observer = Callable[[Observed], None]


@torch.inference_mode()
def search(
    model: ParserModel,
    encoder_out: EncoderOut,
    beam: int = 1,
    nbest: int = 1,
    lenpen: float = 1.0,
    observer: Observer | None = None,
    guide: Guide | None = None,
) -> list[list[Hypothesis]]:
    """Return for each sentence its `nbest` best derivations, best first.

    beam: number of hypotheses kept for each sentence; 1 is greedy search
    lenpen: exponent of the length. Finished hypotheses are ranked by log-probability / (number of actions + 1) **
        lenpen, as in fairseq. With 1 this is about the mean log-probability of an action; a larger exponent prefers
        longer derivations.
    observer: called at each step, before the next actions are chosen; must change nothing
    guide: keeps derivations to the facts that are given about some of the sentences

    In a final state only `</s>` is legal, with probability 1, so a hypothesis is complete as soon
    as its state is final, and no network step is spent on `</s>`. A model that does not search action by action ignores
    `beam` and `lenpen`, and has no steps to observe. Raises `NotFiniteError` where scores are not numbers.
    """
    if isinstance(model.decoder, GraphDecoder):
        return model.decoder.derivations(encoder_out, nbest)
    if observer is None and guide is None:
        found = model.decoder.search_at_once(encoder_out, beam)
        if found is not None:
            return _best_of(found, nbest, lenpen)
    return _Search(model, encoder_out, beam, nbest, lenpen, observer, guide).run()


def _best_of(found: FoundDerivations, nbest: int, lenpen: float) -> list[list[Hypothesis]]:
    """Return for each sentence the `nbest` best derivations that a kernel found, best first. See `_ranked`."""
    there = torch.arange(found.steps.size(1)) < found.counts[:, None]
    sentences, derivations = (index.numpy() for index in there.nonzero(as_tuple=True))
    places = sentences, derivations
    tokens, scores = found.actions.numpy()[places], found.added.numpy()[places].astype(np.float64)
    return _ranked(tokens, scores, found.steps.numpy()[places], sentences, len(found.counts), nbest, lenpen)


def _ranked(
    tokens: np.ndarray,
    scores: np.ndarray,
    lengths: np.ndarray,
    sentences: np.ndarray,
    count: int,
    nbest: int,
    lenpen: float,
) -> list[list[Hypothesis]]:
    """Return for each sentence its `nbest` best derivations, best first. See `search` for the ranking.

    tokens: (D, T) int; the actions of D derivations, each padded with zeros to T actions
    scores: (D, T) float; the log-probability of each action, padded with zeros
    lengths: (D,) int; the number of actions of each derivation
    sentences: (D,) int; the sentence of each derivation
    count: the number of sentences

    Raises `NotFiniteError` where a sentence has no derivation.
    """
    totals, counted = scores.sum(1), lengths + 1.0
    best: list[list[Hypothesis]] = [[] for _ in range(count)]
    for i in np.lexsort((-totals / counted**lenpen, sentences)).tolist():
        if len(best[sentences[i]]) < nbest:
            steps = slice(lengths[i])
            hypothesis = Hypothesis(tokens[i, steps].tolist(), scores[i, steps].tolist(), float(totals[i] / counted[i]))
            best[sentences[i]].append(hypothesis)
    if not all(best):
        raise NotFiniteError("the scores of actions are not finite")
    return best


class _Step(NamedTuple):
    """One step of search of all R rows of the batch.

    tokens: (R,) int64; the token that each row took
    scores: (R,) float; the log-probability of each token
    origin: (R,) int64; the row of the previous step that each row continues; None if row i continues row i
    finished: (R,) bool; True for rows that became final in this step
    """

    tokens: Tensor
    scores: Tensor
    origin: Tensor | None
    finished: Tensor


class _Search:
    """The search of one batch. A sentence has `width` rows (hypotheses); rows of log-probability −inf are dead."""

    def __init__(
        self,
        model: ParserModel,
        encoder_out: EncoderOut,
        beam: int,
        nbest: int,
        lenpen: float,
        observer: Observer | None,
        guide: Guide | None,
    ) -> None:
        self.observer, self.guide = observer, guide
        self.decoder, self.beam, self.nbest, self.lenpen = model.decoder, beam, nbest, lenpen
        self.state = self.decoder.start(encoder_out)
        self.state.greedy = beam == 1
        sentences, device = len(encoder_out.lengths), encoder_out.words.device
        self.count = sentences
        self.width = 1
        self.tokens = torch.full((sentences,), self.decoder.table.end, device=device)
        self.totals = torch.zeros(sentences, 1, device=device)
        self.finished = torch.zeros(sentences, dtype=torch.long, device=device)  # number of finished hypotheses
        self.steps: list[_Step] = []
        self.sentence_of_row: list[np.ndarray] = []  # one array for each step
        self.sentence = np.arange(sentences)  # the sentence that each group of rows belongs to
        self.moved: Tensor | None = None  # row of the last step that each row continues; None if no rows were dropped
        self.continued: Tensor | None = None  # each row's number at the last `decoder.step`; None if no row moved
        self.on_host = device.type == "cpu"  # True where reading a tensor costs nothing
        self.some_finished = False  # True where hypotheses may have finished since sentences were last dropped

    def run(self) -> list[list[Hypothesis]]:
        while len(self.sentence):
            for _ in range(1 if self.on_host else _STEPS_BETWEEN_CHECKS):
                self._step()
            if self.some_finished:
                self._drop_what_is_done()
        return self._hypotheses()

    def _step(self) -> None:
        """Take one step in every row, and keep the `beam` best continuations of each sentence."""
        alive = (self.totals > float("-inf")).flatten()
        scores = self.decoder.step(self.tokens, self.state, alive)
        if self.observer is not None:
            self.observer(Observed(self.continued, self.tokens, self.state.machine, scores, alive))
        if self.guide is not None:
            scores = self.guide.restrict(scores, self.state.machine)
        actions = scores.legal.size(1)
        self.totals, added, index = _best_continuations(scores, self.totals, min(self.beam, self.width * actions))
        self.width = index.size(1)
        # greedy search ranks nothing, so no row moves
        rows = self.state.reorder_beam(index.div(actions, rounding_mode="floor")) if self.beam > 1 else None
        self.continued = rows
        self.tokens = (index % actions).flatten()
        if self.moved is not None:
            rows = self.moved if rows is None else self.moved[rows]
            self.moved = None
        self.state.machine.apply(self.tokens)
        self.steps.append(_Step(self.tokens, added.flatten(), rows, self._finish()))
        self.sentence_of_row.append(self.sentence.repeat(self.width))

    def _finish(self) -> Tensor:
        """Return (R,) bool: True for rows that the last action made final. Set the totals of these rows to −inf.

        The totals of all rows of a sentence become −inf once `beam` hypotheses of the sentence have finished.
        """
        final = self.state.machine.is_final().view(-1, self.width) & (self.totals > float("-inf"))
        if self.on_host and not bool(final.any()):
            return final.flatten()
        self.some_finished = True
        self.finished = self.finished + final.sum(1)
        dead = final | (self.finished >= self.beam)[:, None]
        self.totals = self.totals.masked_fill(dead, float("-inf"))
        return final.flatten()

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
            self.continued = rows if self.continued is None else self.continued[rows]
            self.tokens, self.totals = self.tokens[rows], self.totals[groups]
            self.finished = self.finished[groups]

    def _hypotheses(self) -> list[list[Hypothesis]]:
        """Return the best hypotheses of each sentence.

        All finished hypotheses are followed at once, from their last action back to the first.
        """
        last, rows = self._ends()
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
        return _ranked(tokens, scores, last + 1, sentences, self.count, self.nbest, self.lenpen)

    def _ends(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the last step of each finished hypothesis, and its row in that step."""
        ends = [finished.nonzero()[0] for finished in _on_host([step.finished for step in self.steps])]
        return np.repeat(np.arange(len(ends)), [len(rows) for rows in ends]), np.concatenate(ends)


def _on_host(tensors: list[Tensor]) -> list[np.ndarray]:
    """Return one-dimensional tensors as arrays, with a single copy from the device."""
    if not tensors:
        return []
    sizes = np.cumsum([len(tensor) for tensor in tensors])[:-1]
    return np.split(torch.cat(tensors).cpu().numpy(), sizes)


def _best_continuations(scores: ActionScores, totals: Tensor, beam: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return the best continuations of the hypotheses of each sentence.

    totals: (B, W) float; the log-probabilities of the W hypotheses of each of B sentences; −inf for dead hypotheses

    Returns three tensors (B, beam): the totals of the continuations, the log-probabilities that their last actions add,
    and their indices: hypothesis · U + action, for U actions. Raises `NotFiniteError` on a CPU where a total is NaN.
    """
    added = scores.log_probabilities().view(*totals.shape, -1)
    # the softmax of a row without legal actions (its total is −inf) is NaN, which `topk` would prefer
    added = added.masked_fill((scores.legal < 0).view_as(added), float("-inf"))
    added = added.masked_fill((totals == float("-inf"))[..., None], float("-inf"))
    best, index = (totals[..., None] + added).flatten(1).topk(beam, 1)
    if best.device.type == "cpu" and bool(best.isnan().any()):  # the check would make other devices wait
        raise NotFiniteError("the scores of actions are not finite")
    return best, added.flatten(1).gather(1, index), index

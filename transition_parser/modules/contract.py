"""The interface between a model and the rest of the package.

Legality, the batched machine, search, training and export use a model through this interface alone.

A model has an encoder, called once per sentence, and a `Decoder`. A `StateDecoder` scores the next action from the
parser state. A `TreeDecoder` (`tree_decoder`) scores whole trees and returns the best. Shapes: B sentences, P
positions (words and root), S pieces, T steps of derivations, R hypotheses in search, V action tokens.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from transition_parser.graphs.dependency import DependencyTree
from transition_parser.kernels.searches import FoundDerivations
from transition_parser.modules.calibration import Calibration
from transition_parser.modules.encoder import EncoderOut, WordEncoder
from transition_parser.modules.semantic_roles import RoleLabeler
from transition_parser.modules.tagging import TagHeads
from transition_parser.modules.words import TAGS, WordInputs
from transition_parser.states.machine import Machine, make_machine
from transition_parser.states.states import DeviceTable, States
from transition_parser.states.table import ActionTable
from transition_parser.text.columns import DOMAIN, UPOS, Columns


@dataclass(frozen=True)
class Hypothesis:
    """A finished derivation."""

    tokens: list[int]  # action ids, without `</s>`
    step_scores: list[float]  # log-probability of each action
    score: float  # sum of `step_scores`, divided by the number of actions + 1


class ScoredTree(NamedTuple):
    """A tree, with the log-probability of each word's arc: that of the head plus that of the relation."""

    tree: DependencyTree
    log_probabilities: Sequence[float]


class Decision(NamedTuple):
    """Choices of a `TreeDecoder`, such as heads: at N places of B sentences, among K candidates each."""

    scores: Tensor  # (B, N, K); before the softmax, finite
    competing: Tensor  # (B, N, K) float; 1 for candidates that may be chosen, else 0
    target: Tensor  # (B, N); the gold candidate; where it is unknown, one that does not compete
    counted: Tensor  # (B, N) bool; False at padding
    share: float = 1.0  # weight in the loss; below 1 if a decision is made several times


class ActionScores(NamedTuple):
    """Scores of the next action of R hypotheses."""

    scores: Tensor  # (R, V); before the softmax; any finite scores for illegal actions
    legal: Tensor  # (R, V); 1 legal, 0 illegal, −1 not to be taken although it has probability

    def masked(self) -> Tensor:
        """Return the scores (R, V) in fp32, −inf where `legal` is 0."""
        return only_legal(self.scores, self.legal)

    def log_probabilities(self) -> Tensor:
        return self.masked().log_softmax(-1)


def only_legal(scores: Tensor, legal: Tensor) -> Tensor:
    """Return the scores (…, V) of V actions or other candidates in fp32, −inf where `legal` (…, V) is 0."""
    return scores.float().masked_fill(legal == 0, float("-inf"))


class SearchState:
    """The state that search carries from step to step: the batched machine and the decoder's memory.

    Each of B sentences has `width` hypotheses, at first one; R = B · `width` rows are in the order of the sentences.
    With `greedy`, search takes only the best action, so that a decoder may fix the best kind first.
    """

    def __init__(self, machine: Machine, encoder_out: EncoderOut) -> None:
        self.machine, self.encoder_out = machine, encoder_out
        self.sentences = torch.arange(len(encoder_out.lengths), device=encoder_out.lengths.device)
        self.width = 1
        self.greedy = False

    @property
    def steps(self) -> int:
        return self.machine.steps

    def sentence_of_row(self) -> Tensor:
        """Return (R,): the sentence of `encoder_out` that each hypothesis belongs to."""
        return self.sentences.repeat_interleave(self.width)

    def reorder_beam(self, origin: Tensor) -> Tensor:
        """Let hypothesis w of sentence b continue `origin[b, w]`, (B, W'); return each row's former row."""
        first = torch.arange(len(origin), device=origin.device)[:, None] * self.width
        rows = (first + origin).flatten()
        self.machine.reorder(rows, same_sentences=origin.size(1) == self.width)
        self.move_rows(rows, origin, None)
        self.width = origin.size(1)
        return rows

    def select_sentences(self, sentences: Tensor) -> Tensor:
        """Let sentence i become the former sentence `sentences[i]`, (B',); return each row's former row."""
        every = torch.arange(self.width, device=sentences.device)
        rows = (sentences[:, None] * self.width + every).flatten()
        self.machine.reorder(rows)
        self.move_rows(rows, None, sentences)
        self.sentences = self.sentences.index_select(0, sentences)
        return rows

    def move_rows(self, rows: Tensor, origin: Tensor | None, sentences: Tensor | None) -> None:
        """Move a decoder's own tensors, so that row i continues the former row `rows[i]`; a hook for subclasses.

        Either `origin` (see `reorder_beam`) or `sentences` (see `select_sentences`) is given. `width` is still the old.
        """


class Decoder(nn.Module):
    """The base class of decoders, which holds the action vocabulary and makes the parser states of derivations."""

    needs: Collection[str] = ()  # the fields of `States` that the decoder reads; others are never computed
    words_at_once: int = 2000  # usual words of a batch on a CPU: more do not fit into the caches, fewer waste overhead
    _here: Tensor

    def __init__(self, table: ActionTable) -> None:
        super().__init__()
        self.table, self._device_table = table, DeviceTable(table)
        self.register_buffer("_here", torch.empty(0), persistent=False)  # its device is the decoder's device

    @property
    def device_table(self) -> DeviceTable:
        """The action vocabulary on the device of the decoder."""
        device = self._here.device
        if self._device_table.column.device != device:
            self._device_table = DeviceTable(self.table, device)
        return self._device_table

    def machine(self, encoder_out: EncoderOut, in_search: bool = False) -> Machine:
        """Return the batched machine before the first action; `in_search` limits it to linearly many steps."""
        return make_machine(self.device_table, encoder_out.lengths, encoder_out.features, self.needs, in_search)

    def states(self, actions: Tensor, encoder_out: EncoderOut) -> States:
        """Return the states (B, T, …) before each step of derivations, with `actions` as in `StateDecoder.scores`."""
        # the machine's action at step t is the token that the decoder reads at t + 1
        following = torch.cat([actions[:, 1:], actions[:, :1]], 1)
        return self.machine(encoder_out).unroll(following)

    def limit_domains(self, labels: Sequence[Mapping[str, Sequence[str]]], tags: Sequence[str]) -> None:
        """Find for sentences of a domain, by its id less one, only graphs with these labels (`labels_of_domains`).

        A hook of decoders that score labels apart from actions. tags: the UPOS tags, in the order of their ids
        """


class StateDecoder(Decoder, ABC):
    """A decoder that scores actions from the words and the parser state.

    shifts_compete: True if SHIFT is labeled with words and SHIFTs of all words compete with each other in training
        (the multi-task of Fernandez Astudillo et al. 2020, sec. 3.2). In search the one legal SHIFT then has the
        probability mass of all SHIFTs.
    shifts_are_alike: True if all SHIFTs have the same score, whatever their words. Only one of them is ever legal.
    """

    shifts_compete: bool = False
    shifts_are_alike: bool = False

    @abstractmethod
    def scores(
        self, actions: Tensor, encoder_out: EncoderOut, states: States, sampled_steps: Tensor | None = None
    ) -> Tensor:
        """Return the scores (B, T, V), before the softmax, of all T steps of teacher-forced derivations at once.

        actions: (B, T); the action taken before each step, `</s>` before the first.
        states: (B, T, …); the states before each step.
        sampled_steps: (B, T) bool; True at steps whose scores are needed. None if all steps need scores.
        """

    def sampled_steps(self, actions: Tensor) -> Tensor | None:
        """Return (B, T) bool, the steps that an update learns from in place of all; None for all steps."""
        return None

    @abstractmethod
    def start(self, encoder_out: EncoderOut) -> SearchState:
        """Return the state of search before the first action."""

    @abstractmethod
    def step(self, tokens: Tensor, search: SearchState) -> ActionScores:
        """Return the scores of the next action.

        tokens: (R,); the action that each hypothesis has just taken, `</s>` before the first action. The machine has
            taken these actions already.
        """

    def search_at_once(self, encoder_out: EncoderOut, beam: int) -> FoundDerivations | None:
        """Return the derivations that beam search finds, by one call of a kernel; None (default) without a kernel."""
        return None

    # --- which actions compete --------------------------------------------------------------

    def legality(self, states: States) -> Tensor:
        """Return (…, V) float: 1 for actions that compete in training, 0 for the others."""
        return self.device_table.legality(states.columns, states.context, self.shifts_compete)

    def pooled_shifts(self, scores: Tensor) -> Tensor:
        """Return the scores (N, V), with the log-sum-exp of all SHIFTs as the score of each one if `shifts_compete`."""
        if not self.shifts_compete:
            return scores
        is_shift = self.device_table.shift_word >= 0
        together = scores.float().masked_fill(~is_shift, float("-inf")).logsumexp(-1, keepdim=True)
        return torch.where(is_shift, together.to(scores.dtype), scores)


class MemorylessDecoder(StateDecoder):
    """A decoder that carries nothing from step to step, because it needs only the state before an action."""

    def prepared(self, encoder_out: EncoderOut) -> EncoderOut:
        """Return the encoder output as `score_states` reads it, made once per batch; by default unchanged."""
        return encoder_out

    @abstractmethod
    def score_states(self, encoder_out: EncoderOut, sentence: Tensor, states: States) -> Tensor:
        """Return the scores (N, V), before the softmax, of N states.

        In training these are all states of a batch. In search they are the states of one step.

        encoder_out: the result of `prepared`.
        sentence: (N,); the sentence of `encoder_out` that each state belongs to.
        states: (N, …); see `States`.
        """

    def scores(
        self, actions: Tensor, encoder_out: EncoderOut, states: States, sampled_steps: Tensor | None = None
    ) -> Tensor:
        batch, steps = actions.shape
        sentence = torch.arange(batch, device=actions.device).repeat_interleave(steps)
        found = self.score_states(self.prepared(encoder_out), sentence, states.flattened())
        return found.unflatten(0, (batch, steps))

    def start(self, encoder_out: EncoderOut) -> SearchState:
        return SearchState(self.machine(encoder_out, in_search=True), self.prepared(encoder_out))

    def step(self, tokens: Tensor, search: SearchState) -> ActionScores:
        scores = self.score_states(search.encoder_out, search.sentence_of_row(), search.machine.observe())
        return ActionScores(self.pooled_shifts(scores), search.machine.legality())


class ParserModel(nn.Module):
    """An encoder and a decoder, as plain modules; `state_dict` names their parameters `encoder.…` and `decoder.…`.

    The encoder maps `(src_tokens, words=…)` to `EncoderOut`. Its optional attribute `inputs` are its `WordInputs`.
    """

    calibration: Calibration | None = None
    labeler: RoleLabeler | None = None
    architecture = ""  # the name of the architecture, for a model from a file

    def __init__(self, encoder: nn.Module, decoder: Decoder, tags: TagHeads | None = None) -> None:
        super().__init__()
        self.encoder, self.decoder, self.tags = encoder, decoder, tags

    @property
    def inputs(self) -> WordInputs:
        """The inputs, besides pieces, by which the encoder reads words."""
        return getattr(self.encoder, "inputs", None) or WordInputs()

    @property
    def labeled_encoder(self) -> WordEncoder | None:
        """The encoder whose vectors a labeler reads; None where no labeler can: words must attend to each other."""
        return self.encoder if isinstance(self.encoder, WordEncoder) and self.tags is None else None

    def limit_domains(self, columns: Columns) -> None:
        """Predict for sentences of a domain only the labels of its trees (`Columns.of_domains`)."""
        labels = [columns.of_domains[domain] for domain in columns.values.get(DOMAIN, ()) if columns.of_domains]
        if labels:
            self.decoder.limit_domains(labels, columns.values.get(UPOS, ()))
            if self.tags is not None:
                self.tags.limit_domains(labels)

    def encode(self, net_input: Mapping[str, Any]) -> EncoderOut:
        """Return the encoder output of a batch. Outside training, predicted tags replace unknown ones.

        net_input: `src_tokens`, (B, S) piece ids; `features`: `ActionTable.features`; `words`: `WordInputs.read`
        """
        tokens, words = net_input["src_tokens"], net_input.get("words") or {}
        encoder_out = self.encoder(tokens, words=words) if words else self.encoder(tokens)
        if TAGS in words and self.tags is not None and not self.training:
            known, predicted = words[TAGS]["ids"], self.tags.best_tags(encoder_out.tagged)
            is_word = torch.arange(known.size(1), device=known.device) < encoder_out.lengths[:, None]
            words = {**words, TAGS: {"ids": torch.where((known == 0) & is_word, predicted, known)}}
            encoder_out = self.encoder(tokens, words=words)
        domains = words[DOMAIN]["ids"] if DOMAIN in words else None
        return replace(encoder_out, features=net_input.get("features"), domains=domains)

    @property
    def searches_directly(self) -> bool:
        """True for a model that finds trees by `TreeDecoder.trees`."""
        return not isinstance(self.decoder, StateDecoder)

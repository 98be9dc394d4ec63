"""The contract between a model and everything around it: legality, machine, search, training, export know this alone.

A model is an encoder, called once a sentence, and a `Decoder`: a `StateDecoder`, which scores the next action from the
parser state, or a `GraphDecoder`, which scores whole graphs and says by which derivations they are built.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn

from transition_parser.modules.calibration import Calibration
from transition_parser.modules.encoder import EncoderOut
from transition_parser.modules.tagging import TagHeads
from transition_parser.modules.words import TAGS, WordInputs, WordTensors
from transition_parser.states.batched import unroll
from transition_parser.states.device_table import DeviceTable
from transition_parser.states.machine import Machine, make_machine
from transition_parser.states.states import FIELDS, States
from transition_parser.states.table import ActionTable
from transition_parser.text.columns import UPOS

ALSO_PREFIX = "also_"  # of the names of weights in a checkpoint that were trained along with the model, and are not its


@dataclass(frozen=True)
class Hypothesis:
    """A finished derivation.

    tokens: the action ids, without `</s>`. step_scores: the log-probability of each. score: their sum, divided by the
    number of actions + 1.
    """

    tokens: list[int]
    step_scores: list[float]
    score: float


class Decision(NamedTuple):
    """Choices of a `GraphDecoder` at N places of each of B sentences, each among K: heads of words, say.

    scores: (B, N, K), before the softmax, finite everywhere. competing: (B, N, K) float, 1 for the choices that there
    are, 0 for the others. target: (B, N), the right one; one that does not compete where the gold graph has none.
    counted: (B, N) bool, the places that are decided; the others are padding. share: of the loss, where the same is
    decided several times.
    """

    scores: Tensor
    competing: Tensor
    target: Tensor
    counted: Tensor
    share: float = 1.0


class ActionScores(NamedTuple):
    """Scores of the next action of R hypotheses.

    scores: (N, U), before the softmax; those of illegal actions may be any finite numbers. rows: (N,), which of R rows
    they are of (perhaps some twice); None: all. The others have one legal action, or do not matter. legal: (R, U), 1
    and 0, and −1 for what may not be taken though its probability counts, see `DeviceTable.legality`. tokens: (U,),
    those that are legal in any row; None: all.
    """

    scores: Tensor
    rows: Tensor | None
    legal: Tensor
    tokens: Tensor | None = None

    def masked(self) -> Tensor:
        """(R, U) in fp32, −inf for actions that do not count."""
        scores = self.scores
        if self.rows is not None:
            scores = scores.new_zeros(self.legal.shape).index_copy_(0, self.rows, scores)
        return only_legal(scores, self.legal)

    def log_probabilities(self, count: int) -> Tensor:
        """(R, count) of all actions, −inf for those that do not count."""
        some = self.masked().log_softmax(-1)
        return some if self.tokens is None else _of_all(some, self.tokens, count, float("-inf"))

    def may_be_taken(self, count: int) -> Tensor:
        """(R, count) bool, of all actions."""
        some = self.legal > 0
        return some if self.tokens is None else _of_all(some, self.tokens, count, False)


def _of_all(some: Tensor, tokens: Tensor, count: int, others: float) -> Tensor:
    return some.new_full((len(some), count), others).index_copy_(1, tokens, some)


def only_legal(scores: Tensor, legal: Tensor) -> Tensor:
    """The scores in fp32, −inf for actions that are not legal; both (..., V)."""
    return scores.float().masked_fill(legal == 0, float("-inf"))


class SearchState:
    """What search carries from step to step: the batched machine, and what a decoder remembers of each hypothesis.

    Each of B sentences has W hypotheses: R = B · W rows, in the order of the sentences. W is 1 at first.

    sentences: (B,), which of those of `encoder_out` they are. width: W. steps: how many actions were scored. greedy:
    True where each hypothesis takes one best action, and no others matter: a decoder that decides in stages may then
    settle one after the other.
    A decoder that has tensors of its own, one row a hypothesis, subclasses this and moves them in `move_rows`.
    """

    def __init__(self, machine: Machine, encoder_out: EncoderOut) -> None:
        self.machine, self.encoder_out = machine, encoder_out
        self.sentences = torch.arange(len(encoder_out.lengths), device=encoder_out.lengths.device)
        self.width = 1
        self.steps = 0
        self.greedy = False

    def sentence_of_row(self) -> Tensor:
        """(R,): which sentence of `encoder_out` each hypothesis is of."""
        return self.sentences.repeat_interleave(self.width)

    def branch(self, origin: Tensor) -> Tensor:
        """Hypothesis w of sentence b continues what was its hypothesis `origin[b, w]`, (B, W'); the same as rows,
        (B · W',)."""
        first = torch.arange(len(origin), device=origin.device)[:, None] * self.width
        rows = (first + origin).flatten()
        self.machine.reorder(rows, same_sentences=origin.size(1) == self.width)
        self.move_rows(rows, origin, None)
        self.width = origin.size(1)
        return rows

    def keep(self, sentences: Tensor) -> Tensor:
        """Sentence i becomes what was sentence `sentences[i]`, with all its hypotheses; the same as rows."""
        every = torch.arange(self.width, device=sentences.device)
        rows = (sentences[:, None] * self.width + every).flatten()
        self.machine.reorder(rows)
        self.move_rows(rows, None, sentences)
        self.sentences = self.sentences.index_select(0, sentences)
        return rows

    def move_rows(self, rows: Tensor, origin: Tensor | None, sentences: Tensor | None) -> None:
        """The one hook for a decoder's own tensors: row i continues what was row `rows[i]`.

        Of the other two one is given, which says the same: origin (B, W') where hypotheses branch within their
        sentences, sentences (B',) where whole sentences leave or are copied. `width` still is the old one.
        """


class Decoder(nn.Module):
    """What all decoders share: the action vocabulary, and the parser states of derivations.

    needs: the fields of `States` that it reads; the others are never made. hidden: those that it is shown empty, see
    `BatchedMachine` and `hide`. reads_in_decoder: the decoder reads words itself, so that two models that
    share an encoder (`--also`) would not share all that reads words.
    """

    needs: Collection[str] = ()
    hidden: Collection[str] = ()
    reads_in_decoder: bool = False
    _here: Tensor

    def __init__(self, table: ActionTable) -> None:
        super().__init__()
        self.table, self._device_table = table, DeviceTable.of(table)
        self.register_buffer("_here", torch.empty(0), persistent=False)  # moves with the decoder

    @property
    def state_parts(self) -> Sequence[str]:
        """The parts of the parser state that it sees, and that `hide` knows: by default the fields of `States`."""
        return [name for name in FIELDS if name in self.needs]

    def hide(self, parts: Collection[str]) -> None:
        """From now on these of `state_parts` are not seen: to find out what they are worth. None of them: all are.
        Raises `ValueError` for others."""
        self.hidden = self.known_parts(parts)

    def known_parts(self, parts: Collection[str]) -> frozenset[str]:
        """The same parts. Raises `ValueError` where one of them is not among `state_parts`."""
        unknown = sorted(set(parts).difference(self.state_parts))
        if unknown:
            raise ValueError(f"the state that it sees has no part {unknown[0]!r}: {', '.join(self.state_parts)}")
        return frozenset(parts)

    def sight(self, states: States) -> dict[str, Tensor]:
        """What it sees of the words in some states (…), for people to look at: what sees it → (…, P), 0 for words that
        it does not see. By default the fields of `States` that are there."""
        return {name: value for name, value in states.tensors().items() if name in FIELDS}

    @property
    def device_table(self) -> DeviceTable:
        """The action vocabulary on the device of the decoder."""
        device = self._here.device
        if self._device_table.column.device != device:
            self._device_table = DeviceTable.of(self.table, device)
        return self._device_table

    def machine(
        self, encoder_out: EncoderOut, needs: Collection[str] | None = None, in_search: bool = False
    ) -> Machine:
        """The batched machine before the first action. needs: by default those of this decoder."""
        needs = self.needs if needs is None else needs
        machine = make_machine(self.device_table, encoder_out.lengths, encoder_out.features, needs, in_search)
        machine.hidden = self.hidden
        return machine

    def states(self, actions: Tensor, encoder_out: EncoderOut) -> States:
        """The states (B, T, …) before each step of teacher-forced derivations; actions as in `scores`."""
        # the machine's action at step t is the token that the decoder reads at t + 1
        following = torch.cat([actions[:, 1:], actions[:, :1]], 1)
        return unroll(self.machine(encoder_out), following)


class StateDecoder(Decoder, ABC):
    """Scores actions from the words and the parser state.

    shifts_compete: with labelled SHIFT, the words of SHIFT compete with each other in training (the multi-task of
    Fernandez Astudillo et al. 2020, sec. 3.2); in search the SHIFT that is due then has the mass of all of them.
    shifts_are_alike: SHIFTs with different words have one score, as only one of them is ever legal.
    """

    shifts_compete: bool = False
    shifts_are_alike: bool = False

    @abstractmethod
    def scores(self, actions: Tensor, encoder_out: EncoderOut, states: States) -> Tensor:
        """(B, T, V), before the softmax, all T steps of teacher-forced derivations at once.

        actions: (B, T), the actions taken before each step, `</s>` before the first. states: (B, T, …).
        """

    def drawn(self, actions: Tensor) -> Tensor | None:
        """(B, T) bool: the steps that an update learns from, where it does not from all of them. `scores` then gets it
        as one argument more, and the loss of these stands for that of all."""
        return None

    @abstractmethod
    def start(self, encoder_out: EncoderOut) -> SearchState:
        """The state of search before the first action."""

    @abstractmethod
    def step(self, tokens: Tensor, search: SearchState, alive: Tensor | None = None) -> ActionScores:
        """Scores of the next action. tokens: (R,), the action each hypothesis has just taken, which the machine has
        taken too; `</s>` at first. alive: (R,) bool, the rows whose scores matter; None: all."""

    # --- which actions compete --------------------------------------------------------------

    def legality(self, states: States) -> Tensor:
        """(…, V) float, 1 for actions that compete in training, 0 for the others."""
        return self.device_table.legality(states.columns, states.context, self.shifts_compete)

    def pooled_shifts(self, scores: Tensor, tokens: Tensor | None = None) -> Tensor:
        """Where SHIFTs compete: each SHIFT has the score of all of them together (log-sum-exp).

        scores: (N, V), or (N, U) of `tokens` (U,).
        """
        if not self.shifts_compete:
            return scores
        is_shift = self.device_table.shift_word >= 0
        is_shift = is_shift if tokens is None else is_shift[tokens]
        together = scores.float().masked_fill(~is_shift, float("-inf")).logsumexp(-1, keepdim=True)
        return torch.where(is_shift, together.to(scores.dtype), scores)


class MemorylessDecoder(StateDecoder):
    """A decoder for which the state before an action says everything: nothing is carried from step to step."""

    def prepared(self, encoder_out: EncoderOut) -> EncoderOut:
        """What `score_states` reads, made once a sentence: by default what the encoder returned."""
        return encoder_out

    @abstractmethod
    def score_states(self, encoder_out: EncoderOut, sentence: Tensor, states: States) -> Tensor:
        """(N, V), before the softmax, of N states: all of a batch's in training, those of one step in search.

        encoder_out: what `prepared` made of it. sentence: (N,), which sentence of it each state is of. states: (N, …).
        """

    def scores(self, actions: Tensor, encoder_out: EncoderOut, states: States) -> Tensor:
        batch, steps = actions.shape
        sentence = torch.arange(batch, device=actions.device).repeat_interleave(steps)
        found = self.score_states(self.prepared(encoder_out), sentence, states.flattened())
        return found.unflatten(0, (batch, steps))

    def start(self, encoder_out: EncoderOut) -> SearchState:
        return SearchState(self.machine(encoder_out, in_search=True), self.prepared(encoder_out))

    def step(self, tokens: Tensor, search: SearchState, alive: Tensor | None = None) -> ActionScores:
        search.steps += 1
        scores = self.score_states(search.encoder_out, search.sentence_of_row(), search.machine.observe())
        return ActionScores(self.pooled_shifts(scores), None, search.machine.legality())


class GraphDecoder(Decoder, ABC):
    """Scores whole graphs, not actions: it is trained by decisions about graphs, and finds the best graph at once.

    Its training data are derivations all the same: `states` before `</s>`, the last ones, have the gold graphs.
    """

    @abstractmethod
    def decisions(self, encoder_out: EncoderOut, states: States) -> list[Decision]:
        """All that is decided about the graphs of a batch. states: (B, T, …) of their gold derivations."""

    @abstractmethod
    def derivations(self, encoder_out: EncoderOut, nbest: int) -> list[list[Hypothesis]]:
        """For each sentence the derivations of its best graphs, best first, one at least and `nbest` at the most.

        The log-probability of an action is that of what it decides of the graph. Raises `NotFiniteError` where scores
        are not numbers.
        """


class ParserModel(nn.Module):
    """An encoder and a decoder, as plain modules; `state_dict` names their parameters `encoder.…` and `decoder.…`.

    encoder: called as `encoder(src_tokens, features=…, words=…)`, returns `EncoderOut`; it may have an attribute
    `inputs`, the `WordInputs` by which it reads words. tags: what predicts tags and lemmas, where anything does.
    calibration: of the confidences in what it finds, where it was fitted.
    """

    calibration: Calibration | None = None

    def __init__(self, encoder: nn.Module, decoder: Decoder, tags: TagHeads | None = None) -> None:
        super().__init__()
        self.encoder, self.decoder = encoder, decoder
        if tags is not None:
            self.tags = tags

    @property
    def inputs(self) -> WordInputs | None:
        """What words are read by beside their pieces."""
        return getattr(self.encoder, "inputs", None)

    @property
    def tag_heads(self) -> TagHeads | None:
        """What predicts tags and lemmas."""
        return getattr(self, "tags", None)

    def encode(self, net_input: Mapping[str, Any]) -> EncoderOut:
        """The encoder over a batch: `src_tokens` (B, S) piece ids; `features`, see `ActionTable.features`; `words`, see
        `WordInputs.read`. Other keys do not matter.

        Tags that the model reads and that are not known are, but in training, those that it predicts itself.
        """
        given = {name: net_input[name] for name in ("features", "words") if net_input.get(name) is not None}
        encoder_out = self.encoder(net_input["src_tokens"], **given)
        if self.training or self.tag_heads is None or self.inputs is None or TAGS not in self.inputs:
            return encoder_out
        words = {**given["words"], TAGS: {"ids": self._tags(given["words"][TAGS]["ids"], encoder_out)}}
        return self.encoder(net_input["src_tokens"], **{**given, "words": words})

    def _tags(self, known: Tensor, encoder_out: EncoderOut) -> Tensor:
        """(B, P) ids, those that are predicted where they are 0."""
        predicted = cast(TagHeads, self.tag_heads).best(encoder_out.words)[UPOS]
        is_word = torch.arange(known.size(1), device=known.device) < encoder_out.lengths[:, None]
        return torch.where((known == 0) & is_word, predicted, known)

    def forward(
        self,
        src_tokens: Tensor,
        prev_output_tokens: Tensor,
        states: States | None = None,
        features: Tensor | None = None,
        words: WordTensors | None = None,
        drawn: Tensor | None = None,
    ) -> tuple[Tensor, Tensor, EncoderOut]:
        """Scores (B, T, V) before the softmax; which actions compete, (B, T, V), 1 and 0; what the encoder returned.

        src_tokens: (B, S) piece ids. prev_output_tokens: (B, T) actions, `</s>` first. states: those before each
        action, by default made here. features, words: as in `encode`. drawn: as of `StateDecoder`, for which this is.
        """
        decoder = cast(StateDecoder, self.decoder)
        encoder_out, states = self.read(src_tokens, prev_output_tokens, states, features, words)
        some = () if drawn is None else (drawn,)
        return decoder.scores(prev_output_tokens, encoder_out, states, *some), decoder.legality(states), encoder_out

    def read(
        self,
        src_tokens: Tensor,
        actions: Tensor,
        states: States | None = None,
        features: Tensor | None = None,
        words: WordTensors | None = None,
    ) -> tuple[EncoderOut, States]:
        """What decoders score in training: what the encoder returns, and the states; arguments as of `forward`."""
        encoder_out = self.encode({"src_tokens": src_tokens, "features": features, "words": words})
        if states is None or not states.has(self.decoder.needs):
            states = self.decoder.states(actions, encoder_out)
        return encoder_out, states

    @property
    def searches_directly(self) -> bool:
        """True where `search_directly` finds derivations."""
        return isinstance(self.decoder, GraphDecoder)

    def search_directly(self, encoder_out: EncoderOut, nbest: int) -> list[list[Hypothesis]] | None:
        """For models that do not search action by action: for each sentence its best derivations, best first, as
        `search` returns them. None: search action by action."""
        return self.decoder.derivations(encoder_out, nbest) if isinstance(self.decoder, GraphDecoder) else None

"""Several models that parse together by the mean of their log-probabilities of each action.

Zhang et al. 2017, sec. 4.2, take the mean of the probabilities instead.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from torch import Tensor, nn

from transition_parser.base.errors import InputError
from transition_parser.modules.contract import ActionScores, ParserModel, SearchState, StateDecoder
from transition_parser.modules.encoder import EncoderOut
from transition_parser.modules.tagging import TagHeads
from transition_parser.modules.words import WordInputs
from transition_parser.states.states import States


@dataclass(frozen=True, eq=False, kw_only=True)
class EnsembleOut(EncoderOut):
    """The encoder outputs of all members.

    All other fields have the values of the member whose labeler is used, the first member if there is no labeler.
    """

    members: Sequence[EncoderOut]


class EnsembleInputs(WordInputs):
    """The word inputs of members, by the member's number: "0", "1", …"""

    def __init__(self, members: Sequence[ParserModel]) -> None:
        super().__init__()
        self.update({str(i): member.inputs for i, member in enumerate(members)})

    @property
    def columns(self) -> Collection[str]:
        return {name for inputs in self.values() for name in inputs.columns}

    @property
    def given_columns(self) -> Collection[str]:
        return {name for inputs in self.values() for name in inputs.given_columns}

    def __contains__(self, name: str) -> bool:
        return any(name in inputs for inputs in self.values())


class EnsembleSearch(SearchState):
    """The search state of an ensemble, with the machine of the first member; other machines take the same actions."""

    def __init__(self, members: Sequence[SearchState], encoder_out: EncoderOut) -> None:
        super().__init__(members[0].machine, encoder_out)
        self.members = members

    def reorder_beam(self, origin: Tensor) -> Tensor:
        rows, *_ = [member.reorder_beam(origin) for member in self.members]
        self.width = origin.size(1)
        return rows

    def select_sentences(self, sentences: Tensor) -> Tensor:
        rows, *_ = [member.select_sentences(sentences) for member in self.members]
        self.sentences = self.sentences.index_select(0, sentences)
        return rows


class EnsembleDecoder(StateDecoder):
    """A decoder whose scores are the means of the members' log-probabilities."""

    def __init__(self, members: Sequence[StateDecoder]) -> None:
        super().__init__(members[0].table)
        self.members = nn.ModuleList(members)

    def scores(
        self, actions: Tensor, encoder_out: EncoderOut, states: States, sampled_steps: Tensor | None = None
    ) -> Tensor:
        raise NotImplementedError("an ensemble parses; its members are trained one by one")

    def start(self, encoder_out: EncoderOut) -> EnsembleSearch:
        assert isinstance(encoder_out, EnsembleOut)
        members = zip(self.members, encoder_out.members, strict=True)
        return EnsembleSearch([member.start(out) for member, out in members], encoder_out)

    def step(self, tokens: Tensor, search: SearchState) -> ActionScores:
        assert isinstance(search, EnsembleSearch)
        found = []
        for member, state in zip(self.members, search.members, strict=True):
            if search.steps and state.machine is not search.machine:
                state.machine.apply(tokens)
            found.append(member.step(tokens, state).log_probabilities())
        scores = reduce(Tensor.add, found) / len(self.members)
        return ActionScores(scores.masked_fill(scores == float("-inf"), 0.0), search.machine.legality())


class Ensemble(ParserModel):
    """Models that score the same actions and act as one model. The first model predicts the tags."""

    def __init__(self, members: Sequence[ParserModel]) -> None:
        decoders: list[StateDecoder] = []
        for number, decoder in enumerate((member.decoder for member in members), 1):
            assert isinstance(decoder, StateDecoder)
            if decoders and decoder.table.tokens != decoders[0].table.tokens:
                raise InputError(f"model {number} of the ensemble has other actions than the first")
            decoders.append(decoder)
        super().__init__(nn.ModuleList(member.encoder for member in members), EnsembleDecoder(decoders))
        self.members = nn.ModuleList(members)
        self._labeling = next((i for i, member in enumerate(members) if member.labeler is not None), 0)
        self.labeler = members[self._labeling].labeler

    @property
    def inputs(self) -> EnsembleInputs:
        return EnsembleInputs(self.members)

    @property
    def tag_heads(self) -> TagHeads | None:
        return self.members[0].tag_heads

    def encode(self, net_input: Mapping[str, Any]) -> EnsembleOut:
        words = net_input.get("words") or {}
        members = [m.encode({**net_input, "words": words.get(str(i))}) for i, m in enumerate(self.members)]
        one = members[self._labeling]
        return EnsembleOut(one.words, one.mask, one.lengths, one.features, one.read, members=members)

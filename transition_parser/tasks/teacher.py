"""The models of `--teacher`, whose probabilities of actions a model learns to have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from transition_parser.base.errors import InputError, input_error
from transition_parser.criterions.losses import Taught
from transition_parser.data.resources import Resources
from transition_parser.modules.contract import StateDecoder, only_legal
from transition_parser.parsing.parser import Parser
from transition_parser.transitions import TreeSystem


@dataclass
class Teacher:
    """Models that are shown the derivations of a batch, and that say how probable they find each next action.

    Hinton, Vinyals and Dean 2015, Distilling the Knowledge in a Neural Network, at the temperature 1. The mean of the
    probabilities of all models is learned.

    members: the models
    weight: the weight of what the models say in the loss; the gold actions have the rest
    """

    members: list[_Member]
    weight: float

    def taught(self, sample: Mapping[str, Any], words: Sequence[Sequence[str]]) -> dict[str, Any]:
        """Return the batch with the probabilities of actions as `taught`.

        words: the normalised words of each sentence
        """
        actions = sample["net_input"]["prev_output_tokens"]
        for i, member in enumerate(self.members):
            self.members[i] = member.on(actions.device)
        with torch.no_grad():
            found = torch.stack([member.probabilities(words, actions) for member in self.members]).mean(0)
        return {**sample, "taught": Taught(found, self.weight)}


@dataclass(frozen=True)
class _Member:
    """A model.

    path: the path or the name that it was loaded from
    columns: (V,); its id of each of our actions
    known: (V,) float; 1 for actions and `</s>`, 0 for other symbols
    """

    path: str
    parser: Parser
    columns: Tensor
    known: Tensor

    def on(self, device: torch.device) -> _Member:
        """Return the model on a device."""
        if self.parser.device == device:
            return self
        parser = Parser.load(self.path, device=str(device))
        return _Member(self.path, parser, self.columns.to(device), self.known.to(device))

    def probabilities(self, words: Sequence[Sequence[str]], actions: Tensor) -> Tensor:
        """Return the probabilities (B, T, V) of our actions in each state of the derivations.

        actions: (B, T), our ids; the action before each step, `</s>` before the first
        """
        model, theirs = self.parser.model, self.columns[actions]
        decoder = model.decoder
        assert isinstance(decoder, StateDecoder)
        encoder_out, states = model.read(actions=theirs, **self.parser.net_input(words))
        scores = decoder.scores(theirs, encoder_out, states).flatten(0, 1)
        legal = decoder.device_table.legality(states.columns, states.context, False)
        some = only_legal(decoder.pooled_shifts(scores), legal.flatten(0, 1)).softmax(-1)
        return (some[:, self.columns] * self.known).nan_to_num().unflatten(0, actions.shape)


def teacher_of(options: Any, resources: Resources) -> Teacher | None:
    """Return the teacher of the options of the task; None where there is none.

    Raises `InputError` for options that do not fit together, and for models that can't teach actions of this data.
    """
    if not options.teacher:
        if options.teacher_weight is not None:
            raise InputError("--teacher-weight is for --teacher")
        return None
    weight = 0.5 if options.teacher_weight is None else options.teacher_weight
    if not 0.0 < weight <= 1.0:
        raise InputError(f"--teacher-weight {weight} is not above 0 and at most 1")
    return Teacher([_member(path, resources) for path in options.teacher.split(",")], weight)


def _member(path: str, resources: Resources) -> _Member:
    parser = Parser.load(path)
    theirs = parser.resources
    system, their_system = resources.parser.system, theirs.parser.system
    if system != their_system:
        raise input_error(f"the teacher is for {their_system}, but the data is for {system}", path)
    if not isinstance(parser.model.decoder, StateDecoder):
        raise input_error("scores whole trees: take a teacher that scores actions", path)
    if parser.given_columns:
        given = ", ".join(sorted(parser.given_columns)).upper()
        raise input_error(f"the teacher reads {given}, which it does not predict: take another", path)
    if not isinstance(resources.table.system, TreeSystem) and theirs.fingerprint != resources.fingerprint:
        raise input_error("a teacher of AMRs must be trained on the same data folder", path)
    if theirs.table.shift_words != resources.table.shift_words:
        raise input_error("its SHIFTs have other words: take a teacher with the same --labeled-shift", path)
    table, known = resources.table, theirs.target_dictionary
    takes = [action is not None or token == table.end for token, action in enumerate(table.actions)]
    for symbol, needed in zip(table.tokens, takes, strict=True):
        if needed and symbol not in known:
            raise input_error(f"the teacher has no action {symbol}: take a teacher of the same actions", path)
    return _Member(path, parser, torch.tensor([*map(known.index, table.tokens)]), torch.tensor(takes).float())

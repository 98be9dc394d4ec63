"""The models of `--teacher`: another model learns their probabilities of actions, or of heads and relations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from transition_parser.base.errors import InputError, input_error
from transition_parser.data.resources import Resources
from transition_parser.modules.contract import StateDecoder, only_legal
from transition_parser.modules.tree_decoder import TreeDecoder
from transition_parser.parsing.parser import Parser
from transition_parser.states.costs import GoldTrees
from transition_parser.tasks.losses import Taught
from transition_parser.transitions import TreeSystem


@dataclass
class Teacher:
    """Models whose mean probabilities the model in training learns (Hinton et al. 2015); `weight`: their share."""

    members: list[_Member]
    weight: float

    def taught(self, sample: Mapping[str, Any], words: Sequence[Sequence[str]]) -> dict[str, Any]:
        net_input = sample["net_input"]
        actions, given = net_input["prev_output_tokens"], net_input["trees"]
        trees = None if given is None else GoldTrees(**given)
        for i, member in enumerate(self.members):
            self.members[i] = member.on(actions.device)
        with torch.no_grad():
            found = [member.probabilities(words, actions, trees) for member in self.members]
        means = [torch.stack(parts).mean(0) for parts in zip(*found, strict=True)]
        return {**sample, "taught": Taught(means, self.weight)}


@dataclass(frozen=True)
class _Member:
    """One model of a teacher. "Our" ids are those of the model in training, for V action tokens and R relations."""

    path: str  # or the name that the model was loaded by
    parser: Parser
    columns: Tensor  # (V,); the model's id of each of our action tokens
    known: Tensor  # (V,) float; 1 for actions and `</s>`, 0 for other symbols
    relations: Tensor  # (R,); the model's id of each of our relations

    def on(self, device: torch.device) -> _Member:
        """Return the model on a device. A model on another device is loaded again."""
        if self.parser.device == device:
            return self
        parser = Parser.load(self.path, device=str(device))
        moved = (x.to(device) for x in (self.columns, self.known, self.relations))
        return _Member(self.path, parser, *moved)

    def probabilities(self, words: Sequence[Sequence[str]], actions: Tensor, trees: GoldTrees | None) -> list[Tensor]:
        """Return the probabilities of our actions, (B, T, V), or of heads (B, P, P) and relations (B, P, R)."""
        theirs, net_input = self.columns[actions], self.parser.net_input(words)
        model = self.parser.model
        decoder, encoder_out = model.decoder, model.encode(net_input)
        if isinstance(decoder, TreeDecoder):
            assert trees is not None
            *_, heads, relations = decoder.decisions(encoder_out, trees)
            of_heads, of_relations = (
                only_legal(found.scores, found.competing).softmax(-1).nan_to_num() for found in (heads, relations)
            )
            return [of_heads, of_relations[..., self.relations]]
        assert isinstance(decoder, StateDecoder)
        before = decoder.states(theirs, encoder_out)
        scores = decoder.scores(theirs, encoder_out, before).flatten(0, 1)
        legal = decoder.device_table.legality(before.columns, before.context, False)
        some = only_legal(decoder.pooled_shifts(scores), legal.flatten(0, 1)).softmax(-1)
        return [(some[:, self.columns] * self.known).nan_to_num().unflatten(0, theirs.shape)]


def teacher_of(options: Any, resources: Resources, of_trees: bool = False) -> Teacher | None:
    if not options.teacher:
        if options.teacher_weight is not None:
            raise InputError("--teacher-weight is for --teacher")
        return None
    weight = 0.5 if options.teacher_weight is None else options.teacher_weight
    if not 0.0 < weight <= 1.0:
        raise InputError(f"--teacher-weight {weight} is not above 0 and at most 1")
    return Teacher([_member(path, resources, of_trees) for path in options.teacher.split(",")], weight)


def _member(path: str, resources: Resources, of_trees: bool = False) -> _Member:
    parser = Parser.load(path)
    theirs = parser.resources
    system, their_system = resources.parser.system, theirs.parser.system
    if system != their_system:
        raise input_error(f"the teacher is for {their_system}, but the data is for {system}", path)
    if not isinstance(parser.model.decoder, TreeDecoder if of_trees else StateDecoder):
        wanted, found = ("whole trees", "actions") if of_trees else ("actions", "whole trees")
        raise input_error(f"scores {found}, but the model that learns scores {wanted}: take another teacher", path)
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
    columns = torch.tensor([*map(known.index, table.tokens)])
    relations = torch.tensor([*map(theirs.table.relations.index, table.relations)])
    return _Member(path, parser, columns, torch.tensor(takes).float(), relations)

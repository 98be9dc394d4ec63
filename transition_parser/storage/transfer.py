"""Initialisation of a model with the weights of another model, whose vocabularies may differ."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from transition_parser.base.errors import InputError, input_error
from transition_parser.data.resources import Resources
from transition_parser.modules.contract import ParserModel
from transition_parser.modules.word_inputs import TableInput
from transition_parser.storage.checkpoints import load_model
from transition_parser.text.columns import DOMAIN
from transition_parser.transitions import Action, Kind
from transition_parser.transitions.amr import AmrSystem
from transition_parser.transitions.amr_frames import FIRST_SENSE

_EMBEDDINGS_OF_ACTIONS = ("decoder.embed.weight", "decoder.output.weight", "decoder.output.bias")
_HEAD = re.compile(r"tags\.(\w+)\.(weight|bias)")  # a linear layer of `TagHeads`, with one row for each label
_SENSE = re.compile(r"-(\d\d+)$")


class Transferred(NamedTuple):
    """The parameters of a model that started from another model."""

    whole: list[str]  # names of parameters that were copied
    rows: dict[str, int]  # name of a parameter → how many of its rows are rows, or means of rows, of the other model
    own: list[str]  # names of parameters that keep their initial values


def start_from(model: ParserModel, resources: Resources, path: str | os.PathLike) -> Transferred:
    """Initialise a model with the weights of another model."""
    other, theirs = load_model(path)
    system, their_system = resources.parser.system, theirs.parser.system
    if system != their_system:
        raise input_error(f"the model is for {their_system}, but the data is for {system}", path)
    if system != AmrSystem.name and set(resources.target_dictionary.symbols) != set(theirs.target_dictionary.symbols):
        raise input_error("its actions are not those of the data: start from a model of the same relations", path)
    weights, indexed = other.state_dict(), _Rows(resources, theirs)
    done = Transferred([], {}, [])
    with torch.no_grad():
        for name, value in model.state_dict().items():
            given, rows = weights.get(name), indexed.of(name)
            if given is not None and _HEAD.fullmatch(name):
                given = _as_wide(given, value)
            if given is None or given.shape[1:] != value.shape[1:] or (rows is None and given.shape != value.shape):
                done.own.append(name)
            elif rows is None:
                value.copy_(given)
                done.whole.append(name)
            else:
                rows = {row: of for row, of in rows.items() if row < len(value) and max(of) < len(given)}
                for row, sources in rows.items():
                    value[row] = given[list(sources)].mean(0)
                done.rows[name] = len(rows)
    if not (done.whole or done.rows):
        raise InputError(f"no weight of {path} has a name and shape of this model: is it of another architecture?")
    return done


def _as_wide(given: Tensor, value: Tensor) -> Tensor:
    """Return the weights or the bias of a layer of `TagHeads`, with zero columns added up to the width of `value`."""
    more = value.size(1) - given.size(1) if value.dim() == given.dim() == 2 else 0
    return F.pad(given, (0, more)) if more > 0 else given


def similar_actions(action: Action, known: Sequence[Action]) -> Iterator[Action]:
    """Yield the known actions whose mean is a good start for an unknown action.

    For FRAME, these actions make concepts with the same sense number. For other actions, they have the same kind.

    >>> known = [Action(Kind.COPY_SENSE01), Action(Kind.PRED, "get-02"), Action(Kind.PRED, "dog")]
    >>> [str(action) for action in similar_actions(Action(Kind.FRAME, "02"), known)]
    ['PRED(get-02)']
    """
    if action.kind is not Kind.FRAME:
        return (other for other in known if other.kind is action.kind)
    sense = action.parts[0]
    return (other for other in known if _sense_of(other) == sense)


def _sense_of(action: Action) -> str | None:
    """Return the sense number of the frame that an action makes; None if the action makes no frame."""
    if action.kind is Kind.COPY_SENSE01:
        return FIRST_SENSE
    if action.kind is Kind.FRAME:
        return action.parts[0]
    match = _SENSE.search(str(action.label)) if action.kind is Kind.PRED else None
    return match and match[1]


class _Rows:
    """A map from rows of the new model's parameters to rows of the other model's parameters, by equal symbols."""

    def __init__(self, ours: Resources, theirs: Resources) -> None:
        self._ours, self._theirs = ours, theirs

    def of(self, name: str) -> Mapping[int, Sequence[int]] | None:
        """Return row of the parameter `name` → the rows of the other model whose mean the row gets."""
        if name in _EMBEDDINGS_OF_ACTIONS:
            return self._actions()
        if name == "encoder.embed.weight":
            return _equal(self._ours.source_dictionary.symbols, self._theirs.source_dictionary.symbols)
        if name == f"encoder.inputs.{DOMAIN}.embed.weight":
            return self._labels(DOMAIN)
        if name == f"encoder.inputs.{TableInput.name}.embed.weight":  # a table may have fewer rows than there are words
            return _equal(*((None, *(r.frequent_words or ())) for r in (self._ours, self._theirs)))
        head = _HEAD.fullmatch(name)
        return self._labels(head[1]) if head else None

    def _labels(self, column: str) -> dict[int, Sequence[int]]:
        return _equal(*((None, *r.columns.values.get(column, ())) for r in (self._ours, self._theirs)))

    def _actions(self) -> dict[int, Sequence[int]]:
        ours, theirs = (r.target_dictionary.symbols for r in (self._ours, self._theirs))
        rows = _equal(ours, theirs)
        places = {action: i for i, action in enumerate(self._theirs.table.actions) if action is not None}
        for row, action in enumerate(self._ours.table.actions):
            if row not in rows and action is not None:
                similar = [places[other] for other in similar_actions(action, list(places))]
                if similar:
                    rows[row] = similar
        return rows


def _equal(ours: Sequence[object], theirs: Sequence[object]) -> dict[int, Sequence[int]]:
    places = {symbol: i for i, symbol in enumerate(theirs)}
    return {row: (places[symbol],) for row, symbol in enumerate(ours) if symbol in places}


def described(done: Transferred) -> str:
    """Return a summary of a transfer in one line, for a log."""
    rows = "".join(f", {count} rows of {name}" for name, count in done.rows.items())
    own = f"; new: {', '.join(done.own)}" if done.own else ""
    return f"{len(done.whole)} parameters{rows}{own}"

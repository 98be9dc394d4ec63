"""Initialization of a model with the weights of another model, whose vocabularies may differ."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Sequence

import torch
import torch.nn.functional as F

from transition_parser.base.errors import InputError, input_error
from transition_parser.data.resources import Resources
from transition_parser.modules.contract import ParserModel
from transition_parser.modules.pretrained import is_adapter
from transition_parser.modules.tree_decoder import TreeDecoder
from transition_parser.modules.word_inputs import TableInput
from transition_parser.storage.checkpoints import load_model
from transition_parser.text.columns import DOMAIN
from transition_parser.transitions import Kind
from transition_parser.transitions.amr import AmrSystem

_EMBEDDINGS_OF_ACTIONS = ("decoder.embed.weight", "decoder.output.weight", "decoder.output.bias")
# parameters of `TreeDecoder` that have as many rows for each relation
_OF_RELATIONS = re.compile(r"decoder\.(labels|relations\.(pairs\.form|output))\.(weight|bias)")
# the last products of the layers of a Transformer, which are added to what the layers read
_ADDED = re.compile(r"(encoder|decoder)\.layers\.\d+\.(\w+\.out|feed_forward\.outer)\.(weight|bias)")
_HEAD = re.compile(r"tags\.(\w+)\.(?:output\.)?(weight|bias)")  # a layer of `TagHeads` with a row for each label


def start_from(model: ParserModel, resources: Resources, path: str | os.PathLike) -> str:
    """Initialize a model with the weights of another model, and return a summary in one line, for a log.

    A model with more layers of a Transformer, or with a larger rank of adapters, begins as the same function as the
    other (Chen et al. 2016, Net2Net).
    """
    other, theirs = load_model(path)
    system, their_system = resources.parser.system, theirs.parser.system
    if system != their_system:
        raise input_error(f"the model is for {their_system}, but the data is for {system}", path)
    finds_trees = isinstance(model.decoder, TreeDecoder)
    actions, known = ({*one.target_dictionary.symbols} for one in (resources, theirs))
    if system != AmrSystem.name and not finds_trees and actions != known:
        raise input_error("its actions are not those of the data: start from a model of the same relations", path)
    weights = other.state_dict()
    whole, partly, own = 0, "", []
    with torch.no_grad():
        for name, value in model.state_dict().items():
            given, rows = weights.get(name), _rows(name, resources, theirs)
            if finds_trees and _OF_RELATIONS.fullmatch(name):
                rows = _rows_of_relations(len(value), resources, theirs)
            if given is not None and _HEAD.fullmatch(name) and given.dim() == value.dim() == 2:
                given = F.pad(given, (0, max(value.size(1) - given.size(1), 0)))  # the heads of tags may be wider here
            if given is not None and is_adapter(name) and _fits(given, value):
                value[tuple(map(slice, given.shape))] = given
                whole += 1
            elif given is None or given.shape[1:] != value.shape[1:] or (rows is None and given.shape != value.shape):
                own.append(name)
                if given is None and _ADDED.fullmatch(name):
                    value.zero_()
            elif rows is None:
                value.copy_(given)
                whole += 1
            else:
                rows = {row: of for row, of in rows.items() if row < len(value) and max(of) < len(given)}
                for row, sources in rows.items():
                    value[row] = given[list(sources)].mean(0)
                partly += f", {len(rows)} rows of {name}"
    if not whole and not partly:
        raise InputError(f"no weight of {path} has a name and shape of this model: is it of another architecture?")
    return f"{whole} parameters{partly}{'; new: ' if own else ''}{', '.join(own)}"


def _fits(given: torch.Tensor, value: torch.Tensor) -> bool:
    """Return True if a matrix of adapters has a place in another one. What it leaves there reads or adds nothing."""
    return all(size <= own for size, own in zip(given.shape, value.shape, strict=True))


def _rows(name: str, ours: Resources, theirs: Resources) -> dict[int, Sequence[int]] | None:
    """Return row of the parameter `name` → the rows of the other model whose mean it gets, by equal symbols."""
    head = _HEAD.fullmatch(name)
    if name in _EMBEDDINGS_OF_ACTIONS:
        return _rows_of_actions(ours, theirs)
    if name == "encoder.embed.weight":
        return _equal(ours.source_dictionary.symbols, theirs.source_dictionary.symbols)
    if name == f"encoder.inputs.{TableInput.name}.embed.weight":  # a table may have fewer rows than there are words
        return _equal(*((None, *(one.frequent_words or ())) for one in (ours, theirs)))
    is_domain = name == f"encoder.inputs.{DOMAIN}.embed.weight"
    column = DOMAIN if is_domain else head and head[1]
    if not column:
        return None
    rows = _equal(*((None, *one.columns.values.get(column, ())) for one in (ours, theirs)))
    if is_domain:  # a new domain begins with the mean of all
        known = range(1, len(theirs.columns.values.get(DOMAIN, ())) + 1)
        new = {row: known for row in range(1, len(ours.columns.values.get(DOMAIN, ())) + 1) if row not in rows}
        rows |= new if known else {}
    return rows


def _rows_of_actions(ours: Resources, theirs: Resources) -> dict[int, Sequence[int]]:
    """Return the rows of equal actions; an action that is new begins with the mean of the known ones of its kind."""
    rows = _equal(ours.target_dictionary.symbols, theirs.target_dictionary.symbols)
    of_kind: dict[Kind, list[int]] = defaultdict(list)
    for row, action in enumerate(theirs.table.actions):
        if action is not None:
            of_kind[action.kind].append(row)
    new = ((row, action) for row, action in enumerate(ours.table.actions) if row not in rows and action is not None)
    return rows | {row: of_kind[action.kind] for row, action in new if action.kind in of_kind}


def _rows_of_relations(size: int, ours: Resources, theirs: Resources) -> dict[int, Sequence[int]]:
    """Return the rows of equal relations of a parameter with `size` rows."""
    many = size // len(ours.table.relations)
    relations = _equal(ours.table.relations, theirs.table.relations)
    return {row * many + i: (of * many + i,) for row, (of,) in relations.items() for i in range(many)}


def _equal(ours: Sequence[object], theirs: Sequence[object]) -> dict[int, Sequence[int]]:
    places = {symbol: i for i, symbol in enumerate(theirs)}
    return {row: (places[symbol],) for row, symbol in enumerate(ours) if symbol in places}

"""The replay of derivations of dependency trees, which returns the tree and the log-probability of each arc."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor

from transition_parser.graphs.dependency import DependencyTree
from transition_parser.kernels import loader, trees
from transition_parser.states.specs import attached_in_situations, effects_table
from transition_parser.states.table import ActionTable
from transition_parser.transitions.tree_system import TreeSystem

Replayed = tuple[DependencyTree, Sequence[float]]

_CPU = torch.device("cpu")
_TENSORS: WeakKeyDictionary[ActionTable, tuple[Tensor, ...]] = WeakKeyDictionary()


def replay(table: ActionTable, words: Sequence[str], tokens: Sequence[int], log_probs: Sequence[float]) -> Replayed:
    """Return the tree that a derivation builds, and the log-probability of each word's arc.

    The latter is the sum of the log-probabilities of all actions that decided about the word (`TreeSystem.may_attach`).
    The kernel takes all actions in one call. Where there is no kernel, or legality depends on arcs, the pure-Python
    machine takes the actions one by one. The results are the same.

    words: the normalised forms of the sentence
    tokens: the actions of a whole derivation, each legal
    log_probs: the log-probability of each action
    """
    if cast(TreeSystem, table.system).spec.reads_arcs or loader.library() is None:
        return replay_by_states(table, words, tokens, log_probs)
    # arrays, because `torch.tensor` takes several times as long for a list of numbers
    token, log_prob = torch.from_numpy(np.array(tokens, np.int64)), torch.from_numpy(np.array(log_probs, np.double))
    heads, relations, sums = trees.replay_derivation(token, log_prob, len(words), *_tensors(table))
    labels = [table.relations[relation] for relation in relations]
    return DependencyTree(tuple(0 if head == len(words) else head + 1 for head in heads), tuple(labels)), sums


def replay_by_states(
    table: ActionTable, words: Sequence[str], tokens: Sequence[int], log_probs: Sequence[float]
) -> Replayed:
    """Return the result of `replay` by the pure-Python machine."""
    system = cast(TreeSystem, table.system)
    state = system.initial(system.read(words))
    sums = [0.0] * len(words)
    for token, log_prob in zip(tokens, log_probs, strict=True):
        for word in system.may_attach(state):
            sums[word] += log_prob
        state = system.apply(state, table.action(token))
    return system.result(state), sums


def _tensors(table: ActionTable) -> tuple[Tensor, ...]:
    """Return the tensors that the kernel reads. They are made once for each table."""
    if table not in _TENSORS:
        column, relation = torch.from_numpy(table.column), torch.from_numpy(table.relation)
        name = table.system.name
        _TENSORS[table] = column, relation, effects_table(name, _CPU), attached_in_situations(name)
    return _TENSORS[table]

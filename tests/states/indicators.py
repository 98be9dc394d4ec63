"""The fields of `States` read off the pure-Python machine, as the reference for the batched one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from transition_parser.transitions import Action, State, TransitionSystem


@dataclass(frozen=True)
class Indicators:
    """Arrays of shape (actions + 1, words + 1), named and defined as in `States`: row t is the configuration before
    action t, the last row the final one; column i is word i, the last column the artificial root."""

    stack: np.ndarray
    buffer: np.ndarray
    steps_since_stack: np.ndarray
    steps_since_buffer: np.ndarray
    head: np.ndarray
    relation: np.ndarray


def indicators(
    system: TransitionSystem,
    words: Sequence[str],
    actions: Sequence[Action],
    relations: Sequence[str] = ("",),
) -> Indicators:
    """The fields of a whole derivation.

    relations: label inventory whose element 0 stands for no label.
    """
    ids = {relation: i for i, relation in enumerate(relations)}
    shape = (len(actions) + 1, len(words) + 1)
    stack, buffer, head, relation = (np.zeros(shape, np.int32) for _ in range(4))
    state = system.initial(words)
    for step in range(len(actions) + 1):
        if step:
            state = system.apply(state, actions[step - 1])
        _write_places(stack, step, state.stack[::-1])
        _write_places(buffer, step, state.buffer)
        _write_tree(head[step], relation[step], state, ids)
    present = (np.maximum(array, 0) for array in (stack, buffer))
    past = (np.maximum(-array, 0) for array in (stack, buffer))
    return Indicators(*present, *past, head, relation)


def _write_places(array: np.ndarray, step: int, words: tuple[int, ...]) -> None:
    """k > 0 for the k-th word; −s for a word that left s steps ago."""
    if step:
        before = array[step - 1]
        array[step] = np.where(before > 0, -1, np.where(before < 0, before - 1, 0))
    array[step, list(words)] = np.arange(1, len(words) + 1)


def _write_tree(head: np.ndarray, relation: np.ndarray, state: State, ids: dict[str, int]) -> None:
    for word, (parent, label) in enumerate(zip(state.heads, state.relations, strict=True)):
        if label is not None:
            head[word] = parent - word
            relation[word] = ids.get(label, 0)

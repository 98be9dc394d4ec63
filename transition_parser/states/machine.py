"""The state machine of a whole batch of dependency trees as tensors: all hypotheses take their actions at once.

Shapes: R rows (hypotheses), P positions (the words of the longest sentence and the root), V action
tokens, C columns of `ActionTable`. The root of a sentence of n words is position n.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import cast

import numpy as np
import torch
from torch import Tensor

from transition_parser.graphs.dependency import DependencyTree
from transition_parser.kernels import loader, searches
from transition_parser.kernels.searches import TreeMachine
from transition_parser.states.amr_machine import AmrMachine
from transition_parser.states.states import TREE, BatchedMachine, DeviceTable
from transition_parser.states.table import KIND_OF_CLASS, NO_WORD, SHIFT_ID, ActionClass, ActionTable
from transition_parser.transitions import TREE_SYSTEMS, TransitionSystem
from transition_parser.transitions.amr import AmrSystem
from transition_parser.transitions.tree_system import B0, NO_HEAD, S0, S1, Effect, TreeSystem

# Search takes at most this many SWAPs per word, because a model that has not learned when to SWAP would otherwise take
# n² steps. Real trees need fewer: the largest number of SWAPs per word in the six treebanks of development is 1.97, in
# a sentence of Basque.
SWAPS_PER_WORD = 2


@lru_cache(maxsize=32)
def effects_table(system: str, device: torch.device) -> Tensor:
    """Return the effect of each column, (C, 8) int64: the fields of `Effect` in order, for `C` too."""
    known = {ActionClass[kind.name]: rule.effect for kind, rule in TREE_SYSTEMS[system].spec.rules.items()}
    effects = [known.get(KIND_OF_CLASS.get(column, column), Effect()) for column in ActionClass]
    return torch.tensor([[*effect[:-1], *effect.buffer_pushes] for effect in effects], device=device)


@lru_cache(maxsize=32)
def columns_of_situations(system: str, device: torch.device) -> Tensor:
    """Return the legal columns for each set of facts (`tree_system.Fact`), (256, C) bool, or (4096, C) with arcs."""
    spec = TREE_SYSTEMS[system].spec
    facts = np.arange(1 << spec.facts)
    legal = np.zeros((len(facts), len(ActionClass)), bool)
    for kind, rule in spec.rules.items():
        legal[:, ActionClass[kind.name]] = np.all([condition.holds(facts) != 0 for condition in rule.conditions], 0)
    left, from_root = legal[:, ActionClass.LEFT_ARC].copy(), spec.left_arc_from_root(facts)
    legal[:, ActionClass.LEFT_ARC], legal[:, ActionClass.LEFT_ARC_ROOT] = left & ~from_root, left & from_root
    legal[:, ActionClass.LEFT_ARC_ANY], legal[:, ActionClass.END] = left, spec.is_final(facts)
    return torch.from_numpy(legal).to(device)


@lru_cache(maxsize=32)
def attached_in_situations(system: str) -> Tensor:
    """Return the words that `TreeSystem.may_attach` returns for each set of facts: bits 1 to 3 for S0, S1, B0."""
    device = torch.device("cpu")
    legal, dependents = columns_of_situations(system, device), effects_table(system, device)[:, 0]
    bits = [(legal[:, dependents == word].any(1).long() << word) for word in (S0, S1, B0)]
    return bits[0] | bits[1] | bits[2]


class DependencyMachine(BatchedMachine):
    """The batched twin of the pure-Python dependency systems. An illegal token leaves its row unchanged."""

    per_sentence = ("root", "features")
    per_row = (
        *("stack", "depth", "buffer", "buffer_size", "heads", "relations", "swaps_left"),
        *("_top", "_second", "_front", "_columns"),
    )

    def __init__(
        self,
        table: DeviceTable,
        lengths: Tensor,
        features: Tensor | None = None,
        swaps_per_word: int | None = None,
        needs: Collection[str] = TREE,
    ) -> None:
        super().__init__(needs)
        self.table, self.spec = table, TREE_SYSTEMS[table.system].spec
        self.root = lengths
        device, rows = lengths.device, len(lengths)
        self.width = int(lengths.max()) + 1
        # There is one column more than there are positions; values that must not be stored are written to it.
        positions = torch.arange(self.width + 1, device=device)
        self.positions = positions[: self.width]
        self.stack = torch.zeros(rows, self.width + 1, dtype=torch.long, device=device)
        self.depth = torch.zeros(rows, dtype=torch.long, device=device)
        self.buffer = (lengths[:, None] - positions).clamp_min(0)  # the front of the buffer is the last entry
        self.buffer_size = lengths + 1  # the number of words in the buffer, including the root
        keep_arcs = self.spec.reads_arcs or not self.needs.isdisjoint(TREE)
        self.heads = torch.full_like(self.stack, NO_HEAD) if keep_arcs else None
        self.relations = torch.zeros_like(self.stack) if keep_arcs else None
        self.features = features if table.labeled_shift else None
        self.swaps_left = None if swaps_per_word is None else swaps_per_word * lengths
        self._read()
        self.follow()

    def stack_ranks(self) -> Tensor:
        return self._ranks_in(self.stack, self.depth)

    def buffer_ranks(self) -> Tensor:
        return self._ranks_in(self.buffer, self.buffer_size)

    def tree(self) -> tuple[Tensor, Tensor]:
        if self.heads is None or self.relations is None:
            raise ValueError("the machine was made without `head` and `relation` among its needs")
        heads = self.heads[:, : self.width]
        offsets = torch.where(heads == NO_HEAD, 0, heads - self.positions)
        return offsets, self.relations[:, : self.width].clone()  # a copy, because actions write into the tensor

    def words(self) -> Tensor:
        """Return the root and the words S0, S1 and B0 of `Effect`, (R, 4); any number where there is no such word."""
        return torch.stack([self.root, self._top, self._second, self._front], 1)

    def context(self) -> Tensor | None:
        """Return the shift id of the front word, (R, 1), `NO_WORD` for the root; None if SHIFT has no labels."""
        if self.features is None:
            return None
        shift_ids = self.features[:, :, SHIFT_ID]
        of_front = shift_ids.gather(1, self._front.clamp_max(shift_ids.size(1) - 1)[:, None])
        return of_front.masked_fill((self._front == self.root)[:, None], NO_WORD)

    def _apply(self, tokens: Tensor) -> None:
        legal = self.table.token_legal(tokens, self._columns, self.context())
        column = torch.where(legal, self.table.column[tokens], ActionClass.NEVER)
        effects = effects_table(self.table.system, tokens.device)
        relation = None if self.relations is None else self.table.relation[tokens]
        words, effect = self.words(), effects[column]
        arc, dependent, head = effect[:, :1] > 0, effect[:, :1], effect[:, 1:2]
        if relation is not None and self.heads is not None and self.relations is not None:
            position = torch.where(arc, words.gather(1, dependent), self.width)
            self.heads.scatter_(1, position, words.gather(1, head))
            self.relations.scatter_(1, position, relation[:, None])
        _, _, stack_pops, stack_push, buffer_pops, swaps, *buffer_pushes = effect.unbind(1)
        self.depth = self._push(self.stack, self.depth - stack_pops, words, stack_push)
        self.buffer_size = self.buffer_size - buffer_pops
        for source in buffer_pushes:
            self.buffer_size = self._push(self.buffer, self.buffer_size, words, source)
        if self.swaps_left is not None:
            self.swaps_left = self.swaps_left - swaps
        self._read()

    def _push(self, array: Tensor, size: Tensor, words: Tensor, source: Tensor) -> Tensor:
        pushed = source > 0
        position = torch.where(pushed, size, self.width)
        array.scatter_(1, position[:, None], words.gather(1, source[:, None]))
        return size + pushed

    def _read(self) -> None:
        """Read S0, S1 and B0 from the stack and the buffer, and compute the legal columns."""
        self._top = self._word(self.stack, self.depth - 1)
        self._second = self._word(self.stack, self.depth - 2)
        self._front = self._word(self.buffer, self.buffer_size - 1)
        number = sum(fact.long() << bit for bit, fact in enumerate(self._facts()))
        self._columns = columns_of_situations(self.table.system, self.root.device).index_select(0, number)

    def _facts(self) -> tuple[Tensor, ...]:
        """Return the facts of `tree_system`, (R,) bool each; those about arcs only where the spec reads arcs."""
        facts = (
            self._front == self.root,
            self.depth > 0,
            self.depth > 1,
            self.buffer_size > 0,
            self._top == self.root,
            self._top < self._front,
            self._second < self._top,
            torch.ones_like(self.depth, dtype=torch.bool) if self.swaps_left is None else self.swaps_left > 0,
        )
        if not self.spec.reads_arcs:
            return facts
        assert self.heads is not None, "a spec that reads arcs needs them"
        on_stack = self.positions < self.depth[:, None]
        stack_heads = self.heads.gather(1, self.stack[:, : self.width])
        headless = (on_stack & (stack_heads == NO_HEAD)).sum(1)
        of_top = self.heads.gather(1, self._top[:, None])[:, 0]
        return *facts, self._front == self.root - 1, of_top != NO_HEAD, headless == 0, headless == 1

    def _word(self, array: Tensor, position: Tensor) -> Tensor:
        return array.gather(1, position.clamp_min(0)[:, None]).flatten()

    def _ranks_in(self, array: Tensor, size: Tensor) -> Tensor:
        inside = self.positions < size[:, None]
        target = torch.where(inside, array[:, : self.width], self.width)
        return torch.zeros_like(array).scatter_(1, target, size[:, None] - self.positions)[:, : self.width]


Machine = DependencyMachine | AmrMachine


def machine_class(system: str) -> type[Machine]:
    """Return the class of a transition system's batched machine."""
    return AmrMachine if system == AmrSystem.name else DependencyMachine


def make_machine(
    table: DeviceTable,
    lengths: Tensor,
    features: Tensor | None = None,
    needs: Collection[str] = (),
    in_search: bool = False,
) -> Machine:
    """Return the batched machine before the first action; `in_search` limits it to linearly many steps."""
    if machine_class(table.system) is AmrMachine:
        return AmrMachine(table, lengths, features, needs, in_search)
    return DependencyMachine(table, lengths, features, SWAPS_PER_WORD if in_search else None, needs)


def whole_machine(table: DeviceTable) -> TreeMachine | None:
    """Return the machine for `search_trees`; None for AMR, and where legality depends on arcs or labels of SHIFT."""
    system = TREE_SYSTEMS.get(table.system)
    if system is None or system.spec.reads_arcs or table.labeled_shift:
        return None
    device = table.column.device
    effects, legal = effects_table(table.system, device), columns_of_situations(table.system, device)
    return TreeMachine(table.column, effects, legal, SWAPS_PER_WORD)


def max_search_actions(system: TransitionSystem, words: int) -> int:
    """Return the length of the longest derivation that search can find. Each SWAP adds itself and another SHIFT."""
    if isinstance(system, AmrSystem):
        return system.max_search_actions(words)
    without_swap = 2 * words + 1
    return min(system.max_actions(words), without_swap + 2 * SWAPS_PER_WORD * words)


# --- replay -------------------------------------------------------------------------------------

Replayed = tuple[DependencyTree, Sequence[float]]


def replay(table: ActionTable, words: Sequence[str], tokens: Sequence[int], log_probs: Sequence[float]) -> Replayed:
    """Return the tree that a derivation builds, and for each word the sum of `log_probs` that decided its arc."""
    if cast(TreeSystem, table.system).spec.reads_arcs or loader.library() is None:
        return replay_by_states(table, words, tokens, log_probs)
    # arrays, because `torch.tensor` takes several times as long for a list of numbers
    token, log_prob = torch.from_numpy(np.array(tokens, np.int64)), torch.from_numpy(np.array(log_probs, np.double))
    column, relation, name = torch.from_numpy(table.column), torch.from_numpy(table.relation), table.system.name
    effects, attach = effects_table(name, torch.device("cpu")), attached_in_situations(name)
    found = searches.replay_derivation(token, log_prob, len(words), column, relation, effects, attach)
    heads, relations, sums = found
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

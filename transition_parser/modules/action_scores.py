"""Scores of actions: by kind and label, by the words of an arc (biaffine), by a prior of the span, and by frames."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transition_parser.base.errors import InputError
from transition_parser.kernels import encoders, loader
from transition_parser.modules.contract import ActionScores, SearchState, StateDecoder
from transition_parser.modules.layers import Dropout, gather_rows, linear, of_rows
from transition_parser.states.states import States
from transition_parser.states.table import ActionClass, ActionTable
from transition_parser.text.frames import FUNCTIONS, role_functions
from transition_parser.transitions import Kind, TreeSystem
from transition_parser.transitions.amr_frames import NUMBERED
from transition_parser.transitions.amr_limits import TOP, role_given
from transition_parser.transitions.amr_state import MAKE_NODES
from transition_parser.transitions.tree_system import NONE

END, NEVER = "</s>", "never"


class FactoredScores(NamedTuple):
    """Scores before any softmax, where an action is its kind, then its label (Ji et al. 2021, sec. 5)."""

    kinds: Tensor  # (…, K); in the order of `Kinds.names`
    labels: Tensor  # (…, V); each token's label among the labels of its kind; any number for an only label


class Kinds(nn.Module):
    """The kind of each of V tokens: the kind of an action, `END`, or `NEVER` for tokens that are never legal."""

    kind: Tensor  # (V,); the index of each token's kind in `names`
    order: Tensor  # (V,); the tokens sorted by kind

    def __init__(self, table: ActionTable) -> None:
        super().__init__()
        others = {ActionClass.END: END, ActionClass.NEVER: NEVER}
        named = [
            others.get(column) or (NEVER if action is None else action.kind.value)
            for action, column in zip(table.actions, table.column.tolist(), strict=True)
        ]
        self.names = sorted(set(named))
        kind = torch.tensor([self.names.index(name) for name in named])
        self.sizes = torch.bincount(kind).tolist()
        self.register_buffer("kind", kind, persistent=False)
        self.register_buffer("order", kind.argsort(stable=True), persistent=False)

    def log_probabilities(self, factored: FactoredScores, legal: Tensor) -> Tensor:
        """Return log p(kind) + log p(label | kind), (…, V), over tokens with `legal` ≠ 0; finite for others, too."""
        labels = _precise(factored.labels)
        legal = legal != 0
        of_labels = labels.index_select(-1, self.order).split(self.sizes, -1)
        there = legal.index_select(-1, self.order).split(self.sizes, -1)
        within = torch.cat([_normalizer(*pair) for pair in zip(of_labels, there, strict=True)], -1)
        kinds = _precise(factored.kinds)
        kinds = kinds - _normalizer(kinds, torch.cat([_any(some) for some in there], -1))
        return labels + (kinds - within).index_select(-1, self.kind)

    def first(self, kinds: Tensor, legal: Tensor) -> Tensor:
        """Return the index of the best kind, (N,), among the kinds with an action that may be taken."""
        there = (legal > 0).index_select(-1, self.order).split(self.sizes, -1)
        open_kinds = torch.cat([_any(some) for some in there], -1)
        return _precise(kinds).masked_fill(~open_kinds, float("-inf")).argmax(-1)

    def only_of(self, first: Tensor, legal: Tensor) -> Tensor:
        """Return `legal` (N, V) with −1 for legal actions of kinds other than `first` (N,)."""
        return torch.where(self.kind == first[:, None], legal, legal - 2 * legal.clamp_min(0))


class FactoredDecoder(StateDecoder):
    """A decoder that scores the kind of an action and then its label, each among the legal ones."""

    def __init__(self, table: ActionTable) -> None:
        super().__init__(table)
        self.kinds = Kinds(table)

    def action_scores(self, factored: FactoredScores, search: SearchState) -> ActionScores:
        """Return the scores of the next action. A greedy search takes the best kind, then its best label."""
        legal = search.machine.legality()
        scores = self.kinds.log_probabilities(factored, legal)
        if search.greedy:
            legal = self.kinds.only_of(self.kinds.first(factored.kinds, legal), legal)
        return ActionScores(scores, legal)


def _normalizer(scores: Tensor, there: Tensor) -> Tensor:
    """Return the log-sum-exp, (…, 1), of the scores that are present, or of all scores if none is present."""
    if scores.size(-1) == 1:
        return scores
    return scores.masked_fill(_any(there) & ~there, float("-inf")).logsumexp(-1, keepdim=True)


def _any(there: Tensor) -> Tensor:
    return there.view(torch.uint8).amax(-1, keepdim=True).view(torch.bool)  # many times faster than `any`


def _precise(x: Tensor) -> Tensor:
    return x.to(torch.promote_types(x.dtype, torch.float))


ARC_KINDS = (Kind.LEFT_ARC, Kind.RIGHT_ARC)
S0, S1, B0 = range(3)  # places that an arc connects: top of the stack, the word below it, front of the buffer


class ArcActions(nn.Module):
    """The actions LEFT-ARC and RIGHT-ARC with every relation, and the places (S0, S1, B0) that they connect."""

    slot: Tensor  # (V,); the index of each token in the flattened scores of arcs, or the index after them

    def __init__(self, table: ActionTable) -> None:
        super().__init__()
        assert isinstance(table.system, TreeSystem)
        known = [table.system.spec.rules[kind].effect for kind in ARC_KINDS]
        self.heads = [effect.head - NONE - 1 for effect in known]
        self.dependents = [effect.dependent - NONE - 1 for effect in known]
        count = len(table.relations)
        first = {kind: number * count for number, kind in enumerate(ARC_KINDS)}  # the slot of a kind's first relation
        slots = [
            first[action.kind] + relation if action and action.kind in first else len(ARC_KINDS) * count
            for action, relation in zip(table.actions, table.relation.tolist(), strict=True)
        ]
        self.register_buffer("slot", torch.tensor(slots), persistent=False)

    def of_tokens(self, scores: Tensor) -> Tensor:
        """Return the scores (…, V) of all tokens from the scores of arcs; a token that makes no arc gets 0."""
        return F.pad(scores.flatten(-2), (0, 1)).index_select(-1, self.slot)

    def positions(self, states: States) -> tuple[Tensor, Tensor]:
        """Return the positions of heads and dependents in N states, (N, 2) each, a column for each of `ARC_KINDS`."""
        words, _ = places(states)
        return words[:, self.heads], words[:, self.dependents]


def places(states: States) -> tuple[Tensor, Tensor]:
    """Return the positions of the words at S0, S1 and B0, (N, 3), and True where there is such a word, (N, 3) bool."""
    assert states.stack is not None and states.buffer is not None
    there = torch.stack([states.stack == 1, states.stack == 2, states.buffer == 1], 1)
    some, position = there.byte().max(2)
    return position, some.bool()


_WEIGHT = 1.0  # the initial weight of the prior, for each kind of action


class LexicalPrior(nn.Module):
    """A prior of actions that make nodes, given the span: log (p · n) of one of n actions, times a learned weight.

    The training sentences are too few for a network to learn the most frequent frame sense of a word; counts show it.
    Raises `InputError` if the data has no counts of these actions.
    """

    def __init__(self, table: ActionTable) -> None:
        super().__init__()
        if not len(table.prior.numbers):
            raise InputError(
                "--lexical-prior: the data has no counts of naming actions: make it with `transition-parser preprocess "
                "amr`"
            )
        kinds = {kind.value: number for number, kind in enumerate(sorted(MAKE_NODES, key=str))}
        self.weight = nn.Parameter(torch.full((len(kinds),), _WEIGHT))
        tokens = torch.from_numpy(table.prior.numbers)
        kind = torch.tensor([kinds.get(token.partition("(")[0], 0) for token in table.tokens])
        self._keep("offsets", torch.from_numpy(table.prior.starts))
        # the 0 at the end keeps the tensors from being empty
        self._keep("tokens", F.pad(tokens, (0, 1)))
        self._keep("values", F.pad(torch.from_numpy(table.prior_values), (0, 1)))
        self._keep("kinds", F.pad(kind[tokens], (0, 1)))
        self._keep("numbers", torch.arange(int(np.diff(table.prior.starts).max())))

    def _keep(self, name: str, value: Tensor) -> None:
        self.register_buffer(name, value, persistent=False)

    def values_of_tokens(self) -> Tensor:
        """Return the weighted prior, (K,), of the K entries of `self.tokens`, which lists the actions span by span."""
        return self.values * self.weight[self.kinds]

    def forward(self, scores: Tensor, spans: Tensor) -> Tensor:
        """Return the scores (N, V) with the prior of the spans (N,)."""
        index = self.offsets[spans][:, None] + self.numbers
        there = index < self.offsets[spans + 1][:, None]
        index = index.clamp_max(len(self.tokens) - 1)
        added = torch.where(there, self.values[index] * self.weight[self.kinds[index]], 0.0)
        return scores.scatter_add(1, self.tokens[index], added.to(scores.dtype))


class FunctionScores(nn.Module):
    """A score that an arc gets by the function of its role, such as agent, in the frame that the arc leads from.

    PropBank's numbers mean other things in each frame, and the data has few examples of most frames. Functions are few.
    Raises `InputError` if the machine knows no frames.
    """

    def __init__(self, table: ActionTable, dim: int) -> None:
        super().__init__()
        if len(table.lacked) < 2:
            raise InputError("--role-functions: the data has no frames: make it with `preprocess amr` of this version")
        # a row for each function and place (node on top, second node); 0 at first, so that nothing is added
        self.weight = nn.Parameter(torch.zeros(2 * len(FUNCTIONS), dim))
        arcs: list[tuple[int, int, int]] = []  # token, place, number of the role
        for token in np.isin(table.column, (ActionClass.LA, ActionClass.RA)).nonzero()[0].tolist():
            node, role = role_given(table.action(token)) or (TOP, "")
            if role in NUMBERED:
                arcs.append((token, int(node != TOP), int(role.removeprefix("ARG"))))
        tokens, places, roles = torch.tensor(arcs).view(-1, 3).t()
        functions = torch.tensor(role_functions().functions)[:, roles]
        rows = torch.where(functions > 0, functions + places * len(FUNCTIONS), 0)
        for name, value in {"tokens": tokens, "places": places, "rows": rows}.items():
            self.register_buffer(name, value.contiguous(), persistent=False)
        self.register_buffer("numbers", torch.arange(len(arcs)), persistent=False)

    def forward(self, scores: Tensor, outputs: Tensor, frames: Tensor) -> Tensor:
        """Return the scores (N, V) with what is added, for outputs (N, dim) of the decoder and `frames` (N, 2)."""
        rows = self.rows[frames.long()[:, self.places], self.numbers]
        added = F.pad(outputs @ self.weight.t(), (1, 0)).gather(1, rows)
        return scores.index_add(1, self.tokens, added.to(scores.dtype))


class HeadsAndDependents(NamedTuple):
    """The words of B sentences, P each with padding, as heads and as dependents."""

    heads: Tensor  # (B, P, w + 1); each word reduced to width w, with a 1 appended
    dependents: Tensor  # (B, P, R (w + 1)); for each relation, the vector whose dot product with a head is the score


class BiaffineRelations(nn.Module):
    """The scores x_i W_1 x_j + (x_i ⊕ x_j) W_2 + b of R relations, as one form of (x_i, 1) and (x_j, 1).

    Linear maps reduce x_i and x_j first (Ji et al. 2021, footnote 4). Unlike theirs, W_2 reads no configuration.
    """

    def __init__(self, dim: int, width: int, count: int) -> None:
        super().__init__()
        self.of_head, self.of_dependent = linear(dim, width), linear(dim, width)
        self.form = nn.Linear(width + 1, count * (width + 1), bias=False)
        nn.init.normal_(self.form.weight, std=1 / (width + 1))

    def ends(self, words: Tensor) -> HeadsAndDependents:
        heads, dependents = self._reduced(words)
        return HeadsAndDependents(heads, self.form(dependents))

    def _reduced(self, words: Tensor) -> list[Tensor]:
        return [F.pad(of_rows(reduce, words), (0, 1), value=1.0) for reduce in (self.of_head, self.of_dependent)]

    def of_products(self, words: Tensor, heads: Tensor) -> Tensor:
        """Return the scores (B, N, R) of the first N words (B, P, dim) and their heads, at (B, N), by one product.

        In training with many relations, this takes less time than `ends` and `forward`, whose fp32 copies of the form
        of each word are as large as (B, P, R · width).
        """
        of_head, of_dependent = self._reduced(words)
        pairs = of_dependent[:, : heads.size(1), :, None] * gather_rows(of_head, heads)[..., None, :]
        form = self.form.weight.unflatten(0, (-1, of_head.size(-1))).transpose(1, 2)  # (R, dependent, head)
        weight = form.flatten(1)
        return of_rows(lambda rows: F.linear(rows, weight), pairs.flatten(2))

    def of_all_pairs(self, words: Tensor) -> Tensor:
        """Return the scores (B, P, P, R) of all pairs of words (B, P, dim): rows are dependents, columns are heads."""
        ends = self.ends(words)
        formed = ends.dependents.unflatten(-1, (-1, ends.heads.size(-1)))
        found = formed.flatten(1, 2) @ ends.heads.transpose(1, 2)
        return found.unflatten(1, (ends.heads.size(1), -1)).transpose(2, 3)

    def forward(self, heads: Tensor, dependents: Tensor) -> Tensor:
        """Return the scores (N, R) of N pairs of words, given by rows of `HeadsAndDependents`."""
        formed = dependents.unflatten(-1, (-1, heads.size(-1)))
        precise = torch.promote_types(formed.dtype, torch.float)
        # the kernel reads bfloat16 directly, while torch would copy it to fp32; the kernel computes no gradients
        if formed.dtype is torch.bfloat16 and loader.supports(formed) and not torch.is_grad_enabled():
            return encoders.products_of_pairs(formed.contiguous(), heads.float().contiguous())
        with torch.autocast(formed.device.type, enabled=False):
            return (formed.to(precise) @ heads.to(precise)[..., None])[..., 0]


class BiaffineHeads(nn.Module):
    """The scores x_i U x_j + x_j u of hidden layers of dependents and heads (Dozat and Manning 2017, eqs 4 to 6)."""

    def __init__(self, dim: int, width: int, dropout: float) -> None:
        super().__init__()
        self.of_head, self.of_dependent = linear(dim, width), linear(dim, width)
        self.form = nn.Linear(width + 1, width, bias=False)
        nn.init.normal_(self.form.weight, std=1 / (width + 1))
        self.dropout = Dropout(dropout)

    def forward(self, words: Tensor) -> Tensor:
        """Return the scores (B, P, P) of words (B, P, dim): rows are dependents, columns are heads."""
        heads, dependents = (
            self.dropout(F.relu(of_rows(reduce, words))) for reduce in (self.of_head, self.of_dependent)
        )  # fmt: skip
        formed = of_rows(self.form, F.pad(dependents, (0, 1), value=1.0))
        precise = torch.promote_types(formed.dtype, torch.float)
        with torch.autocast(formed.device.type, enabled=False):  # in bf16 close scores would become equal
            return formed.to(precise) @ heads.to(precise).transpose(1, 2)


class RelationsOfHeads(nn.Module):
    """`BiaffineRelations` for words that have one head each."""

    def __init__(self, dim: int, width: int, count: int) -> None:
        super().__init__()
        self.pairs = BiaffineRelations(dim, width, count)

    def forward(self, words: Tensor, heads: Tensor) -> Tensor:
        """Return the scores (B, N, R) of relations of the first N words (B, P, dim) to their heads, at (B, N)."""
        if torch.is_grad_enabled() and torch.is_autocast_enabled(words.device.type):
            return self.pairs.of_products(words, heads)
        ends = self.pairs.ends(words)
        of_heads = gather_rows(ends.heads, heads)
        dependents = ends.dependents[:, : heads.size(1)]
        return self.pairs(of_heads.flatten(0, 1), dependents.flatten(0, 1)).unflatten(0, heads.shape)

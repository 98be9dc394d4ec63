"""Δ scores: how much each structure of the parser state supports the decisions of a model.

Let s be the vector of an indicator, such as "second word from the top of the stack", in the keys (K) or values (V) of a
layer, and L the log-probability, among the legal actions, of an action that the model takes. Then

    Δ(structure, i) = sum over layers of  ∇_{s^K_i} L · s^K_i + ∇_{s^V_i} L · s^V_i

is what L would gain, to first order, if the vectors of indicator i had twice their length: it is the derivative of L
by a common factor of these vectors. The score of a structure has two parts. The part inside is the sum over items in
the structure (i > 0; for arcs, where i is an offset, i ≠ 0). The part outside is the sum over all other items. Scores
are means over decisions. A score above 0 supports the actions that are taken; a score below 0 opposes these actions.

The paper differs in these points:

- the paper's L is the training loss of gold actions, so its scores have the opposite sign; here L is of the actions in
  the model's own derivations, so no gold graph is needed
- the paper's loss has a margin between kinds, and the cross-entropy of relations; here one log-probability covers both
- the paper does not say how the scores of layers are combined; here they are added up

Source: Ji et al. 2021, sec. 6 and figure 6
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from transition_parser.base.errors import InputError, input_error
from transition_parser.base.progress import progress
from transition_parser.modules.contract import Decoder, StateDecoder
from transition_parser.modules.encoder import EncoderOut
from transition_parser.modules.inspection import Indicators, Inspectable
from transition_parser.parsing.parser import Parser
from transition_parser.states.table import ActionTable

ALL = "all"  # stands for all kinds of actions
INSIDE, OUTSIDE = PARTS = ("inside", "outside")
_WORDS = 1000  # the most words, padding included, in a batch: gradients take much memory


class Deltas(NamedTuple):
    """The Δ scores of a model on a corpus.

    decisions: kind of action → number of decisions; `ALL` for all kinds together
    delta: kind of action → structure → part (`PARTS`) → mean Δ of a decision, in nats
    """

    decisions: dict[str, int]
    delta: dict[str, dict[str, dict[str, float]]]


def delta_scores(parser: Parser, path: str | os.PathLike) -> Deltas:
    """Parse a CoNLL-U file or an AMR bank, and return the Δ scores of the decisions.

    Raises `InputError` for a model without indicators of structures, for a parser in another precision than fp32, and
    for a file without sentences.
    """
    decoder = parser.model.decoder
    tables = tables_of(decoder)
    if parser.precision != "fp32":
        raise InputError(f"Δ scores are gradients, which need the precision fp32, not {parser.precision}: give fp32")
    assert isinstance(decoder, StateDecoder)
    decisions: Counter[str] = Counter()
    sums: dict[str, Tensor] = {}
    for encoder_out, found in parser.derivations(progress(parser.read(path), "parsing"), _WORDS * parser.beam):
        derivations = [best.tokens for best in found]
        decisions.update(_kind(decoder.table, token) for tokens in derivations for token in tokens)
        # copied, because autograd does not accept tensors made in inference mode
        copied = encoder_out.rows(torch.arange(len(derivations), device=encoder_out.lengths.device))
        for kind, deltas in summed_deltas(decoder, copied, derivations).items():
            sums[kind] = sums[kind] + deltas if kind in sums else deltas
    if not decisions:
        raise input_error("the file holds no sentences", path)
    sums[ALL] = torch.stack([*sums.values()]).sum(0)
    counts = {ALL: decisions.total(), **dict(sorted(decisions.items()))}
    means = {kind: (sums[kind] / count).tolist() for kind, count in counts.items()}
    names = _structures(tables)
    delta = {kind: {name: dict(zip(PARTS, row)) for name, row in zip(names, rows)} for kind, rows in means.items()}
    return Deltas(counts, delta)


def tables_of(decoder: Decoder) -> Sequence[Indicators]:
    """Return the indicators of a decoder. Raises `InputError` where it has none."""
    tables = decoder.indicators() if isinstance(decoder, Inspectable) else ()
    if not tables:
        raise InputError(
            "the model has no indicators of structures, as use_parser has: leave out --scores to hide parts of the "
            "state instead"
        )
    return tables


@torch.enable_grad()
def summed_deltas(
    decoder: StateDecoder, encoder_out: EncoderOut, derivations: Sequence[Sequence[int]]
) -> dict[str, Tensor]:
    """Return kind of action → (S, 2) double: for S structures, the sums inside and outside of Δ over its decisions.

    derivations: the action ids of each sentence, without `</s>`
    """
    table, tables, device = decoder.table, tables_of(decoder), encoder_out.lengths.device
    taken = pad_sequence([torch.tensor([*tokens, table.end]) for tokens in derivations], True, table.end).to(device)
    before = torch.cat([torch.full_like(taken[:, :1], table.end), taken[:, :-1]], 1)
    states = decoder.states(before, encoder_out)
    scores = decoder.scores(before, encoder_out, states).masked_fill(decoder.legality(states) == 0, float("-inf"))
    chosen = scores.log_softmax(-1).gather(-1, taken[..., None])[..., 0]
    kinds = {token: _kind(table, token) for tokens in derivations for token in tokens}
    found = {}
    for kind in sorted({*kinds.values()}):
        of_kind = torch.tensor([token for token, other in kinds.items() if other == kind], device=device)
        total = chosen[torch.isin(taken, of_kind)].sum()
        gradients = torch.autograd.grad(total, [one.vectors for one in tables], retain_graph=True)
        found[kind] = _summed_parts(tables, gradients)
    return found


def _summed_parts(tables: Sequence[Indicators], gradients: Sequence[Tensor]) -> Tensor:
    """Return (S, 2), for each of S structures the sums of gradients times vectors, inside and outside."""
    names = _structures(tables)
    found = tables[0].vectors.new_zeros(len(names), len(PARTS), dtype=torch.double)
    for one, gradient in zip(tables, gradients, strict=True):
        deltas = (gradient * one.vectors.detach()).double().sum(-1)
        parts = torch.stack([(deltas * one.inside).sum(1), (deltas * ~one.inside).sum(1)], 1)
        found[[names.index(name) for name in one.structures]] += parts
    return found.cpu()


def _structures(tables: Sequence[Indicators]) -> list[str]:
    """Return the names of the structures of all tables, each once."""
    return [*dict.fromkeys(name for one in tables for name in one.structures)]


def _kind(table: ActionTable, token: int) -> str:
    return table.action(token).kind.value

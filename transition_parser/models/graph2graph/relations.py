"""The graph that attention is told: how each slot is related to each other.

Source: Mohammadshahi and Henderson 2020, appendix G
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transition_parser.models.graph2graph.encoder import Slots
from transition_parser.models.graph2graph.layers import DEPENDENT_OF, FIRST_OF, HEAD_OF, PIECE_OF


def label_embeddings(relations: int, dim: int) -> nn.Embedding:
    """One for each relation of arcs, zero for 0, which is none."""
    labels = nn.Embedding(relations, dim, padding_idx=0)
    nn.init.normal_(labels.weight[1:], std=0.02)
    return labels


def told(x: Tensor, slots: Slots, labels: nn.Embedding, head: Tensor, relation: Tensor) -> tuple[Tensor, Tensor]:
    """x (N, L, dim) with the label of its arc added to each dependent, and `relations_of`. relation: (N, P)."""
    wide = head.size(1)
    return torch.cat([x[:, :wide] + labels(relation).to(x.dtype), x[:, wide:]], 1), relations_of(slots, head)


def relations_of(slots: Slots, head: Tensor) -> Tensor:
    """(N, L, L), `layers.RELATIONS`: of the arcs, and of pieces and words. Two words that are each other's head, as in
    a graph that is no tree yet, are both told to be dependents.

    head: (N, P), the offset from each word to its head, 0 for none.
    """
    count, length = slots.position.shape
    wide = head.size(1)
    words = torch.arange(length, device=head.device)
    target = words[:wide] + head  # of a word without a head itself
    relations = torch.zeros(count, length, length, dtype=torch.long, device=head.device)
    has_head = (head != 0).long()
    relations[:, :wide].scatter_(2, target[..., None], DEPENDENT_OF * has_head[..., None])
    relations.transpose(1, 2)[:, :wide].scatter_reduce_(2, target[..., None], HEAD_OF * has_head[..., None], "amax")
    if slots.owner.size(1):
        owned = piece_relations(slots)
        relations[:, :, : owned.size(2)] += PIECE_OF * owned
        relations[:, : owned.size(2)] += FIRST_OF * owned.transpose(1, 2)
    return relations


def piece_relations(slots: Slots) -> Tensor:
    """(B, L, P + 3): which word each slot is a further piece of, as 1 and 0; none for words and marks."""
    one_hot = F.one_hot(slots.owner.clamp_min(0), slots.slots.size(1) - slots.owner.size(1))
    one_hot = one_hot * (slots.owner >= 0)[..., None]
    return F.pad(one_hot, (0, 0, slots.slots.size(1) - slots.owner.size(1), 0))

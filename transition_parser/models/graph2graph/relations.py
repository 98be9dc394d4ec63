"""The graph that attention reads: the relation of each slot to each other slot.

In shapes, N counts sentences or states, L slots (see `encoder.Slots`), and P the words and the root.
Source: Mohammadshahi and Henderson 2020, appendix G
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transition_parser.models.graph2graph.encoder import Slots
from transition_parser.models.graph2graph.layers import DEPENDENT_OF, FIRST_OF, HEAD_OF, PIECE_OF


def label_embeddings(relations: int, dim: int) -> nn.Embedding:
    """Return an embedding for each relation of arcs, which is zero for relation 0 (none)."""
    labels = nn.Embedding(relations, dim, padding_idx=0)
    nn.init.normal_(labels.weight[1:], std=0.02)
    return labels


def add_graph_inputs(
    x: Tensor, slots: Slots, labels: nn.Embedding, head: Tensor, relation: Tensor
) -> tuple[Tensor, Tensor]:
    """Return x with each arc's relation, as an embedding, added to its dependent, and the result of `relations_of`.

    x: (N, L, dim)
    head: (N, P); see `relations_of`
    relation: (N, P); the id of the relation of each word's arc
    """
    wide = head.size(1)
    return torch.cat([x[:, :wide] + labels(relation).to(x.dtype), x[:, wide:]], 1), relations_of(slots, head)


def relations_of(slots: Slots, head: Tensor) -> Tensor:
    """Return (N, L, L) long, one of `layers.RELATIONS` for each pair of slots, from arcs and from the pieces of words.

    Two words may be each other's head in a graph that is no tree yet. Each then counts as a dependent of the other.

    head: (N, P); the offset from each word to its head, 0 for none
    """
    count, length = slots.position.shape
    wide = head.size(1)
    words = torch.arange(length, device=head.device)
    target = words[:wide] + head  # a word without a head has itself as target
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
    """Return (N, L, P + 3) long: 1 where slot i is a further piece of word j, else 0. The last 3 columns are 0."""
    one_hot = F.one_hot(slots.owner.clamp_min(0), slots.slots.size(1) - slots.owner.size(1))
    one_hot = one_hot * (slots.owner >= 0)[..., None]
    return F.pad(one_hot, (0, 0, slots.slots.size(1) - slots.owner.size(1), 0))

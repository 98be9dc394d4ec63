"""Whole trees. `tests/models/test_spa_dp.py` tests that derivations build their trees."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from tests.helpers.strategies import trees
from tests.helpers.tables import make_table
from transition_parser.graphs.dependency import DependencyTree
from transition_parser.modules.contract import only_legal
from transition_parser.modules.encoder import EncoderOut
from transition_parser.modules.tree_decoder import TreeDecoder, are_trees, other_words
from transition_parser.states.table import ActionTable

NAMES = ("nsubj", "csubj", "expl")


class FixedHeads(nn.Module):
    """The root is the head of the first word, and this word the head of the others."""

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        scores = torch.zeros(len(words), words.size(1), words.size(1))
        scores[:, 1:, 0] = 9.0
        return scores


class FixedRelations(nn.Module):
    """`nsubj` is the best relation of each word, and `expl` worse for the third word than for others."""

    def __init__(self, table: ActionTable) -> None:
        super().__init__()
        of_names = {"nsubj": 3.0, "csubj": 2.0, "expl": 1.0}
        self.scores = torch.tensor([of_names.get(name, 0.0) for name in table.relations])

    def forward(self, words: torch.Tensor, heads: torch.Tensor) -> torch.Tensor:
        scores = self.scores.repeat(*heads.shape, 1)
        scores[:, 2, self.scores == 1.0] = 0.5
        return scores


@given(st.lists(trees(max_words=9) | st.lists(st.integers(0, 9), min_size=1, max_size=9), min_size=1, max_size=4))
def test_what_is_a_tree(sentences):
    """Heads of trees, and any heads, in a batch: those of a tree with a single root are told apart."""
    heads = [[h % (len(s) + 1) for h in getattr(s, "heads", s)] for s in sentences]
    positions = torch.arange(10).repeat(len(heads), 1)
    for row, some in enumerate(heads):
        positions[row, : len(some)] = torch.tensor([len(some) if h == 0 else h - 1 for h in some])
    expected = [DependencyTree(tuple(some), ("_",) * len(some)).why_invalid() is None for some in heads]
    assert are_trees(positions, torch.tensor([*map(len, heads)])).tolist() == expected


def test_the_subject_is_one():
    """Of two dependents that look like a subject, the one that loses more by another relation stays it."""
    table = make_table("arc-hybrid-swap", relations=[*NAMES, "root"], once=[["nsubj", "csubj"]])
    decoder = TreeDecoder(table, FixedHeads(), FixedRelations(table))
    lengths, both = torch.tensor([5, 3]), torch.zeros(2, 6, 1)
    some = EncoderOut(both, torch.arange(6) <= lengths[:, None], lengths)
    first, second = decoder.trees(some)
    alone = EncoderOut(both[1:, :4], torch.ones(1, 4, dtype=torch.bool), lengths[1:])
    assert decoder.trees(alone) == [second]
    for (tree, logs), n in ((first, 5), (second, 3)):
        assert tree.heads == (0, *[1] * (n - 1))
        assert tree.relations == ("root", "expl", "nsubj", "expl", "expl")[:n]
        scores = decoder.relations(both, torch.zeros(2, 6, dtype=torch.long))[0, :n]
        of_relations = only_legal(scores, decoder.carried(torch.tensor([[n, *[0] * (n - 1)]]), torch.tensor([n]))[0])
        of_heads = only_legal(decoder.heads(both[:1, : n + 1]), other_words(torch.ones(1, n + 1, dtype=torch.bool)))
        wanted = [
            of_heads.log_softmax(-1)[0, word, head - 1 if head else n]
            + of_relations.log_softmax(-1)[word, table.relations.index(relation)]
            for word, (head, relation) in enumerate(zip(tree.heads, tree.relations, strict=True))
        ]
        assert logs == pytest.approx([float(one) for one in wanted], abs=1e-5)

"""Tables of words that are trained: where they start, what they know, what training hides of them."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from transition_parser.base.errors import InputError
from transition_parser.models.stack_transformer.options import StackTransformerOptions
from transition_parser.modules.word_inputs import TableInput
from transition_parser.modules.words import WordInputs
from transition_parser.text.word_vectors import WordVectors

WORDS = ("the", "dogs", "Cats", "sleep", "rare")
VECTORS = WordVectors(("cats", "dogs", "other"), np.array([[1, 2, 3], [4, 5, 6], [7, 8, 9]], dtype=np.float16))
DIM = 3


def table_of(vectors: WordVectors | None = VECTORS, **flags) -> TableInput:
    torch.manual_seed(1)
    options = StackTransformerOptions(**{"word_table": 4, **flags})
    return WordInputs(options, DIM, SimpleNamespace(frequent_words=WORDS, vectors=vectors))["table"]


def vectors_of(table: TableInput, *words: str) -> torch.Tensor:
    """The vectors of a sentence, of its root and of two words of padding."""
    read = table.read([words, ["the"] * (len(words) + 2)], {})
    return table(read, torch.zeros(2, len(words) + 3, DIM))[0]


def test_words_have_vectors_and_all_others_one():
    table = table_of().eval()
    found = vectors_of(table, "the", "The", "THE", "Cats", "cats", "rare", "unheard", "")
    assert table.embed.weight.shape == (5, DIM)  # the fifth word is too rare
    rows = [1, 1, 1, 3, 0, 0, 0, 0, 0, 0, 0]  # "The" is looked up in lower case, but not the other way round
    assert torch.equal(found, table.embed.weight[rows])


@pytest.mark.parametrize("dropout", [0.0, 0.3, 1.0])
def test_only_training_reads_known_words_by_the_vector_of_all_others(dropout):
    table = table_of(word_table_dropout=dropout)
    sentence = ["dogs"] * 1000
    found = vectors_of(table.train(), *sentence)[:1000]
    unknown, dogs = table.embed.weight[0], table.embed.weight[2]
    hidden = (found == unknown).all(1)
    assert torch.equal(found[~hidden], dogs.expand(int((~hidden).sum()), -1))
    assert abs(float(hidden.float().mean()) - dropout) < 0.06
    assert torch.equal(vectors_of(table.eval(), *sentence)[:1000], dogs.expand(1000, -1))


def test_a_table_starts_from_vectors():
    table, other = table_of(word_table_vectors=True), table_of(word_table_vectors=True)
    table.start(SimpleNamespace(vectors=VECTORS))
    assert table.embed.weight[[2, 3]].tolist() == [[4, 5, 6], [1, 2, 3]]  # dogs; "Cats" by its form in lower case
    assert torch.equal(table.embed.weight[[0, 1, 4]], other.embed.weight[[0, 1, 4]])
    assert table.project.weight.shape == (DIM, DIM)
    plain = table_of()
    before = plain.embed.weight.clone()
    plain.start(SimpleNamespace(vectors=VECTORS))
    assert torch.equal(plain.embed.weight, before)


@pytest.mark.parametrize(
    ("flags", "vectors", "problem"),
    [
        ({}, None, "no word vectors: preprocess it with `transition-parser preprocess … --vectors FILE`"),
        ({"word_table_width": 5}, VECTORS, "3 wide, the embeddings 5: give --word-table-width 3"),
    ],
)
def test_vectors_that_a_table_can_not_start_from(flags, vectors, problem):
    table = table_of(word_table_vectors=True, **flags)
    with pytest.raises(InputError, match=re.escape(problem)):
        table.start(SimpleNamespace(vectors=vectors))


@pytest.mark.parametrize("flags", [{}, {"word_table_width": 5}, {"word_table_vectors": True}])
def test_a_table_that_starts_at_zero_adds_nothing_and_learns(flags):
    table = table_of(**flags).eval()
    table.start_at_zero()
    table.start(SimpleNamespace(vectors=VECTORS))
    found = vectors_of(table, "dogs")
    assert not found.any()
    found.sum().backward()
    assert sum(p.grad.abs().sum() for p in table.parameters() if p.grad is not None) > 0

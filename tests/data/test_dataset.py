"""What a data set hides of the columns of words, and how its sides fit each other."""

from itertools import chain, pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.small_models import task_of
from transition_parser.data.dataset import TransitionDataset, WordData

ANNOTATIONS = {"upos": [["NOUN", "VERB"], ["DET"], ["NUM"] * 3], "lemma": [["a", "b"], ["c"], ["d"] * 3]}
COUNT = 400


def hidden_of(values):
    return [set(sentence) == {"_"} for sentence in values]


def test_a_value_is_either_read_or_predicted_and_what_is_not_read_is_predicted():
    data = WordData(ANNOTATIONS, {"upos": 0.5})
    for epoch in range(1, 9):
        read, rest = data.split([2, 0], seed=1, epoch=epoch)
        assert [a != b for a, b in zip(hidden_of(read["upos"]), hidden_of(rest["upos"]), strict=True)] == [True, True]
        assert read["lemma"] == rest["lemma"] == [["d"] * 3, ["a", "b"]]


@pytest.mark.parametrize("fraction", [0.0, 0.3, 1.0])
def test_a_fraction_of_sentences_is_masked(fraction):
    data = WordData({"upos": [["NOUN"]] * COUNT}, {"upos": fraction})
    read, _ = data.split(range(COUNT), seed=3, epoch=1)
    assert sum(hidden_of(read["upos"])) / COUNT == pytest.approx(fraction, abs=0.1 if 0 < fraction < 1 else 0)


def test_a_mask_depends_on_seed_epoch_and_sentence_alone():
    data = WordData({"upos": [["NOUN"]] * COUNT}, {"upos": 0.5})
    first, _ = data.split(range(COUNT), seed=3, epoch=1)
    some, _ = data.split([7, 5], seed=3, epoch=1)
    assert some["upos"] == [first["upos"][7], first["upos"][5]]
    drawn = [np.random.default_rng([3, 1, i]).random() < 0.5 for i in range(COUNT)]
    assert hidden_of(first["upos"]) == drawn
    assert data.split(range(COUNT), seed=3, epoch=2)[0] != first != data.split(range(COUNT), seed=4, epoch=1)[0]


def test_processes_that_load_data_know_the_epoch(tmp_path_factory):
    """They live longer than an epoch, and draw the pieces of words."""
    resources = task_of("arc-hybrid-swap", tmp_path_factory).resources
    words = [["sleeps", "barking"], ["dogs"]]
    source = resources.encode_all(words)
    dataset = TransitionDataset(resources, words, source, source, alpha=0.5)
    loader = torch.utils.data.DataLoader(dataset, None, num_workers=1, persistent_workers=True)
    found = []
    for epoch in (1, 2, 3):
        dataset.set_epoch(epoch)
        found.append([item["source"].tolist() for item in loader])
        assert found[-1] == [dataset[i]["source"].tolist() for i in range(len(words))]
    assert found[0] != found[1] != found[2]


def test_each_sentence_has_a_derivation(tmp_path_factory):
    one, two = ([torch.arange(3)] * count for count in (1, 2))
    with pytest.raises(ValueError, match="1 sentences, but 2 derivations: both must come from"):
        TransitionDataset(task_of("arc-hybrid-swap", tmp_path_factory).resources, [["a"]], one, two)


@given(st.lists(st.integers(1, 40), min_size=1), st.integers(1, 200), st.integers(1, 30), st.sampled_from([1, 2, 8]))
def test_batches_keep_their_limits_and_are_as_large_as_can_be(lengths, most_tokens, most_sentences, multiple):
    """All sentences are in a batch, in their order, and a longer one than `most_tokens` by itself."""

    def fits(batch):
        tokens = len(batch) * max(min(lengths[i], most_tokens) for i in batch)
        return tokens <= most_tokens and len(batch) <= most_sentences

    def is_full(batch, after):
        size = len(batch) + 1
        while size >= multiple and size % multiple:
            size += 1
        return len(batch + after) < size or not fits((batch + after)[:size])

    data = TransitionDataset.__new__(TransitionDataset)
    data._lengths = np.array([lengths, lengths]).T
    found = data.batch_by_size(np.arange(len(lengths)), most_tokens, most_sentences, multiple)
    batches = [batch.tolist() for batch in found]
    assert [*chain(*batches)] == list(range(len(lengths)))
    assert all(fits(batch) and (len(batch) < multiple or len(batch) % multiple == 0) for batch in batches)
    assert all(is_full(batch, after) for batch, after in pairwise(batches))

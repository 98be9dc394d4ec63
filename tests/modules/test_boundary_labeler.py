"""The network that labels characters: it reads its context and nothing else, and takes any character."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from transition_parser.modules.boundaries import BoundaryNetwork, NetworkLabeler, flags_of, labels_of
from transition_parser.text.characters import Characters


def labeler() -> NetworkLabeler:
    known = Characters("ab. ")
    with torch.random.fork_rng():
        torch.manual_seed(3)
        network = BoundaryNetwork(len(known), 8, 2)
        for parameter in network.parameters():
            torch.nn.init.normal_(parameter)
    return NetworkLabeler(network, known)


TEXT = "ab a.b. ba. 中文é👩. a\u0301 b "


def test_all_parts_of_a_text_are_labeled_as_in_the_whole():
    label = labeler()
    whole = label(TEXT, 0, len(TEXT))
    assert len(set(whole)) > 2
    for first in range(len(TEXT)):
        assert label(TEXT, first, len(TEXT)) == whole[first:]
        assert label(TEXT, 0, first + 1) == whole[: first + 1]


@given(text=st.text(min_size=1))
def test_any_character_can_be_read(text):
    assert len(labeler()(text, 0, len(text))) == len(text)


@given(labels=st.lists(st.sampled_from([0, 1, 3, 5, 7]), min_size=1).map(bytes))
def test_flags_are_the_labels(labels):
    assert labels_of(flags_of(labels) - 0.5) == labels


def test_other_flags_need_the_end_of_a_token():
    assert labels_of(torch.tensor([[-1.0, 1.0, 1.0], [1.0, -1.0, 1.0]])) == b"\x00\x05"

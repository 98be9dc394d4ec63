"""Labelled SHIFT whose words compete in training: in search the due SHIFT has the mass of all SHIFTs."""

import math
from types import SimpleNamespace

import pytest
import torch

from tests.toy_plugin import TopTwoDecoder
from transition_parser.modules.contract import ActionScores
from transition_parser.modules.encoder import EncoderOut
from transition_parser.parsing.search import search
from transition_parser.states.states import States
from transition_parser.states.table import ActionTable
from transition_parser.transitions import make_system

TOKENS = ["<s>", "<pad>", "</s>", "<unk>", "SHIFT", "SHIFT(a)", "SHIFT(b)", "LEFT-ARC(x)", "LEFT-ARC(root)"]
TOKENS += ["RIGHT-ARC(x)"]


class Fixed(TopTwoDecoder):
    """Says the same in every state: the SHIFTs have 0.6 together, that of the word "a" 0.2, LEFT-ARC(x) 0.4."""

    def score_states(self, encoder_out: EncoderOut, sentence: torch.Tensor, states: States) -> torch.Tensor:
        probabilities = dict.fromkeys(TOKENS, 1e-9)
        probabilities |= {"SHIFT": 0.3, "SHIFT(a)": 0.2, "SHIFT(b)": 0.1, "LEFT-ARC(x)": 0.4}
        return torch.tensor([[math.log(probabilities[token]) for token in TOKENS]]).repeat(len(sentence), 1)


def decoder_of(compete: bool) -> Fixed:
    decoder = Fixed(ActionTable(make_system("arc-hybrid", shift_words=("a", "b")), TOKENS), 4)
    decoder.shifts_compete = compete
    return decoder


def first_arc_or_shift(compete: bool) -> tuple[str, float]:
    """The second action over the words a a, and its probability."""
    decoder = decoder_of(compete)
    lengths = torch.tensor([2])
    features = torch.tensor([decoder.table.features(["a", "a"])])
    words = EncoderOut(torch.zeros(1, 3, 4), torch.ones(1, 3, dtype=torch.bool), lengths, features)
    model = SimpleNamespace(decoder=decoder, search_directly=lambda *_: None)
    best = search(model, words)[0][0]
    return decoder.table.tokens[best.tokens[1]], math.exp(best.step_scores[1])


def test_the_due_shift_has_the_mass_of_all():
    """In the second state SHIFT(a) and LEFT-ARC(x) are legal."""
    token, probability = first_arc_or_shift(compete=True)
    assert token == "SHIFT(a)" and probability == pytest.approx(0.6, abs=1e-4)


def test_where_the_machine_gives_the_word_away_its_own_mass_counts():
    token, probability = first_arc_or_shift(compete=False)
    assert token == "LEFT-ARC(x)" and probability == pytest.approx(0.4 / 0.6, abs=1e-4)


def test_of_some_actions_alone_those_are_pooled():
    decoder = decoder_of(True)
    tokens = torch.tensor([2, 4, 5, 7])
    scores = torch.tensor([[1.0, 2.0, 2.0, 3.0]])
    pooled = ActionScores(decoder.pooled_shifts(scores, tokens), None, torch.ones(1, 4), tokens).scores
    assert pooled[0].tolist() == pytest.approx([1.0, 2.0 + math.log(2), 2.0 + math.log(2), 3.0])

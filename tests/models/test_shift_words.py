"""Labeled SHIFT whose words compete in training: in search the due SHIFT has the mass of all SHIFTs."""

import math
from types import SimpleNamespace

import pytest
import torch

from tests.helpers.tables import SPECIAL
from tests.toy_plugin import TopTwoDecoder
from transition_parser.modules.encoder import EncoderOut
from transition_parser.parsing.search import search
from transition_parser.states.states import States
from transition_parser.states.table import ActionTable
from transition_parser.tasks.losses import ActionLoss
from transition_parser.transitions import make_system

TOKENS = [*SPECIAL, "SHIFT", "SHIFT(a)", "SHIFT(b)", "LEFT-ARC(x)", "LEFT-ARC(root)"]
TOKENS += ["RIGHT-ARC(x)"]


class Fixed(TopTwoDecoder):
    """Says the same in every state: the SHIFTs have 0.6 together, that of the word "a" 0.2, LEFT-ARC(x) 0.4."""

    def score_states(self, encoder_out: EncoderOut, sentence: torch.Tensor, states: States) -> torch.Tensor:
        probabilities = dict.fromkeys(self.table.tokens, 1e-9)
        probabilities |= {"SHIFT": 0.3, "SHIFT(a)": 0.2, "SHIFT(b)": 0.1, "LEFT-ARC(x)": 0.4}
        return torch.tensor([[math.log(probabilities[token]) for token in self.table.tokens]]).repeat(len(sentence), 1)


def decoder_of(compete: bool, system: str = "arc-hybrid") -> Fixed:
    tokens = [*TOKENS, "SWAP"] if system.endswith("swap") else TOKENS
    decoder = Fixed(ActionTable(make_system(system, shift_words=("a", "b")), tokens), 4)
    decoder.shifts_compete = compete
    return decoder


def words_a_a(table: ActionTable) -> EncoderOut:
    features = torch.tensor([table.features(["a", "a"])])
    return EncoderOut(torch.zeros(1, 3, 4), torch.ones(1, 3, dtype=torch.bool), torch.tensor([2]), features)


def first_arc_or_shift(compete: bool) -> tuple[str, float]:
    """The second action over the words a a, and its probability."""
    decoder = decoder_of(compete)
    words = words_a_a(decoder.table)
    model = SimpleNamespace(decoder=decoder)
    best = search(model, words)[0][0]
    return decoder.table.tokens[best.tokens[1]], math.exp(best.step_scores[1])


def test_the_due_shift_has_the_mass_of_all():
    """In the second state SHIFT(a) and LEFT-ARC(x) are legal."""
    token, probability = first_arc_or_shift(compete=True)
    assert token == "SHIFT(a)" and probability == pytest.approx(0.6, abs=1e-4)


def test_where_the_machine_gives_the_word_away_its_own_mass_counts():
    token, probability = first_arc_or_shift(compete=False)
    assert token == "LEFT-ARC(x)" and probability == pytest.approx(0.4 / 0.6, abs=1e-4)


@pytest.mark.parametrize("system", ["arc-standard", "arc-standard-swap"])
@pytest.mark.parametrize("compete", [False, True])
def test_the_root_is_no_word(system, compete):
    """The SHIFT of the root is plain and the only action there; no word competes with it in training."""
    decoder = decoder_of(compete, system)
    derivation = ["</s>", "SHIFT(a)", "SHIFT(a)", "RIGHT-ARC(x)", "SHIFT", "LEFT-ARC(root)"]
    actions = torch.tensor([[decoder.table.tokens.index(token) for token in derivation]])
    encoder_out = words_a_a(decoder.table)
    states = decoder.states(actions, encoder_out)
    legal = decoder.legality(states)[0]
    shifts = [
        [decoder.table.tokens[i] for i in row.nonzero()[:, 0] if "SHIFT" in decoder.table.tokens[i]] for row in legal
    ]
    of_word = ["SHIFT", "SHIFT(a)", "SHIFT(b)"] if compete else ["SHIFT(a)"]
    assert shifts == [of_word, of_word, [], ["SHIFT"], [], []]
    scores = decoder.scores(actions, encoder_out, states)
    batch = {"target": torch.cat([actions[:, 1:], torch.tensor([[decoder.table.end]])], 1), "id": torch.tensor([0])}
    loss, _ = ActionLoss(0.1, padding=1)(decoder.train(), scores, {"legal": legal[None]}, batch)
    assert loss[3] == 0.0 and bool((loss[:2] > 0.0).all()) == compete

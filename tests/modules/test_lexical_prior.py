import math

import pytest
import torch

from tests.helpers.amr_walks import FRAMES
from transition_parser.modules.action_scores import LexicalPrior
from transition_parser.states.table import FIRST_SPAN, UNBOUND, ActionTable
from transition_parser.text.frames import packaged
from transition_parser.transitions import make_system

TOKENS = ["</s>", "SHIFT", "MERGE", "CLOSE", "ROOT", "REDUCE", "LA(ARG0)", "RA(ARG0)", "COPY_LEMMA"]
TOKENS += ["COPY_WORD", "PRED(dog)", "PRED(wolf)", "VALUE(-)"]
COUNTS = {
    "wolf": {"PRED(wolf)": 6, "COPY_LEMMA": 1, "PRED(lost)": 9},
    "dog": {"PRED(dog)": 2},
}
LEXICON = {"wolf": ["PRED(dog)", "PRED(wolf)"], "no": ["VALUE(-)"]}


def make_table(counts=COUNTS, frames=FRAMES) -> ActionTable:
    system = make_system("amr", lexicon=LEXICON, frames=frames)
    return ActionTable(system, [*TOKENS, *map(str, system.frames.all)], counts=counts)


def row_of(table: ActionTable, lemma: str) -> int:
    return table.features([lemma])[0][FIRST_SPAN]


def prior_of(table: ActionTable, lemma: str) -> dict[int, float]:
    part = slice(*table.prior.starts[row_of(table, lemma) :][:2])
    return dict(zip(table.prior.numbers[part].tolist(), table.prior_values[part].tolist(), strict=True))


def test_the_prior_of_a_span_is_its_smoothed_counts():
    table = make_table()
    prior = prior_of(table, "wolf")
    assert {table.tokens[token]: value for token, value in prior.items()} == pytest.approx(
        {
            **{"PRED(wolf)": math.log(7 / 11 * 4), "COPY_LEMMA": math.log(2 / 11 * 4)},
            **dict.fromkeys(("PRED(dog)", "FRAME(01)"), math.log(1 / 11 * 4)),
        }
    )
    assert prior_of(table, "no") == {}  # never counted


def test_each_kind_has_its_weight():
    table = make_table()
    prior = LexicalPrior(table)
    rows = torch.tensor([row_of(table, "wolf"), row_of(table, "cat"), UNBOUND])
    scores = torch.randn(3, len(table.tokens))
    with torch.no_grad():
        prior.weight.copy_(torch.arange(1.0, len(prior.weight) + 1))
        added = prior(scores, rows) - scores
    wolf, copy = TOKENS.index("PRED(wolf)"), TOKENS.index("COPY_LEMMA")
    of_row = prior_of(table, "wolf")
    weights = {token: float(added[0, token]) / value for token, value in of_row.items()}
    assert weights[wolf] == pytest.approx(weights[TOKENS.index("PRED(dog)")], abs=1e-5)
    assert round(weights[wolf], 4) != round(weights[copy], 4)
    assert {*weights} == {*added[0].nonzero()[:, 0].tolist()}
    assert row_of(table, "cat") != row_of(table, "wolf") and not added[1:].any()


def test_senses_of_frames_are_counted():
    counts = {"serve": {"FRAME(02)": 8, "FRAME(01)": 1}}
    table = make_table(counts, packaged())
    prior = prior_of(table, "serve")
    values = {table.tokens[token]: value for token, value in prior.items()}
    assert max(values, key=values.__getitem__) == "FRAME(02)" and values["FRAME(02)"] > 0.5 > values["FRAME(01)"]

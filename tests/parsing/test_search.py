"""Batched search against a beam search without batches, caches or state tensors that are carried along."""

from __future__ import annotations

import itertools
from contextlib import nullcontext
from dataclasses import dataclass, field, replace

import pytest
import torch
from torch import Tensor

from tests.conftest import SAMPLE, SAMPLE_AMR, without_kernels
from tests.helpers.crosses import mostly_slow
from tests.helpers.search_limits import Made, expected_legality
from tests.helpers.small_models import encode
from transition_parser import Parser
from transition_parser.modules.contract import Hypothesis, only_legal
from transition_parser.modules.encoder import EncoderOut
from transition_parser.parsing.search import search
from transition_parser.text.pieces import normalize
from transition_parser.transitions.amr import AmrSystem

CLOSE = 1e-3
# model, sentences, how many, and of how many words
KINDS = [("en-ewt", SAMPLE, 4, 12), ("en-amr", SAMPLE_AMR, 2, 7), ("en-amr", SAMPLE_AMR, 3, 9)]


@dataclass(frozen=True)
class Model:
    """A model in single precision, and the short sentences it is tried on."""

    name: str
    parser: Parser
    sentences: list[list[str]]
    made: dict[tuple, list[Prefix]] = field(default_factory=dict)

    def encode(self, sentences: list[list[str]]) -> EncoderOut:
        return encode(self.parser, sentences)

    def search(self, sentences: list[list[str]], beam: int, lenpen: float = 1.0) -> list[list[Hypothesis]]:
        return search(self.parser.model, self.encode(sentences), beam, beam, lenpen)

    def ended(self, words: list[str], beam: int) -> list[Prefix]:
        """The derivations of the plain search, which takes seconds, made once."""
        key = (*words, beam)
        if key not in self.made:
            self.made[key] = ended_derivations(self.parser.model.decoder, self.encode([words]), words, beam)
        return self.made[key]


@pytest.fixture(scope="module", params=[KINDS[0], KINDS[1], pytest.param(KINDS[2], marks=pytest.mark.slow)])
def model(request) -> Model:
    name, path, count, longest = request.param
    parser = Parser.load(name, precision="fp32")
    words = (list(sentence.forms) for sentence in parser.read(path))
    short = sorted((sentence for sentence in words if 4 <= len(sentence) <= longest), key=len)
    return Model(name, parser, [short[i * (len(short) - 1) // (count - 1)] for i in range(count)])


@dataclass
class Prefix:
    """A derivation that may not have ended. next: the log-probability of each action that may follow."""

    tokens: list[int]
    steps: list[float]
    next: Tensor = field(repr=False)

    def total(self) -> float:
        return sum(self.steps)


@torch.inference_mode()
def following(decoder, encoder_out: EncoderOut, words: list[str], tokens: list[int]) -> Tensor:
    """Log-probabilities of what follows, from all the actions so far and `</s>` before them."""
    table, actions = decoder.table, torch.tensor([[decoder.table.end, *tokens]])
    states = decoder.states(actions, encoder_out)
    legality = decoder.legality(states)
    if isinstance(table.system, AmrSystem):
        state, made = table.system.initial(table.system.read([normalize(word) for word in words])), Made([], [], [])
        for action in (table.actions[token] for token in tokens):
            state = table.system.apply(state, action)
            made = made.then(table.system, state, action)
        legality = torch.tensor([[expected_legality(table, state, made)]])
    scores = only_legal(decoder.scores(actions, encoder_out, states)[:, -1:], legality[:, -1:].abs())
    # what its roles and sorts forbid has a probability
    return torch.log_softmax(scores[0, -1], -1).masked_fill(legality[0, -1] < 0, float("-inf"))


def ended_derivations(decoder, encoder_out: EncoderOut, words: list[str], beam: int) -> list[Prefix]:
    """The derivations that end first. A derivation has ended where `</s>` is legal."""
    end = decoder.table.end
    alive = [Prefix([], [], following(decoder, encoder_out, words, []))]
    ended: list[Prefix] = []
    while alive and len(ended) < beam:
        continuations = [
            (prefix, token)
            for prefix in alive
            for token, score in enumerate(prefix.next.tolist())
            if score > float("-inf")
        ]
        continuations.sort(key=lambda pair: -(pair[0].total() + float(pair[0].next[pair[1]])))
        chosen = []
        for prefix, token in continuations[:beam]:
            tokens = [*prefix.tokens, token]
            steps = [*prefix.steps, float(prefix.next[token])]
            chosen.append(Prefix(tokens, steps, following(decoder, encoder_out, words, tokens)))
        alive = [prefix for prefix in chosen if prefix.next[end] == float("-inf")]
        ended += [prefix for prefix in chosen if prefix.next[end] > float("-inf")]
    return ended


@pytest.mark.parametrize("compiled", [True, pytest.param(False, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("beam", "lenpen"), mostly_slow([(1, 1.0), (4, 1.0), (4, 0.0), (4, 4.0)], (4, 1.0)))
def test_search_finds_what_a_plain_search_finds(model, beam, lenpen, compiled):
    with nullcontext() if compiled else without_kernels():
        searched = model if compiled else replace(model, parser=Parser.load(model.name, precision="fp32"))
        all_found = searched.search(model.sentences, beam, lenpen)
    for words, found in zip(model.sentences, all_found, strict=True):
        best = sorted(model.ended(words, beam), key=lambda p: -p.total() / (len(p.tokens) + 1) ** lenpen)[:beam]
        assert len(best) == beam
        assert [hypothesis.tokens for hypothesis in found] == [prefix.tokens for prefix in best]
        for hypothesis, prefix in zip(found, best, strict=True):
            assert hypothesis.score == pytest.approx(prefix.total() / (len(prefix.tokens) + 1), abs=CLOSE)
            assert hypothesis.step_scores == pytest.approx(prefix.steps, abs=CLOSE)


def test_more_lenpen_never_prefers_a_shorter_derivation(model):
    found = [model.search(model.sentences, 4, lenpen) for lenpen in (0.0, 1.0, 4.0, 9.0)]
    lengths = [[len(hypotheses[0].tokens) for hypotheses in each] for each in found]
    for shorter, longer in itertools.pairwise(lengths):
        assert all(a <= b for a, b in zip(shorter, longer, strict=True))

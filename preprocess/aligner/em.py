"""Word–concept probabilities by expectation maximisation.

Source: IBM Model 1 (Brown et al. 1993), used for AMR by Pourdamghani et al. 2014. The probabilities of both
directions are multiplied, so that a rare word does not draw every concept to itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

NULL = ""
_ITERATIONS = 8
_NULL_WEIGHT = 0.3
_LEAST = 0.02


@dataclass(frozen=True)
class Observation:
    """A node for which the rules find no sure tokens.

    concept: the concept of the node, without its sense
    words: the words that may express the concept
    weights: the weight of each word
    """

    concept: str
    words: Sequence[str]
    weights: Sequence[float]


@dataclass(frozen=True)
class WordConceptTable:
    """The strengths of the links between words and concepts.

    strengths: concept → word → 0 … 1
    """

    strengths: dict[str, dict[str, float]]

    @classmethod
    def train(cls, observations: Iterable[Observation]) -> WordConceptTable:
        """Return the table that EM learns from nodes and the words of their sentences.

        Training is deterministic. The order of the observations changes the strengths by rounding at most.
        """
        pairs = _Pairs(observations)
        return cls(pairs.strengths() if len(pairs.group) else {})

    def posterior(self, concept: str, words: Sequence[str]) -> list[float]:
        """Return for each word of a sentence the probability that it expresses a concept.

        The concept is known to be in the graph of the sentence. The probabilities add up to less than 1, because
        perhaps no word expresses the concept.
        """
        strengths = self.strengths.get(concept)
        if not strengths:
            return [0.0] * len(words)
        values = [strengths.get(word, 0.0) for word in words]
        total = sum(values) + 0.05
        return [value / total * min(1.0, 2 * value) ** 0.5 for value in values]


class _Pairs:
    """All N (concept, word) pairs of a corpus as arrays; each observation also has a pair with `NULL`, for no word.

    group: (N,) int64; the observation of each pair
    weight: (N,) float64; the weight of each pair
    pair: (N,) int64; the index of each pair in the list of distinct pairs
    """

    def __init__(self, observations: Iterable[Observation]) -> None:
        self.concepts: dict[str, int] = {}
        self.words: dict[str, int] = {NULL: 0}
        group, concept, word, weight = [], [], [], []
        for number, seen in enumerate(observations):
            index = self.concepts.setdefault(seen.concept, len(self.concepts))
            group += [number] * (len(seen.words) + 1)
            concept += [index] * (len(seen.words) + 1)
            word += [0, *(self.words.setdefault(w, len(self.words)) for w in seen.words)]
            weight += [_NULL_WEIGHT, *seen.weights]
        self.group = np.array(group, dtype=np.int64)
        self.weight = np.array(weight, dtype=np.float64)
        codes = np.array(concept, dtype=np.int64) * len(self.words) + np.array(word, dtype=np.int64)
        self.codes, self.pair = np.unique(codes, return_inverse=True)
        self.concept_of, self.word_of = np.divmod(self.codes, max(1, len(self.words)))

    def counts(self) -> np.ndarray:
        """Return the expected count of each distinct pair after the last iteration."""
        probability = np.ones(len(self.codes))
        for _ in range(_ITERATIONS):
            share = probability[self.pair] * self.weight
            share /= np.bincount(self.group, share)[self.group]
            expected = np.bincount(self.pair, share, minlength=len(self.codes))
            probability = expected / np.bincount(self.word_of, expected)[self.word_of]
        return expected

    def strengths(self) -> dict[str, dict[str, float]]:
        expected = self.counts()
        of_word = np.bincount(self.word_of, expected)[self.word_of]
        of_concept = np.bincount(self.concept_of, expected)[self.concept_of]
        strength = expected / np.sqrt(of_word * of_concept) * expected / (expected + 0.5)
        concepts, words = list(self.concepts), list(self.words)
        of_words: dict[str, dict[str, float]] = {}
        for pair in np.flatnonzero((strength >= _LEAST) & (self.word_of > 0)):
            concept = concepts[self.concept_of[pair]]
            of_words.setdefault(concept, {})[words[self.word_of[pair]]] = float(strength[pair])
        return of_words

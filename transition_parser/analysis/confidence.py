"""Measure the calibration of confidences, and fit it.

Source: Guo et al. 2017, sec. 2 (expected calibration error) and 4.2 (temperature scaling); Platt 1999 (an offset)
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike

from transition_parser.base.errors import InputError, errors_at, input_error
from transition_parser.graphs.bank import AmrEntry
from transition_parser.graphs.conllu import Sentence
from transition_parser.graphs.smatch import best_mapping, graph_triples
from transition_parser.modules.calibration import LARGEST, Calibration, Scaling, log_odds
from transition_parser.parsing.parser import Parser
from transition_parser.storage.checkpoints import load_model

BINS = 10
_SHRINK = 1e-6  # penalty; without it, confidences that separate right from wrong perfectly have no best scaling


class Outcomes(NamedTuple):
    """Confidences and their outcomes."""

    confidences: np.ndarray  # (N,) float; N confidences from 0 to 1
    right: np.ndarray  # (N,) bool; True for a confidence whose part of the graph is right

    def scaled(self, scaling: Scaling) -> Outcomes:
        """Return the same outcomes with calibrated confidences."""
        return Outcomes(np.array([scaling(one) for one in self.confidences.tolist()]), self.right)


def expected_calibration_error(confidences: ArrayLike, right: ArrayLike, bins: int = BINS) -> float:
    """Return the mean absolute difference, from 0 to 1, between confidence and share of right parts.

    The mean is over equally wide intervals of confidence, weighted by the number of confidences in each.

    >>> round(expected_calibration_error([0.9, 0.8, 0.2], [True, False, False], 2), 4)  # 1/3 * 0.2 + 2/3 * 0.35
    0.3
    """
    values, hits = np.asarray(confidences, float), np.asarray(right, float)
    if not len(values):
        raise ValueError("there are no confidences")
    place = np.minimum((values * bins).astype(int), bins - 1)  # the last interval includes 1
    return float(abs(np.bincount(place, values - hits)).sum() / len(values))


def fit_scaling(confidences: ArrayLike, right: ArrayLike) -> Scaling:
    """Return the scaling that makes the outcomes most likely, within the bound `LARGEST`."""
    hits = torch.as_tensor(np.asarray(right), dtype=torch.float64)
    if not 0 < float(hits.sum()) < len(hits):
        raise InputError("the confidences allow no calibration: all parts are right, or all are wrong; give more text")
    odds = torch.tensor([log_odds(one) for one in np.asarray(confidences).tolist()], dtype=torch.float64)
    found = torch.zeros(2, dtype=torch.float64, requires_grad=True)  # minus the logarithm of the temperature; offset
    most = torch.tensor([math.log(LARGEST), LARGEST], dtype=torch.float64)
    optimizer = torch.optim.LBFGS([found], max_iter=200, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimizer.zero_grad()
        slope, shift = found.clamp(-most, most)
        scaled = odds * slope.exp() + shift
        value = torch.nn.functional.binary_cross_entropy_with_logits(scaled, hits) + _SHRINK * found.square().sum()
        value.backward()
        return value

    optimizer.step(loss)
    slope, shift = found.detach().clamp(-most, most).tolist()
    return Scaling(min(max(float(np.exp(-slope)), 1 / LARGEST), LARGEST), shift)


def outcomes(parser: Parser, gold: Sequence[tuple[Any, Any]]) -> dict[str, Outcomes]:
    """Return the outcomes of each kind of confidence in the best parses: name of the field in a parse → outcomes."""
    found: dict[str, tuple[list[float], list[bool]]] = {}
    for (_, graph), parse in zip(gold, parser.parse_stream(sentence for sentence, _ in gold), strict=True):
        for name, right in _right_parts(graph, parse).items():
            confidences, hits = found.setdefault(name, ([], []))
            for one, hit in zip(getattr(parse, name), right, strict=True):
                if hit is not None:
                    confidences.append(one)
                    hits.append(hit)
    return {name: Outcomes(np.array(values), np.array(hits)) for name, (values, hits) in found.items()}


def _right_parts(gold: Sentence | AmrEntry, parse: Any) -> Mapping[str, Sequence[bool | None]]:
    """Return field of confidences → for each one True if its arc, with its full relation, or its node is right.

    Constants of AMRs, which are no nodes of Smatch, are None.
    """
    if isinstance(gold, Sentence):
        ours, theirs = (zip(tree.heads, tree.relations, strict=True) for tree in (gold.tree(), parse.tree))
        return {"arc_scores": [one == other for one, other in zip(ours, theirs, strict=True)]}
    found, wanted = graph_triples(parse.graph), graph_triples(gold.amr)
    concepts, (_, mapping) = wanted.normalized.concepts, best_mapping(found, wanted)
    nodes = zip(found.normalized.concepts, mapping, strict=True)
    right = (other is not None and concept == concepts[other] for concept, other in nodes)
    constants = parse.graph.constants
    return {"node_scores": [None if node in constants else next(right) for node in range(len(parse.graph))]}


def gold_sentences(parser: Parser, path: str) -> list[tuple[Any, Any]]:
    """Return the sentences of a gold file, each with its graph."""
    found = [*zip(parser.read(path), parser.formalism.read_graphs(path), strict=True)]
    if not found:
        raise input_error("the file holds no sentences", path)
    return found


def calibrate(
    model: str, path: str, beam: int = 10, precision: str = "auto", threads: int | None = None
) -> tuple[Calibration, dict[str, dict[str, Outcomes]]]:
    """Fit the calibration of a model on a gold file, for greedy parses and for parses with alternatives.

    Also return the outcomes: kind of parse (`derivation`, `beam`) → kind of confidence → outcomes.
    """
    if beam < 2:
        raise InputError("search finds alternatives only with a beam of 2 or more: give a larger beam")
    found: dict[str, dict[str, Outcomes]] = {}
    for kind, width, nbest in (("derivation", 1, 1), ("beam", beam, 2)):
        loaded, resources = load_model(model)
        loaded.calibration = None
        parser = Parser(loaded, resources, width, precision=precision, threads=threads, nbest=nbest)
        found[kind] = outcomes(parser, gold_sentences(parser, path))
    with errors_at(path):
        scalings = {kind: {name: fit_scaling(*one) for name, one in some.items()} for kind, some in found.items()}
    return Calibration(**scalings), found

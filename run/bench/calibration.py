"""Expected calibration error (ECE, Guo et al. 2017) of confidences in arcs or nodes, before and after fitting on dev.

    python run/bench/calibration.py MODEL DEV TEST [--beam 1 10] [-o REPORT]

Four kinds of confidence in an arc are compared; an arc is right where its head and its full relation are right:
- action: the probability of the action that built the arc
- derivation: the probability of all actions that decided its head (`TreeSystem.may_attach`): `Parse.arc_scores`
- beam: the share of the derivations found that have the arc, weighted by their probabilities
- derivation and beam: the value of `Parse.arc_scores` with alternatives (`alternatives.ranked`)

For AMRs the confidence in nodes is measured, `Parse.node_scores`, greedily and with alternatives.

Each kind is measured on TEST as it is, with a temperature, and with a temperature and an offset, both fitted on DEV.
nll: the mean negative log-likelihood. auc: the probability that a right arc has a larger confidence than a wrong one,
which no fit changes. bins: for the fit with an offset, ten intervals of equal width: the number of arcs, the mean
confidence and the share that is right.
"""

from __future__ import annotations

import json
import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from common import parser as options_of

from transition_parser.analysis.confidence import (
    Outcomes,
    expected_calibration_error,
    fit_scaling,
    gold_sentences,
    outcomes,
    reliability,
    uncalibrated,
)
from transition_parser.base.files import replacing
from transition_parser.parsing.alternatives import ranked
from transition_parser.parsing.parser import Parser
from transition_parser.storage.checkpoints import load_model
from transition_parser.transitions import Kind, TreeSystem

ARCS = (Kind.LEFT_ARC, Kind.RIGHT_ARC)
FIELD = "arc_scores"
VERSIONS = ("as it is", "temperature", "and offset")


class ConfidenceParser(Parser):
    """A parser that returns each parse together with all kinds of confidence in its arcs, by name."""

    def _replayed(self, one, hypotheses, tags):
        parses = [self._replay(one, hypothesis, tags) for hypothesis in hypotheses]
        best = parses[0]
        kinds = {"action": _of_action(self, one.words, hypotheses[0]), "derivation": best.arc_scores}
        if self.nbest > 1:
            total = sum(parse.probability for parse in parses)
            with_arc = dict.fromkeys(best.parts()[FIELD], 0.0)
            for parse in parses:
                for arc in with_arc.keys() & set(parse.parts()[FIELD]):
                    with_arc[arc] += parse.probability / total
            kinds |= {"beam": tuple(with_arc.values()), "derivation and beam": ranked(parses, 1).arc_scores}
        return best, kinds


def _of_action(loaded: Parser, words: list[str], hypothesis) -> tuple[float, ...]:
    """Return for each word the probability of the action that gave the word its head."""
    table = loaded.resources.table
    state = table.system.initial(table.system.read(words))
    found = [0.0] * len(words)
    for token, log_prob in zip(hypothesis.tokens, hypothesis.step_scores, strict=True):
        before, state = state, table.system.apply(state, table.actions[token])
        if table.actions[token].kind in ARCS:
            (word,) = (i for i, heads in enumerate(zip(before.heads, state.heads)) if heads[0] != heads[1])
            found[word] = math.exp(log_prob)
    return tuple(found)


def outcomes_of(name: str, path: str, beam: int, arguments) -> dict[str, Outcomes]:
    """Return kind of confidence → its outcomes on a gold file."""
    model, resources = load_model(name)
    if not isinstance(resources.table.system, TreeSystem):
        plain = uncalibrated(name, beam, min(beam, 2), arguments.precision, arguments.threads)
        return outcomes(plain, gold_sentences(plain, path, arguments.sentences))
    loaded = ConfidenceParser(
        model, resources, beam, precision=arguments.precision, threads=arguments.threads, nbest=min(beam, 2)
    )
    gold = gold_sentences(loaded, path, arguments.sentences)
    found: dict[str, tuple[list[float], list[bool]]] = {}
    parses = loaded.parse_stream(sentence for sentence, _ in gold)
    for (_, tree), (parse, kinds) in zip(gold, parses, strict=True):
        right = loaded.formalism.right_parts(tree, parse)[FIELD]
        for kind, scores in kinds.items():
            confidences, hits = found.setdefault(kind, ([], []))
            confidences += scores
            hits += right
    return {kind: Outcomes(np.array(values), np.array(hits)) for kind, (values, hits) in found.items()}


def measured(dev: Outcomes, test: Outcomes) -> dict:
    """Return the errors, losses and bins of one kind of confidence on test, with scaling fitted on dev."""
    temperature, both = fit_scaling(*dev, offset=False), fit_scaling(*dev)
    versions = dict(zip(VERSIONS, (test, test.scaled(temperature), test.scaled(both)), strict=True))
    figures: dict = {
        name: {"ece": round(expected_calibration_error(*one), 4), "nll": round(_loss(one), 4)}
        for name, one in versions.items()
    }
    return {
        **figures,
        "auc": round(_auc(test), 4),
        "fitted": {"temperature alone": round(temperature.temperature, 3), **both._asdict()},
        "bins": [[b.number, round(b.confidence, 3), round(b.right, 3)] for b in reliability(*versions[VERSIONS[-1]])],
    }


def _loss(found: Outcomes) -> float:
    p = np.clip(np.where(found.right, found.confidences, 1 - found.confidences), 1e-7, 1)
    return float(-np.log(p).mean())


def _auc(found: Outcomes) -> float:
    """Return the area under the ROC curve by ranks; equal confidences get their mean rank (Mann and Whitney 1947)."""
    _, place, counts = np.unique(found.confidences, return_inverse=True, return_counts=True)
    ends = np.concatenate([[0], np.cumsum(counts)])
    ranks = np.array([(first + last + 1) / 2 for first, last in pairwise(ends.tolist())])[place]
    right, wrong = int(found.right.sum()), int((~found.right).sum())
    return float((ranks[found.right].sum() - right * (right + 1) / 2) / (right * wrong))


def main() -> None:
    """Print the figures as JSON, and a table of them."""
    options = options_of(__doc__ or "")
    options.add_argument("model", help="exported folder, checkpoint or name of a model")
    options.add_argument("dev", help="CoNLL-U or AMR file, to fit on")
    options.add_argument("test", help="CoNLL-U or AMR file, to measure on")
    options.add_argument("--beam", type=int, nargs="+", default=[1, 10])
    options.add_argument("--precision", default="auto")
    options.add_argument("--sentences", type=int, help="how many of DEV and of TEST, from the start (default: all)")
    arguments = options.parse_args()
    torch.set_num_threads(arguments.threads)
    found = {}
    for beam in arguments.beam:
        dev, test = (outcomes_of(arguments.model, path, beam, arguments) for path in (arguments.dev, arguments.test))
        found[f"beam {beam}"] = {name: measured(dev[name], test[name]) for name in dev}
    text = json.dumps({"model": arguments.model, "ece": found}, indent=1)
    if arguments.output:
        with replacing(arguments.output) as temporary:
            Path(temporary).write_text(text + "\n", encoding="utf-8")
    print(text)
    for beam_name, kinds in found.items():
        for name, row in kinds.items():
            eces = "  ".join(f"{column} {row[column]['ece']:.4f}" for column in VERSIONS)
            print(f"{beam_name:<8}  {name:<20}  {eces}  auc {row['auc']:.4f}")


if __name__ == "__main__":
    main()

"""Validation: the gold graphs of a split, and what parses are worth beside them: UAS and LAS, or Smatch."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from transition_parser.base.errors import InputError, input_error
from transition_parser.data.resources import Resources
from transition_parser.graphs.amr import AmrGraph
from transition_parser.graphs.bank import read_bank
from transition_parser.graphs.dependency import DependencyTree, attachment_scores
from transition_parser.graphs.smatch import Counts, graph_triples, smatch_counts
from transition_parser.parsing.formalisms import AMR, OF_SYSTEM

COUNTS = ("_words", "_heads", "_labeled", "_match", "_system", "_gold")  # three of trees, three of AMRs


def gold_graphs(
    resources: Resources, folder: str | os.PathLike, split: str, sentences: Sequence[Sequence[str]], targets: Iterable
) -> list[Any]:
    """Return the gold graph of each sentence of a split: the graphs of `{split}.amr`, or the trees of gold derivations.

    Trees with relations that the training data lacks are None.

    sentences: the normalized words of each; targets: the ids of the actions of each, with `</s>`
    """
    if OF_SYSTEM[resources.parser.system] is AMR:
        path = Path(folder, f"{split}{AMR.suffix}")
        if not path.is_file():
            raise input_error("not found: `transition-parser preprocess amr` writes it beside the other files", path)
        graphs: list[Any] = [entry.graph for entry in read_bank(path)]
        if len(graphs) != len(sentences):
            raise input_error(f"{len(graphs)} graphs, but {len(sentences)} sentences: preprocess again", path)
        return graphs
    trees: list[Any] = [None] * len(sentences)
    for i, (words, target) in enumerate(zip(sentences, targets, strict=True)):
        with suppress(ValueError):  # an unknown relation has no action
            trees[i] = resources.table.graph_of(words, target.tolist()[:-1])
    return trees


def counts_of(gold: DependencyTree | AmrGraph, system: Any) -> Mapping[str, float]:
    """Return name → count for one sentence, from which `FIGURES` are computed; the system's graph may be None."""
    if isinstance(gold, DependencyTree):
        values = (len(gold), 0, 0) if system is None else attachment_scores([gold], [system])
        return dict(zip(COUNTS, values, strict=False))
    counts = Counts(0, 0, len(graph_triples(gold).normalized))
    if system is not None:
        with suppress(InputError):  # a barely trained model may make more nodes than can be compared
            counts = smatch_counts(gold, system, restarts=1)
    return dict(zip(COUNTS[3:], (counts.match, counts.system, counts.gold), strict=True))


def _percent(part: float, whole: float) -> float:
    return round(100.0 * part / whole, 2) if whole else 0.0


# name of a figure → from the sums of counts; trees are compared by full relations, AMRs by one hill climb
FIGURES: Mapping[str, Callable[[Mapping[str, float]], float]] = {
    "uas": lambda sums: _percent(sums["_heads"], sums["_words"]),
    "las": lambda sums: _percent(sums["_labeled"], sums["_words"]),
    "smatch": lambda sums: round(Counts(*(int(sums[name]) for name in COUNTS[3:])).f1, 4),
}

"""Scores of alignments against gold alignments.

Source: Blodgett and Schneider 2021 (LEAMR), who published the gold files.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import NamedTuple

from transition_parser.base.errors import input_error
from transition_parser.graphs.bank import AmrEntry

Gold = dict[str, dict[str, frozenset[int]]]  # entry id → node path → tokens


class AlignmentScore(NamedTuple):
    """Counts of nodes. Every counted node has tokens in both alignments, so that precision, recall and F1 are equal.

    gold: the nodes that the gold layer aligns
    exact: the nodes of `gold` with exactly the gold tokens
    overlap: the nodes of `gold` with at least one gold token
    """

    gold: int
    exact: int
    overlap: int

    def figures(self) -> dict[str, float]:
        """Return F1 in percent."""
        return {"exact_f1": _percent(self.exact, self.gold), "overlap_f1": _percent(self.overlap, self.gold)}


def _percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 2) if whole else 0.0


def read_gold(path: str | os.PathLike, kinds: Iterable[str] = ("subgraph", "dupl-subgraph")) -> Gold:
    """Return the subgraph layer of LEAMR's JSON file. A token is the number, from 0, of a word of `# ::snt`."""
    gold: Gold = {}
    try:
        with open(path, encoding="utf-8") as file:
            layers = json.load(file)
        for name, layer in layers.items():
            nodes = gold.setdefault(name, {})
            for item in layer["subgraph"]:
                for node in item["nodes"] if item["type"] in kinds else ():
                    nodes[node] = nodes.get(node, frozenset()) | frozenset(item["tokens"])
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise input_error(f"is not a file of LEAMR's gold alignments ({error!r})", path) from None
    return gold


def score(entries: Iterable[AmrEntry], gold: Gold) -> AlignmentScore:
    """Return the agreement of the alignments of entries with gold alignments."""
    total = exact = overlap = 0
    for entry in entries:
        if entry.id not in gold:
            continue
        tokens_of = dict(zip(entry.paths, entry.alignments, strict=True))
        for path, tokens in gold[entry.id].items():
            if path not in tokens_of:
                raise entry.error(f"the gold alignments name the node {path}, which the graph doesn't have")
            total += 1
            exact += set(tokens_of[path]) == tokens
            overlap += not tokens.isdisjoint(tokens_of[path])
    return AlignmentScore(total, exact, overlap)

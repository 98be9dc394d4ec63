"""How many of 100 names have the right type (city, river, university …), by kind.

    python run/bench/names.py MODEL [--beam 10]

MODEL: a model of AMRs. names.tsv has a kind, the right types, a name and a sentence with it in each line. The types
are those of AMR's guidelines, or a noun of the sentence or the name that says the type. The names are in no data that
the models were trained on, and none is in configs/amr-grammar.txt.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from common import amr_model, amr_options

from transition_parser.graphs.amr import AmrGraph

NAMES = Path(__file__).with_name("names.tsv")


class Example(NamedTuple):
    """A sentence with a name."""

    kind: str
    types: list[str]
    name: list[str]
    words: list[str]


def read_examples() -> list[Example]:
    """Return the sentences of names.tsv."""
    rows = [line.split("\t") for line in NAMES.read_text(encoding="utf-8").splitlines()]
    return [Example(kind, types.split(), name.split(), text.split()) for kind, types, name, text in rows]


def type_of(graph: AmrGraph, name: list[str]) -> str | None:
    """Return the concept of the node whose :name shares most words with a name, None if no :name shares any."""
    best, most = None, 0
    for node, role, of in graph.edges:
        if role == "name":
            shared = sum(one.source == of and graph.labels[one.target].strip('"') in name for one in graph.edges)
            best, most = max((best, most), (graph.labels[node], shared), key=lambda pair: pair[1])
    return best


def main() -> None:
    """Print the figures as JSON."""
    some, loaded = read_examples(), amr_model(amr_options(__doc__ or "").parse_args())
    of, right = Counter(one.kind for one in some), Counter(dict.fromkeys((one.kind for one in some), 0))
    for one, parse in zip(some, loaded.parse([one.words for one in some]), strict=True):
        right[one.kind] += type_of(parse.graph, one.name) in one.types
    by_kind = {kind: f"{right[kind]}/{of[kind]}" for kind in of}
    print(json.dumps({"right": right.total(), "of": len(some), **by_kind}, indent=1))


if __name__ == "__main__":
    main()

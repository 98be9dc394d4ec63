"""How many of 100 names have the right type (city, river, university …), by kind; how many famous names have theirs.

    python run/bench/names.py MODEL [--beam 10] [--famous famous_names.tsv]

MODEL: a model of AMRs. names.tsv has a kind, the right types, a name and a sentence with it in each line. The types
are those of AMR's guidelines, or a noun of the sentence or the name that says the type. The names are in no data that
the models were trained on, and none is in configs/amr-grammar.txt.

famous_names.tsv has first sentences of newcomers: the right types, the value of `:wiki`, a name and a sentence with it.
Words that look like names, but are none, have no types there; they must be in no name.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from common import amr_model, amr_options

from transition_parser import AmrParse
from transition_parser.graphs.amr import AmrGraph

NAMES = Path(__file__).with_name("names.tsv")
FAMOUS = Path(__file__).with_name("famous_names.tsv")


class Example(NamedTuple):
    """A sentence with a name."""

    kind: str
    types: list[str]
    name: list[str]
    words: list[str]
    title: str = ""


class Found(NamedTuple):
    """The node whose name has most words of an example."""

    kind: str
    title: str


def read_examples() -> list[Example]:
    """Return the sentences of names.tsv."""
    rows = [line.split("\t") for line in NAMES.read_text(encoding="utf-8").splitlines()]
    return [Example(kind, types.split(), name.split(), text.split()) for kind, types, name, text in rows]


def read_famous(path: Path) -> list[Example]:
    """Return the sentences of famous_names.tsv."""
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    return [Example("famous", types.split(), name.split(), text.split(), title) for types, title, name, text in rows]


def found(graph: AmrGraph, wiki: Mapping[int, str], name: list[str]) -> Found | None:
    """Return the node whose :name shares most words with a name, None if no :name shares any."""
    best, most = None, 0
    for node, role, of in graph.edges:
        if role == "name":
            shared = sum(one.source == of and graph.labels[one.target].strip('"') in name for one in graph.edges)
            here = Found(graph.labels[node], wiki.get(node, "").strip('"'))
            best, most = max((best, most), (here, shared), key=lambda pair: pair[1])
    return best


def of_famous(some: list[Example], parses: list[AmrParse], is_verbose: bool) -> dict[str, str]:
    """Return the shares of famous names with their types, of those with their titles, and of words in no name."""
    right, of = Counter[str](), Counter[str]()
    for one, parse in zip(some, parses, strict=True):
        here = found(parse.graph, parse.wiki, one.name)
        is_right = (here is not None and here.kind in one.types) if one.types else here is None
        of["famous" if one.types else "words"] += 1
        right["famous" if one.types else "words"] += is_right
        if one.title not in ("", "-"):
            of["titles"] += 1
            right["titles"] += here is not None and here.title == one.title
        if is_verbose and (not is_right or (here is not None and here.title != one.title)):
            print(" ".join(one.words), "-", here or parse.graph.to_penman())
    return {kind: f"{right[kind]}/{of[kind]}" for kind in of}


def main() -> None:
    """Print the figures as JSON."""
    options = amr_options(__doc__ or "")
    options.add_argument("--famous", type=Path, default=FAMOUS, metavar="TSV", help="other sentences with famous names")
    options.add_argument("--verbose", action="store_true", help="also show what is wrong of the famous names")
    arguments = options.parse_args()
    some, famous, loaded = read_examples(), read_famous(arguments.famous), amr_model(arguments)
    of, right = Counter(one.kind for one in some), Counter(dict.fromkeys((one.kind for one in some), 0))
    for one, parse in zip(some, loaded.parse([one.words for one in some]), strict=True):
        here = found(parse.graph, parse.wiki, one.name)
        right[one.kind] += here is not None and here.kind in one.types
    by_kind = {kind: f"{right[kind]}/{of[kind]}" for kind in of}
    parses = [*loaded.parse([one.words for one in famous])]
    by_kind |= of_famous(famous, parses, arguments.verbose)
    print(json.dumps({"right": right.total(), "of": len(some), **by_kind}, indent=1))


if __name__ == "__main__":
    main()

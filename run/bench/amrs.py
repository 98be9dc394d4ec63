"""How often a model of AMRs is right where Smatch hardly shows it: lists, names, odd structures.

    python run/bench/amrs.py MODEL [TREEBANK.conllu] [--each 4] [--beam 10]

Prints one JSON object, with these parts:

    lists           generated lists, by the kind and the number of their members. A list is right if the graph has a
                    single `and` or `or`, whose :op1, :op2 … are aligned to the members, in their order. Its words and
                    sentences are not those of configs/amr-grammar.txt
    names           the sentences of names.tsv, by kind. A name is right if it has one of the right types, or for words
                    that only look like names (`word`) if no name has them. `titles`: names with the right `:wiki`. The
                    100 names that are not `famous` are in no data that the models were trained on
    odd structures  structures that are certainly errors (run/recipes/odd_structures.py), in the parses of the treebank
"""

import json
import random
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from common import ROOT, amr_model, amr_options

from transition_parser import AmrParse, Parser
from transition_parser.graphs.amr import CONJUNCTIONS, AmrGraph
from transition_parser.graphs.conllu import read_conllu

sys.path.append(str(ROOT / "run" / "recipes"))
from odd_structures import odd_structures
from shared import read_rows, unspaced

# --- lists ---------------------------------------------------------------------------------------

SIZES = range(2, 13)
LIST = "LIST"
MEMBERS = {
    "nouns": "violins parsnips trumpets turnips sofas kettles pillows anvils spades harps saws peaches flutes vases",
    "names": "Mira Tomas Ravi Agata Lucien Henrik Edda Silvia Anselm Bjorn Chiara Viggo Paloma Ines",
    "verbs": "coughed sneezed shouted frowned smiled cried jumped sighed nodded listened wept paused trembled knelt",
}
SENTENCES = {
    "nouns": ["Her aunt painted LIST .", "The museum keeps LIST .", "LIST arrived on Tuesday .", "I dreamed of LIST ."],
    "names": ["I wrote to LIST .", "LIST are waiting outside .", "The coach praised LIST .", "LIST agreed ."],
    "verbs": ["The clown LIST .", "At last she LIST .", "We LIST .", "The old king LIST ."],
}


class Listing(NamedTuple):
    """A sentence with a list."""

    kind: str  # of the members, a key of `MEMBERS`
    words: list[str]
    members: list[int]  # the numbers of the members' words


def listing(kind: str, size: int, draws: random.Random) -> Listing:
    """Return a random sentence whose list has `size` members."""
    *most, last = draws.sample(MEMBERS[kind].split(), size)
    comma = [","] if size > 2 and draws.random() < 0.5 else []
    listed = " , ".join(most).split() + comma + [draws.choice(CONJUNCTIONS) if kind != "verbs" else "and", last]
    before, after = draws.choice(SENTENCES[kind]).split(LIST)
    start = len(before.split())
    members = [start + number for number, word in enumerate(listed) if word in {*most, last}]
    return Listing(kind, [*before.split(), *listed, *after.split()], members)


def listings(each: int, seed: int) -> Iterator[Listing]:
    """Yield `each` sentences of each kind and size."""
    draws = random.Random(seed)
    for kind in MEMBERS:
        for size in SIZES:
            yield from (listing(kind, size, draws) for _ in range(each))


def is_listed(parse: AmrParse, members: Sequence[int]) -> bool:
    """Return True where the only conjunction of the graph has the members, in their order."""
    graph = parse.graph
    found = [node for node, label in enumerate(graph.labels) if label in CONJUNCTIONS]
    ops = {edge.role: edge.target for edge in graph.edges if edge.source in found}
    wanted = [f"op{number}" for number in range(1, len(members) + 1)]
    if len(found) != 1 or ops.keys() != {*wanted}:
        return False
    return all(word in parse.alignments[ops[role]] for role, word in zip(wanted, members, strict=True))


def right_lists(model: Parser[AmrParse], some: Sequence[Listing]) -> dict[str, Any]:
    right: Counter[tuple[str, int]] = Counter()
    for one, parse in zip(some, model.parse([one.words for one in some]), strict=True):
        right[one.kind, len(one.members)] += is_listed(parse, one.members)
    of_kinds = {kind: {size: right[kind, size] for size in SIZES} for kind in MEMBERS}
    return {"right": right.total(), "of": len(some), **of_kinds}


# --- names ---------------------------------------------------------------------------------------

NAMES = Path(__file__).with_name("names.tsv")


def named_so(graph: AmrGraph, wiki: Mapping[int, str], name: Sequence[str]) -> tuple[str, str] | None:
    """Return type and `:wiki` of the node whose :name shares most words with a name, None if no :name shares any."""
    best, most = None, 0
    for node, role, of in graph.edges:
        if role == "name":
            shared = sum(one.source == of and graph.labels[one.target].strip('"') in name for one in graph.edges)
            here = graph.labels[node], wiki.get(node, "").strip('"')
            best, most = max((best, most), (here, shared), key=lambda pair: pair[1])
    return best


def right_names(model: Parser[AmrParse], rows: Sequence[Mapping[str, str]]) -> dict[str, str]:
    right, of = Counter[str](), Counter[str]()
    for row, parse in zip(rows, model.parse([row["sentence"].split() for row in rows]), strict=True):
        kind, title = named_so(parse.graph, parse.wiki, row["name"].split()) or ("", "")
        of[row["kind"]] += 1
        right[row["kind"]] += kind in row["types"].split() if row["types"] else not kind
        if row["title"].strip("-"):
            of["titles"] += 1
            right["titles"] += title == row["title"]
    return {kind: f"{right[kind]}/{of[kind]}" for kind in of}


def main() -> None:
    """Print the figures as JSON."""
    options = amr_options(__doc__)
    options.add_argument("treebank", nargs="?", metavar="TREEBANK.conllu", help="count odd structures")
    options.add_argument("--each", type=int, default=4, help="generated lists of each kind and size")
    arguments = options.parse_args()
    model = amr_model(arguments)
    found: dict[str, Any] = {"lists": right_lists(model, [*listings(arguments.each, 1)])}
    found["names"] = right_names(model, read_rows(NAMES))
    sentences = list(read_conllu(arguments.treebank)) if arguments.treebank else []
    parses = model.parse([[*map(unspaced, one.forms)] for one in sentences])
    kinds = Counter(kind for parse in parses for kind in odd_structures(parse.graph))
    found["odd structures"] = {"all": kinds.total(), **dict(kinds.most_common())}
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()

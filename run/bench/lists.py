"""How many generated lists are one conjunction with all members, by the kind and the number of the members.

    python run/bench/lists.py MODEL [--each 4] [--seed 1] [--beam 10]

MODEL: a model of AMRs. A list is right if the graph has a single `and` or `or`, whose :op1, :op2 … are aligned to the
members, in their order. Its words and sentences are not those of configs/amr-grammar.txt.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from common import amr_model, amr_options

from transition_parser.graphs.amr import CONJUNCTIONS
from transition_parser.parsing.parses import AmrParse

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


class Example(NamedTuple):
    """A sentence with a list."""

    kind: str  # of the members, a key of `MEMBERS`
    words: list[str]
    members: list[int]  # the numbers of the members' words


def example(kind: str, size: int, draws: random.Random) -> Example:
    """Return a random sentence whose list has `size` members."""
    *most, last = draws.sample(MEMBERS[kind].split(), size)
    comma = [","] if size > 2 and draws.random() < 0.5 else []
    listed = " , ".join(most).split() + comma + [draws.choice(CONJUNCTIONS) if kind != "verbs" else "and", last]
    before, after = draws.choice(SENTENCES[kind]).split(LIST)
    start = len(before.split())
    members = [start + number for number, word in enumerate(listed) if word in {*most, last}]
    return Example(kind, [*before.split(), *listed, *after.split()], members)


def examples(each: int, seed: int) -> Iterator[Example]:
    """Yield `each` sentences of each kind and size."""
    draws = random.Random(seed)
    for kind in MEMBERS:
        for size in SIZES:
            yield from (example(kind, size, draws) for _ in range(each))


def is_right(parse: AmrParse, members: Sequence[int]) -> bool:
    """Return True where the only conjunction of the graph has the members, in their order."""
    graph = parse.graph
    found = [node for node, label in enumerate(graph.labels) if label in CONJUNCTIONS]
    ops = {edge.role: edge.target for edge in graph.edges if edge.source in found}
    wanted = [f"op{number}" for number in range(1, len(members) + 1)]
    if len(found) != 1 or ops.keys() != {*wanted}:
        return False
    return all(word in parse.alignments[ops[role]] for role, word in zip(wanted, members, strict=True))


def main() -> None:
    """Print the figures as JSON."""
    options = amr_options(__doc__ or "")
    options.add_argument("--each", type=int, default=4, help="sentences of each kind and size")
    options.add_argument("--seed", type=int, default=1)
    arguments = options.parse_args()
    some, loaded = list(examples(arguments.each, arguments.seed)), amr_model(arguments)
    right: Counter[tuple[str, int]] = Counter()
    for one, parse in zip(some, loaded.parse([one.words for one in some]), strict=True):
        right[one.kind, len(one.members)] += is_right(parse, one.members)
    of_kinds = {kind: {size: right[kind, size] for size in SIZES} for kind in MEMBERS}
    print(json.dumps({"each": arguments.each, "right": right.total(), "of": len(some), **of_kinds}, indent=1))


if __name__ == "__main__":
    main()

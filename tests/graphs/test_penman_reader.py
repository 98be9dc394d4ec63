"""The reader of PENMAN against the library `penman`, and without a limit of its own on the depth of calls."""

import logging
import random

import penman
from penman.exceptions import PenmanError as LibraryError

from tests.conftest import SAMPLE_AMR
from transition_parser.graphs.amr import AmrGraph, Edge, edge_of, looks_like_a_variable
from transition_parser.graphs.bank import read_bank
from transition_parser.graphs.penman_reader import PenmanError, PenmanText, read_penman

logging.getLogger("penman").setLevel(logging.ERROR)


def triples(text: str) -> set[tuple]:
    """Those that the library reads, with :domain as the inverse of :mod."""
    found = penman.decode(text).triples
    return {(b, ":mod", a) if role == ":domain" else (a, role, b) for a, role, b in found}


def test_the_sample_is_read_as_the_library_reads_it():
    for entry in read_bank(SAMPLE_AMR):
        assert triples(entry.graph.to_penman(None, entry.wiki, entry.variables)) == triples(entry.penman), entry.id


def test_depth_has_no_limit():
    levels = 5000
    text = "".join(f"(x{i} / x :ARG0 " for i in range(levels - 1)) + f"(y / y){')' * (levels - 1)}"
    found = read_penman([text])
    assert len(found.graph) == levels
    assert " ".join(found.graph.to_penman(variables=found.variables).split()) == text


class Wrong(Exception):
    """What the library accepts, and AMR does not."""


def by_the_library(lines: list[str]) -> PenmanText:
    """The same from the tree of the library, by recursion."""
    tree = penman.parse(lines)
    whole = len("".join(penman.format(tree, indent=None).split()))
    if whole != len("".join("".join(lines).split())):
        raise Wrong("text after the graph, or something that the library leaves out")
    nodes, branches, wiki, defined = [], [], {}, {}

    def walk(node, path):
        variable, below = node
        if not variable or variable in defined or not below or below[0][0] != "/" or not below[0][1]:
            raise Wrong(node)
        defined[variable] = path
        label, tokens = split(below[0][1])
        nodes.append((path, label, variable, tokens))
        for number, (role, target) in enumerate(below[1:], 1):
            role, place = split(role)[0][1:], f"{path}.{number}"
            if target is None or role.replace("-of", "") == "":
                raise Wrong(role)
            if isinstance(target, str) and role == "wiki":
                if path in wiki:
                    raise Wrong("two :wiki")
                wiki[path] = split(target)[0]
                continue
            branches.append((path, role, place))
            if isinstance(target, str):
                label, tokens = split(target)
                nodes.append((place, label, None, tokens))
            else:
                walk(target, place)

    walk(tree.node, "1")
    at = {place: label for place, label, variable, _ in nodes if variable is None and label in defined}
    nodes = [node for node in nodes if node[0] not in at]
    number = {node[0]: i for i, node in enumerate(nodes)}
    edges = []
    for source, role, target in branches:
        target = defined[at[target]] if target in at else target
        label, variable = nodes[number[target]][1:3]
        if variable is None and looks_like_a_variable(label):
            raise Wrong(label)
        join = Edge if variable is None else edge_of
        edges.append(join(number[source], role, number[target]))
    constants = frozenset(i for i, node in enumerate(nodes) if node[2] is None)
    paths, labels, variables, tokens = zip(*nodes, strict=True)
    graph = AmrGraph(labels, constants, tuple(dict.fromkeys(edges)))
    return PenmanText(graph, variables, tokens, {number[node]: value for node, value in wiki.items()}, paths)


def split(text: str) -> tuple[str, tuple[int, ...]]:
    """A symbol and its alignment."""
    end = text.rindex('"') + 1 if text.startswith('"') else len(text.partition("~")[0])
    digits = text[end:].lstrip("~abcdefghijklmnopqrstuvwxyz.")
    return text[:end], tuple(sorted({int(n) for n in digits.split(",")})) if digits else ()


def both(lines: list[str]) -> tuple[PenmanText | None, PenmanText | None]:
    try:
        ours = read_penman(lines)
    except PenmanError:
        ours = None
    try:
        return ours, by_the_library(lines)
    except (LibraryError, Wrong):
        return ours, None


def mutated(text: str, rng: random.Random) -> str:
    """One to four characters are deleted, doubled, swapped or replaced by those that mean something."""
    characters = list(text)
    for _ in range(rng.randint(1, 4)):
        i, j = rng.randrange(len(characters)), rng.randrange(len(characters))
        old = characters[i]
        characters[i] = rng.choice(["", 2 * old, rng.choice('()/:~"\\#\n\r\t ,.|-_0e²\u2028\x85\xa0'), characters[j]])
    return "".join(characters)


def test_mutations_as_the_library_reads_them():
    rng = random.Random(3)
    texts = [entry.graph.to_penman([(0, 2)] * len(entry.graph), entry.wiki) for entry in read_bank(SAMPLE_AMR)]
    read = 0
    for _ in range(1500):
        lines = mutated(rng.choice(texts), rng).split("\n")
        lines = [line for line in lines if not line.lstrip().startswith("#")]
        ours, theirs = both(lines)
        assert ours == theirs, lines
        read += ours is not None
    assert 300 < read < 1200

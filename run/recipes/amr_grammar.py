"""Make sentences with AMRs from a grammar, to train on what is rare in corpora: dates, names, lists, imperatives, ….

    python run/recipes/amr_grammar.py [GRAMMAR] -n 3000 [--seed 1] -o train.amr [--exclude FILE ...]

GRAMMAR (default: configs/amr-grammar.txt) has rules; the name of their slot stands in brackets above them:

    [month]
    March | Mar. => 3
    [date]
    <month> <day> , <year> => (d / date-entity :month <month> :day <day> :year <year>)
    [S]
    She was born on <date> . => (b / bear-02 :ARG1 (s / she) :time <date>)

A rule has words, `=>` and a part of an AMR. `|` separates words with the same AMR. On the left, a slot is replaced by
the words of one of its rules. On the right, it is replaced by the AMR of the same rule; if it is repeated there, by the
variable of this AMR's top. `<date:2>` is a second `<date>`. `3*` before a rule makes it three times as frequent.

    <me>, <name>       on the right: the rule's words; (n / name :op1 "Paris") made of them, without "the"
    X :mod (o / old)   on the right: roles after a complete node X become roles of X
    <int:1-31>         a number in digits; like the slots below, it needs no rules
    <words:2-99>       a number in words
    <ordinal:1-31>     `3rd` or `third`
    <grouped:1-99999>  `3,000`
    <and:city>         a conjunction of 2 to 12 different <city>: `Rome , Oslo and Bern`; also <or:city>, <and:city:2-4>

On the right, roles after a conjunction of concepts without brackets go to each: `<and:did> :ARG0 (h / he)`.

Each sentence is written once. Sentences whose text is in a file of --exclude are not written.
"""

from __future__ import annotations

import argparse
import itertools
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import penman
from shared import Excluded, options, read_texts, run, write

from transition_parser.base.errors import InputError, input_error
from transition_parser.preprocess.aligner import ORDINALS
from transition_parser.text.lemmas import UNITS

GRAMMAR = Path(__file__).resolve().parents[2] / "configs" / "amr-grammar.txt"
START = "S"
DEEPEST = 40  # the deepest nesting of slots; a grammar with deeper nesting is taken to have a cycle
LARGEST_IN_WORDS = 99
CONJUNCTIONS = ("and", "or")
LONGEST = 12  # the most members of a conjunction
EACH = "@"  # in a conjunction, the place for roles of each member

_SLOT = re.compile(r"<([a-zA-Z]+)(?::([\w:-]+))?>")
_RANGE = re.compile(r"(\d{1,15})-(\d{1,15})(?::\w+)?")
_VARIABLE = re.compile(r"\((\w+) /")
_A = re.compile(r"\b([Aa]) (?=[aeio]|8|11\b|18\b)")  # becomes `an`
_SPEAKER = re.compile(r"\((\w+) / (i|we|you)\)")
_INNERMOST = re.compile(r"\((\w+) /[^()]*\)")  # a node without nodes inside
_WORD_OF = {value: word for word, value in UNITS.items()}
_ORDINAL_OF = {value: word for word, value in ORDINALS.items() if 1 <= value <= 12}


def _ordinal(number: int, rng: random.Random) -> str:
    if number in _ORDINAL_OF and rng.random() < 0.5:
        return _ORDINAL_OF[number]
    ending = "th" if number // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


NUMBERS: dict[str, Callable[[int, random.Random], str]] = {
    "int": lambda number, rng: str(number),
    "words": lambda number, rng: (
        _WORD_OF[number] if number in _WORD_OF else f"{_WORD_OF[number // 10 * 10]}-{_WORD_OF[number % 10]}"
    ),
    "ordinal": _ordinal,
    "grouped": lambda number, rng: f"{number:,}",
}


class GrammarRule(NamedTuple):
    """Words and a part of an AMR, both with slots."""

    words: str
    graph: str


class Slot(NamedTuple):
    """A slot among the words of a rule, such as `<city>`, `<int:1-31>` or `<and:city:2-4>`."""

    text: str
    name: str  # of rules, of numbers or of a conjunction
    of: str = ""  # the rules that make the members of a conjunction
    low: int = 0
    high: int = 0


class Grammar:
    """The rules of each slot. Raises `InputError` for a file that is no grammar."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rules: dict[str, list[GrammarRule]] = {}
        slot = None
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError:
            raise input_error("is not UTF-8 text", path) from None
        for number, line in enumerate(lines, 1):
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            if head := re.fullmatch(r"\[([a-zA-Z]+)\]", line):
                slot = head[1]
                self.rules.setdefault(slot, [])
            elif slot is None or "=>" not in line:
                raise input_error("expected [slot] or WORDS => AMR", path, number)
            else:
                self.rules[slot] += self._read(line, number)
        self._check()

    def _read(self, line: str, number: int) -> Iterator[GrammarRule]:
        weight = re.match(r"(\d+)\* ", line)
        left, _, graph = line[weight.end() if weight else 0 :].partition("=>")
        for words in left.split(" | "):
            rule = GrammarRule(words.strip(), _of_words(graph.strip(), words.split()))
            variables = _VARIABLE.findall(rule.graph)
            if len({*variables}) < len(variables):
                raise input_error("a variable of the AMR is defined twice", self.path, number)
            if not {*_SLOT.findall(rule.graph)} <= {*_SLOT.findall(rule.words)}:
                raise input_error("a slot of the AMR is not among the words", self.path, number)
            yield from [rule] * (int(weight[1]) if weight else 1)

    def _check(self) -> None:
        if not self.rules.get(START):
            raise input_error(f"has no rules of [{START}]", self.path)
        for rule in (rule for rules in self.rules.values() for rule in rules):
            for slot in self._slots(rule.words):
                if slot.name not in NUMBERS and not self.rules.get(slot.of or slot.name):
                    raise input_error(f"has no rules of <{slot.of or slot.name}>", self.path)

    def _slots(self, words: str) -> Iterator[Slot]:
        for found in _SLOT.finditer(words):
            name, detail, of = found[1], found[2] or "", ""
            if name in CONJUNCTIONS:
                of, _, detail = detail.partition(":")
                detail = detail or f"2-{LONGEST}"
            elif name not in NUMBERS:
                yield Slot(found[0], name)
                continue
            bounds = _RANGE.fullmatch(detail)
            low, high = map(int, bounds.groups()) if bounds else (1, 0)
            if low > high:
                raise input_error(f"<{name}:{detail}> needs two numbers, such as <{name}:1-31>", self.path)
            if name == "words" and high > LARGEST_IN_WORDS:
                raise input_error(f"<{name}:{detail}> goes beyond {LARGEST_IN_WORDS}", self.path)
            yield Slot(found[0], name, of, low, high)

    def sentence(self, rng: random.Random) -> tuple[str, str]:
        """Return the words and the AMR of a sentence.

        Raises `InputError` for rules that never end, and for a sentence without words.
        """
        words, graph = self._expand(START, rng, itertools.count(1), DEEPEST)
        try:
            tree = penman.parse(_with_one_speaker(graph))
        except penman.DecodeError:
            raise input_error(f"the AMR of {words!r} can't be read: {graph}", self.path) from None
        tree.reset_variables("{prefix}{j}")
        words = _A.sub(r"\1n ", " ".join(words.split()))
        if not words:
            raise input_error(f"the rules of [{START}] make a sentence without words", self.path)
        first = 2 if words.startswith('" ') else 0
        return words[:first] + words[first : first + 1].upper() + words[first + 1 :], penman.format(tree, indent=6)

    def _expand(self, name: str, rng: random.Random, numbers: Iterator[int], depth: int) -> tuple[str, str]:
        if depth == 0:
            raise input_error(f"the rules of <{name}> never end", self.path)
        rule = rng.choice(self.rules[name])
        parts: dict[str, tuple[str, str]] = {}
        for slot in self._slots(rule.words):
            if slot.name in NUMBERS:
                number = rng.randint(slot.low, slot.high)
                parts[slot.text] = NUMBERS[slot.name](number, rng), str(number)
            elif slot.of:
                parts[slot.text] = self._conjunction(slot, rng, numbers, depth - 1)
            else:
                others = {parts[one][0] for one in parts if one.startswith((f"<{slot.name}>", f"<{slot.name}:"))}
                for _ in range(9):  # else a list of verbs repeats some of them
                    parts[slot.text] = self._expand(slot.name, rng, numbers, depth - 1)
                    if parts[slot.text][0] not in others:
                        break
        words = _SLOT.sub(lambda found: parts[found[0]][0], rule.words)
        graph = _filled(_renamed(rule.graph, next(numbers)), {text: graph for text, (_, graph) in parts.items()})
        is_shared = rule.graph.startswith(("<and:", "<or:")) and EACH in graph
        return words, _shared(graph) if is_shared else _closed_last(graph.replace(EACH, ""))

    def _conjunction(self, slot: Slot, rng: random.Random, numbers: Iterator[int], depth: int) -> tuple[str, str]:
        count, members = rng.randint(slot.low, slot.high), dict[str, str]()
        for _ in range(4 * count):
            if len(members) < count:
                members.setdefault(*self._expand(slot.of, rng, numbers, depth))
        if len(members) < 2:
            raise input_error(f"the rules of <{slot.of}> are too few for a conjunction", self.path)
        *most, last = members
        comma = " ," if len(most) > 1 and rng.random() < 0.5 else ""
        nodes = (
            graph if graph.startswith("(") else f"(m_{next(numbers)} / {graph}{EACH})" for graph in members.values()
        )
        ops = " ".join(f":op{number} {node}" for number, node in enumerate(nodes, 1))
        return f"{' , '.join(most)}{comma} {slot.name} {last}", f"(x_{next(numbers)} / {slot.name} {ops})"


def _renamed(graph: str, number: int) -> str:
    """Return a rule's part of an AMR with variables that no other rule of the sentence has."""
    for variable in _VARIABLE.findall(graph):
        graph = re.sub(rf"(?<![\w<:\"/-])(?<!/ ){variable}(?= /|[\s)]|$)", f"{variable}_{number}", graph)
    return graph


def _of_words(graph: str, words: list[str]) -> str:
    """Return a part of an AMR with `<me>` and `<name>` replaced."""
    named = words[words[:1] == ["the"] :]
    strings = " ".join(f':op{number} "{word}"' for number, word in enumerate(named, 1))
    return graph.replace("<me>", " ".join(words)).replace("<name>", f"(n / name {strings})")


def _closed_last(graph: str) -> str:
    """Return a node with the roles that follow it moved inside: `(c / city) :mod (o / old)` loses its first `)`."""
    end = _end_of_node(graph)
    if not graph.startswith("(") or end == len(graph):
        return graph
    return f"{graph[: end - 1]}{graph[end:]})"


def _end_of_node(graph: str) -> int:
    depth = 0
    for end, letter in enumerate(graph, 1):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if depth == 0:
            return end
    return len(graph)


def _shared(graph: str) -> str:
    """Return a conjunction with the roles after it at each of its members; nodes are repeated by their variables.

    >>> _shared("(a / and :op1 (s / sing-01@) :op2 (d / dance-01@)) :ARG0 (h / he :mod (o / old))")
    '(a / and :op1 (s / sing-01 :ARG0 (h / he :mod (o / old))) :op2 (d / dance-01 :ARG0 h))'
    """
    end = _end_of_node(graph)
    roles = again = graph[end:]
    while (shorter := _INNERMOST.sub(r"\1", again)) != again:
        again = shorter
    return graph[:end].replace(EACH, roles, 1).replace(EACH, again)


def _with_one_speaker(graph: str) -> str:
    """Return a graph whose nodes `i` are one node, whose nodes `we` are one, and whose nodes `you` are one."""
    first: dict[str, str] = {}

    def node(found: re.Match[str]) -> str:
        variable = first.setdefault(found[2], found[1])
        return found[0] if variable == found[1] else variable

    return _SPEAKER.sub(node, graph)


def _filled(graph: str, parts: dict[str, str]) -> str:
    """Return `graph` with its slots filled by `parts`. A repeated slot gets the variable at the top of its part."""
    seen: set[str] = set()

    def part(found: re.Match[str]) -> str:
        filling = parts[found[0]]
        top = re.match(r"\((\w+) /", filling)
        if found[0] in seen and top:
            return top[1]
        seen.add(found[0])
        return filling

    return _SLOT.sub(part, graph)


def bank(grammar: Grammar, count: int, seed: int, typed: float, excluded: Excluded) -> Iterator[str]:
    """Yield entries of an AMR bank, each sentence once; fewer than `count` where the grammar has no more.

    typed: the share of sentences in lower case and without final punctuation, among those whose AMRs have no strings
    """
    rng, seen = random.Random(seed), set()
    for _ in range(50 * count):
        if len(seen) == count:
            return
        words, graph = grammar.sentence(rng)
        if rng.random() < typed and '"' not in graph:
            words = words.lower().rstrip(" .?!")
        if words not in seen and words not in excluded:
            seen.add(words)
            yield f"# ::id grammar.{len(seen)}\n# ::snt {words}\n{graph}\n"


def make(arguments: argparse.Namespace) -> None:
    """Write the bank."""
    if arguments.count < 1 or not 0 <= arguments.typed <= 1:
        raise InputError("-n must be 1 or more, and --typed from 0 to 1")
    grammar, excluded = Grammar(arguments.grammar), Excluded(read_texts(arguments.exclude))
    write(arguments.output, "\n".join(bank(grammar, arguments.count, arguments.seed, arguments.typed, excluded)))


if __name__ == "__main__":
    of = options(__doc__)
    of.add_argument("grammar", type=Path, nargs="?", default=GRAMMAR)
    of.add_argument("-n", "--count", type=int, default=3000, metavar="N", help="sentences (default: 3000)")
    of.add_argument("--seed", type=int, default=1, metavar="N")
    of.add_argument(
        "--typed",
        type=float, default=0.3, metavar="SHARE",
        help="share of the sentences without names in lower case without final punctuation (default: 0.3)",
    )  # fmt: skip
    of.add_argument("-o", "--output", required=True, metavar="FILE")
    of.add_argument("--exclude", type=Path, nargs="+", default=[], metavar="FILE")
    run(of, make)

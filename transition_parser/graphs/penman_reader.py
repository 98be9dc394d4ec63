"""A reader of PENMAN as the library `penman` (Goodman 2020) reads it, but without recursion."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple, NoReturn

from transition_parser.base.errors import shortened
from transition_parser.graphs.amr import AmrGraph, Edge, edge_of, looks_like_a_variable

_DIGITS = 9  # the most digits that the number of a token may have

_TOKEN = re.compile(
    "|".join(
        f"(?P<{kind}>{pattern})"
        for kind, pattern in {
            "BLANK": r"[ \t\r\n\v\f]+",
            "COMMENT": r"\#.*",
            "STRING": r'"[^"\\]*(?:\\.[^"\\]*)*"',
            "LPAREN": r"\(",
            "RPAREN": r"\)",
            "SLASH": r"/",
            "ROLE": r':[^ \t\r\n\v\f"()/:~]*',
            "SYMBOL": r'[^ \t\r\n\v\f"()/:~]+',
            "ALIGNMENT": r"~(?:[a-z]\.?)?[0-9]+(?:,[0-9]+)*",
            "UNEXPECTED": r".",
        }.items()
    )
)
_INVERSE_OF_NOTHING = re.compile(r"(-of)*")


class PenmanToken(NamedTuple):
    """A token of PENMAN: the name of the group of `_TOKEN` that matches it, its text, and where it begins, from 0."""

    kind: str
    text: str
    row: int
    column: int


class PenmanError(ValueError):
    """An error in text that is not PENMAN, or not AMR; the column is None for an error about the meaning."""

    def __init__(self, problem: str, row: int, column: int | None = None) -> None:
        super().__init__(problem)
        self.problem, self.row, self.column = problem, row, column


class PenmanText(NamedTuple):
    """The content of a PENMAN text. For the fields see `AmrEntry`."""

    graph: AmrGraph
    variables: tuple[str | None, ...]
    alignments: tuple[tuple[int, ...], ...]
    wiki: dict[int, str]
    paths: tuple[str, ...]


def read_penman(lines: Sequence[str]) -> PenmanText:
    """Return the content of one graph. Raises `PenmanError` for lines that hold anything else."""
    return _Reader(lines).read()


def tokens_of(lines: Sequence[str]) -> Iterator[PenmanToken]:
    """Yield the tokens of lines, without white space."""
    for row, line in enumerate(lines):
        for match in _TOKEN.finditer(line):
            if match.lastgroup != "BLANK":
                yield PenmanToken(str(match.lastgroup), match[0], row, match.start())


class _Mention(NamedTuple):
    """One mention of a node: `(variable / concept`, or a symbol alone, which is a constant or a variable."""

    label: str
    variable: str | None  # None for a mention that is a symbol alone
    tokens: tuple[int, ...]
    path: str
    row: int


class _Reader:
    """A reader that goes through the tokens once and collects mentions and branches, both in written order."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.tokens = tokens_of(lines)
        self.end = (len(lines) - 1, len(lines[-1])) if lines else (0, 0)
        self.token: PenmanToken | None = next(self.tokens, None)
        self.row = 0  # of the last token that was read
        self.mentions: list[_Mention] = []
        self.branches: list[tuple[int, str, int]] = []  # source mention, role, target mention
        self.defined: dict[str, int] = {}  # variable → mention
        self.wiki: dict[int, str] = {}
        self.open: list[tuple[int, int]] = []  # nodes with an open parenthesis, and their numbers of branches so far

    def read(self) -> PenmanText:
        self._node("1")
        while self.open:
            if self._accept("RPAREN"):
                self.open.pop()
            else:
                self._branch()
        if self.token is not None:
            self._fail(
                "text after the end of the graph: is there a parenthesis too many, or is a blank line "
                "missing before an entry?"
            )
        return self._result()

    def _node(self, path: str) -> None:
        self._expect("LPAREN", what="an opening parenthesis")
        if self._is("RPAREN"):
            raise PenmanError("a node without a variable", self.row)
        variable = self._expect("SYMBOL", what="a variable").text
        if variable in self.defined:
            raise PenmanError(f"the variable {shortened(variable)} is defined twice", self.row)
        concept = self._accept("SYMBOL", "STRING") if self._accept("SLASH") else None
        if concept is None:
            if self.token is not None and self.token.kind not in ("ROLE", "RPAREN"):
                self._fail("a concept is expected here")
            name = shortened(variable)
            raise PenmanError(f"the variable {name} has no concept: write ({name} / concept)", self.row)
        self.defined[variable] = len(self.mentions)
        self.open.append((len(self.mentions), 0))
        self.mentions.append(_Mention(concept.text, variable, self._alignment(), path, self.row))

    def _branch(self) -> None:
        role = self._expect("ROLE", what="a role or a closing parenthesis").text[1:]
        self._accept("ALIGNMENT")
        node, count = self.open[-1]
        self.open[-1] = (node, count + 1)
        variable, path = str(self.mentions[node].variable), f"{self.mentions[node].path}.{count + 1}"
        if _INVERSE_OF_NOTHING.fullmatch(role):
            raise PenmanError(f"a role of {shortened(variable)} has no name: write :name, such as :ARG0", self.row)
        if self._is("ROLE", "RPAREN"):
            raise PenmanError(f":{shortened(role)} of {shortened(variable)} has no value", self.row)
        if self._is("LPAREN"):
            self.branches.append((node, role, len(self.mentions)))
            self._node(path)
            return
        target = self._expect("SYMBOL", "STRING", what="a node, a variable or a constant").text
        tokens = self._alignment()
        if role != "wiki":
            self.branches.append((node, role, len(self.mentions)))
            self.mentions.append(_Mention(target, None, tokens, path, self.row))
        elif node in self.wiki:
            raise PenmanError(f"{shortened(variable)} has two :wiki: only one is allowed", self.row)
        else:
            self.wiki[node] = target

    def _alignment(self) -> tuple[int, ...]:
        """Read an alignment mark if one follows, and return its tokens; () if none follows."""
        mark = self._accept("ALIGNMENT")
        if mark is None:
            return ()
        numbers = mark.text.lstrip("~abcdefghijklmnopqrstuvwxyz.").split(",")
        if any(len(number) > _DIGITS for number in numbers):
            raise PenmanError("no sentence has as many tokens as this alignment says", mark.row, mark.column)
        return tuple(sorted(set(map(int, numbers))))

    def _result(self) -> PenmanText:
        nodes = [i for i, one in enumerate(self.mentions) if one.variable is not None or one.label not in self.defined]
        number = {mention: node for node, mention in enumerate(nodes)}
        edges: dict[Edge, None] = {}
        for source, role, target in self.branches:
            mention = self.mentions[target]
            whole = self.defined.get(mention.label) if mention.variable is None else target
            if whole is not None:
                edges[edge_of(number[source], role, number[whole])] = None
            elif looks_like_a_variable(mention.label):
                where = f":{shortened(role)} of {shortened(str(self.mentions[source].variable))}"
                raise PenmanError(f"the variable {shortened(mention.label)} ({where}) is not defined", mention.row)
            else:
                edges[Edge(number[source], role, number[target])] = None
        kept = [self.mentions[i] for i in nodes]
        constants = frozenset(node for node, mention in enumerate(kept) if mention.variable is None)
        return PenmanText(
            AmrGraph(tuple(mention.label for mention in kept), constants, tuple(edges)),
            tuple(mention.variable for mention in kept),
            tuple(mention.tokens for mention in kept),
            {number[mention]: value for mention, value in self.wiki.items()},
            tuple(mention.path for mention in kept),
        )

    def _is(self, *kinds: str) -> bool:
        return self.token is not None and self.token.kind in kinds

    def _accept(self, *kinds: str) -> PenmanToken | None:
        """Read and return the next token if it is of one of these kinds, else return None."""
        token = self.token
        if token is None or token.kind not in kinds:
            return None
        self.token, self.row = next(self.tokens, None), token.row
        return token

    def _expect(self, *kinds: str, what: str) -> PenmanToken:
        token = self._accept(*kinds)
        if token is None:
            self._fail(f"{what} is expected here")
        return token

    def _fail(self, problem: str) -> NoReturn:
        if self.token is None:
            raise PenmanError("the text ends within the graph: is a parenthesis missing?", *self.end)
        raise PenmanError(problem, self.token.row, self.token.column)

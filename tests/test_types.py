"""The types of the Python API, as a program of a user has them."""

import inspect
import os
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from tests.conftest import ROOT
from transition_parser import Parser
from transition_parser.parsing.formalisms import AMR, TREES
from transition_parser.parsing.parser import LoadOptions
from transition_parser.storage.cards import BEST, PRETRAINED, AmrModel, TreeModel
from transition_parser.transitions.config import ParserConfig

PROGRAM = """
from pathlib import Path
from typing import Any, assert_type

from transition_parser import AmrParse, Parse, Parser


def heads(parser: Parser[Parse], text: str) -> list[tuple[int, ...]]:
    return [parse.tree.heads for parse in parser.parse(text)]


def texts(parser: Parser[Parse | AmrParse], text: str) -> list[str]:
    return [parse.text for parse in parser.parse(text) if len(parse) > 2]


trees = Parser.load("en", beam=10, nbest=2, threads=1)
assert_type(trees, Parser[Parse])
print(heads(trees, "She sleeps."), texts(trees, "She sleeps."))
for parse in trees.parse_stream(trees.read("letter.txt")):
    print(parse.deprels, parse.words[0].lemma, parse.alternatives[0].tree.heads, parse.sentence.spans)

amrs = Parser.load("en-amr")
assert_type(amrs, Parser[AmrParse])
print(amrs.parse("She sleeps.")[0].graph.labels, texts(amrs, "She sleeps."))

mine: Parser[AmrParse] = Parser.load(Path("mine"), 4, device="cuda")
print(mine.parse("She sleeps.")[0].graph.labels)

some = Parser.load("checkpoints/best.pt")
assert_type(some, Parser[Any])
print(some.parse("She sleeps.")[0].tree.heads, heads(some, "She sleeps."))
"""
STRICT = (
    "# mypy: disallow-untyped-calls, disallow-any-generics, disallow-subclassing-any, warn-return-any, extra-checks"
)
MISTAKES = {
    "print(trees.parse('')[0].graph)": 'has no attribute "graph"',
    "print(amrs.parse('')[0].tree)": 'has no attribute "tree"',
    "heads(amrs, '')": "incompatible type",
    "Parser.load('en', bean=1)": "No overload variant",
    "Parser.load('mine', kind='dogs')": "No overload variant",
}


def checked(program: str, folder: Path, *options: str | Path, **environment: str) -> list[str]:
    """What mypy says of a program, line by line. Packages that take most of its time are left out."""
    (folder / "program.py").write_text(program, encoding="utf-8")
    skipped = "".join(f"[mypy-{name}.*]\nfollow_imports = skip\n" for name in ("torch", "spacy", "numpy"))
    (folder / "mypy.ini").write_text(f"[mypy]\nstrict = true\n{skipped}", encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--no-error-summary", *map(str, options), "program.py"]
    environment = {**os.environ, **environment}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True).stdout.splitlines()


def test_a_program_of_a_user_has_types_and_needs_no_casts(tmp_path):
    """With the project's own settings and cache, so that `mypy`, which run/test.sh runs first, has done most of it. For
    the strict settings of a user see `tests/test_packaging.py`."""
    pytest.importorskip("mypy")
    program = "\n".join([STRICT, PROGRAM, *MISTAKES])
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--no-error-summary", str(tmp_path / "program.py")]
    lines = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout.splitlines()
    first = program.count("\n") + 2 - len(MISTAKES)
    found = {line.split(":")[1]: line for line in lines if ": error:" in line}
    assert [*found] == [str(first + number) for number in range(len(MISTAKES))], lines
    for line, said in zip(found.values(), MISTAKES.values(), strict=True):
        assert said in line


def test_literal_names_are_those_of_the_package():
    named = {*BEST, *(folder.name for folder in PRETRAINED.iterdir() if (folder / "config.json").is_file())}
    assert {*get_args(TreeModel), *get_args(AmrModel)} == named
    for formalism, names in ((TREES, get_args(TreeModel)), (AMR, get_args(AmrModel))):
        folders = [PRETRAINED / BEST.get(name, (name,))[-1] for name in names]
        assert all(ParserConfig.load(folder).system in formalism.systems for folder in folders)


def test_typed_options_are_those_of_load():
    parameters = inspect.signature(Parser.load).parameters
    assert {*LoadOptions.__annotations__} == {*parameters} - {"model", "beam"}

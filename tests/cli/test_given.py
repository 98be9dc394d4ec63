"""`parse --given`: facts from a file."""

import json

import pytest

from tests.conftest import run_here

FACTS = {"id": "1", "nodes": {"z": {"span": [1, 1], "concept": "zork-03"}}, "none": [0], "top": "z"}
PARSE = ("parse", "--precision", "fp32", "--threads", "1")


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("The price rose.\nIt fell.\n", encoding="utf-8")
    return path


def facts(tmp_path, *lines: dict):
    path = tmp_path / "facts.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def test_facts_hold_in_the_sentence_with_their_id(tmp_path, text):
    done = run_here(*PARSE, "en-amr", text, "--tokenize", "--given", facts(tmp_path, FACTS))
    first, second, _ = done.stdout.split("\n\n")
    assert "(z / zork-03" in first and "zork" not in second and not done.stderr


def test_facts_of_no_sentence_are_warned_of(tmp_path, text):
    path = facts(tmp_path, FACTS, {**FACTS, "id": "x"}, {**FACTS, "id": "y"})
    done = run_here(*PARSE, "en-amr", text, "--tokenize", "--given", path)
    assert "facts.jsonl:2: sentence x: the inputs do not have the sentence of these facts" in done.stderr
    assert "nor those of 1 other lines" in done.stderr


@pytest.mark.parametrize(
    ("lines", "options", "problem"),
    [
        ([{**FACTS, "none": [1]}], (), "facts.jsonl:1: sentence 1: the node zork-03 of word 1 contradicts"),
        ([{**FACTS, "none": [9]}], (), "facts.jsonl:1: sentence 1: a word without a node, 9: the sentence has 4 words"),
        ([{"none": [0]}], (), "facts.jsonl:1: the key 'id' is missing"),
    ],
)
def test_bad_facts_are_one_error(tmp_path, text, lines, options, problem):
    output = tmp_path / "out.amr"
    path = facts(tmp_path, *lines)
    done = run_here(*PARSE, "en-amr", text, "--tokenize", "--given", path, *options, "-o", output, status=2)
    assert problem in done.stderr and not output.exists()

"""`parse --json`: one object on a line for each sentence."""

import json
import re

import pytest

from tests.conftest import SAMPLE, run_here
from tests.helpers.crosses import mostly_slow
from transition_parser import Parser

SAME = ("--precision", "fp32")


def objects(text: str) -> list[dict]:
    return [json.loads(line) for line in text.split("\n")[:-1]]


@pytest.mark.parametrize("model", ["en-ewt", "en-amr"])
def test_lines_are_those_of_python(model, few_amrs):
    sample = SAMPLE if model == "en-ewt" else few_amrs
    parser = Parser.load(model, beam=3, nbest=2, precision="fp32")
    due = [parse.to_json(actions=True) for parse in parser.parse(sample)]
    written = run_here(
        "parse", model, sample, *SAME, "--json", "--actions", "--beam", "3", "--nbest", "2"
    ).stdout.splitlines()
    assert written == due and any(json.loads(line)["alternatives"] for line in due)


def test_places_in_raw_text_and_tokens_of_several_words(tmp_path):
    text = "He left. She didn't go."
    (_, found) = objects(run_here("parse", "en-ewt", "-", "--raw", "--json", *SAME, stdin=text).stdout)
    assert [text[word["start"] : word["end"]] for word in found["words"]] == ["She", "did", "n't", "go", "."]
    assert found["multiword_tokens"] == [{"form": "didn't", "first": 2, "last": 3}] and found["id"] == "2"


@pytest.mark.parametrize("option", mostly_slow(["--tokens", "--tokenize"], "--tokenize"))
@pytest.mark.parametrize("model", ["en-ewt", "en-amr"])
def test_lines_with_sentences_have_rows(model, option, tmp_path):
    path, text = tmp_path / "a.txt", "\nGo on .\r\n \n\nStop\n\n"
    path.write_bytes(text.encode())
    arguments = ("parse", model, path, option, "--json", *SAME)
    rows = objects(run_here(*arguments).stdout)
    assert [(row["line"], row["id"], len(row["words"])) for row in rows] == [(2, "1", 3), (5, "2", 1)]
    assert all(text[word["start"] : word["end"]] == word["form"] for row in rows for word in row["words"])
    written = run_here("parse", model, path, option, *SAME).stdout
    assert re.findall(r"^# (?:::)?line (?:= )?(\d+)$", written, re.MULTILINE) == ["2", "5"]

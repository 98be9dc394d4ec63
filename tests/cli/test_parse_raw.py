"""`parse --raw`: text as it comes."""

import re

import pytest

from tests.cli.test_parse_stream import block, parsing, write
from tests.conftest import run_here

TEXT = "Dr. Hale didn't\nsleep. Was she ill?\n\nNobody knows."


def test_paragraphs_are_parsed_as_they_come():
    with parsing("en-ewt", "-", "--raw") as running:
        for number in (1, 3, 5):
            write(running, "Go now.\nStop that!\n\n")
            assert f"# sent_id = {number}\n# text = Go now.\n" in block(running.stdout)
            assert f"# sent_id = {number + 1}\n# text = Stop that!\n" in block(running.stdout)


def test_words_on_lines_are_parsed_as_they_come():
    rows = re.compile(r"^\d.*\n", re.MULTILINE)
    expected = run_here("parse", "en-ewt", "-", "--tokens", stdin="Go now .\nStop that !\n").stdout.split("\n\n")
    with parsing("en-ewt", "-", "--vertical") as running:
        for lines, one in zip(("Go\tVERB\nnow\n.\n\n", "Stop\nthat\n!\n\n"), expected, strict=False):
            write(running, lines)
            assert rows.findall(block(running.stdout)) == rows.findall(f"{one}\n")


def test_amrs_of_a_text():
    done = run_here("parse", "en-amr", "-", "--raw", stdin=TEXT)
    heads = re.findall(r"# ::id (\d)\n# ::snt (.*)\n# ::tok (.*)\n", done.stdout)
    assert heads == [
        ("1", "Dr. Hale didn't sleep.", "Dr. Hale did n't sleep ."),
        ("2", "Was she ill?", "Was she ill ?"),
        ("3", "Nobody knows.", "Nobody knows ."),
    ]


@pytest.mark.parametrize("model", ["en-ewt", "en-amr"])
def test_long_sentences_are_divided_with_one_warning(model):
    done = run_here("parse", model, "-", "--raw", "--longest", "4", stdin="Go now.\n\n1 2 3 4 5 6 7 8 9\n\n1 2 3 4 5")
    key = "# ::" if model == "en-amr" else "# "
    assert len(re.findall(rf"^{key}(?:sent_)?id\b", done.stdout, re.MULTILINE)) == 6
    (line,) = done.stderr.splitlines()
    assert line.startswith("transition-parser: warning: standard input: sentence 2 is longer than 4 words")

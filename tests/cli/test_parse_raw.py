"""`parse --raw`: text as it comes."""

import re

import pytest

from tests.cli.test_parse_stream import block, parsing, write
from tests.conftest import run_here
from transition_parser import Parser
from transition_parser.graphs.conllu import Sentence, parse_conllu

TEXT = "Dr. Hale didn't\nsleep. Was she ill?\n\nNobody knows."


def test_paragraphs_are_parsed_as_they_come():
    with parsing("en-ewt", "-", "--raw") as running:
        for number in (1, 3, 5):
            write(running, "Go now.\nStop that!\n\n")
            assert f"# sent_id = {number}\n# text = Go now.\n" in block(running.stdout)
            assert f"# sent_id = {number + 1}\n# text = Stop that!\n" in block(running.stdout)


def test_what_is_written():
    done = run_here("parse", "en-ewt", "-", "--raw", "--scores", stdin=TEXT)
    first, second, third = parse_conllu(done.stdout.encode().splitlines())
    assert first.comments[:3] == ("# newpar", "# sent_id = 1", "# text = Dr. Hale didn't sleep.")
    assert (first.rows[2].id, first.rows[2].form) == ("3-4", "didn't")
    assert second.comments[0] == "# sent_id = 2" and third.comments[0] == "# newpar"
    assert re.fullmatch(r"SpaceAfter=No\|ArcScore=[\d.]+", third.rows[1].misc)
    for sentence in (first, second, third):
        sentence.tree()


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


def test_long_sentences_that_are_given_are_refused(tmp_path):
    text, out = tmp_path / "long.conllu", tmp_path / "out.conllu"
    text.write_text("".join(str(Sentence.from_words(["a"] * n)) for n in (4, 5)))
    done = run_here("parse", "en-ewt", text, "--longest", "4", "-o", out, status=2)
    assert not out.exists()
    (line,) = done.stderr.splitlines()
    assert line.startswith(
        f"transition-parser: error: {text}:6: sentence 2 has 5 words, but only 4 are allowed: divide it"
    )


@pytest.mark.parametrize("model", ["en-ewt", "en-amr"])
def test_parses_of_texts(model):
    parses = Parser.load(model).parse([TEXT, "Go now."])
    assert [parse.sentence.id for parse in parses] == ["1", "2", "3", "4"]
    for parse, text in zip(parses, [TEXT, TEXT, TEXT, "Go now."], strict=True):
        assert [text[start:end] for start, end in parse.sentence.spans] == parse.sentence.forms
        assert parse.annotated(scores=True).spans == parse.sentence.spans


@pytest.mark.parametrize(
    ("options", "stdin", "said"),
    [
        (["--raw", "--tokenize"], "Go.\n", "not allowed with argument"),
        (["--raw"], "Go.\n\0", "standard input:2: the line holds a zero byte"),
    ],
)
def test_bad_input(options, stdin, said):
    done = run_here("parse", "en-ewt", "-", *options, stdin=stdin, status=2)
    assert said in done.stderr.splitlines()[-1]

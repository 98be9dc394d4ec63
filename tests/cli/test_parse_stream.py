"""`parse` as one program among others in a pipe."""

import os
import signal
import subprocess
from contextlib import contextmanager
from threading import Timer

import pytest

from tests.conftest import OF_PROGRAMS, PROGRAMS, SAMPLE, run_here
from transition_parser.graphs.bank import parse_bank
from transition_parser.graphs.conllu import parse_conllu

CONLLU = "# sent_id = {0}\n1\tHi\t_\t_\t_\t_\t_\t_\t_\t_\n2\tthere\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
ENTRY = "# ::id {0}\n# ::snt She sleeps.\n\n"


@contextmanager
def parsing(*arguments):
    """A running `parse`, its standard input and output pipes. It ends with its input, or after ten minutes, so that no
    test waits."""
    with subprocess.Popen(
        PROGRAMS.command("transition-parser", "parse", *map(str, arguments)),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8",
        env={**os.environ, **OF_PROGRAMS},
    ) as running:  # fmt: skip
        timer = Timer(600, PROGRAMS.send_signal, [signal.SIGKILL])
        timer.start()
        try:
            yield running
        finally:
            timer.cancel()


def block(file) -> str:
    """The lines up to the next blank one."""
    lines = []
    while (line := file.readline()) not in ("\n", ""):
        lines.append(line)
    return "".join(lines)


def _options(sentence: str) -> list[str]:
    """The options with which a sentence is read."""
    return [] if sentence in (CONLLU, ENTRY) else ["--tokens"]


def write(running, text: str) -> None:
    running.stdin.write(text)
    running.stdin.flush()


@pytest.mark.parametrize(
    ("model", "sentence", "expected"),
    [
        ("en-ewt", "Hi there {0}\n", "# text = Hi there {0}\n"),
        ("en-ewt", CONLLU, "# sent_id = {0}\n"),
        ("en-amr", "Hi there {0}\n", "# ::id {0}\n"),
        ("en-amr", ENTRY, "# ::id {0}\n"),
    ],
)
def test_a_parse_comes_before_the_next_sentence_is_written(model, sentence, expected):
    with parsing(model, "-", *_options(sentence)) as running:
        for number in (1, 2, 3):
            write(running, sentence.format(number))
            assert expected.format(number) in block(running.stdout)


@pytest.mark.parametrize(
    ("sentence", "unfinished", "rest"), [("Hi\n", "Hi", "\n"), (CONLLU, "1\tHi", "\t_" * 8 + "\n\n")]
)
def test_the_input_may_pause_within_a_sentence(sentence, unfinished, rest):
    with parsing("en-ewt", "-", *_options(sentence)) as running:
        write(running, sentence * 2 + unfinished)
        assert "1\tHi\t" in block(running.stdout) and "1\tHi\t" in block(running.stdout)
        write(running, rest)
        assert "1\tHi\t" in block(running.stdout)


@pytest.mark.parametrize(("model", "read"), [("en-ewt", parse_conllu), ("en-amr", parse_bank)])
def test_a_pipe_gives_what_a_file_gives(model, read, few_amrs):
    path = SAMPLE if model == "en-ewt" else few_amrs
    # without scores: their last digits depend on how many rows are multiplied at once
    options = ("--precision", "fp32", "--actions", "--beam", "2")
    expected = run_here("parse", model, path, *options).stdout
    with parsing(model, "-", *options) as running:
        blocks = path.read_text(encoding="utf-8").split("\n\n")
        middle = len(blocks) // 2
        write(running, "\n\n".join(blocks[:middle]) + "\n\n")
        first = block(running.stdout)  # the second half is written when the first is on its way out
        running.stdin.write("\n\n".join(blocks[middle:]))
        running.stdin.close()
        assert first + "\n" + running.stdout.read() == expected
    assert len(list(read(expected.encode().splitlines(keepends=True)))) >= 20


@pytest.mark.parametrize("live", [True, False])
def test_a_reader_that_leaves_is_no_error(live, tmp_path):
    path = tmp_path / "in.txt"
    path.write_text("Hi there .\n" * 3000)
    with parsing("en-ewt", "-" if live else path, "--tokens") as running:
        if live:
            write(running, "Hi there .\n")
        assert running.stdout.readline() == "# sent_id = 1\n"
        running.stdout.close()
        if live:
            write(running, "Hi there .\n" * 3000)
        assert running.wait() == 0  # with standard input still open
        assert running.stderr.read() == ""


def test_what_comes_before_a_broken_line_is_parsed():
    with parsing("en-ewt", "-") as running:
        out, said = running.communicate(CONLLU.format(1) + CONLLU.format(2) + "1\tHi\n")
        assert running.returncode == 2
        assert [sentence.id for sentence in parse_conllu(out.encode().splitlines(keepends=True))] == ["1", "2"]
        assert said == "transition-parser: error: standard input:9: 2 columns separated by tabs, 10 expected\n"


def test_an_error_ends_the_program_while_the_input_is_open():
    with parsing("en-ewt", "-") as running:
        write(running, CONLLU.replace("2\t", "3\t"))
        assert running.wait() == 2
        assert running.stderr.read().count("\n") == 1

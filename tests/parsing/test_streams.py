"""Chunks of items that come at their own pace. Nothing here depends on how fast the machine is: where a test needs a
pause, the items do not go on before the pause was noticed."""

import io
import os
import sys
import threading
from itertools import count

import pytest

from transition_parser.base.errors import InputError
from transition_parser.base.files import may_pause, standard_input
from transition_parser.base.process import as_they_come, in_chunks

READERS = pytest.mark.parametrize("chunks", [in_chunks, lambda items, size: as_they_come(items, size, pause=60)])


@READERS
@pytest.mark.parametrize("number", [0, 1, 3, 4, 5, 8])
def test_without_a_pause_chunks_are_full(chunks, number):
    found = list(chunks(iter(range(number)), 4))
    assert [len(chunk) for chunk in found] == [4] * (number // 4) + [number % 4] * bool(number % 4)
    assert [item for chunk in found for item in chunk] == list(range(number))


def test_what_is_there_is_handed_on_when_the_items_pause():
    noticed = threading.Event()

    def items():
        yield from (1, 2)
        assert noticed.wait(60)
        yield 3

    chunks = as_they_come(items(), 100, pause=0.01)
    found = next(chunks)
    while found[-1] != 2:  # a slow machine may notice a pause between 1 and 2
        found += next(chunks)
    noticed.set()
    assert found == [1, 2] and [*chunks] == [[3]]


def test_an_error_comes_after_the_items_before_it():
    def items():
        yield from range(5)
        raise InputError("line 6 is broken")

    found = []
    with pytest.raises(InputError, match="line 6 is broken"):
        for chunk in as_they_come(items(), 3):
            found += chunk
    assert found == list(range(5))


def test_the_reader_is_not_far_ahead_and_ends_when_nobody_reads_on():
    taken = []
    chunks = as_they_come((taken.append(i) or i for i in count()), 3)
    assert next(chunks)[0] == 0
    (reader,) = (thread for thread in threading.enumerate() if thread.name == "reader")
    chunks.close()
    reader.join(60)
    assert not reader.is_alive() and len(taken) <= 3 + 3 + 1 + 3 + 1  # taken; waiting, one in hand; made room for


def test_what_may_pause(tmp_path):
    pipe, file = tmp_path / "pipe", tmp_path / "file"
    os.mkfifo(pipe)
    file.touch()
    assert may_pause("-") and may_pause(pipe) and may_pause("/dev/null")
    assert not may_pause(file) and not may_pause(tmp_path / "missing")


def test_standard_input_may_be_an_object_or_closed(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\nb")))
    assert list(standard_input()) == [b"a\n", b"b"]
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InputError, match="standard input is closed"):
        standard_input()

"""Small files of a model folder: what is wrong with them, in one line."""

import os
import socket

import pytest

from transition_parser.base import model_files
from transition_parser.base.errors import InputError
from transition_parser.base.model_files import read_bytes, read_json, read_text


def problem(function, path) -> str:
    with pytest.raises(InputError) as raised:
        function(path, "a program writes it")
    said = str(raised.value)
    assert said.startswith(str(path)) and len(said.splitlines()) == 1 and len(said) < 400
    return said[len(str(path)) :]


def test_what_is_no_file(tmp_path, monkeypatch):
    assert problem(read_bytes, tmp_path / "nowhere") == ": not found: a program writes it"
    assert problem(read_bytes, tmp_path / "nowhere" / "a") == ": not found: a program writes it"
    assert problem(read_bytes, tmp_path) == ": is not a regular file"
    os.mkfifo(tmp_path / "pipe")
    assert problem(read_bytes, tmp_path / "pipe") == ": is not a regular file"
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        assert problem(read_bytes, tmp_path / "socket") == ": is not a regular file"
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "dangling").symlink_to(tmp_path / "nothing")
    assert "symbolic links" in problem(read_bytes, tmp_path / "loop")
    assert problem(read_bytes, tmp_path / "dangling") == ": No such file or directory"
    assert problem(read_bytes, tmp_path / ("a" * 300)) == ": not found: a program writes it"
    (tmp_path / "large").write_bytes(b"12345")
    monkeypatch.setattr(model_files, "MOST_BYTES", 4)
    assert "more bytes" in problem(read_bytes, tmp_path / "large")


def test_other_encodings_are_named_with_their_line(tmp_path):
    path = tmp_path / "text"
    path.write_bytes("a\nbé\n".encode("latin-1"))
    assert problem(read_text, path) == ":2: not UTF-8: byte 0xe9"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", ":1: not JSON: Expecting value, column 1"),
        ('{"a": 1,\n "b" 2}', ":2: not JSON: Expecting ':' delimiter, column 6"),
        ("﻿{}", ":1: not JSON: Unexpected UTF-8 BOM (decode using utf-8-sig), column 1"),
        ("5", ": must be a JSON object, not 5"),
        ("null", ": must be a JSON object, not None"),
        ('{"a": ' + "9" * 5000 + "}", ": holds a number that is too large"),
        ('{"a": "\\ud800"}', ": a string holds half a character (a single surrogate)"),
        ("[" * 100_000 + "]" * 100_000, ": nested too deeply"),
    ],
)
def test_what_is_no_json(tmp_path, text, said):
    path = tmp_path / "file.json"
    path.write_text(text, encoding="utf-8")
    assert problem(read_json, path) == said

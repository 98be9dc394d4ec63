"""Dictionaries without fairseq: the ids that fairseq gives."""

import pytest
from fairseq.data import Dictionary

from transition_parser.base.errors import InputError
from transition_parser.data.resources import Vocabulary
from transition_parser.storage.cards import PRETRAINED
from transition_parser.tasks.transition_parsing import fairseq_dictionary


def assert_as_in_fairseq(path) -> None:
    ours, theirs = Vocabulary.load(path), Dictionary.load(str(path))
    assert list(ours.symbols) == theirs.symbols and list(ours.counts) == theirs.count
    assert len(ours) == len(theirs)
    for symbol in (*theirs.symbols, "nowhere", ""):
        assert ours.index(symbol) == theirs.index(symbol)
        assert (symbol in ours) == (symbol in theirs)
    for i in range(len(theirs) + 3):
        assert ours[i] == theirs[i]
    assert (ours.pad(), ours.eos(), ours.unk()) == (theirs.pad(), theirs.eos(), theirs.unk())
    back = fairseq_dictionary(ours)
    assert back.symbols == theirs.symbols and back.count == theirs.count and back.indices == theirs.indices
    assert back.nspecial == theirs.nspecial


@pytest.mark.parametrize("name", ["dict.src.txt", "dict.act.txt"])
@pytest.mark.parametrize("model", ["en-ewt", "en-amr"])
def test_the_ids_of_the_models_of_the_package(model, name):
    assert_as_in_fairseq(PRETRAINED / model / name)


@pytest.mark.parametrize("name", ["dict.src.txt", "dict.act.txt"])
def test_the_ids_of_what_fairseq_preprocess_wrote(data_folder, name):
    text = (data_folder / name).read_text(encoding="utf-8")
    assert "madeupword0000 0" in text or len(text.splitlines()) % 8 == 4
    assert_as_in_fairseq(data_folder / name)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a 1",
        "a 1\r\nb 2\r\n",
        "a 1  \nb 0\n",
        "a 1\nb 2\na 3 #fairseq:overwrite\nc 4\n",
        "<s> 3 #fairseq:overwrite\n#fairseq:overwrite 5\n▁é 7\n",
        "madeupword0000 0\nb 007\n",
    ],
)
def test_every_form_of_the_file(tmp_path, text):
    path = tmp_path / "dict.txt"
    path.write_bytes(text.encode())
    assert_as_in_fairseq(path)


@pytest.mark.parametrize(
    ("content", "line", "problem"),
    [
        (b"a 1\n\nb 2\n", 2, "not a symbol and its count"),
        (b"a 1.5\n", 1, "not a symbol and its count"),
        (b"a " + b"9" * 5000 + b"\n", 1, "not a symbol and its count"),
        (b"a 1\nb 2\na 3\n", 3, "'a' is also in line 1"),
        (b"<unk> 1\n", 1, "'<unk>' is also a special symbol"),
        (b"a 1\nb\xff 1\n", 2, "not UTF-8"),
        (b"a 1\nb 1 #fairseq:override\n", 2, "not a symbol and its count"),
    ],
)
def test_what_is_no_dictionary(tmp_path, content, line, problem):
    path = tmp_path / "dict.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=problem) as raised:
        Vocabulary.load(path)
    assert str(raised.value).startswith(f"{path}:{line}: ") and len(str(raised.value).splitlines()) == 1

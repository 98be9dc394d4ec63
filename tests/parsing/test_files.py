"""Sentences of several inputs, and their ids."""

from pathlib import Path

import pytest

from transition_parser.base.errors import InputError, ParserWarning
from transition_parser.graphs.bank import AmrEntry
from transition_parser.graphs.conllu import Sentence
from transition_parser.parsing.texts import Reading, read_files

HEADER = "# AMR release; corpus: x\n\n"


def read(paths, reading) -> list[tuple]:
    """The sentences of some inputs, in a form that can be compared."""
    return [(str(s), s.forms, s.path, s.line, s.spans) for s in read_files(paths, reading)]


@pytest.mark.parametrize(("name", "text"), [("a.conllu", "\n\n"), ("a.amr", HEADER)])
def test_a_file_without_sentences_is_refused(name, text, tmp_path):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(InputError, match="the file holds no sentences"):
        read([str(path)], Reading(AmrEntry if name == "a.amr" else Sentence))


@pytest.mark.parametrize("reading", [Reading(Sentence, layout) for layout in (None, "raw", "tokens")])
@pytest.mark.parametrize(("name", "text"), [("a.txt", " \n"), ("a", "")])
def test_text_without_sentences_is_warned_of(name, text, reading, tmp_path):
    path = tmp_path / name
    path.write_text(text)
    with pytest.warns(ParserWarning, match=f"{path}: the file holds no sentences"):
        assert not read([str(path)], reading)


ROW = "1\tGo\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
CASES = {
    "texts": ({"a.txt": "Go. Stop.\n", "b.txt": "Go.\n"}, ["a-1", "a-2", "b-1"], ["a", None, "b"]),
    "same names": ({"a.txt": "Go.\n", "x/a.txt": "Go.\n"}, ["a-1", "a-2-1"], ["a", "a-2"]),
    "blanks": ({"my old.b.txt": "Go.\n", "c": "Go.\n"}, ["my_old.b-1", "c-1"], ["my_old.b", "c"]),
    "unique ids": ({"a.conllu": f"# sent_id = x\n{ROW}", "b.conllu": f"# sent_id = y\n{ROW}"}, ["x", "y"], ["a", "b"]),
    "the same ids": (
        {"a.conllu": f"# newdoc id = d\n# sent_id = x\n{ROW}", "b.conllu": f"# sent_id = x\n{ROW}{ROW}"},
        ["x", "x", None],
        ["d", "b", None],
    ),
}
BANKS = {
    "texts": ({"a.txt": "Go. Stop.\n", "b.txt": "Go.\n"}, ["a-1", "a-2", "b-1"]),
    "the same ids": ({"a.amr": "# ::id 1\n# ::snt Go\n\n", "b.amr": "# ::id 1 ::snt Go\n\n"}, ["1", "1"]),
    "unique ids": ({"a.amr": "# ::id 1\n# ::snt Go\n\n", "b.amr": "# ::id 2 ::snt Go\n\n"}, ["1", "2"]),
    "text and bank": ({"a.txt": "Go.\n", "b.amr": "# ::id 1 ::snt Go\n\n"}, ["a-1", "1"]),
}


def write_files(files: dict[str, str], folder: Path) -> list[str]:
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return [str(folder / name) for name in files]


@pytest.mark.parametrize("case", CASES)
def test_trees_have_unique_ids_and_documents(case, tmp_path):
    files, ids, names = CASES[case]
    found = list(read_files(write_files(files, tmp_path), Reading(Sentence)))
    assert [sentence.id for sentence in found] == ids
    assert [sentence.comment("newdoc id") for sentence in found] == names


@pytest.mark.parametrize("case", BANKS)
def test_amrs_have_unique_ids(case, tmp_path):
    files, ids = BANKS[case]
    assert [entry.id for entry in read_files(write_files(files, tmp_path), Reading(AmrEntry))] == ids

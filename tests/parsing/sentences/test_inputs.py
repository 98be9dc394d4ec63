"""Ids of the sentences of several inputs that are written to one output."""

import os
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest

from transition_parser.graphs.bank import AmrEntry
from transition_parser.graphs.conllu import Sentence
from transition_parser.parsing.sentences.files import Part, Reading
from transition_parser.parsing.sentences.parts import divided, documents, read_part, shard

ROW = "1\tGo\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
CASES = {
    "texts": ({"a.txt": "Go. Stop.\n", "b.txt": "Go.\n"}, ["a-1", "a-2", "b-1"], ["a", None, "b"]),
    "same names": ({"a.txt": "Go.\n", "x/a.txt": "Go.\n"}, ["a-1", "a-2-1"], ["a", "a-2"]),
    "blanks": ({"my old.b.txt": "Go.\n", "c": "Go.\n"}, ["my_old.b-1", "c-1"], ["my_old.b", "c"]),
    "unique ids": ({"a.conllu": f"# sent_id = x\n{ROW}", "b.conllu": f"# sent_id = y\n{ROW}"}, ["x", "y"], ["a", "b"]),
    "the same ids": (
        {"a.conllu": f"# newdoc id = d\n# sent_id = x\n{ROW}", "b.conllu": f"# sent_id = x\n{ROW}{ROW}"},
        ["a-x", "b-x", None],
        ["d", "b", None],
    ),
    "ids that look alike": ({"a.txt": "Go.\n", "b.conllu": f"# sent_id = a-1\n{ROW}"}, ["a-2-1", "a-1"], ["a-2", "b"]),
}
BANKS = {
    "texts": ({"a.txt": "Go. Stop.\n", "b.txt": "Go.\n"}, ["a-1", "a-2", "b-1"]),
    "the same ids": ({"a.amr": "# ::id 1\n# ::snt Go\n\n", "b.amr": "# ::id 1 ::snt Go\n\n"}, ["a-1", "b-1"]),
    "unique ids": ({"a.amr": "# ::id 1\n# ::snt Go\n\n", "b.amr": "# ::id 2 ::snt Go\n\n"}, ["1", "2"]),
    "text and bank": ({"a.txt": "Go.\n", "b.amr": "# ::id 1 ::snt Go\n\n"}, ["a-1", "1"]),
}


def written(files: dict[str, str], folder: Path) -> list[str]:
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return [str(folder / name) for name in files]


def read(parts, kind) -> list:
    return [item.sentences[0] for part in parts for item in read_part(part, kind, Reading())]


def in_every_way(paths, kind) -> list[list]:
    """The sentences of some files read as a whole, in shards, and in parts of one sentence."""
    named = list(zip(paths, documents(paths, kind, Reading()), strict=True))
    shards = [part for number in (1, 2) for part in shard(paths, kind, Reading(), number, 2)]
    small = [replace(part, document=one) for path, one in named for part in divided(path, kind, Reading(), 1)]
    return [read(parts, kind) for parts in ([Part(path, document=one) for path, one in named], shards, small)]


@pytest.mark.parametrize("case", CASES)
def test_trees_have_unique_ids_and_documents(case, tmp_path):
    files, ids, names = CASES[case]
    for found in in_every_way(written(files, tmp_path), Sentence):
        assert [sentence.id for sentence in found] == ids
        assert [sentence.comment("newdoc id") for sentence in found] == names


@pytest.mark.parametrize("case", BANKS)
def test_amrs_have_unique_ids(case, tmp_path):
    files, ids = BANKS[case]
    for found in in_every_way(written(files, tmp_path), AmrEntry):
        assert [entry.id for entry in found] == ids


def test_the_ids_of_a_pipe_are_not_known_before(tmp_path):
    path, pipe = written({"b.conllu": f"# sent_id = x\n{ROW}"}, tmp_path)[0], tmp_path / "pipe"
    os.mkfifo(pipe)
    one, two = documents([str(pipe), path], Sentence, Reading())
    Thread(target=pipe.write_text, args=[f"# sent_id = x\n{ROW}"]).start()
    found = read([Part(str(pipe), document=one), Part(path, document=two)], Sentence)
    assert [sentence.id for sentence in found] == ["pipe-x", "x"]


def test_a_single_input_and_tables_stay_as_they_are():
    assert documents(["a.txt"], Sentence, Reading()) == [None]
    assert documents(["a.jsonl", "b.jsonl"], Sentence, Reading(column="x")) == [None, None]

"""Parts of files: all of them in order give what the whole file gives; ids of sentences of several inputs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conftest import SAMPLE, SAMPLE_AMR
from tests.helpers.crosses import mostly_slow
from tests.text.test_learned_segmentation import SEGMENTER
from transition_parser.base.errors import InputError, ParserWarning
from transition_parser.graphs.bank import AmrEntry
from transition_parser.graphs.conllu import Sentence
from transition_parser.parsing.sentences.files import EmptyLine, Reading
from transition_parser.parsing.sentences.parts import Part, divided, documents, places, read_part, shard

TEXT = "\n\nDr. Hale didn't\nsleep. Was she ill?\n\n \nNobody knows. No.\r\nWhy?\n\n\nGo – now!\n\n"
VERTICAL = "\ufeffGo\tVERB\t_\nnow \n.\n\n \t\nNo\r\n\r\n  Why\n?\n\n\nHi"
HEADER = "# AMR release; corpus: x\n\n"
ROWS = [{"id": 1, "text": "Go now ."}, {"text": None, "id": 2}, {"text": " \n", "id": 3}, {"text": "Hi .\nNo ."}] * 3
pytestmark = pytest.mark.filterwarnings("ignore:.*is longer than 2 words")
FILES = {
    "conllu": (SAMPLE.read_text(encoding="utf-8") + "\n\n", Sentence, Reading()),
    "bom.conllu": ("\ufeff" + SAMPLE.read_text(encoding="utf-8"), Sentence, Reading()),
    "amr": (HEADER + SAMPLE_AMR.read_text(encoding="utf-8") + "\n\n" + HEADER, AmrEntry, Reading()),
    "trees.txt": (TEXT, Sentence, Reading(tokenized=True)),
    "not tokenized.txt": (TEXT, Sentence, Reading(tokenized=False)),
    "amrs.txt": (TEXT, AmrEntry, Reading(tokenized=True)),
    "vertical.txt": (VERTICAL, Sentence, Reading(vertical=True)),
    "vertical.amrs.txt": (VERTICAL, AmrEntry, Reading(vertical=True)),
    "raw by default.trees.txt": (TEXT, Sentence, Reading()),
    "raw by default.amrs.txt": (TEXT, AmrEntry, Reading()),
    "raw.trees.txt": (TEXT, Sentence, Reading(raw=True)),
    "raw.amrs.txt": (TEXT, AmrEntry, Reading(raw=True)),
    "raw learned.txt": (TEXT, Sentence, Reading(raw=True, segmenter=SEGMENTER)),
    "raw long.txt": (TEXT, Sentence, Reading(raw=True, longest=2)),
    "jsonl": ("\n".join(map(json.dumps, ROWS)) + "\n\n", Sentence, Reading(column="text", tokenized=True)),
    "raw.jsonl": ("\n".join(map(json.dumps, ROWS)), AmrEntry, Reading(column="text", raw=True)),
}
ALL = pytest.mark.parametrize("name", FILES)


def plain(item) -> tuple:
    """An item without the places in a text: those of a part begin with the part."""
    return [(str(s), s.id, s.forms, s.path, s.line) for s in item.sentences], item.kept


def read(parts, kind, reading) -> list[tuple]:
    items = (item for part in parts for item in read_part(part, kind, reading))
    return [plain(item) for item in items if not isinstance(item.kept, EmptyLine)]


def written(name, tmp_path) -> tuple:
    text, kind, reading = FILES[name]
    path = tmp_path / f"in.{name}"
    path.write_bytes(text.encode())
    return str(path), kind, reading


def is_cut_at_sentences(name) -> bool:
    """False for raw text, which is cut at paragraphs."""
    return not name.startswith("raw") or name.endswith(".jsonl")


@ALL
@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_all_parts_are_the_file(name, size, tmp_path):
    path, kind, reading = written(name, tmp_path)
    whole = read([Part(path)], kind, reading)
    parts = divided(path, kind, reading, size)
    assert read(parts, kind, reading) == whole
    counts = [part.end.sentences - part.begin.sentences for part in parts]
    assert counts == [len(read([part], kind, reading)) for part in parts]
    if is_cut_at_sentences(name):
        assert {*counts[:-1]} <= {size}
    assert all(count >= size for count in counts[:-1]) and (size < 1000 or len(parts) == 1)


SHARDS = [(name, of) for name in FILES for of in (1, 2, 3, 5, 200)]


@pytest.mark.parametrize(
    ("name", "of"), mostly_slow(SHARDS, *(one for one in SHARDS if one[1] < 9 or len(FILES[one[0]][0]) < 2000))
)
def test_all_shards_are_the_files(name, of, tmp_path):
    path, kind, reading = written(name, tmp_path)
    other, *_ = written(name, tmp_path / "..")
    one, two = documents([path, other], kind, reading)
    whole = read([Part(path, document=one), Part(other, document=two)], kind, reading)
    shards = [shard([path, other], kind, reading, number, of) for number in range(1, of + 1)]
    assert all(shards)
    assert [item for parts in shards for item in read(parts, kind, reading)] == whole
    units = 2 * (sum(1 for _ in places(path, kind, reading)) - 1)
    sizes = [len(read(parts, kind, reading)) for parts in shards]
    if is_cut_at_sentences(name):
        assert sum(sizes) == units and max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("name", ["conllu", "trees.txt", "raw.amrs.txt", "jsonl"])
def test_errors_of_a_part_name_the_line_of_the_file(name, tmp_path):
    path, kind, reading = written(name, tmp_path)
    parts = divided(path, kind, reading, 2)
    content = bytearray(Path(path).read_bytes())
    last = parts[-1]
    content[last.begin.position] = 0xFF
    Path(path).write_bytes(content)
    with pytest.raises(InputError, match=rf"{path}:{last.begin.line}: byte 1 of the line is not UTF-8"):
        read([last], kind, reading)
    assert content[: last.begin.position].count(b"\n") == last.begin.line - 1


@pytest.mark.parametrize(("name", "text"), [("a.conllu", "\n\n"), ("a.amr", HEADER)])
def test_a_file_without_sentences_is_refused(name, text, tmp_path):
    path = tmp_path / name
    path.write_text(text)
    kind = AmrEntry if name == "a.amr" else Sentence
    for parts in (divided, lambda *some: shard([some[0]], *some[1:3], 1, 2)):
        with pytest.raises(InputError, match="the file holds no sentences"):
            parts(str(path), kind, Reading(), 1)


@pytest.mark.parametrize("reading", [Reading(), Reading(raw=True), Reading(tokenized=True)])
@pytest.mark.parametrize(("name", "text"), [("a.txt", " \n"), ("a", "")])
def test_text_without_sentences_is_an_empty_part(name, text, reading, tmp_path):
    path = tmp_path / name
    path.write_text(text)
    with pytest.warns(ParserWarning, match=f"{path}: the file holds no sentences"):
        (part,) = divided(str(path), Sentence, reading, 1)
        assert read([part], Sentence, reading) == []
        assert read(shard([str(path)], Sentence, reading, 1, 2), Sentence, reading) == []
    with pytest.warns(ParserWarning, match=f"{path}: the file holds no sentences"):
        assert read([Part(str(path))], Sentence, reading) == []


def test_what_can_be_read_but_once_is_not_divided():
    with pytest.raises(InputError, match="pipes can't be divided"):
        divided("-", Sentence, Reading(), 5)


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


def write_files(files: dict[str, str], folder: Path) -> list[str]:
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return [str(folder / name) for name in files]


def first_sentences(parts, kind) -> list:
    return [item.sentences[0] for part in parts for item in read_part(part, kind, Reading())]


def in_every_way(paths, kind) -> list[list]:
    """The sentences of some files read as a whole, in shards, and in parts of one sentence."""
    named = list(zip(paths, documents(paths, kind, Reading()), strict=True))
    shards = [part for number in (1, 2) for part in shard(paths, kind, Reading(), number, 2)]
    small = [replace(part, document=one) for path, one in named for part in divided(path, kind, Reading(), 1)]
    return [
        first_sentences(parts, kind) for parts in ([Part(path, document=one) for path, one in named], shards, small)
    ]


@pytest.mark.parametrize("case", CASES)
def test_trees_have_unique_ids_and_documents(case, tmp_path):
    files, ids, names = CASES[case]
    for found in in_every_way(write_files(files, tmp_path), Sentence):
        assert [sentence.id for sentence in found] == ids
        assert [sentence.comment("newdoc id") for sentence in found] == names


@pytest.mark.parametrize("case", BANKS)
def test_amrs_have_unique_ids(case, tmp_path):
    files, ids = BANKS[case]
    for found in in_every_way(write_files(files, tmp_path), AmrEntry):
        assert [entry.id for entry in found] == ids

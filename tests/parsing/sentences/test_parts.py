"""Parts of files: all of them in order give what the whole file gives."""

import json
from pathlib import Path

import pytest

from tests.conftest import SAMPLE, SAMPLE_AMR
from tests.crosses import mostly_slow
from tests.text.test_learned_segmentation import SEGMENTER
from transition_parser.base.errors import InputError, ParserWarning
from transition_parser.graphs.bank import AmrEntry
from transition_parser.graphs.conllu import Sentence
from transition_parser.parsing.sentences.files import EmptyLine, Part, Reading
from transition_parser.parsing.sentences.parts import divided, documents, places, read_part, shard

TEXT = "\n\nDr. Hale didn't\nsleep. Was she ill?\n\n \nNobody knows. No.\r\nWhy?\n\n\nGo – now!\n\n"
HEADER = "# AMR release; corpus: x\n\n"
ROWS = [{"id": 1, "text": "Go now ."}, {"text": None, "id": 2}, {"text": " \n", "id": 3}, {"text": "Hi .\nNo ."}] * 3
pytestmark = pytest.mark.filterwarnings("ignore:.*is longer than 2 words")
FILES = {
    "conllu": (SAMPLE.read_text(encoding="utf-8") + "\n\n", Sentence, Reading()),
    "bom.conllu": ("\ufeff" + SAMPLE.read_text(encoding="utf-8"), Sentence, Reading()),
    "amr": (HEADER + SAMPLE_AMR.read_text(encoding="utf-8") + "\n\n" + HEADER, AmrEntry, Reading()),
    "trees.txt": (TEXT, Sentence, Reading(tokenised=True)),
    "not tokenised.txt": (TEXT, Sentence, Reading(tokenised=False)),
    "amrs.txt": (TEXT, AmrEntry, Reading(tokenised=True)),
    "raw by default.trees.txt": (TEXT, Sentence, Reading()),
    "raw by default.amrs.txt": (TEXT, AmrEntry, Reading()),
    "raw.trees.txt": (TEXT, Sentence, Reading(raw=True)),
    "raw.amrs.txt": (TEXT, AmrEntry, Reading(raw=True)),
    "raw learned.txt": (TEXT, Sentence, Reading(raw=True, segmenter=SEGMENTER)),
    "raw long.txt": (TEXT, Sentence, Reading(raw=True, longest=2)),
    "jsonl": ("\n".join(map(json.dumps, ROWS)) + "\n\n", Sentence, Reading(column="text", tokenised=True)),
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


@pytest.mark.parametrize("of", [1, 2, 5])
@pytest.mark.parametrize("name", ["trees.txt", "not tokenised.txt", "amrs.txt"])
def test_each_line_is_in_one_shard(name, of, tmp_path):
    path, kind, reading = written(name, tmp_path)
    shards = [shard([path], kind, reading, number, of) for number in range(1, of + 1)]
    items = [item for parts in shards for part in parts for item in read_part(part, kind, reading)]
    assert [item.sentences[0].line if item.sentences else item.kept.line for item in items] == [*range(1, 13)]
    assert [item.sentences[0].id for item in items if item.sentences] == ["1", "2", "3", "4", "5"]


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


@pytest.mark.parametrize("reading", [Reading(), Reading(raw=True), Reading(tokenised=True)])
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


def test_a_table_without_rows_has_a_part(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("\n")
    reading = Reading(column="x")
    (part,) = divided(str(path), Sentence, reading, 5)
    assert read([part], Sentence, reading) == read([Part(str(path))], Sentence, reading) == []


def test_what_can_be_read_but_once_is_not_divided():
    with pytest.raises(InputError, match="pipes can't be divided"):
        divided("-", Sentence, Reading(), 5)

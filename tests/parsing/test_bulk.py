"""Shards of inputs: all of them in order give what the inputs give; ids of sentences of several inputs."""

import json
from pathlib import Path

import pytest

from tests.conftest import SAMPLE, SAMPLE_AMR
from tests.text.test_learned_segmentation import SEGMENTER
from transition_parser.base.errors import InputError, ParserWarning
from transition_parser.graphs.bank import AmrEntry
from transition_parser.graphs.conllu import Sentence
from transition_parser.parsing.bulk import read_items, several
from transition_parser.parsing.texts import Reading

TEXT = "\n\nDr. Hale didn't\nsleep. Was she ill?\n\n \nNobody knows. No.\r\nWhy?\n\n\nGo – now!\n\n"
VERTICAL = "\ufeffGo\tVERB\t_\nnow \n.\n\n \t\nNo\r\n\r\n  Why\n?\n\n\nHi"
HEADER = "# AMR release; corpus: x\n\n"
ROWS = [{"id": 1, "text": "Go now ."}, {"text": None, "id": 2}, {"text": " \n", "id": 3}, {"text": "Hi .\nNo ."}] * 3
pytestmark = pytest.mark.filterwarnings("ignore:.*is longer than 2 words")
FILES = {
    "conllu": (SAMPLE.read_text(encoding="utf-8") + "\n\n", Reading(Sentence)),
    "bom.conllu": ("\ufeff" + SAMPLE.read_text(encoding="utf-8"), Reading(Sentence)),
    "amr": (HEADER + SAMPLE_AMR.read_text(encoding="utf-8") + "\n\n" + HEADER, Reading(AmrEntry)),
    "trees.txt": (TEXT, Reading(Sentence, "tokens")),
    "not tokenized.txt": (TEXT, Reading(Sentence, "tokenize")),
    "amrs.txt": (TEXT, Reading(AmrEntry, "tokens")),
    "vertical.txt": (VERTICAL, Reading(Sentence, "vertical")),
    "vertical.amrs.txt": (VERTICAL, Reading(AmrEntry, "vertical")),
    "raw by default.trees.txt": (TEXT, Reading(Sentence)),
    "raw by default.amrs.txt": (TEXT, Reading(AmrEntry)),
    "raw.trees.txt": (TEXT, Reading(Sentence, "raw")),
    "raw.amrs.txt": (TEXT, Reading(AmrEntry, "raw")),
    "raw learned.txt": (TEXT, Reading(Sentence, "raw", segmenter=SEGMENTER)),
    "raw long.txt": (TEXT, Reading(Sentence, "raw", longest=2)),
    "jsonl": ("\n".join(map(json.dumps, ROWS)) + "\n\n", Reading(Sentence, "tokens")),
    "raw.jsonl": ("\n".join(map(json.dumps, ROWS)), Reading(AmrEntry, "raw")),
}


ALL = pytest.mark.parametrize("name", FILES)


def items_of(paths, reading) -> list[tuple]:
    """The items of some inputs, in a form that can be compared."""
    columns = ((one, "text" if one.path.endswith(".jsonl") else None) for one in several(paths))
    items = [item for one, column in columns for item in read_items(one, reading, column)]
    return [([(str(s), s.forms, s.path, s.line, s.spans) for s in item.sentences], str(item.kept)) for item in items]


@pytest.mark.parametrize(("name", "text"), [("a.conllu", "\n\n"), ("a.amr", HEADER)])
def test_a_file_without_sentences_is_refused(name, text, tmp_path):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(InputError, match="the file holds no sentences"):
        items_of([str(path)], Reading(AmrEntry if name == "a.amr" else Sentence))


@pytest.mark.parametrize("reading", [Reading(Sentence, layout) for layout in (None, "raw", "tokens")])
@pytest.mark.parametrize(("name", "text"), [("a.txt", " \n"), ("a", "")])
def test_text_without_sentences_has_no_item_with_one(name, text, reading, tmp_path):
    path = tmp_path / name
    path.write_text(text)
    with pytest.warns(ParserWarning, match=f"{path}: the file holds no sentences"):
        assert not any(sentences for sentences, _ in items_of([str(path)], reading))


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


def sentences_of(paths, kind) -> list:
    return [item.sentences[0] for one in several(paths) for item in read_items(one, Reading(kind))]


@pytest.mark.parametrize("case", CASES)
def test_trees_have_unique_ids_and_documents(case, tmp_path):
    files, ids, names = CASES[case]
    found = sentences_of(write_files(files, tmp_path), Sentence)
    assert [sentence.id for sentence in found] == ids
    assert [sentence.comment("newdoc id") for sentence in found] == names


@pytest.mark.parametrize("case", BANKS)
def test_amrs_have_unique_ids(case, tmp_path):
    files, ids = BANKS[case]
    assert [entry.id for entry in sentences_of(write_files(files, tmp_path), AmrEntry)] == ids

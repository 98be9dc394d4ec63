"""`parse` of several inputs, of tables, and into folders."""

import json
import re

import pytest

from tests.cli.test_parse_stream import parsing, write
from tests.conftest import SAMPLE, run_here
from transition_parser.graphs.conllu import parse_conllu

SAME = ("--precision", "fp32")
ROWS = [
    {"id": 9007199254740993, "text": "Go now .", "words": ["Go", "now", "."]},
    {"text": None, "id": 2.50, "words": None},
    {"text": "\u2028 \n", "id": {"deep": [1, None]}, "words": []},
    {"text": "Hi there !\n\nStop .", "id": "ü\u2028", "words": ["Stop"]},
]


def parse(*arguments, **options):
    return run_here("parse", "en-ewt", *arguments, *SAME, **options)


def jsonl(path, rows=ROWS):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def read_jsonl(path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


def forms(text: str) -> list[list[str]]:
    return [sentence.forms for sentence in parse_conllu(text.encode().splitlines(keepends=True))]


# --- several inputs ---------------------------------------------------------------------


def test_several_inputs_are_written_one_after_another(tmp_path):
    text = tmp_path / "a.txt"
    text.write_text("Go now .\nStop !\n")
    out = tmp_path / "out.conllu"
    parse(SAMPLE, text, SAMPLE, "-o", out)
    one, two = parse(SAMPLE).stdout, parse(text).stdout
    found = out.read_text(encoding="utf-8")
    assert found == parse(SAMPLE, text, SAMPLE).stdout
    assert re.sub("(# sent_id = )(sample-[23]-|a-)|# newdoc id = (?!weblog).*\n", r"\1", found) == one + two + one


def test_a_folder_has_a_file_for_each_input(tmp_path):
    (tmp_path / "a.b.txt").write_text("Go now .\n")
    rows = jsonl(tmp_path / "c.jsonl")
    out = tmp_path / "new" / "out"
    parse(SAMPLE, tmp_path / "a.b.txt", "-o", f"{out}/")
    assert {path.name for path in out.iterdir()} == {"sample.conllu", "a.b.conllu"}
    assert (out / "sample.conllu").read_text(encoding="utf-8") == parse(SAMPLE).stdout
    assert (out / "a.b.conllu").read_text() == parse(tmp_path / "a.b.txt").stdout
    parse(rows, "--column", "text", "-o", f"{out}/")
    assert [row["id"] for row in read_jsonl(out / "c.jsonl")] == [row["id"] for row in ROWS]


def test_an_output_that_would_replace_an_input_is_refused(tmp_path):
    path, link = tmp_path / "a.txt", tmp_path / "link.txt"
    path.write_text("Go now.\n")
    link.symlink_to(path)
    for out in (path, link):
        said = parse(SAMPLE, path, "-o", out, status=2).stderr
        assert said.endswith(f" error: {path}: its output would replace the input itself: give another file\n")
        assert said.count("\n") == 1
        assert path.read_text() == "Go now.\n"


def test_a_bad_file_leaves_the_others(tmp_path):
    for name, text in (("a", "Go .\n"), ("b", "Go .\n\0\n"), ("c", "Go .\n")):
        (tmp_path / f"{name}.txt").write_text(text)
    out = tmp_path / "out"
    done = parse(*(tmp_path / f"{name}.txt" for name in "abc"), "-o", f"{out}/", status=2)
    assert "b.txt:2: the line holds a zero byte" in done.stderr
    assert [path.name for path in out.iterdir()] == ["a.conllu"]
    done = parse(tmp_path / "a.txt", tmp_path / "b.txt", "-o", tmp_path / "one.conllu", status=2)
    assert "b.txt:2" in done.stderr and not (tmp_path / "one.conllu").exists()
    parse(tmp_path / "b.txt", "-o", f"{tmp_path / 'never'}/", status=2)
    assert not (tmp_path / "never").exists()


def test_a_folder_is_resumed_by_file(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    names = ("a", "b", "c")
    for name in names:
        (tmp_path / f"{name}.txt").write_text(f"Go {name} .\nStop !\n")
    expected = parse(tmp_path / "b.txt").stdout
    (out / "a.conllu").write_text("finished before\n")
    parse(*(tmp_path / f"{name}.txt" for name in names), "-o", f"{out}/", "--resume")
    assert {path.name for path in out.iterdir()} == {"a.conllu", "b.conllu", "c.conllu"}
    assert (out / "a.conllu").read_text() == "finished before\n"
    assert (out / "b.conllu").read_text() == expected


# --- tables -----------------------------------------------------------------------------


@pytest.mark.parametrize("column", ["text", "words"])
def test_rows_of_jsonl_are_kept_as_they_are(column, tmp_path):
    path, out = jsonl(tmp_path / "a.jsonl"), tmp_path / "out.jsonl"
    parse(path, "--column", column, "-o", out)
    rows = read_jsonl(out)
    assert [{key: row[key] for key in row if key != "conllu"} for row in rows] == ROWS
    lines = path.read_text(encoding="utf-8").splitlines()
    assert all(new.startswith(old[:-1] + ', "conllu": "') for old, new in zip(lines, out.read_text().split("\n")))
    found = [forms(row["conllu"]) for row in rows]
    second = [["Hi", "there", "!"], ["Stop", "."]] if column == "text" else [["Stop"]]
    assert found == [[["Go", "now", "."]], [], [], second]
    assert rows[1]["conllu"] == rows[2]["conllu"] == ""
    text, words = (parse("-", *options, stdin="Go now .\n").stdout for options in ((), ("--tokens",)))
    assert rows[0]["conllu"] == (text if column == "text" else re.sub("# .*\n", "", words))


def test_raw_text_in_rows(tmp_path):
    text = "She didn't go. Why not?\n\nNobody knows."
    path = jsonl(tmp_path / "a.ndjson", [{"t": text}, {"t": "Stop."}])
    rows = [json.loads(line) for line in parse(path, "--column", "t", "--raw").stdout.splitlines()]
    for row, given in zip(rows, (text, "Stop."), strict=True):
        assert row["conllu"] == parse("-", "--raw", stdin=given).stdout
    done = run_here("parse", "en-amr", path, "--column", "t", "--raw", "--parse-column", "graph", *SAME)
    assert [json.loads(line)["graph"].count("# ::snt") for line in done.stdout.splitlines()] == [3, 1]
    assert "did\tdo\t" in json.loads(parse(path, "--column", "t", "--tokenize").stdout.splitlines()[0])["conllu"]


def test_rows_from_a_pipe_are_parsed_as_they_come():
    with parsing("en-ewt", "-", "--column", "text") as running:
        for text in ("Hi there", "", "Stop"):
            write(running, json.dumps({"text": text}) + "\n")
            row = json.loads(running.stdout.readline())
            assert row["text"] == text and forms(row["conllu"]) == ([text.split()] if text else [])


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"text": "Go"', "a.jsonl:3: not JSON: "),
        ('{"body": "Go"}', "a.jsonl:3: there is no column 'text' (the columns: 'body')"),
        ('{"text": 7}', "a.jsonl:3: column 'text' holds 7: it must be a text, a list of words, or null"),
        ('{"text": ["a", 7]}', "a.jsonl:3: column 'text' holds ['a', 7]: it must be a text"),
        ('{"text": ["a\\tb"]}', "a.jsonl:3: word 1 is 'a\\tb': words must not be empty or contain tabs"),
        ('{"text": "a", "conllu": 1}', "a.jsonl:3: there is a column 'conllu' already: name another"),
        ('{"text": "\udcff"}', "a.jsonl:3: byte 11 of the line is not UTF-8"),
        ("[" * 100000, "a.jsonl:3: nested too deeply"),
        ('{"text": "Go", "n": ' + "1" * 5000 + "}", "a.jsonl:3: holds a number that is too large"),
    ],
)
def test_bad_rows_of_jsonl(line, said, tmp_path):
    path, out = tmp_path / "a.jsonl", tmp_path / "out.jsonl"
    path.write_bytes(f'{{"text": "Go"}}\n\n{line}\n'.encode(errors="surrogateescape"))
    done = parse(path, "--column", "text", "-o", out, status=2)
    assert said in done.stderr and done.stderr.count("\n") == 1 and not out.exists()


def test_tables_and_folders_that_are_not_named_in_full(tmp_path):
    path, out = jsonl(tmp_path / "a.jsonl"), tmp_path / "out.jsonl"
    said = parse(path, "-o", out, status=2).stderr
    assert "the file is a table: name the column" in said
    said = parse(path, "--column", "text", "-o", out, "--resume", status=2).stderr
    assert "give -o DIR/" in said and not out.exists()

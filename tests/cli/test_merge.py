"""`transition-parser merge`: the folders of LDC releases as one file."""

import json
from pathlib import Path

import pytest

from tests.conftest import run_here
from transition_parser.graphs.bank import read_bank
from transition_parser.preprocess.amr import bank_files

HEADER = "# AMR release; corpus: {}; section: training; number of AMRs: 1 (generated on Fri Jan 10, 2020)\n\n"
DOG = '# ::id dog ::date 2012\n# ::snt A dog barks "::".\n# ::save-date Tue\n(b / bark-01\n      :ARG0 (d / dog))\n'
CAT = "# ::id cat\n# ::snt A cat sleeps.\n(s / sleep-01\n   :ARG0 (c / cat~e.1))\n"
BAD = "# ::id bad\n# ::snt Oh.\n(o / oh\n"


@pytest.fixture
def folder(tmp_path) -> Path:
    """`data/amrs/split/training` of a release with two sources."""
    path = tmp_path / "data" / "amrs" / "split" / "training"
    path.mkdir(parents=True)
    (path / "amr-release-training-bolt.txt").write_text(HEADER.format("bolt") + DOG)
    (path / "amr-release-training-proxy.txt").write_bytes((HEADER.format("proxy") + CAT).replace("\n", "\r\n").encode())
    (path / "notes.md").write_text("no bank")
    (path / "._amr-release-training-bolt.txt").write_bytes(b"\0\1")
    (path / "old.txt").mkdir()
    return path


def run(*command: str | Path) -> tuple[str, str]:
    done = run_here("merge", *command)
    return done.stdout, done.stderr


def fails(*command: str | Path) -> str:
    return run_here("merge", *command, status=2).stderr.removeprefix("transition-parser: error: ").rstrip("\n")


def test_merge(folder, tmp_path):
    out, err = run(folder, "-o", tmp_path / "train.amr", "--json")
    assert json.loads(out) == {"files": 2, "entries": 2, "left_out": 0} and not err
    assert (tmp_path / "train.amr").read_bytes().decode() == f"{DOG}\n{CAT}\n"
    assert [entry.id for entry in read_bank(tmp_path / "train.amr")] == ["dog", "cat"]


def test_broken_entry(folder, tmp_path):
    (folder / "b.txt").write_text(HEADER + BAD)
    assert fails(folder, "-o", tmp_path / "train.amr").startswith(f"{folder / 'b.txt'}:5: sentence bad: ")
    assert not (tmp_path / "train.amr").exists()
    out, err = run(folder, "-o", tmp_path / "train.amr", "--skip-bad", "--json")
    assert json.loads(out) == {"files": 3, "entries": 2, "left_out": 1}
    assert err.startswith(f"transition-parser: left out: {folder / 'b.txt'}:5: sentence bad: ")


def test_same_id_twice(folder, tmp_path):
    (folder / "zz.amr").write_text(CAT)
    for more in ((), ("--skip-bad",)):
        said = fails(folder, "-o", tmp_path / "train.amr", *more)
        first = folder / "amr-release-training-proxy.txt"
        assert said == f"{folder / 'zz.amr'}:1: sentence cat: {first}:3 has the same id: leave one of the two out"
    assert not (tmp_path / "train.amr").exists()


@pytest.mark.parametrize("text", ["", HEADER])
def test_file_without_entries(folder, tmp_path, text):
    (folder / "b.txt").write_text(text)
    assert fails(folder, "-o", tmp_path / "train.amr") == f"{folder / 'b.txt'}: the file holds no AMRs"


def test_output_is_no_input(folder):
    assert "one of the files to merge" in fails(folder, "-o", folder / "amr-release-training-bolt.txt")
    assert "give a file for --output" in fails(folder, "-o", "-")
    assert (folder / "amr-release-training-bolt.txt").read_text() == HEADER.format("bolt") + DOG


@pytest.mark.slow
def test_whole_corpora(corpora, tmp_path):
    for folder in sorted((corpora / "amr").iterdir()):
        out, _err = run(folder, "-o", tmp_path / "all.amr", "--skip-bad", "--json")
        figures = json.loads(out)
        given = sum(path.read_text(encoding="utf-8").count("# ::snt ") for path in bank_files(folder))
        assert figures["entries"] + figures["left_out"] == given
        assert sum(1 for _ in read_bank(tmp_path / "all.amr")) == figures["entries"]

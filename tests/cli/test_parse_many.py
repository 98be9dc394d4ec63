"""`parse` of several inputs, and into folders."""

import re

from tests.conftest import SAMPLE, run_here

SAME = ("--precision", "fp32")


def parse(*arguments, **options):
    return run_here("parse", "en-ewt", *arguments, *SAME, **options)


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
    out = tmp_path / "new" / "out"
    parse(SAMPLE, tmp_path / "a.b.txt", "-o", f"{out}/")
    assert {path.name for path in out.iterdir()} == {"sample.conllu", "a.b.conllu"}
    assert (out / "sample.conllu").read_text(encoding="utf-8") == parse(SAMPLE).stdout
    assert (out / "a.b.conllu").read_text() == parse(tmp_path / "a.b.txt").stdout


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


def test_a_folder_that_is_not_named_in_full(tmp_path):
    path, out = tmp_path / "a.txt", tmp_path / "out"
    path.write_text("Go .\n")
    said = parse(path, "-o", out, "--resume", status=2).stderr
    assert "give -o DIR/" in said and not out.exists()

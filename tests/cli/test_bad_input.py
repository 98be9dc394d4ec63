"""Bad input: one line that says what is wrong and where, exit status 2, nothing half-written."""

import pickle

import pytest
import torch

from tests.conftest import SAMPLE, fails, run_here

GOOD = "# sent_id = a\n1\tHi\t_\t_\t_\t_\t0\troot\t_\t_\n2\tyou\t_\t_\t_\t_\t1\tvocative\t_\t_\n\n"
BAD = {  # all messages: tests/graphs/test_conllu.py
    "truncated": (GOOD + "1\tHi\t_\t_", ":5: 4 columns"),
    "cycle": (GOOD.replace("0\troot", "2\troot"), ":2: sentence a: word 1 is its own ancestor"),
    "control characters": (
        GOOD.replace("= a", "= \x1b[2Ja").replace("0\troot", "x\troot"),
        r":2: sentence \x1b[2Ja: word 1 has HEAD 'x'",
    ),
    "blank": ("\n\n\n", ": the file holds no sentences"),
}


@pytest.fixture(params=BAD, ids=lambda name: name.replace(" ", "-"))
def bad(request, tmp_path):
    text, reason = BAD[request.param]
    path = tmp_path / "bad.conllu"
    path.write_text(text, encoding="utf-8")
    return path, reason


def test_oracle(bad):
    path, reason = bad
    message = fails("oracle", path, "--system", "arc-hybrid")
    assert message.startswith(f"transition-parser: error: {path}:") and reason in message


def test_preprocess(bad, tmp_path):
    path, reason = bad
    dest = tmp_path / "data"
    common = ("preprocess", "dependency", "--system", "arc-hybrid-swap", "--dest", dest, "--pieces", "400")
    assert reason in fails(*common, "--train", SAMPLE, "--valid", path)
    assert not dest.exists() and len(list(tmp_path.iterdir())) == 1


def test_score(tmp_path):
    path = tmp_path / "other.conllu"
    path.write_text(GOOD, encoding="utf-8")
    assert "the texts differ from character 0 on" in fails("score", SAMPLE, path)
    path.write_text(BAD["cycle"][0], encoding="utf-8")
    assert f"{path}:2: sentence a: word 1 is its own ancestor" in fails("score", path, path)


def test_missing_files(tmp_path):
    missing = tmp_path / "no.conllu"
    assert f"{missing}: No such file" in fails("oracle", missing, "--system", "arc-eager")
    assert "No such file" in fails("draw", missing, "-o", tmp_path / "x.svg")
    assert "no sentence 'zzz'" in fails("draw", SAMPLE, "--id", "zzz", "-o", tmp_path / "x.svg")
    assert "x.htm: the name must end in .svg, .png, .pdf, .tex" in fails("draw", SAMPLE, "-o", "x.htm")


def test_models_that_are_none(tmp_path, data_folder):
    assert "no such checkpoint" in fails("parse", tmp_path / "no.pt", SAMPLE)
    assert "config.json: not found: is this a folder that" in fails("parse", data_folder, SAMPLE)
    text = tmp_path / "text.pt"
    text.write_text("hello")
    assert "not a checkpoint" in fails("parse", text, SAMPLE)
    assert "not a checkpoint" in fails("export", text, "-o", tmp_path / "model")


def test_a_malicious_checkpoint_is_not_unpickled(tmp_path):
    class Attack:
        def __reduce__(self):
            return (open, (str(tmp_path / "pwned"), "w"))

    path = tmp_path / "bad.pt"
    path.write_bytes(pickle.dumps(Attack()))
    assert "not a checkpoint" in fails("parse", path, SAMPLE)
    torch.save({"model": {}, "cfg": {"model": Attack()}}, path)
    said = fails("parse", path, SAMPLE)
    assert "holds Python objects that are not read, because reading them could run code" in said
    assert "weights_only" not in said
    assert not (tmp_path / "pwned").exists()


def test_usage(checkpoint):
    assert "invalid choice: 'x'" in run_here("oracle", SAMPLE, "--system", "x", status=2).stderr
    run_here(status=2)
    run_here("parse", checkpoint, SAMPLE, "--beam", "0", status=2)
    assert "the device 'tpu' can't be used here" in fails("parse", checkpoint, SAMPLE, "--device", "tpu")


def test_output_that_can_not_be(tmp_path, checkpoint):
    assert f"{tmp_path}: is a folder" in fails("parse", checkpoint, SAMPLE, "-o", tmp_path)
    assert "does not exist" in fails("oracle", SAMPLE, "--system", "arc-eager", "--out-actions", tmp_path / "a" / "b")
    assert "standard output for itself" in fails(
        "oracle", SAMPLE, "--system", "arc-eager", "--out-actions", "-", "--json"
    )
    old = tmp_path / "old"
    old.write_text("old")
    empty = tmp_path / "empty.conllu"
    empty.write_text("")
    fails("oracle", empty, "--system", "arc-eager", "--out-actions", old)
    assert old.read_text() == "old"


def test_an_error_of_ours_is_no_failed_check(monkeypatch, capsys):
    from transition_parser.cli import parse
    from transition_parser.cli.main import main

    monkeypatch.setattr(parse, "formalism_of_files", lambda *paths: 1 / 0)
    assert main(["score", "a", "b"]) == 70
    assert "ZeroDivisionError" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        (("parse", "en-ewt", SAMPLE, "--threads", "5000"), "argument --threads: 5000 is not from 1 to 4,096"),
        (("parse", "en-ewt", SAMPLE, "--beam", "9" * 20), "argument --beam: 99999999999999999999 is not from 1 to"),
        (("train", SAMPLE, "-o", "x", "--segmenter", "9" * 23), "argument --segmenter: 9"),
    ],
)
def test_numbers_that_are_too_large(command, problem):
    done = run_here(*command, status=2)
    assert problem in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "command",
    [
        ("LONG",),
        ("score", "LONG", "LONG"),
        ("models", "LONG"),
        ("parse", "LONG", SAMPLE),
        ("parse", "en-ewt", SAMPLE, "--beam", "LONG"),
        ("parse", "en-ewt", SAMPLE, "--precision", "LONG"),
        ("parse", "en-ewt", SAMPLE, "--device", "LONG"),
        ("parse", "en-ewt", SAMPLE, "--LONG"),
    ],
)
def test_names_of_any_length_are_shortened(command):
    said = run_here(*(str(part).replace("LONG", "x" * 5000) for part in command), status=2).stderr
    assert len(said.splitlines()[-1]) < 1000 and "Traceback" not in said

"""The commands as a user types them."""

import json
import re
import shutil

import pytest
import torch

from tests.conftest import SAMPLE, SAMPLE_AMR, run, run_here, train
from transition_parser import __version__
from transition_parser.graphs.conllu import read_conllu
from transition_parser.storage.checkpoints import load_checkpoint
from transition_parser.storage.exports import stored_weights
from transition_parser.transitions import Action, make_system


def figures(*command) -> dict:
    done = run_here(*command, "--json")
    return json.loads(done.stdout)


@pytest.mark.parametrize("command", ["", "preprocess dependency", "parse"])
def test_help(command):
    done = run_here(*command.split(), "--help")
    assert "usage: transition-parser" in done.stdout
    assert command == "" or "example:" in done.stdout


def test_the_installed_program():
    assert run("transition-parser", "--version").stdout.strip() == __version__


def test_oracle(tmp_path):
    found = figures("oracle", SAMPLE, "--system", "arc-hybrid-swap", "--check")
    assert found["sentences"] == found["exact"] == 64
    assert found["las"] == 100.0 and found["illegal_steps"] == 0
    assert {"actions_per_token", "action_types", "sentences_per_second", "uas"} <= set(found)
    out = tmp_path / "actions"
    run_here("oracle", SAMPLE, "--system", "arc-hybrid-swap", "--out-actions", out)
    system = make_system("arc-hybrid-swap")
    for sentence, line in zip(read_conllu(SAMPLE), out.read_text(encoding="utf-8").splitlines(), strict=True):
        assert system.replay(sentence.forms, [*map(Action.parse, line.split())]) == sentence.tree()


def test_oracle_fails_a_check_with_status_1(monkeypatch, capsys):
    from transition_parser.cli.main import main
    from transition_parser.oracles import static

    original = static.oracle
    monkeypatch.setattr(static, "oracle", lambda *args: list(original(*args))[:-1])
    assert main(["oracle", str(SAMPLE), "--system", "arc-eager", "--check"]) == 1
    assert main(["oracle", str(SAMPLE), "--system", "arc-eager"]) == 0


def test_score_of_itself():
    found = figures("score", SAMPLE, SAMPLE, "--full-labels")
    assert found["uas"] == found["las"] == found["clas"] == 100.0


def test_official_scores_as_a_table_and_as_data():
    printed = run_here("score", SAMPLE, SAMPLE, "--conll18").stdout.splitlines()
    plain = run_here("score", SAMPLE, SAMPLE).stdout.splitlines()
    assert "xpos    100.0" in plain and plain[-1] == "not scored, because one of the files has none: UFeats"
    assert printed[0].startswith("Metric") and printed[-1].split() == ["BLEX", *["|", "100.00"] * 4]
    found = figures("score", SAMPLE, SAMPLE, "--conll18")
    assert found["las"] == found["conll18"]["MLAS"]["f1"] == 100.0 and len(found["conll18"]) == 13


def test_score_of_raw_text(tmp_path):
    gold, system = tmp_path / "gold.conllu", tmp_path / "system.conllu"
    gold.write_text("1\tGo\t_\t_\t_\t_\t0\troot\t_\t_\n\n1\tStop\t_\t_\t_\t_\t0\troot\t_\t_\n\n")
    system.write_text("1\tGo\t_\t_\t_\t_\t0\troot\t_\t_\n2\tStop\t_\t_\t_\t_\t1\tdep\t_\t_\n\n")
    assert figures("score", gold, system) == {
        "tokens_f1": 100.0, "sentences_f1": 0.0, "words_f1": 100.0,
        "uas": 50.0, "las": 50.0, "clas": 50.0, "words": 2,
    }  # fmt: skip
    assert "sentences_f1" not in figures("score", gold, gold)
    system.write_text("1\tGone\t_\t_\t_\t_\t0\troot\t_\t_\n\n")
    done = run_here("score", gold, system, status=2)
    assert f"{system}:1: the texts differ from character 2 on" in done.stderr and done.stderr.count("\n") == 1


def test_parse_keeps_everything_but_the_tree(checkpoint, tmp_path):
    out = tmp_path / "parsed.conllu"
    done = run_here("parse", checkpoint, SAMPLE, "-o", out, "--beam", "2", "--batch-tokens", "50")
    assert done.stdout == "" and done.stderr == ""
    for before, after in zip(read_conllu(SAMPLE), read_conllu(out), strict=True):
        assert after.comments == before.comments
        words = before.with_tree(before.tree()).rows  # enhanced dependencies are about the tree that was replaced
        blank = [row._replace(head="", deprel="") if row.is_word else row for row in words]
        assert [row._replace(head="", deprel="") if row.is_word else row for row in after.rows] == blank
        after.tree()
    assert figures("score", SAMPLE, out)["words"] == sum(len(s.words) for s in read_conllu(SAMPLE))


def test_parse_writes_scores_and_actions(checkpoint):
    done = run_here("parse", checkpoint, "-", "--tokens", "--scores", "--actions", stdin="The cat sleeps .\n\nStop !\n")
    assert done.stdout.count("# text = ") == done.stdout.count("# parse_score = ") == 2
    assert all(0 <= float(score) <= 1 for score in re.findall(r"ArcScore=(\S+)", done.stdout))
    assert len(re.findall(r"ArcScore=", done.stdout)) == 6
    (actions, _) = re.findall(r"# actions = (.*)", done.stdout)
    system = make_system("arc-hybrid-swap", shift_words=("the", "The", "."))
    assert len(system.replay("The cat sleeps .".split(), [*map(Action.parse, actions.split())])) == 4


def test_export_parses_like_its_checkpoint(checkpoint, tmp_path):
    folder = tmp_path / "model"
    run_here("export", checkpoint, "-o", folder)
    names = {path.name for path in folder.iterdir()}
    assert names == {"config.json", "dict.act.txt", "dict.src.txt", "model.safetensors", "parser.json", "spm.model"}
    before = run_here("parse", checkpoint, SAMPLE).stdout
    assert run_here("parse", folder, SAMPLE).stdout == before
    half = tmp_path / "half"
    run_here("export", checkpoint, "-o", half, "--bits", 16)
    assert (half / "model.safetensors").stat().st_size < 0.55 * (folder / "model.safetensors").stat().st_size
    (tmp_path / "full.conllu").write_text(before, encoding="utf-8")
    run_here("parse", half, SAMPLE, "-o", tmp_path / "half.conllu")
    assert figures("score", tmp_path / "full.conllu", tmp_path / "half.conllu")["las"] > 95


@pytest.fixture(scope="module")
def other_checkpoint(data_folder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("other")
    train(data_folder, folder, "--state-positions", "--encoder-local-layers", "1", "--seed", "7", updates=2)
    return folder / "checkpoint_last.pt"


def test_an_export_of_several_has_their_mean(checkpoint, other_checkpoint, tmp_path):
    run_here("export", checkpoint, other_checkpoint, "-o", tmp_path / "model")
    a, b = (load_checkpoint(path)["model"] for path in (checkpoint, other_checkpoint))
    found = stored_weights(tmp_path / "model" / "model.safetensors")
    assert all(torch.allclose(found[name], (a[name] + b[name]) / 2, atol=1e-6) for name in found)
    assert any(not torch.equal(found[name], a[name]) for name in found)
    before = {path.name: path.read_bytes() for path in (tmp_path / "model").iterdir()}
    run_here("export", checkpoint, other_checkpoint, "-o", tmp_path / "model")
    assert before == {path.name: path.read_bytes() for path in (tmp_path / "model").iterdir()}


def test_an_export_also_averages_exported_folders(checkpoint, other_checkpoint, tmp_path):
    run_here("export", other_checkpoint, "-o", tmp_path / "other")
    run_here("export", checkpoint, tmp_path / "other", "-o", tmp_path / "model")
    run_here("export", checkpoint, other_checkpoint, "-o", tmp_path / "same")
    found, same = (stored_weights(tmp_path / name / "model.safetensors") for name in ("model", "same"))
    assert all(torch.allclose(found[name], same[name], atol=1e-6) for name in same)
    problem = run_here("export", tmp_path / "other", "-o", tmp_path / "no", status=2).stderr
    assert "is an exported folder already: give a checkpoint, too" in problem


def test_a_checkpoint_with_its_files_beside_it_may_move(checkpoint, data_folder, tmp_path):
    for name in ("dict.src.txt", "dict.act.txt", "spm.model", "parser.json"):
        shutil.copy(data_folder / name, tmp_path)
    moved = shutil.copy(checkpoint, tmp_path / "moved.pt")
    assert run_here("parse", moved, SAMPLE).stdout == run_here("parse", checkpoint, SAMPLE).stdout
    lines = (tmp_path / "dict.act.txt").read_text().splitlines()
    (tmp_path / "dict.act.txt").write_text("\n".join([lines[1], lines[0], *lines[2:]]) + "\n")
    assert "have changed since the checkpoint was trained" in run_here("parse", moved, SAMPLE, status=2).stderr


@pytest.mark.parametrize(("path", "name"), [(SAMPLE, "sample-03"), (SAMPLE_AMR, None)])
@pytest.mark.parametrize(
    ("suffix", "start"), [(".svg", b"<?xml"), (".png", b"\x89PNG"), (".pdf", b"%PDF"), (".tex", b"% \\usepackage{tikz")]
)
def test_draw(tmp_path, path, name, suffix, start):
    if suffix in (".png", ".pdf"):
        pytest.importorskip("typst", reason="pip install '.[draw]'")
    if suffix == ".tex" and path == SAMPLE_AMR:
        pytest.skip("LaTeX is for trees")
    pictures = [tmp_path / f"{number}{suffix}" for number in (1, 2)]
    for picture in pictures:
        run_here("draw", path, *(("--id", name) if name else ()), "-o", picture)
    first, second = (picture.read_bytes() for picture in pictures)
    assert first.startswith(start) and first == second


def test_preprocess_leaves_out_what_crosses(tmp_path):
    base = ("preprocess", "dependency", "--train", SAMPLE, "--valid", SAMPLE, "--system", "arc-eager")
    found = figures(*base, "--dest", tmp_path / "d", "--pieces", "400")
    assert found == {"train_sentences": 50, "train_skipped": 14, "valid_sentences": 50, "valid_skipped": 14}


def test_preprocessing_again_leaves_nothing_of_the_last_time(tmp_path):
    base = ("preprocess", "dependency", "--train", SAMPLE, "--valid", SAMPLE, "--pieces", "400", "--dest", tmp_path)
    (tmp_path / "mine.txt").write_text("kept")
    run_here(*base, "--test", SAMPLE, "--system", "arc-eager")
    (tmp_path / "dict.src.txt").write_text("old")
    assert (tmp_path / "test.act").exists()
    run_here(*base, "--system", "arc-hybrid-swap")
    assert not (tmp_path / "test.act").exists() and not (tmp_path / "dict.src.txt").exists()
    assert (tmp_path / "mine.txt").exists()

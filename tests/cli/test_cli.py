"""The commands as a user types them."""

import json
import re

import pytest

from tests.conftest import SAMPLE, run, run_here
from transition_parser import __version__
from transition_parser.graphs.conllu import read_conllu
from transition_parser.transitions import Action, make_system


def figures(*command) -> dict:
    done = run_here(*command, "--json")
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    "command", ["", "preprocess", "preprocess dependency", "oracle", "parse", "score", "average", "export", "draw"]
)
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
    from oracles import check
    from transition_parser.cli.main import main

    original = check.oracle
    monkeypatch.setattr(check, "oracle", lambda *args: list(original(*args))[:-1])
    assert main(["oracle", str(SAMPLE), "--system", "arc-eager", "--check"]) == 1
    assert main(["oracle", str(SAMPLE), "--system", "arc-eager"]) == 0


def test_score_of_itself():
    found = figures("score", SAMPLE, SAMPLE, "--by-relation", "--by-length", "--full-labels")
    assert found["uas"] == found["las"] == found["clas"] == found["label_accuracy"] == 100.0
    assert found["by_relation"]["nsubj"]["f1"] == 100.0 and "1-10" in found["by_length"]


def test_parse_keeps_everything_but_the_tree(checkpoint, tmp_path):
    out = tmp_path / "parsed.conllu"
    done = run_here("parse", checkpoint, SAMPLE, "-o", out, "--beam", "2", "--batch-tokens", "50")
    assert done.stdout == "" and done.stderr == ""
    for before, after in zip(read_conllu(SAMPLE), read_conllu(out), strict=True):
        assert after.comments == before.comments
        blank = [row._replace(head="", deprel="") if row.is_word else row for row in before.rows]
        assert [row._replace(head="", deprel="") if row.is_word else row for row in after.rows] == blank
        after.tree()
    assert figures("score", SAMPLE, out)["words"] == sum(len(s.words) for s in read_conllu(SAMPLE))


def test_parse_writes_scores_and_actions(checkpoint):
    done = run_here("parse", checkpoint, "-", "--scores", "--actions", stdin="The cat sleeps .\n\nStop !\n")
    assert done.stdout.count("# text = ") == done.stdout.count("# parse_score = ") == 2
    assert all(0 <= float(score) <= 1 for score in re.findall(r"ArcScore=(\S+)", done.stdout))
    assert len(re.findall(r"ArcScore=", done.stdout)) == 6
    (actions, _) = re.findall(r"# actions = (.*)", done.stdout)
    system = make_system("arc-hybrid-swap", shift_words=("the", "The", "."))
    assert len(system.replay("The cat sleeps .".split(), [*map(Action.parse, actions.split())])) == 4


def test_the_batch_size_changes_nothing(checkpoint):
    outputs = {
        run_here("parse", checkpoint, SAMPLE, "--beam", "3", "--batch-tokens", size).stdout for size in ("1", "5000")
    }
    assert len(outputs) == 1


def test_parse_can_tokenise(checkpoint):
    done = run_here("parse", checkpoint, "-", "--tokenize", stdin="She doesn't sleep.\n")
    assert re.findall(r"^\d+\t(\S+)", done.stdout, re.M) == ["She", "does", "n't", "sleep", "."]


def test_export_parses_like_its_checkpoint(checkpoint, tmp_path):
    folder = tmp_path / "model"
    run_here("export", checkpoint, "-o", folder)
    names = {path.name for path in folder.iterdir()}
    assert names == {"config.json", "dict.act.txt", "dict.src.txt", "model.safetensors", "parser.json", "spm.model"}
    before = run_here("parse", checkpoint, SAMPLE).stdout
    assert run_here("parse", folder, SAMPLE).stdout == before
    half = tmp_path / "half"
    run_here("export", checkpoint, "-o", half, "--half")
    assert (half / "model.safetensors").stat().st_size < 0.55 * (folder / "model.safetensors").stat().st_size
    assert run_here("parse", half, SAMPLE).stdout.count("\n") == before.count("\n")


def test_the_average_of_one_checkpoint_is_itself(checkpoint, tmp_path):
    import torch

    from transition_parser.checkpoints import load_checkpoint

    run_here("average", checkpoint, checkpoint, "-o", tmp_path / "mean.pt")
    one, mean = load_checkpoint(checkpoint)["model"], load_checkpoint(tmp_path / "mean.pt")["model"]
    assert one.keys() == mean.keys()
    assert all(torch.allclose(one[name].float(), mean[name].float(), atol=1e-6) for name in one)
    run_here("export", checkpoint, tmp_path / "mean.pt", "-o", tmp_path / "model")
    assert run_here("parse", tmp_path / "model", "-", stdin="Stop !\n").stdout.count("\n") == 4


@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_draw(tmp_path, suffix):
    picture = tmp_path / f"tree{suffix}"
    run_here("draw", SAMPLE, "--id", "sample-03", "-o", picture)
    start = picture.read_bytes()[:600]
    assert b"<svg" in start if suffix == ".svg" else start.startswith(b"\x89PNG")


def test_preprocess_skips_or_stops_at_what_crosses(tmp_path):
    base = ("preprocess", "dependency", "--train", SAMPLE, "--valid", SAMPLE, "--system", "arc-eager")
    found = figures(*base, "--dest", tmp_path / "d", "--pieces", "400")
    assert found == {"train_sentences": 50, "train_skipped": 14, "valid_sentences": 50, "valid_skipped": 14}
    done = run_here(*base, "--dest", tmp_path / "e", "--nonprojective", "error", status=2)
    assert "sample-03" in done.stderr and not (tmp_path / "e").exists()

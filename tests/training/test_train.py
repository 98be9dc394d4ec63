"""`transition-parser train`: from a corpus to a model in one command."""

import json
import os
import re
import signal
import subprocess
import zipfile
from pathlib import Path

import pytest

from tests.conftest import OF_PROGRAMS, PROGRAMS, SAMPLE, SAMPLE_AMR, run, run_here
from transition_parser import Parser
from transition_parser.base.errors import InputError
from transition_parser.storage.cards import read_card
from transition_parser.training.experiment import locked, mend_checkpoints
from transition_parser.training.programs import epoch_line, epochs_of

TINY = (
    *("--encoder-embed-dim 32", "--decoder-embed-dim 32", "--encoder-ffn-embed-dim 32", "--decoder-ffn-embed-dim 32"),
    *("--max-tokens 600", "--warmup-epochs 1", "--num-workers 0", "--keep-best-checkpoints 2"),
)


def config(folder: Path, base: str, epochs: int, *more: str) -> Path:
    path = folder / "tiny.flags"
    path.write_text("\n".join([f"@{base}", *TINY, f"--max-epoch {epochs}", *more]) + "\n", encoding="utf-8")
    return path


def state(folder: Path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in folder.rglob("*") if path.name != ".lock"}


def started(command: list, number: signal.Signals, line_begins: str) -> tuple[int, str]:
    """Runs a training until it prints a line that begins so, and then sends it a signal. Returns its exit status, and
    what it has printed."""
    errors, call = [], PROGRAMS.command("transition-parser", *map(str, command))
    with subprocess.Popen(call, stderr=subprocess.PIPE, text=True, env={**os.environ, **OF_PROGRAMS}) as running:
        for line in running.stderr:
            errors.append(line)
            if line.startswith(line_begins):
                PROGRAMS.send_signal(number)
    return running.returncode, "".join(errors)


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory):
    """A training with a process that loads its data, which is killed after an epoch, continued and interrupted: its
    command and folder, and the exit statuses and messages."""
    folder = tmp_path_factory.mktemp("interrupted")
    flags = config(folder, "ewt-stack-small.flags", 6, "--tag-loss 0.1")
    flags.write_text(flags.read_text().replace("--num-workers 0", "--num-workers 1"))
    command = ["train", flags, "--train", SAMPLE, "--dev", SAMPLE, "-o", folder / "out", "--pieces", "400"]
    signals = (signal.SIGKILL, signal.SIGINT)
    return command, folder / "out", [started(command, number, f"epoch {i}/") for i, number in enumerate(signals, 1)]


def test_an_interrupted_training_is_continued(interrupted):
    command, folder, runs = interrupted
    assert [status for status, _said in runs] == [128 + signal.SIGKILL, 128 + signal.SIGINT]
    said = runs[1][1]
    assert "Traceback" not in said and "epoch 2/6" in said
    assert said.splitlines()[-1] == "interrupted: run the same command again to go on"
    assert not (folder / "model").exists() and not (folder / "history.json").exists()
    data = state(folder / "data")
    done = run("transition-parser", *command, "--json")
    figures = json.loads(done.stdout)
    assert state(folder / "data") == data and "preparing" not in done.stderr
    assert "Loaded checkpoint" in (folder / "train.log").read_text()
    epochs = json.loads((folder / "history.json").read_text())
    assert [epoch["epoch"] for epoch in epochs] == list(range(1, 7)) and all(e["loss"] > 0 for e in epochs)
    assert "left" in done.stderr and "\r" not in done.stderr
    scores = {one["averaged"]: one["las"] for one in figures["compared"]}
    assert scores.keys() == {1, 2} and scores[figures["averaged"]] == max(scores.values())
    assert figures["dev"]["beam 1"]["las"] == max(scores.values()) and figures["dev"]["beam 1"]["words"] > 0
    assert "DEBUG" not in done.stderr
    scored = json.loads(run_here("score", SAMPLE, folder / "dev.beam-1.conllu", "--json").stdout)
    assert scored == figures["dev"]["beam 1"] and "upos" in scored  # tags were predicted, since --tag-loss needs them
    assert Parser.load(folder / "model").parse("She sleeps.")[0].tree.heads


def test_a_finished_one_is_not_done_again_and_another_one_is_refused(interrupted, tmp_path):
    command, folder, *_ = interrupted
    before = state(folder)
    again = run_here(*command)
    assert "dev, beam 1: uas" in again.stdout
    (note,) = again.stderr.splitlines()
    assert "has no morphological features" in note
    other = tmp_path / "other.conllu"
    other.write_text(SAMPLE.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    for more, difference in (
        (["--", "--lr", "1e-3"], "(--lr)"),
        (["--", "--max-epoch", "7"], "(--max-epoch)"),
        (["--bits", "16"], "(--bits)"),
        (["--columns", "upos"], "(--columns)"),
        (["--dev", other], "(--dev)"),
        (["--test", other], "(--test)"),
    ):
        done = run_here(*command, *more, status=2)
        assert difference in done.stderr and "another folder" in done.stderr
        assert [line for line in done.stderr.splitlines() if "error" in line] == done.stderr.splitlines()[-1:]
    assert state(folder) == before


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        (["--", "--lrr", "1"], "unknown flag --lrr .*did you mean --lr?"),
        (["--", "--save-dir", "x"], "--save-dir is set by"),
        (["--", "--best-checkpoint-metric", "smatch"], "metric smatch is no figure of trees: give one of uas, las"),
        (["--", "--max-epoch", "2", "--start-from", "none/model"], "--start-from none/model: no such checkpoint"),
        (["--device", "phone", "--", "--max-epoch", "2"], "the device 'phone' can't be used here"),
        (["--", "oops"], "'oops' is not a flag"),
        (["--", "--max-epoch", "2", "--warmup-epochs=-1"], "needs --max-epoch, and --warmup-epochs of 0 or more"),
        (["--", "--max-epoch", "0"], "would never end: give --max-epoch"),
        (["--system", "amr"], "--system amr builds AMRs, but the files hold trees"),
        (["--dev", SAMPLE_AMR], "give files of one kind"),
        (["--dev", "nowhere.conllu"], "nowhere.conllu: no such file"),
    ],
)
def test_what_is_wrong_is_one_line_and_leaves_nothing(more, problem, tmp_path):
    flags = config(tmp_path, "ewt-stack-small.flags", 1)
    done = run_here("train", flags, "--train", SAMPLE, "--dev", SAMPLE, "-o", tmp_path / "out", *more, status=2)
    assert re.search(problem, done.stderr) and done.stderr.count("\n") == 1, done.stderr
    assert not done.stdout and not (tmp_path / "out").exists()


def test_a_folder_with_something_else_is_left_alone(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    done = run_here("train", "ewt-en", "--train", SAMPLE, "--dev", SAMPLE, "-o", tmp_path, status=2)
    assert "holds other files" in done.stderr and {path.name for path in tmp_path.iterdir()} <= {"notes.txt", ".lock"}


def test_bad_data_can_be_mended_and_trained_on(tmp_path):
    flags, train = config(tmp_path, "ewt-stack-small.flags", 2), tmp_path / "train.conllu"
    command = ("train", flags, "--train", train, "--dev", SAMPLE, "-o", tmp_path / "out")
    train.write_text(SAMPLE.read_text(encoding="utf-8").replace("\t0\troot", "\t99\troot", 1), encoding="utf-8")
    for _ in range(2):
        done = run_here(*command, status=2)
        assert re.search(r"train.conllu:\d+: .*99", done.stderr.splitlines()[-1]), done.stderr
        train.write_text(train.read_text(encoding="utf-8") + "\n", encoding="utf-8")


@pytest.mark.parametrize("name", ["a,b", "a:b"])
def test_folders_that_fairseq_would_divide_are_refused(name, tmp_path):
    with pytest.raises(InputError, match=r"fairseq divides a path at '[,:]'"), locked(tmp_path / name):
        pass
    data = ("--train", SAMPLE, "--valid", SAMPLE, "--system", "arc-hybrid", "--dest", tmp_path / name)
    said = run_here("preprocess", "dependency", *data, status=2).stderr
    assert "fairseq divides a path at" in said and said.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_one_run_at_a_time(tmp_path):
    with locked(tmp_path):
        worker = subprocess.Popen(["cat"], stdin=subprocess.PIPE, close_fds=False)  # as a process that loads data
        done = run_here("train", "ewt-en", "--train", SAMPLE, "--dev", SAMPLE, "-o", tmp_path, status=2)
    assert "another `transition-parser train` is running in this folder" in done.stderr
    with worker, locked(tmp_path):
        worker.terminate()


@pytest.mark.slow
def test_amrs(tmp_path):
    flags = config(tmp_path, "lpp-stack-small.flags", 2)
    done = run(
        "transition-parser", "train", flags, "--train", SAMPLE_AMR, "--dev", SAMPLE_AMR, "-o", tmp_path / "out",
        "--test", SAMPLE_AMR, "--pieces", "400", "--bits", "16", "--json", "--beam", "1", "2",
    )  # fmt: skip
    assert json.loads((tmp_path / "out" / "experiment.json").read_text())["options"]["--columns"] == []
    figures = json.loads(done.stdout)
    assert all(figures[split][beam]["sentences"] > 80 for split in ("dev", "test") for beam in ("beam 1", "beam 2"))
    assert "epoch 2/2" in done.stderr and "dev SMATCH" in done.stderr
    card = read_card(tmp_path / "out" / "model")
    assert len(card.scores) == 4


def test_a_training_that_fails_says_why(tmp_path):
    flags = config(tmp_path, "ewt-stack-small.flags", 2)
    command = ("train", flags, "--train", SAMPLE, "--dev", SAMPLE, "-o", tmp_path / "out", "--pieces", "400")
    done = run_here(*command, "--", "--valid-subset", "nothing", status=2)
    (words,) = [line for line in done.stderr.splitlines() if "error:" in line]
    assert "nothing" in words
    assert (tmp_path / "out" / "data").is_dir() and not (tmp_path / "out" / "model").exists()
    figures = json.loads(run_here(*command, "--json").stdout)
    assert figures["epochs"] == 2


def test_unfinished_checkpoints_are_removed_and_the_newest_whole_one_continued(tmp_path, capsys):
    for number, name in enumerate(("checkpoint_best.pt", "checkpoint.best_las_2.0.pt", "checkpoint_last.pt")):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr("weights", name * 9)
        os.utime(tmp_path / name, (number, number))
    last = tmp_path / "checkpoint_last.pt"
    last.write_bytes(last.read_bytes()[:-9])
    mend_checkpoints(tmp_path)
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "checkpoint_last.pt" in said
    assert last.read_bytes() == (tmp_path / "checkpoint.best_las_2.0.pt").read_bytes()
    mend_checkpoints(tmp_path)
    assert not capsys.readouterr().err


def logged(kind: str, **figures) -> str:
    return f"2026-01-01 00:00:00 | INFO | {kind} | {json.dumps(figures)}"


LOG = (
    logged("train_inner", epoch=1, update=0.5, num_updates="5", loss="3.5"),
    "2026-01-01 00:00:00 | INFO | fairseq_cli.train | something else",
    logged("valid", epoch=1, valid_las="50.5"),
    logged("train", epoch=1, train_loss="3.25", train_wall="10"),
    logged("train_inner", epoch=2, update=1.5, num_updates="15", loss="3.0"),
    logged("valid", epoch=2, valid_las="49.5"),
    logged("train", epoch=2, train_loss="3", train_wall="22"),
)


def test_epochs_are_shown(tmp_path):
    log = tmp_path / "train.log"
    log.write_text("\n".join((*LOG, LOG[-1][:-9])), encoding="utf-8")  # a full disk cut the last line
    shown = [epoch_line(line, log, 4, "las", True) for line in LOG]
    assert [*filter(None, shown)] == [
        "epoch 1/4  loss 3.250  dev LAS 50.5  best 50.5 (epoch 1)  0:00:30 left",
        "epoch 2/4  loss 3.000  dev LAS 49.5  best 50.5 (epoch 1)  0:00:22 left",
    ]
    assert epoch_line(LOG[-1], log, 0, "uas", True) == "epoch 2  loss 3.000"
    assert epochs_of(log, "las") == [
        {"epoch": 1, "dev": 50.5, "loss": 3.25, "seconds": 10},
        {"epoch": 2, "dev": 49.5, "loss": 3.0, "seconds": 22},
    ]

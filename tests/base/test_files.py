"""Files are written whole or not at all, whatever ends the program; a disk that is full is said of the file written."""

import bz2
import gzip
import lzma
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from tests.conftest import ROOT, SAMPLE, SAMPLE_AMR, run_here
from transition_parser.base.errors import InputError
from transition_parser.base.files import new_files, open_input, replacing

ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
NO_BYTE_CODE = {"PYTHONDONTWRITEBYTECODE": "1"}  # a full disk would leave it cut off


def program(*command) -> list[str]:
    return [str(Path(sys.executable).with_name("transition-parser")), *map(str, command)]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def repeated(sample: Path, path: Path, times: int) -> Path:
    """The sample again and again, each time with other ids."""
    text = sample.read_text(encoding="utf-8")
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(text.replace("sample-", f"s{number}-") + "\n" for number in range(times))
    return path


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    return tmp_path


def deriving(folder: Path) -> list:
    trees = repeated(SAMPLE, folder / "in" / "a.conllu", 100)
    return ["oracle", trees, "--system", "arc-hybrid-swap", "--out-actions", folder / "out" / "all.actions"]


def preprocessing(folder: Path) -> list:
    train = repeated(SAMPLE, folder / "in" / "a.conllu", 300)
    return [
        "preprocess", "dependency", "--train", train, "--valid", train, "--dest", folder / "out" / "new" / "data",
        "--system", "arc-hybrid-swap", "--pieces", "400",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("command", "number"),
    [(deriving, signal.SIGTERM), (preprocessing, signal.SIGHUP), (preprocessing, signal.SIGINT)],
    ids=lambda value: getattr(value, "name", ""),
)
def test_a_signal_leaves_nothing(folder, command, number):
    running = subprocess.Popen(
        program(*command(folder)), env=ENVIRONMENT, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # tests that run in the background may ignore it
    )  # fmt: skip
    out = folder / "out"
    while running.poll() is None and not any(path.name.startswith(".") for path in out.rglob("*")):
        time.sleep(0.02)
    running.send_signal(number)
    printed, said = running.communicate()
    assert running.returncode == 128 + number, said
    assert (printed, said) == ("", "") and names(out) == []


def test_a_signal_that_the_shell_ignores_is_ignored(folder):
    command = deriving(folder)
    ignoring = ["sh", "-c", 'trap "" HUP; exec "$@"', "sh", *program(*command, "--json")]
    running = subprocess.Popen(ignoring, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True)
    while running.poll() is None and not names(folder / "out"):
        time.sleep(0.02)
    running.send_signal(signal.SIGHUP)
    printed, _ = running.communicate()
    assert running.returncode == 0 and '"sentences": 6400' in printed and names(folder / "out") == ["all.actions"]


@pytest.mark.parametrize(
    "command",
    [
        ("align", SAMPLE_AMR, "OUT/x.amr"),
        ("oracle", SAMPLE, "--system", "arc-eager", "--out-actions", "OUT/x.act"),
        (
            "preprocess", "dependency", "--train", SAMPLE, "--valid", SAMPLE, "--dest", "OUT/x", "--pieces", "400",
            "--system", "arc-eager",
        ),
        pytest.param(
            ("train", "ewt-en-fast", "--train", SAMPLE, "--dev", SAMPLE, "-o", "OUT/x"), marks=pytest.mark.slow
        ),
        ("export", "CHECKPOINT", "-o", "OUT/x"),
    ],
    ids=lambda command: command[0],
)  # fmt: skip
def test_a_full_disk_is_said_of_the_output(folder, command, checkpoint):
    out = folder / "out"
    words = [str(word).replace("OUT", str(out)).replace("CHECKPOINT", str(checkpoint)) for word in command]
    done = subprocess.run(
        program(*words), env=ENVIRONMENT | NO_BYTE_CODE, capture_output=True, text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (400, resource.RLIM_INFINITY)),
    )  # fmt: skip
    assert done.returncode == 2 and names(out) == ["x"] * (command[0] == "train")  # the folder of what is continued
    written = next(word for word in words if word.startswith(str(out)))
    *notes, said = done.stderr.splitlines()
    assert said.startswith(f"transition-parser: error: {written}") and said.endswith("File too large")
    assert all(line.startswith("transition-parser: note: ") for line in notes)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
@pytest.mark.parametrize("command", [("align", SAMPLE_AMR, "-"), ("align", SAMPLE_AMR, "/dev/full")])
def test_standard_output_can_be_full(command):
    with open("/dev/full", "w") as full:
        done = subprocess.run(program(*command), env=ENVIRONMENT, stdout=full, stderr=subprocess.PIPE, text=True)
    name = "/dev/full" if "/dev/full" in command else "standard output"
    assert done.returncode == 2
    assert done.stderr == f"transition-parser: error: {name}: No space left on device\n"


CLOSED = "transition-parser: error: standard output: Bad file descriptor\n"


@pytest.mark.parametrize("command", [("align", SAMPLE_AMR, "-"), ("--version",)], ids=lambda command: command[0])
@pytest.mark.parametrize("closed, status, said", [("2>&-", 0, ""), (">&-", 2, CLOSED)])
def test_streams_can_be_closed(command, closed, status, said):
    shell = ["sh", "-c", f'"$@" {closed}', "sh", *program(*command)]
    done = subprocess.run(shell, env=ENVIRONMENT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (status, said) and bool(done.stdout) == (closed == "2>&-")


def test_folders_that_did_not_exist_go_again(tmp_path):
    with pytest.raises(RuntimeError), new_files(tmp_path / "a" / "b" / "c"):
        assert (tmp_path / "a" / "b").is_dir()
        raise RuntimeError
    assert names(tmp_path) == []
    with new_files(tmp_path / "a" / "b" / "c") as folder:
        (folder / "x").write_text("y")
    assert (tmp_path / "a" / "b" / "c" / "x").read_text() == "y" and names(tmp_path / "a" / "b") == ["c"]


def test_what_stands_stays_until_the_end(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(RuntimeError), replacing(path) as temporary:
        temporary.write_text("new")
        raise RuntimeError
    assert path.read_text() == "old" and names(tmp_path) == ["a.txt"]
    with replacing(path) as temporary:
        temporary.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new" and names(tmp_path) == ["a.txt"]
    mask = os.umask(0)
    os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~mask
    for mode in (0o600, 0o640, 0o664):
        path.chmod(mode)
        with replacing(path) as temporary:
            temporary.write_text("newer")
        assert path.stat().st_mode & 0o777 == mode


def test_what_is_not_a_file(tmp_path):
    with pytest.raises(InputError, match="is a folder, not a file to write"), replacing(tmp_path):
        pass
    with replacing("/dev/null") as path:
        path.write_bytes(b"nothing")
    assert not Path("/dev/null").is_file()


WRITERS = {
    "output": "with files.output(sys.argv[1]) as file: file.write('new')",
    "replacing": "with files.replacing(sys.argv[1]) as path: path.write_text('new')",
}


@pytest.mark.parametrize(
    "shell, all_",
    [
        ("$WRITE /dev/stdout >> all", "first new"),
        ("$WRITE >(cat >> all; echo > done); while ! test -f done; do :; done", "first new"),
        ("mkfifo pipe; cat pipe >> all & $WRITE pipe; wait", "first new"),
        ("$WRITE /dev/stdout | cat >> all", "first new"),
        ("ln -s all link; $WRITE link", "new"),
    ],
)
@pytest.mark.parametrize("writer", WRITERS)
def test_what_is_no_regular_file_is_written_as_it_is(writer, shell, all_, tmp_path):
    (tmp_path / "all").write_text("first ")
    script = f"import sys\nfrom transition_parser.base import files\n{WRITERS[writer]}\n"
    (tmp_path / "write.py").write_text(script)
    command = f"set -e; WRITE='{sys.executable} write.py'; {shell}"
    subprocess.run(["bash", "-c", command], cwd=tmp_path, env=ENVIRONMENT, check=True, timeout=60)
    assert (tmp_path / "all").read_text() == all_


OLD = {"config": "old", "weights": "old", "lexicon": "old", "notes": "the user's"}
NEW = {"config": "new", "weights": "new", "columns": "new"}


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


def write(folder: Path, texts: dict[str, str]) -> None:
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text)


def test_a_folder_is_written_whole_or_not_at_all(tmp_path):
    """A folder of the user stands where the last of the new files goes."""
    write(tmp_path, OLD)
    (tmp_path / "z").mkdir()
    with pytest.raises(IsADirectoryError, match=r"z'$"), new_files(tmp_path, ["lex*"]) as folder:
        write(folder, {**NEW, "z": "new"})
    (tmp_path / "z").rmdir()
    assert contents(tmp_path) == OLD


def test_a_folder_is_written_where_the_user_may_not_write_beside_it():
    """As in a mount point; root becomes another user."""
    user = os.geteuid() or 65534
    with tempfile.TemporaryDirectory() as root:
        dest = Path(root, "parent", "dest")
        dest.mkdir(parents=True)
        os.chown(dest, user, -1)
        Path(root).chmod(0o755)
        dest.parent.chmod(0o555)
        os.seteuid(user)
        try:
            write(dest, OLD)
            with pytest.raises(RuntimeError), new_files(dest, ["lex*"]) as folder:
                write(folder, NEW)
                raise RuntimeError
            assert contents(dest) == OLD
            with new_files(dest, ["lex*"]) as folder:
                write(folder, NEW)
            assert contents(dest) == {**NEW, "notes": "the user's"}
        finally:
            os.seteuid(os.getuid())
            dest.parent.chmod(0o755)


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)])
def test_packed_files_are_read_and_written_as_others(suffix, pack, tmp_path):
    packed, out = tmp_path / f"a.amr{suffix}", tmp_path / f"b.amr{suffix}"
    packed.write_bytes(pack(SAMPLE_AMR.read_bytes()))
    run_here("align", packed, out)
    with open_input(out) as file:
        assert file.read().decode() == run_here("align", SAMPLE_AMR, "-").stdout
    packed.write_bytes(packed.read_bytes()[:-20])
    said = run_here("align", packed, out, status=2).stderr
    assert f"a.amr{suffix}: the packed file is damaged" in said and said.count("\n") == 1


def test_new_files_have_the_rights_of_the_umask_which_nobody_sets(tmp_path, monkeypatch):
    mask = os.umask(0o027)
    try:
        monkeypatch.setattr(os, "umask", None)  # it is of the whole process: other threads would write open files
        with replacing(tmp_path / "a") as temporary:
            temporary.unlink()
            temporary.touch(0o600)
        with new_files(tmp_path / "b") as temporary:
            (temporary / "c").touch(0o600)
    finally:
        monkeypatch.undo()
        os.umask(mask)
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in ("a", "b/c")] == [0o640, 0o640]

"""Downloads, from a server on this machine."""

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.conftest import run_here
from transition_parser.base.errors import InputError
from transition_parser.cli.download import SOURCES, UD, VARIABLE, CorpusSource, File, fetch, source_of

TREES = b"1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n\n" * 5000


class Server(ThreadingHTTPServer):
    """A server of files on this machine.

    files: path → content.
    cut: send no more bytes of a file than this.
    asked: the paths and ranges.
    moved: path → where the server says that it is now.
    """

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, bytes] = {}
        self.cut: int | None = None
        self.ranges, self.asked = True, []
        self.moved: dict[str, str] = {}
        self.address = f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        content, wanted = self.server.files.get(self.path), self.headers.get("Range")
        self.server.asked.append((self.path, wanted))
        if self.path in self.server.moved:
            self.send_response(302)
            self.send_header("Location", self.server.moved[self.path])
            return self.end_headers()
        if content is None:
            return self.send_error(404)
        start = int(re.fullmatch(r"bytes=(\d+)-", wanted)[1]) if wanted and self.server.ranges else 0
        if start >= len(content) and start:
            return self.send_error(416)
        self.send_response(206 if wanted and self.server.ranges else 200)
        if wanted and self.server.ranges:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        self.wfile.write(content[start:][: self.server.cut])

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server(monkeypatch):
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        monkeypatch.setenv(VARIABLE, server.address)
        folder = f"/{UD.partition('://')[2]}/UD_English-EWT/r2.15"
        server.files = {
            **{f"{folder}/en_ewt-ud-{split}.conllu": TREES + split.encode() for split in ("train", "dev", "test")},
            f"{folder}/LICENSE.txt": b"CC BY-SA 4.0",
        }
        yield server
        server.shutdown()
        thread.join()


def test_a_treebank_is_fetched_once(server, tmp_path):
    command = ("download", "UD_English-EWT", "-o", tmp_path)
    done = run_here(*command)
    folder = tmp_path / "UD_English-EWT"
    assert (folder / "en_ewt-ud-dev.conllu").read_bytes() == TREES + b"dev"
    assert "licence: see UD_English-EWT/LICENSE.txt" in done.stdout and done.stdout.count(": fetched") == 4
    asked = len(server.asked)
    assert json.loads(run_here(*command, "--json").stdout)["UD_English-EWT"]["files"] == {
        str(folder / name): "here"
        for name in (*(f"en_ewt-ud-{split}.conllu" for split in ("train", "dev", "test")), "LICENSE.txt")
    }
    assert len(server.asked) == asked
    (folder / "en_ewt-ud-dev.conllu").write_text("changed")
    assert "has been changed since it was fetched" in run_here(*command, status=2).stderr


@pytest.mark.parametrize("ranges", [True, False])
def test_what_was_cut_off_is_continued(server, tmp_path, ranges):
    server.cut, server.ranges = 70_000, ranges
    command = ("download", "UD_English-EWT", "-o", tmp_path)
    cut = run_here(*command, status=2)
    assert "70000 of 120005 bytes arrived: run the same command again" in cut.stderr and cut.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.rglob("*.partial")] == ["en_ewt-ud-train.conllu.partial"]
    server.cut = None
    run_here(*command)
    assert (tmp_path / "UD_English-EWT" / "en_ewt-ud-train.conllu").read_bytes() == TREES + b"train"
    assert [wanted for path, wanted in server.asked if "train" in path] == [None, "bytes=70000-"]
    assert not list(tmp_path.rglob("*.partial"))


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("204 No Content\r\n\r\n", "says 204"),
        ("200 OK\r\n\r\n", "sent an empty file"),
        ("206 Partial Content\r\nContent-Range: bytes 5-8/9\r\n\r\nabcd", "says 206"),
    ],
)
def test_an_answer_without_a_file_is_one_line_and_keeps_nothing(server, tmp_path, monkeypatch, answer, said):
    monkeypatch.setattr(Handler, "do_GET", lambda self: self.wfile.write(f"HTTP/1.0 {answer}".encode()))
    done = run_here("download", "UD_English-EWT", "-o", tmp_path, status=2)
    assert f"train.conllu: the server {said}" in done.stderr and done.stderr.count("\n") == 1
    assert not list(tmp_path.rglob("*.*"))


@pytest.mark.parametrize("mirror", ["http://[", "http://", "mirror", "http://127.0.0.1:9"])
def test_a_mirror_that_is_not_there_is_one_line(server, mirror, tmp_path):
    done = run_here("download", "UD_English-EWT", "-o", tmp_path / "new", "--mirror", mirror, status=2)
    assert "can't be reached" in done.stderr and done.stderr.count("\n") == 1
    assert not server.asked and not list(tmp_path.iterdir())


def test_redirects_are_followed_but_not_without_end(server, tmp_path):
    (train,) = (path for path in server.files if "train" in path)
    server.moved = {train: "/there"}
    server.files["/there"] = TREES
    run_here("download", "UD_English-EWT", "-o", tmp_path / "a")
    assert (tmp_path / "a" / "UD_English-EWT" / "en_ewt-ud-train.conllu").read_bytes() == TREES
    server.moved |= {"/there": train}
    done = run_here("download", "UD_English-EWT", "-o", tmp_path / "b", status=2)
    assert "train.conllu: the server says 302" in done.stderr and done.stderr.count("\n") == 1


def test_a_file_that_is_fetched_again_is_the_same(server, tmp_path):
    source = CorpusSource((File(f"{UD}/UD_English-EWT/r2.15/LICENSE.txt"),), "x")
    assert list(fetch(source, tmp_path, server.address))
    (tmp_path / "LICENSE.txt").unlink()
    server.files = dict.fromkeys(server.files, b"another")
    with pytest.raises(InputError, match="the file has a wrong SHA-256"):
        list(fetch(source, tmp_path, server.address))
    assert [path.name for path in tmp_path.iterdir()] == ["sha256.json"]


@pytest.mark.parametrize("name", ["EWT", "UD_Klingon-X", "../UD_English-EWT", "UD_English-EWT/.."])
def test_unknown_names(name, server, tmp_path):
    run_here("download", name, "-o", tmp_path, status=2)
    assert not server.asked and not list(tmp_path.iterdir())


def test_the_list_needs_no_network(server):
    shown = run_here("download", "--list").stdout
    assert all(name in shown for name in SOURCES) and "r2.15" in shown and not server.asked


def test_other_releases_and_addresses():
    (train, *_) = source_of("UD_Ancient_Greek-PROIEL", "r2.14").files
    assert train.address == f"{UD}/UD_Ancient_Greek-PROIEL/r2.14/grc_proiel-ud-train.conllu"
    with pytest.raises(InputError):
        source_of("UD_English-EWT", "../x")

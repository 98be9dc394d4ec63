"""Downloads, from a server on this machine."""

import hashlib
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.conftest import run_here
from transition_parser.downloads import SOURCES, UD, VARIABLE, File, Source, fetch, source_of
from transition_parser.errors import InputError

TREES = b"1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n\n" * 5000


class Server(ThreadingHTTPServer):
    """files: path → content. cut: send no more bytes of a file than this. asked: the paths and ranges."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, bytes] = {}
        self.cut: int | None = None
        self.ranges, self.asked = True, []
        self.address = f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        content, wanted = self.server.files.get(self.path), self.headers.get("Range")
        self.server.asked.append((self.path, wanted))
        if content is None:
            return self.send_error(404)
        start = int(re.fullmatch(r"bytes=(\d+)-", wanted)[1]) if wanted and self.server.ranges else 0
        if start >= len(content) and start:
            return self.send_error(416)
        self.send_response(206 if wanted and self.server.ranges else 200)
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
    assert "70000 of 120005 bytes came: run the same command again" in cut.stderr and cut.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.rglob("*.*")] == ["en_ewt-ud-train.conllu.partial"]
    server.cut = None
    run_here(*command)
    assert (tmp_path / "UD_English-EWT" / "en_ewt-ud-train.conllu").read_bytes() == TREES + b"train"
    assert [wanted for path, wanted in server.asked if "train" in path] == [None, "bytes=70000-"]
    assert not list(tmp_path.rglob("*.partial"))


def test_a_whole_partial_file_is_fetched_again(server, tmp_path):
    (tmp_path / "UD_English-EWT").mkdir()
    (tmp_path / "UD_English-EWT" / "en_ewt-ud-train.conllu.partial").write_bytes(TREES * 2)
    run_here("download", "UD_English-EWT", "-o", tmp_path)
    assert (tmp_path / "UD_English-EWT" / "en_ewt-ud-train.conllu").read_bytes() == TREES + b"train"


def test_treebanks_without_training_data(server, tmp_path):
    for path in [path for path in server.files if "test" not in path]:
        del server.files[path]
    done = run_here("download", "UD_English-EWT", "-o", tmp_path)
    assert done.stdout.count(": not published") == 3
    assert {path.name for path in (tmp_path / "UD_English-EWT").iterdir()} == {"en_ewt-ud-test.conllu", "sha256.json"}


def test_a_treebank_that_there_is_not(server, tmp_path):
    done = run_here("download", "UD_English-NoSuch", "-o", tmp_path, status=2)
    assert "en_nosuch-ud-test.conllu: the server says 404" in done.stderr and done.stderr.count("\n") == 1
    assert not list(tmp_path.rglob("*.conllu*"))


def test_no_network(server, tmp_path):
    done = run_here("download", "UD_English-EWT", "-o", tmp_path, "--mirror", "http://127.0.0.1:9", status=2)
    assert "127.0.0.1:9 can't be reached" in done.stderr and done.stderr.count("\n") == 1
    assert not server.asked and not list(tmp_path.rglob("*.*"))


def test_a_known_sum_is_checked(server, tmp_path):
    address = f"{UD}/UD_English-EWT/r2.15/LICENSE.txt"
    due = hashlib.sha256(b"CC BY-SA 4.0").hexdigest()
    assert list(fetch(Source((File(address, due),), "x"), tmp_path / "a", server.address))
    with pytest.raises(InputError, match="SHA-256 is not the one that is known"):
        list(fetch(Source((File(address, "0" * 64),), "x"), tmp_path / "b", server.address))
    assert not list((tmp_path / "b").iterdir())


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

"""Downloads, from a server on this machine."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.conftest import run_here
from transition_parser.base.errors import InputError
from transition_parser.cli.download import AMRS, UD, VARIABLE, source_of

TREES = b"1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n\n" * 5000


class Server(ThreadingHTTPServer):
    """A server of files on this machine.

    files: path → content.
    asked: the paths.
    moved: path → where the server says that it is now.
    """

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, bytes] = {}
        self.asked: list[str] = []
        self.moved: dict[str, str] = {}
        self.address = f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        content = self.server.files.get(self.path)
        self.server.asked.append(self.path)
        if self.path in self.server.moved:
            self.send_response(302)
            self.send_header("Location", self.server.moved[self.path])
            return self.end_headers()
        if content is None:
            return self.send_error(404)
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

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
    assert "license: see UD_English-EWT/LICENSE.txt" in done.stdout and done.stdout.count(": fetched") == 4
    asked = len(server.asked)
    assert json.loads(run_here(*command, "--json").stdout)["UD_English-EWT"]["files"] == {
        str(folder / name): "here"
        for name in (*(f"en_ewt-ud-{split}.conllu" for split in ("train", "dev", "test")), "LICENSE.txt")
    }
    assert len(server.asked) == asked


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


def test_another_release_has_a_folder_of_its_own(server, tmp_path):
    server.files = {path.replace("r2.15", "r2.14"): content for path, content in server.files.items()}
    run_here("download", "UD_English-EWT", "--release", "r2.14", "-o", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["UD_English-EWT-r2.14"]


@pytest.mark.parametrize("name", ["EWT", "UD_Klingon-X", "../UD_English-EWT", "UD_English-EWT/.."])
def test_unknown_names(name, server, tmp_path):
    run_here("download", name, "-o", tmp_path, status=2)
    assert not server.asked and not list(tmp_path.iterdir())


def test_the_list_needs_no_network(server):
    shown = run_here("download", "--list").stdout
    assert all(name in shown for name in AMRS) and "r2.15" in shown and not server.asked


def test_other_releases_and_addresses():
    (train, *_) = source_of("UD_Ancient_Greek-PROIEL", "r2.14").files
    assert train == f"{UD}/UD_Ancient_Greek-PROIEL/r2.14/grc_proiel-ud-train.conllu"
    with pytest.raises(InputError):
        source_of("UD_English-EWT", "../x")

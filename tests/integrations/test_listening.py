"""The server under the app, on this machine: time-outs, room for connections, errors in JSON, and a quiet log."""

import asyncio
import json
import logging
import resource
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager

import pytest

pytest.importorskip("fastapi", reason="pip install 'transition-parser[serve]'")

from starlette.responses import PlainTextResponse

from transition_parser.base.errors import InputError
from transition_parser.base.process import open_files
from transition_parser.integrations.guards import WholeRequests
from transition_parser.integrations.listening import OncePerSecond, _Config, _Server, bound_socket

WHOLE = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


class App:
    """Answers when it may. begun: how many requests it has got."""

    def __init__(self) -> None:
        self.go, self.begun = threading.Event(), threading.Semaphore(0)
        self.go.set()

    async def __call__(self, scope, receive, send):
        if scope["type"] == "http":
            self.begun.release()
            await asyncio.to_thread(self.go.wait, 60)
            await PlainTextResponse("here")(scope, receive, send)


@contextmanager
def listening(header_seconds: float = 60, connections: int = 100, seconds: float = 60):
    """The app, and a function that connects to it."""
    app = App()
    server = _Server(_Config(WholeRequests(app, 1000, seconds), header_seconds, connections, False))
    server.capture_signals = contextmanager(lambda: (yield))  # of the main thread alone
    with bound_socket("127.0.0.1", 0) as bound:
        address = bound.getsockname()
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
        thread.start()
        opened = []

        def connect(sent: bytes = b"") -> socket.socket:
            opened.append(socket.create_connection(address, 60))
            opened[-1].sendall(sent)
            return opened[-1]

        try:
            yield app, connect
        finally:
            app.go.set()
            server.should_exit = server.force_exit = True
            thread.join(60)
            for one in opened:
                one.close()


def answer(connection: socket.socket) -> tuple[int, str]:
    """Status and content of the answer, at whose end the server ends the connection."""
    head, _, body = b"".join(iter(lambda: connection.recv(4096), b"")).partition(b"\r\n\r\n")
    if not head:
        return 0, ""
    assert b"connection: close" in head.lower(), head
    return int(head.split()[1]), json.loads(body)["error"] if b"json" in head else body.decode()


def here(connection: socket.socket) -> bool:
    """Whether the app has answered, and the connection is kept."""
    found = b""
    while not found.endswith(b"here") and (more := connection.recv(4096)):
        found += more
    return found.endswith(b"here")


@pytest.mark.parametrize(
    ("sent", "status", "problem"),
    [
        (WHOLE[:-2], 408, "the headers did not arrive within 0.05 seconds"),
        (b"", 0, ""),
        (b"no HTTP\r\n\r\n", 400, "the HTTP request can't be read, or its headers are too long"),
        (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc", 408, "the whole request did not arrive within"),
    ],
    ids=["headers", "nothing", "no HTTP", "body"],
)
def test_half_a_request_is_refused_in_json(sent, status, problem):
    with listening(header_seconds=0.05, seconds=0.05) as (_, connect):
        found, said = answer(connect(sent))
        assert found == status and said.startswith(problem)


def test_the_time_for_headers_is_not_that_for_an_answer():
    with listening(header_seconds=0.05) as (app, connect):
        app.go.clear()
        slow = connect(WHOLE)
        assert app.begun.acquire(timeout=60)
        assert answer(connect(WHOLE[:-2]))[0] == 408  # so long took nobody yet
        app.go.set()
        assert here(slow)


def test_a_second_request_of_a_connection_has_its_own_time():
    with listening(header_seconds=0.05) as (_, connect):
        kept = connect(WHOLE + WHOLE[:10])
        assert here(kept)
        assert answer(kept)[0] == 408


def test_connections_without_a_request_make_room_and_the_oldest_first():
    def answered() -> socket.socket:
        one = connect(WHOLE)
        assert here(one)
        return one

    with listening(connections=3) as (_, connect):
        silent, half, kept = answered(), answered(), answered()
        half.sendall(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc")
        kept.sendall(WHOLE)
        assert here(kept) and answered() and answered()
        assert silent.recv(1) == half.recv(1) == b""
        kept.sendall(WHOLE)
        assert here(kept)


def test_requests_that_are_being_answered_keep_their_connections():
    with listening(connections=2) as (app, connect):
        app.go.clear()
        first = [connect(WHOLE) for _ in range(2)]
        assert all(app.begun.acquire(timeout=60) for _ in first)
        assert answer(connect())[0] == 503
        app.go.set()
        assert all(here(one) for one in first)


def test_the_body_of_head_is_left_out():
    with listening() as (_, connect):
        found = connect(WHOLE.replace(b"GET", b"HEAD")).recv(4096)
        assert b"content-length: 4" in found and found.endswith(b"\r\n\r\n")


def test_each_cause_has_one_line_a_second(caplog):
    now = [0.0]
    logger, once = logging.getLogger("test.of.listening"), OncePerSecond(lambda: now[0])
    logger.addFilter(once)
    for second in (0.0, 0.2, 0.9, 1.1, 1.2, 5.0):
        now[0] = second
        logger.error("out of %s\nfd=%s", "files", second, exc_info=OSError(24, "Too many open files"))
        logger.warning("another: %d", 5)
    logger.removeFilter(once)
    files = [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]
    assert files == ["out of files: [Errno 24] Too many open files"] + [
        f"out of files: [Errno 24] Too many open files ({more} more before)" for more in (2, 1)
    ]
    assert all(record.exc_info is None for record in caplog.records)
    others = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert others == ["another: 5", "another: 5 (2 more before)", "another: 5 (1 more before)"]


def test_a_bug_keeps_its_traceback():
    record = logging.LogRecord("a", logging.ERROR, "", 0, "b", (), (ZeroDivisionError, ZeroDivisionError(), None))
    assert OncePerSecond().filter(record) and record.exc_info


LIMITED = """
import resource
from transition_parser.base.process import open_files
resource.setrlimit(resource.RLIMIT_NOFILE, (40, 100))
few, many = open_files(10), open_files(1000)
print(few < 40, many, resource.getrlimit(resource.RLIMIT_NOFILE))
"""


def test_the_limit_of_files_is_raised_as_far_as_it_goes():
    done = subprocess.run([sys.executable, "-c", LIMITED], capture_output=True, text=True)
    few, many, *limits = done.stdout.split(maxsplit=2)
    assert few == "True" and 60 < int(many) < 100 and limits == ["(100, 100)\n"], done.stdout + done.stderr
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert open_files(1) >= 1 and resource.getrlimit(resource.RLIMIT_NOFILE) == before


@pytest.mark.parametrize("host", [".foo", "a" * 64])
def test_what_is_no_name_of_a_host(host):
    with pytest.raises(InputError, match="is not the name of a host"):
        bound_socket(host, 0)

"""The server under the app, on this machine: its limits for headers, bodies, connections and readers."""

import asyncio
import json
import socket
import threading
from contextlib import contextmanager

import pytest

from transition_parser.base.errors import InputError

pytest.importorskip("fastapi", reason="pip install '.[serve]'")
pytest.importorskip("granian", reason="pip install '.[serve]'")

from starlette.responses import PlainTextResponse

from transition_parser.integrations.server import Guard, bound_socket, make_server

WHOLE = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
POST = b"POST / HTTP/1.1\r\nHost: a\r\n"
BOTH = POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"


class App:
    """Answers when it may, with as many bytes as the path says. begun: how many requests it has got."""

    def __init__(self) -> None:
        self.go, self.begun = threading.Event(), threading.Semaphore(0)
        self.go.set()

    async def __call__(self, scope, receive, send):
        if scope["type"] == "http":
            self.begun.release()
            await asyncio.to_thread(self.go.wait, 60)
            await PlainTextResponse("x" * int(scope["path"][1:] or 4))(scope, receive, send)


@contextmanager
def listening(seconds: float = 60, connections: int = 100):
    """The app, and a function that connects to it."""
    app, ready, ended = App(), threading.Event(), []

    async def run():
        stop, loop = asyncio.Event(), asyncio.get_running_loop()
        server = make_server(Guard(app, 1000, seconds), bound, False, seconds, connections)
        serving = asyncio.ensure_future(server.serve())
        ended.append(lambda: loop.call_soon_threadsafe(stop.set))
        ready.set()
        await stop.wait()
        server.stop()
        await asyncio.wait_for(serving, 30)

    with bound_socket("127.0.0.1", 0) as bound:
        address, opened = bound.getsockname(), []
        thread = threading.Thread(target=lambda: asyncio.run(run()))
        thread.start()
        assert ready.wait(60)

        def connect(sent: bytes = b"") -> socket.socket:
            opened.append(socket.create_connection(address, 60))
            opened[-1].sendall(sent)
            return opened[-1]

        try:
            yield app, connect
        finally:
            app.go.set()
            for one in opened:
                one.close()
            ended[0]()
            thread.join(60)
            assert not thread.is_alive()


def answer(connection: socket.socket) -> tuple[int, str]:
    """Status and content of the answer, at whose end the server ends the connection; 0 if there is none."""
    try:
        head, _, body = b"".join(iter(lambda: connection.recv(1 << 16), b"")).partition(b"\r\n\r\n")
    except ConnectionResetError:
        return 0, ""
    return (int(head.split()[1]), json.loads(body)["error"] if b"json" in head else body.decode()) if head else (0, "")


@pytest.mark.parametrize(
    ("sent", "status", "problem"),
    [
        (WHOLE[:-2], 0, ""),
        (b"", 0, ""),
        (b"no HTTP\r\n\r\n", 400, ""),
        (POST + b"Content-Length: 9\r\n\r\nabc", 408, "the whole request did not arrive within 0.2 seconds"),
    ],
    ids=["headers", "nothing", "no HTTP", "body"],
)
def test_half_a_request_ends_its_connection(sent, status, problem):
    with listening(seconds=0.2) as (_, connect):
        assert answer(connect(sent)) == (status, problem)


def test_the_time_for_headers_is_not_that_for_an_answer():
    with listening(seconds=0.2) as (app, connect):
        app.go.clear()
        slow = connect(WHOLE)
        assert app.begun.acquire(timeout=60)
        assert answer(connect(WHOLE[:-2])) == (0, "")  # so long took nobody yet
        app.go.set()
        assert answer(slow) == (200, "xxxx")


@pytest.mark.parametrize("sent", [WHOLE * 9, BOTH + WHOLE], ids=["pipelined", "of two lengths"])
def test_a_connection_has_one_request(sent):
    with listening() as (app, connect):
        assert answer(connect(sent)) in [(200, "xxxx"), (0, "")]  # a reset, if bytes were left unread
        assert app.begun.acquire(timeout=60) and not app.begun.acquire(timeout=0.1)


def test_further_connections_wait_until_others_end():
    with listening(connections=2) as (app, connect):
        app.go.clear()
        first = [connect(WHOLE) for _ in range(2)]
        assert all(app.begun.acquire(timeout=60) for _ in first)
        third = connect(WHOLE)
        assert not app.begun.acquire(timeout=0.2)
        app.go.set()
        assert [answer(one) for one in (*first, third)] == [(200, "xxxx")] * 3


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="only Linux ends connections that read nothing")
def test_clients_that_never_read_do_not_keep_their_connections():
    with listening(seconds=0.5, connections=2) as (app, connect):
        for _ in range(2):
            connect(WHOLE.replace(b"/ ", b"/30000000 "))
        assert all(app.begun.acquire(timeout=60) for _ in range(2))
        assert answer(connect(WHOLE)) == (200, "xxxx")


def test_the_body_of_head_is_left_out():
    with listening() as (_, connect):
        found = connect(WHOLE.replace(b"GET", b"HEAD")).recv(4096)
        assert b"content-length: 4" in found and found.endswith(b"\r\n\r\n")


@pytest.mark.parametrize("host", [".foo", "a" * 64])
def test_what_is_no_name_of_a_host(host):
    with pytest.raises(InputError, match="can't listen on port 0 of"):
        bound_socket(host, 0)

"""The server under the app, on this machine."""

import asyncio
import json
import socket
import threading
from contextlib import contextmanager

import pytest

from transition_parser.base.errors import InputError

pytest.importorskip("fastapi", reason="pip install '.[serve]'")
pytest.importorskip("uvicorn", reason="pip install '.[serve]'")

from starlette.responses import PlainTextResponse

from transition_parser.integrations.server import Guard, bound_socket, make_server

WHOLE = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


@contextmanager
def listening(seconds: float = 60):
    """A function that connects to a server."""
    server = make_server(Guard(PlainTextResponse("xxxx"), 1000, seconds), False)
    server.config.lifespan = "off"
    with bound_socket("127.0.0.1", 0) as bound:
        address, opened = bound.getsockname(), []
        thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[bound])))
        thread.start()

        def connect(sent: bytes) -> socket.socket:
            opened.append(socket.create_connection(address, 60))
            opened[-1].sendall(sent)
            return opened[-1]

        try:
            yield connect
        finally:
            for one in opened:
                one.close()
            server.should_exit = True
            thread.join(60)
            assert not thread.is_alive()


def answer(connection: socket.socket) -> tuple[int, str]:
    """Status and content of the answer, at whose end the server ends the connection."""
    head, _, body = b"".join(iter(lambda: connection.recv(1 << 16), b"")).partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)["error"] if b"json" in head else body.decode()


@pytest.mark.parametrize(
    ("sent", "status", "said"),
    [
        (WHOLE, 200, "xxxx"),
        (b"no HTTP\r\n\r\n", 400, "Invalid HTTP request received."),
        (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc", 408, "did not arrive within 0.2 seconds"),
    ],
    ids=["whole", "no HTTP", "half of a body"],
)
def test_requests_that_are_not_whole_are_refused(sent, status, said):
    with listening(seconds=0.2) as connect:
        found, content = answer(connect(sent))
        assert found == status and content.endswith(said)


def test_the_body_of_head_is_left_out():
    with listening() as connect:
        head = connect(WHOLE.replace(b"GET", b"HEAD")).recv(4096)
        assert b"content-length: 4" in head and head.endswith(b"\r\n\r\n")


@pytest.mark.parametrize("host", [".foo", "a" * 64])
def test_what_is_no_name_of_a_host(host):
    with pytest.raises(InputError, match="can't listen on port 0 of"):
        bound_socket(host, 0)

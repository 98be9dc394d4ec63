"""The granian server that runs the app: its socket, its limits, and its shutdown."""

from __future__ import annotations

import asyncio
import errno
import signal
import socket
import sys
from typing import Any

from fastapi import FastAPI
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LOGGING_CONFIG, LogLevels
from granian.net import SocketHolder  # type: ignore[attr-defined]
from granian.server.embed import Server

from transition_parser.base.errors import InputError
from transition_parser.base.process import open_files

_QUEUE = 1024  # connections that the operating system holds until they are accepted
_SPARE_FILES = 64  # files that the process may open besides connections
_GRACE = 10.0  # seconds that requests have to end when the server is ended


def bound_socket(host: str, port: int) -> socket.socket:
    """Return a listening socket at the address; port 0 stands for any free port."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        bound = socket.socket(family, kind, protocol)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        bound.listen(_QUEUE)
    except UnicodeError:
        raise InputError(f"{host!r} is not the name of a host: give one such as 127.0.0.1") from None
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise InputError(
                f"port {port} of {host} is taken: give another port with --port (0: any free port)"
            ) from None
        raise InputError(f"can't listen on port {port} of {host}: {error.strerror or error}") from None
    return bound


class _Server(Server):
    """granian's server on a socket that listens already."""

    def __init__(self, bound: socket.socket, app: FastAPI, **settings: Any) -> None:
        super().__init__(app, **settings)
        self._bound = bound

    def _init_shared_socket(self) -> None:
        # it closes the copy; granian's stubs lack its arguments
        self._shd = SocketHolder(self._bound.dup().detach(), False, _QUEUE)  # type: ignore[call-arg,assignment]


def make_server(app: FastAPI, bound: socket.socket, log: bool, seconds: float, connections: int) -> _Server:
    """Return the server of an app. See `serve` for the arguments."""
    room = open_files(connections + _SPARE_FILES) - _SPARE_FILES
    if room < 1:
        raise InputError("this process can't open enough files to serve: raise the limit (`ulimit -n`)")
    bound.setblocking(False)
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # on Linux; accepted connections inherit it
        bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(1000 * seconds))
    defaults: dict[str, Any] = LOGGING_CONFIG
    on_stderr = {name: {**one, "stream": "ext://sys.stderr"} for name, one in defaults["handlers"].items()}
    return _Server(
        bound,
        app,
        interface=Interfaces.ASGI,
        http=HTTPModes.http1,
        # one request for each connection: who sends many and reads no answer holds up nobody
        http1_settings=HTTP1Settings(header_read_timeout=int(1000 * seconds), keep_alive=False),
        websockets=False,
        backpressure=min(connections, room),
        log_level=LogLevels.error,
        log_dictconfig={"handlers": on_stderr},
        log_access=log,
    )


def serve(
    app: FastAPI, bound: socket.socket, log: bool = False, seconds: float = 10.0, connections: int = 1024
) -> None:
    """Serve until SIGINT or SIGTERM; requests that are being answered are finished first."""
    server = make_server(app, bound, log, seconds, connections)
    host, port = bound.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    print(f"transition-parser: http://{shown}:{port}/ (Ctrl+C ends it)", file=sys.stderr, flush=True)
    asyncio.run(_until_signal(server))


async def _until_signal(server: Server) -> None:
    serving, ended = asyncio.ensure_future(server.serve()), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    ending = asyncio.ensure_future(ended.wait())
    await asyncio.wait([serving, ending], return_when=asyncio.FIRST_COMPLETED)
    server.stop()
    await asyncio.wait([serving], timeout=_GRACE)

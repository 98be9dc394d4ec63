"""The uvicorn server that runs the app: its socket, its connections, its log, and its shutdown."""

from __future__ import annotations

import asyncio
import errno
import json
import logging
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import cast

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from transition_parser.base.errors import InputError
from transition_parser.base.process import open_files

_QUEUE = 1024  # connections that the operating system holds until they are accepted
_AT_ONCE = 16  # connections that asyncio accepts in each turn of its loop
_TURNS = 6  # at most this many turns pass until a new connection has ended an old one
_SPARE_FILES = 32  # files that the process may open besides connections


def bound_socket(host: str, port: int) -> socket.socket:
    """Return a listening socket at the address; port 0 stands for any free port.

    Raises `InputError` if the address cannot be listened on.
    """
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


class _Config(uvicorn.Config):
    """uvicorn's settings, and two more.

    header_seconds: time from the start of a connection, or from the previous answer, until all headers have arrived
    connections: largest number of connections; a further one ends the oldest connection without a whole request
    """

    def __init__(self, app: FastAPI, header_seconds: float, connections: int, log: bool) -> None:
        super().__init__(
            app,
            http=_Connection,
            log_level="info" if log else "warning",
            access_log=log,
            backlog=_AT_ONCE,
            timeout_graceful_shutdown=10,
            server_header=False,
        )
        self.header_seconds, self.connections = header_seconds, connections
        self.incomplete: dict[_Connection, None] = {}  # connections without a whole request, oldest first


class _Connection(H11Protocol):
    """uvicorn's connection, which times out without headers, can make way for a new one, and sends errors as JSON."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin a connection; if there are too many, end another connection."""
        self.bounds = cast(_Config, self.config)
        self.headers_due: asyncio.TimerHandle | None = None
        super().connection_made(transport)
        self._watch()
        if len(self.connections) > self.bounds.connections:
            next(iter(self.bounds.incomplete))._make_room()

    def data_received(self, data: bytes) -> None:
        """Take bytes of a request."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Wait for the next request of the same client."""
        super().on_response_complete()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        super().connection_lost(exc)
        self._unwatch()

    def _watch(self) -> None:
        """Start or stop the timer of missing headers, and update `_Config.incomplete`."""
        state, ends = self.conn.their_state, self.transport.is_closing()
        if ends or state is not h11.IDLE:
            self._cancel_deadline()
        elif self.headers_due is None:
            self.headers_due = self.loop.call_later(self.bounds.header_seconds, self._headers_missing)
        if not ends and state in (h11.IDLE, h11.SEND_BODY):
            self.bounds.incomplete.setdefault(self)
        else:
            self.bounds.incomplete.pop(self, None)

    def _unwatch(self) -> None:
        self._cancel_deadline()
        self.bounds.incomplete.pop(self, None)

    def _cancel_deadline(self) -> None:
        if self.headers_due is not None:
            self.headers_due.cancel()
            self.headers_due = None

    def _headers_missing(self) -> None:
        if self._has_begun_a_request():
            self._refuse(408, f"the headers did not arrive within {self.bounds.header_seconds:g} seconds")
        else:
            self.transport.close()

    def _has_begun_a_request(self) -> bool:
        """Return True if bytes of headers have arrived.

        Otherwise no error is sent, because the client would take the error as the answer to its next request.
        """
        received, _ = self.conn.trailing_data
        return bool(received)

    def _make_room(self) -> None:
        """End the connection in favour of a new one."""
        if self.conn.their_state is not h11.IDLE:
            self.transport.abort()  # the app is reading the body and learns that the client is gone
        elif self.cycle is None or self._has_begun_a_request():
            self._refuse(503, "too many connections: try again later")
        else:
            self.transport.close()
        self._unwatch()

    def send_400_response(self, msg: str) -> None:
        """Answer that no request could be read."""
        self._refuse(400, "the HTTP request can't be read, or its headers are too long")

    def _refuse(self, status: int, problem: str) -> None:
        """Answer with an error before the app gets a request, and end the connection."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            body = json.dumps({"error": problem}).encode()
            headers = [
                ("Content-Type", "application/json"),
                ("Content-Length", str(len(body))),
                ("Connection", "close"),
            ]
            reason = HTTPStatus(status).phrase
            for event in (
                h11.Response(status_code=status, headers=headers, reason=reason),
                h11.Data(data=body),
                h11.EndOfMessage(),
            ):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


class _Server(uvicorn.Server):
    """uvicorn's server, which SIGINT and SIGTERM end without an exception.

    Requests that are being answered are finished first.
    """

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for bound in sockets or ():
            bound.listen(_QUEUE)  # uvicorn has shortened the queue to its setting `backlog` (_AT_ONCE)
            host, port = bound.getsockname()[:2]
            shown = f"[{host}]" if ":" in host else host
            print(f"transition-parser: http://{shown}:{port}/ (Ctrl+C ends it)", file=sys.stderr, flush=True)


class OncePerSecond(logging.Filter):
    """A filter that passes at most one log record of each cause in a second.

    The record says how many records of its cause were held back before it. A cause is the logger, the first line of the
    message and the class of the error. Errors of the operating system become one line; all others keep their traceback.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._passed: dict[tuple[str, str, type | None], float] = {}
        self._held: dict[tuple[str, str, type | None], int] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return True if the record is to be written; this may change its message."""
        kind, error, _ = record.exc_info or (None, None, None)
        cause, now = (record.name, str(record.msg).partition("\n")[0], kind), self._clock()
        if now - self._passed.get(cause, float("-inf")) < 1:
            self._held[cause] = self._held.get(cause, 0) + 1
            return False
        self._passed[cause] = now
        if isinstance(error, OSError):
            first = record.getMessage().partition("\n")[0]
            record.msg, record.args, record.exc_info = f"{first}: {error}", (), None
        if more := self._held.pop(cause, 0):
            record.msg = f"{str(record.msg).rstrip()} ({more:,} more before)"
        return True


@contextmanager
def _quiet_logs() -> Iterator[None]:
    """Limit the log lines about connections while the block runs."""
    loggers = [logging.getLogger(name) for name in ("asyncio", "uvicorn.error")]
    once = OncePerSecond()
    for logger in loggers:
        logger.addFilter(once)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(once)


def serve(
    app: FastAPI, bound: socket.socket, log: bool = False, header_seconds: float = 10.0, connections: int = 1024
) -> None:
    """Serve until a signal ends the server.

    log: write a line for each request to standard error
    header_seconds: longest time until all headers of a request have arrived
    connections: largest number of simultaneous connections; fewer if the system grants the process fewer open files

    Raises `InputError` if the process may not open enough files.
    """
    spare = _TURNS * _AT_ONCE + _SPARE_FILES
    room = open_files(connections + spare) - spare
    if room < 1:
        raise InputError("this process can't open enough files to serve: raise the limit (`ulimit -n`)")
    config = _Config(app, header_seconds, min(connections, room), log)
    with _quiet_logs():
        _Server(config).run(sockets=[bound])

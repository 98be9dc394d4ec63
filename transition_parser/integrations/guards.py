"""ASGI middleware between the network and the app.

It collects whole requests, notices clients that leave, checks the name of the host, and answers HEAD.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from fastapi.responses import JSONResponse
from starlette.middleware.trustedhost import TrustedHostMiddleware

RETRY_SECONDS = 5
_CLOSE = {"Connection": "close"}  # for refused requests, whose remaining bytes are not read


def refusal(status: int, problem: str, close: bool = False) -> JSONResponse:
    """Return the answer to a request that gets no parse: a JSON object with the key `error`.

    close: True to end the connection
    """
    headers = {"Retry-After": str(RETRY_SECONDS)} if status == 503 else {}
    return JSONResponse({"error": problem}, status, headers | (_CLOSE if close else {}))


class _TooLongError(Exception):
    """The error of a request whose body has more bytes than are allowed."""


class WholeRequests:
    """Middleware that passes on whole requests, and ends the work on a request when its client leaves.

    Requests that arrive too slowly or are too long are refused.

    most: largest size of a body in bytes; received bytes are counted, since a Content-Length may be wrong
    seconds: longest time from the last header to the end of the body
    """

    def __init__(self, app: Any, most: int, seconds: float) -> None:
        self.app, self.most, self.seconds = app, most, seconds

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        try:
            problem = await self._answer(scope, receive, send)
        except asyncio.CancelledError:
            problem = refusal(503, "the server is shutting down", close=True)
        if problem is not None:
            await problem(scope, receive, send)

    async def _answer(self, scope: Any, receive: Any, send: Any) -> JSONResponse | None:
        """Let the app answer a request, or return the refusal of a request that is too slow or too long.

        Returns None if the app has answered or the client has left.
        """
        try:
            async with asyncio.timeout(self.seconds):
                body = await self._body(receive)
        except TimeoutError:
            return refusal(408, f"the whole request did not arrive within {self.seconds:g} seconds", close=True)
        except _TooLongError:
            return refusal(413, f"the request is longer than {self.most:,} bytes", close=True)
        if body is not None:
            await self._while_client_waits(body, scope, receive, send)
        return None

    async def _body(self, receive: Any) -> bytes | None:
        """Return the whole body, or None if the client has left. Raises `_TooLongError` for a too long body."""
        body, more = bytearray(), True
        while more:
            message = await receive()
            if message["type"] != "http.request":
                return None
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > self.most:
                raise _TooLongError
        return bytes(body)

    async def _while_client_waits(self, body: bytes, scope: Any, receive: Any, send: Any) -> None:
        left = asyncio.ensure_future(_left(receive))
        messages = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def received() -> Any:
            if message := next(messages, None):
                return message
            await asyncio.wait([left])
            return {"type": "http.disconnect"}

        work = asyncio.ensure_future(self.app(scope, received, send))
        try:
            await asyncio.wait([work, left], return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                await work  # raises the error of the app
        finally:
            work.cancel()
            left.cancel()
            await asyncio.gather(work, left, return_exceptions=True)


async def _left(receive: Any) -> None:
    """Return once the client has left."""
    while (await receive())["type"] != "http.disconnect":
        continue


class Hosts:
    """Middleware that refuses requests for hosts that are not allowed.

    The rule is that of Starlette's `TrustedHostMiddleware`.

    allowed: host names without a port; `*.example.org` allows all its subdomains, `*` any host
    """

    def __init__(self, app: Any, allowed: Sequence[str]) -> None:
        self.app, self.allowed = app, allowed

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass on a request for an allowed host, and refuse any other."""
        if await self._allows(scope, receive):
            await self.app(scope, receive, send)
            return
        problem = "the Host of the request is not allowed: see --allowed-hosts of the server"
        await refusal(400, problem, close=True)(scope, receive, send)

    async def _allows(self, scope: Any, receive: Any) -> bool:
        passed = False

        async def passes(*_: Any) -> None:
            nonlocal passed
            passed = True

        async def nowhere(_message: Any) -> None:
            return None

        await TrustedHostMiddleware(passes, self.allowed, www_redirect=False)(scope, receive, nowhere)
        return passed


class HeadAsGet:
    """Middleware that turns HEAD into GET for the app; the server leaves the body out of the answer."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass on a request."""
        if scope["type"] == "http" and scope["method"] == "HEAD":
            scope = {**scope, "method": "GET"}
        await self.app(scope, receive, send)

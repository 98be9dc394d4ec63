"""ASGI middleware between the network and the app: only whole requests for allowed hosts pass."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import Any

from fastapi.responses import JSONResponse
from starlette.datastructures import Headers

RETRY_SECONDS = 5


def refusal(status: int, problem: str) -> JSONResponse:
    """Return the answer to a request that gets no parse: a JSON object with the key `error`."""
    return JSONResponse({"error": problem}, status, {"Retry-After": str(RETRY_SECONDS)} if status == 503 else {})


class Guard:
    """Middleware that passes on whole requests, and refuses those that are too slow, too long or for another host.

    hosts: host names without a port; `*.example.org` allows all its subdomains, `*` any host
    most: largest size of a body in bytes; received bytes are counted, since a Content-Length may be wrong
    seconds: longest time from the last header to the end of the body
    """

    def __init__(self, app: Any, hosts: Sequence[str], most: int, seconds: float) -> None:
        self.app, self.most, self.seconds = app, most, seconds
        self.hosts = [host.lower() for host in hosts]

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""
        answer = self.app
        if scope["type"] == "http":
            if not self._allows(Headers(scope=scope).get("host", "")):
                answer = refusal(400, "the Host of the request is not allowed: see --allowed-hosts of the server")
            else:
                try:
                    async with asyncio.timeout(self.seconds):
                        body, last = await self._body(receive)
                except TimeoutError:
                    answer = refusal(408, f"the whole request did not arrive within {self.seconds:g} seconds")
                else:
                    if last["type"] != "http.request":  # the client has left
                        return
                    if len(body) > self.most:
                        answer = refusal(413, f"the request is longer than {self.most:,} bytes")
                    whole = [{"type": "http.request", "body": body, "more_body": False}]
                    begun, receive = receive, lambda: _next(whole, begun)
        await answer(scope, receive, send)

    def _allows(self, host: str) -> bool:
        name = re.sub(r":\d*$", "", host).lower()
        return any(one in ("*", name) or (one[0] == "*" and name.endswith(one[1:])) for one in self.hosts)

    async def _body(self, receive: Any) -> tuple[bytes, Any]:
        """Return the body, or its begin if it is too long or the client has left, and the last message."""
        body, message = bytearray(), {"more_body": True}
        while message.get("more_body", False) and len(body) <= self.most:
            message = await receive()
            body += message.get("body", b"")
        return bytes(body), message


async def _next(whole: list[Any], receive: Any) -> Any:
    return whole.pop() if whole else await receive()

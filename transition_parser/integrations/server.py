"""The FastAPI application with the page and the JSON API of parsers, and the uvicorn server that runs it."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import logging
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field, model_validator
from starlette.exceptions import HTTPException as NotServed
from starlette.middleware.gzip import GZipMiddleware
from uvicorn import Config, Server

from transition_parser.analysis.traces import graph_data, trace
from transition_parser.base import __version__
from transition_parser.base.errors import InputError
from transition_parser.drawing import svg as drawing
from transition_parser.parsing.parser import Parser
from transition_parser.parsing.texts import sentences_from

_A_WORD, _BESIDE = 100, 4096  # bytes of a request: for each word of the longest text, and besides
RETRY_SECONDS = 5
_QUEUE = 1024  # connections that the operating system holds until they are accepted
_CONNECTIONS = 512  # connections at a time; further ones are refused. Most systems let a process open 1,024 files
_GRACE = 10  # seconds that requests have to end when the server is ended


@dataclass(frozen=True)
class Limits:
    """Upper bounds of a request and of the work of the server."""

    words: int = 2_000
    sentence: int = 400  # words of a sentence; all other requests wait while a sentence is parsed
    seconds: float = 60.0  # seconds from the end of a request to its answer
    reading: float = 10.0  # seconds for the body of a request
    waiting: int = 256  # number of requests in the queue


class Text(BaseModel):
    """The input of the parser: either a text or sentences as lists of words."""

    model_config = ConfigDict(extra="forbid")

    model: str = Field(description="name of a model, as listed by /api/models", examples=["en-ewt"])
    text: str | None = Field(None, description="text with any number of sentences", examples=["She sells sea shells."])
    sentences: list[list[str]] | None = Field(None, description="instead of a text: sentences, each a list of words")
    drawing: bool = Field(False, description="whether graphs are drawn, too, in SVG")

    @model_validator(mode="after")
    def _one_of_both(self) -> Text:
        if (self.text is None) == (self.sentences is None):
            raise ValueError("give either text or sentences")
        return self


class SentenceOfText(Text):
    """One sentence of a text."""

    sentence: int = Field(0, ge=0, description="number of the sentence, counted from 0")
    derivation: int = Field(0, ge=0, description="number of the derivation whose steps are sent, the best is 0")


# --- turns in a thread -----------------------------------------------------------------------


SLICE = 8  # sentences of a request that are parsed at once

Divide = Callable[[], Sequence[Any]]  # returns the sentences of a request
Work = Callable[[Sequence[Any]], Sequence[Any]]  # returns the result of each sentence of a slice


class BusyError(Exception):
    """The error of a request that comes while too many requests are waiting."""


class Turns:
    """A thread in which requests take turns: a slice of the sentences of each, so that short requests wait little."""

    def __init__(self, limits: Limits) -> None:
        self._limits, self._waiting = limits, 0
        self._thread = ThreadPoolExecutor(1)

    async def results(self, divide: Divide, work: Work) -> list[Any]:
        """Return the result of each sentence of a request.

        Raises `BusyError` where too many requests wait, and `TimeoutError` where the request takes too long.
        """
        if self._waiting >= self._limits.waiting:
            raise BusyError
        self._waiting += 1
        found: list[Any] = []
        try:
            async with asyncio.timeout(self._limits.seconds):
                run = partial(asyncio.get_running_loop().run_in_executor, self._thread)
                sentences = await run(divide)
                for first in range(0, len(sentences), SLICE):
                    found += await run(work, sentences[first : first + SLICE])
            return found
        finally:
            self._waiting -= 1

    def close(self) -> None:
        """Finish the slice that is being parsed, and cancel all requests."""
        self._thread.shutdown(cancel_futures=True)


def _parses(parser: Parser, asked: Text, sentences: Sequence[Any]) -> list[dict[str, Any]]:
    return [graph_data(parse, parse.annotated(), asked.drawing) for parse in parser.parse_stream(sentences)]


def _traces(parser: Parser, asked: SentenceOfText, sentences: Sequence[Any]) -> list[str]:
    found = (trace(parser, one, None, asked.derivation, asked.drawing) for one in sentences)
    return [_json(one.as_data()) for one in found]


_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


# --- requests ---------------------------------------------------------------------------------


class _Service:
    def __init__(self, parsers: dict[str, Parser], limits: Limits, descriptions: Mapping[str, str | None]) -> None:
        self.parsers, self.limits, self.descriptions = parsers, limits, descriptions
        # no parse waits for a derivation of a long sentence, which can't be divided into slices
        self.parsing, self.tracing = Turns(limits), Turns(limits)

    def close(self) -> None:
        self.parsing.close()
        self.tracing.close()

    def models(self) -> dict[str, Any]:
        models = [
            {"name": name, "description": self.descriptions.get(name), "formalism": parser.formalism.name}
            | {"system": parser.resources.parser.system, "beam": parser.beam}
            | {"actions": not parser.model.searches_directly}
            for name, parser in self.parsers.items()
        ]
        limits = {name: getattr(self.limits, name) for name in ("words", "seconds")}
        return {"version": __version__, "models": models, "limits": limits}

    async def parse(self, asked: Text) -> dict[str, Any]:
        parser = self._parser(asked)
        divide, work = partial(self._sentences, parser, asked), partial(_parses, parser, asked)
        found = await self.parsing.results(divide, work)
        system = parser.resources.parser.system
        return {"model": asked.model, "formalism": parser.formalism.name, "system": system, "sentences": found}

    async def derivation(self, asked: SentenceOfText) -> str:
        parser = self._parser(asked)
        divide, work = partial(self._sentence, parser, asked), partial(_traces, parser, asked)
        (found,) = await self.tracing.results(divide, work)
        return found

    def _parser(self, asked: Text) -> Parser:
        if asked.model not in self.parsers:
            raise HTTPException(404, f"there is no model {asked.model!r:.60}: the models are {', '.join(self.parsers)}")
        return self.parsers[asked.model]

    def _sentences(self, parser: Parser, asked: Text) -> list[Any]:
        given = asked.text if asked.text is not None else asked.sentences
        assert given is not None  # `Text` has checked that one of the two is given
        sentences, most = sentences_from(given, parser.reading), self.limits
        words = sum(len(sentence.forms) for sentence in sentences)
        if words > most.words:
            raise HTTPException(
                413, f"the text has {words:,} words, and at most {most.words:,} are allowed: send it in parts"
            )
        longest = max((len(sentence.forms) for sentence in sentences), default=0)
        if longest > most.sentence:
            raise HTTPException(
                413, f"a sentence has {longest:,} words, and at most {most.sentence:,} are allowed: divide it"
            )
        return sentences

    def _sentence(self, parser: Parser, asked: SentenceOfText) -> list[Any]:
        sentences = self._sentences(parser, asked)
        if asked.sentence >= len(sentences):
            raise HTTPException(404, f"there is no sentence {asked.sentence}: the text has {len(sentences)}, from 0 on")
        return [sentences[asked.sentence]]


def refusal(status: int, problem: str) -> JSONResponse:
    """Return the answer to a request that gets no parse: a JSON object with the key `error`."""
    return JSONResponse({"error": problem}, status, {"Retry-After": str(RETRY_SECONDS)} if status == 503 else {})


class Guard:
    """Middleware that passes on whole requests, and refuses requests that are slow or long."""

    def __init__(self, app: Any, most: int, seconds: float) -> None:
        self.app, self.most, self.seconds = app, most, seconds

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        body = bytearray()
        message: dict[str, Any] = {"more_body": True}
        try:
            async with asyncio.timeout(self.seconds):
                while message.get("more_body", False) and len(body) <= self.most:
                    message = await receive()
                    body += message.get("body", b"")
        except TimeoutError:
            refused = refusal(408, f"the whole request did not arrive within {self.seconds:g} seconds")
            return await refused(scope, receive, send)
        if len(body) > self.most:
            return await refusal(413, f"the request is longer than {self.most:,} bytes")(scope, receive, send)
        whole = [{"type": "http.request", "body": bytes(body), "more_body": False}]

        async def received() -> Any:
            return whole.pop() if whole else await receive()

        if message["type"] == "http.request":  # else the client has left
            await self.app(scope, received, send)


def make_app(
    parsers: dict[str, Parser],
    limits: Limits | None = None,
    descriptions: Mapping[str, str | None] = MappingProxyType({}),
) -> FastAPI:
    """Return the web application that parses with some models, in threads that it starts and ends itself."""
    service = _Service(parsers, limits or Limits(), descriptions)
    most = service.limits

    @asynccontextmanager
    async def alive(_app: FastAPI) -> AsyncIterator[None]:
        with closing(service):
            yield

    # no docs_url and redoc_url: FastAPI's pages of documentation load scripts from elsewhere
    app = FastAPI(
        title="transition-parser",
        version=__version__,
        description="Sentences to dependency trees and AMRs.",
        lifespan=alive,
        docs_url=None,
        redoc_url=None,
        exception_handlers=_REFUSALS,
    )
    app.add_middleware(GZipMiddleware, minimum_size=4096, compresslevel=1)
    app.add_middleware(Guard, most=_BESIDE + _A_WORD * most.words, seconds=most.reading)
    text, policy = page()
    safe = {"Content-Security-Policy": f"{policy}; frame-ancestors 'none'"}
    safe |= {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-cache"}

    @app.head("/", include_in_schema=False)
    @app.get("/", response_class=HTMLResponse, include_in_schema=False)
    async def _page() -> HTMLResponse:
        return HTMLResponse(text, headers=safe)

    @app.head("/api/models", include_in_schema=False)
    @app.get("/api/models", operation_id="models", summary="The models, and the limits of requests")
    async def _models() -> dict[str, Any]:
        return service.models()

    # docs/http.md describes the answers
    @app.post("/api/parse", operation_id="parse", summary="The best graph of each sentence")
    async def _parse(asked: Text) -> JSONResponse:
        return JSONResponse(await service.parse(asked))

    @app.post(
        "/api/derivation",
        operation_id="derivation",
        summary="How the graph of a sentence was found, and the other hypotheses",
    )
    async def _derivation(asked: SentenceOfText) -> Response:
        return Response(await service.derivation(asked), media_type="application/json")

    return app


def _of_form(request: Request, error: RequestValidationError) -> JSONResponse:
    if "json" not in request.headers.get("content-type", ""):
        return refusal(422, "send JSON, with the header Content-Type: application/json")
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"] if part != "body")
    return refusal(422, f"{where}: {first['msg']}" if where else str(first["msg"]))


_REFUSALS: dict[Any, Any] = {  # every error is answered with a JSON object with the key `error`
    HTTPException: lambda _, error: refusal(error.status_code, error.detail),
    InputError: lambda _, error: refusal(400, str(error)),
    BusyError: lambda _, _error: refusal(
        503, "the server is busy, because too many requests are waiting: try again in a minute"
    ),
    TimeoutError: lambda _, _error: refusal(504, "parsing took too long and was stopped: send less at once"),
    NotServed: lambda request, error: refusal(
        error.status_code, f"{request.method} {request.url.path}: {error.detail}"
    ),
    RequestValidationError: _of_form,
    Exception: lambda _, error: refusal(
        500, f"the server failed ({type(error).__name__}); standard error has the details"
    ),
}


# --- the page ---------------------------------------------------------------------------------


_SCRIPTS = ("elements.js", "views.js", "tables.js", "derivations.js", "app.js")


@cache
def page() -> tuple[str, str]:
    """Return the HTML of the page, and its Content-Security-Policy.

    Graphs come drawn, in SVG, and the scripts mark, step and zoom. The page loads nothing from elsewhere: the policy
    allows only its own scripts and styles, and the styles of drawings, by their hashes.
    """
    folder = Path(__file__).with_name("page")
    html, css, *scripts = ((folder / name).read_text("utf-8") for name in ("page.html", "page.css", *_SCRIPTS))
    light, dark = ("".join(f"--{name}:{color};" for name, color in drawing.colors(mode).items()) for mode in (0, 1))
    style = f":root{{{light}}}\n@media (prefers-color-scheme:dark){{:root{{{dark}}}}}\n{css}"
    script = '"use strict";\n(() => {\n' + "".join(scripts) + "})();\n"
    of_script, *of_styles = (
        f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
        for text in (script, style, drawing.style())
    )
    policy = (
        f"default-src 'none'; script-src {of_script}; style-src {' '.join(of_styles)}; img-src data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'"
    )
    return html.replace("@POLICY@", policy).replace("@STYLE@", style).replace("@SCRIPT@", script), policy


# --- the process ----------------------------------------------------------------------------


def bound_socket(host: str, port: int) -> socket.socket:
    """Return a listening socket at the address; port 0 stands for any free port."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        bound = socket.socket(family, kind, protocol)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        bound.listen(_QUEUE)
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise InputError(f"can't listen on port {port} of {host}: {why}; --port 0 takes any free port") from None
    return bound


def make_server(app: Any, log: bool) -> Server:
    """Return the server of an app, which ends once its `should_exit` is true."""
    return Server(
        Config(
            app,
            ws="none",
            log_config=None,
            log_level="info" if log else "warning",
            limit_concurrency=_CONNECTIONS,
            timeout_graceful_shutdown=_GRACE,
        )
    )


def serve(app: FastAPI, bound: socket.socket, log: bool = False) -> None:
    """Serve until SIGINT or SIGTERM; requests that are being answered are finished first."""
    host, port = bound.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    print(f"transition-parser: http://{shown}:{port}/ (Ctrl+C ends it)", file=sys.stderr, flush=True)
    if log:
        logging.basicConfig(format="%(message)s")
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)  # which uvicorn raises once more after it has ended
    make_server(app, log).run(sockets=[bound])

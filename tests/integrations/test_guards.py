"""Requests are whole, in time and for this host, or they are refused in JSON; work ends with its client."""

import asyncio
import json

import pytest

pytest.importorskip("fastapi", reason="pip install 'transition-parser[serve]'")
pytest.importorskip("httpx")

from fastapi.testclient import TestClient
from starlette.responses import PlainTextResponse

from transition_parser.integrations.guards import HeadAsGet, Hosts, WholeRequests

POST = {"type": "http", "method": "POST", "path": "/", "headers": []}


async def echo(scope, receive, send):
    message = await receive()
    await PlainTextResponse(message["body"])(scope, receive, send)


class Client:
    """A client that sends some messages; then it is silent, or leaves when it is told to."""

    def __init__(self, *messages: dict) -> None:
        self.messages, self.left, self.sent = list(messages), asyncio.Event(), []

    async def receive(self):
        if self.messages:
            return self.messages.pop(0)
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message):
        self.sent.append(message)

    @property
    def answer(self):
        """Status and content."""
        start, body = self.sent
        return start["status"], body["body"]


def part(body: bytes, more: bool = False) -> dict:
    return {"type": "http.request", "body": body, "more_body": more}


def told(app, *messages: dict):
    """What a silent client gets."""

    async def run():
        client = Client(*messages)
        await app(POST, client.receive, client.send)
        return client

    return asyncio.run(run())


def test_a_body_in_parts_is_passed_on_whole():
    assert told(WholeRequests(echo, 9, 60), part(b"ab", True), part(b"", True), part(b"c")).answer == (200, b"abc")


@pytest.mark.parametrize(
    ("messages", "status", "problem"),
    [
        ([part(b"abc", True)], 408, "the whole request did not arrive within 0.01 seconds"),
        ([], 408, "the whole request did not arrive within 0.01 seconds"),
        ([part(b"abc", True), part(b"defg", True)], 413, "the request is longer than 6 bytes"),
    ],
)
def test_what_is_not_whole_or_too_long_is_refused_and_the_connection_ends(messages, status, problem):
    client = told(WholeRequests(echo, 6, 0.01), *messages)
    assert client.answer == (status, json.dumps({"error": problem}, separators=(",", ":")).encode())
    assert (b"connection", b"close") in client.sent[0]["headers"]


def test_work_is_cancelled_when_its_client_leaves():
    async def run():
        begun, ended = asyncio.Event(), []

        async def work(scope, receive, send):
            begun.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                ended.append("cancelled")
                raise

        client = Client(part(b"abc"))
        answering = asyncio.create_task(WholeRequests(work, 9, 60)(POST, client.receive, client.send))
        await begun.wait()
        client.left.set()
        await answering
        return ended, client.sent

    assert asyncio.run(run()) == (["cancelled"], [])


def test_a_client_that_leaves_in_the_middle_of_its_request_is_no_request():
    client = told(WholeRequests(echo, 9, 60), part(b"abc", True), {"type": "http.disconnect"})
    assert client.sent == []


def test_the_end_of_the_server_is_said():
    async def run():
        begun = asyncio.Event()

        async def work(scope, receive, send):
            begun.set()
            await asyncio.Event().wait()

        client = Client(part(b"abc"))
        answering = asyncio.create_task(WholeRequests(work, 9, 60)(POST, client.receive, client.send))
        await begun.wait()
        answering.cancel()
        await answering
        return client.answer

    assert asyncio.run(run()) == (503, b'{"error":"the server is shutting down"}')


def test_an_error_of_the_app_is_not_held_back():
    async def broken(scope, receive, send):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        told(WholeRequests(broken, 9, 60), part(b"abc"))


def test_other_hosts_are_refused_in_json():
    client = TestClient(Hosts(PlainTextResponse("here"), ["localhost", "*.example.org", "[::1]"]))
    for host in ("localhost", "localhost:8000", "LOCALHOST", "a.example.org", "[::1]:8000"):
        assert client.get("/", headers={"Host": host}).text == "here"
    for host in ("example.com", "example.org.evil.com", "127.0.0.1", "www.localhost", "a b", ""):
        answer = client.get("/", headers={"Host": host})
        assert answer.status_code == 400 and "--allowed-hosts" in answer.json()["error"], host
    assert TestClient(Hosts(PlainTextResponse("here"), ["*"])).get("/", headers={"Host": "any"}).text == "here"


def test_head_is_answered_as_get():
    methods = []

    async def app(scope, receive, send):
        methods.append(scope["method"])
        await PlainTextResponse("here")(scope, receive, send)

    client = TestClient(HeadAsGet(app))
    assert client.head("/").headers["content-length"] == "4" and client.post("/").status_code == 200
    assert methods == ["GET", "POST"]

"""Requests are whole, in time and for this host, or they are refused in JSON."""

import asyncio
import json

import pytest

pytest.importorskip("fastapi", reason="pip install 'transition-parser[serve]'")
pytest.importorskip("httpx")

from fastapi.testclient import TestClient
from starlette.responses import PlainTextResponse

from transition_parser.integrations.server import Guard

POST = {"type": "http", "method": "POST", "path": "/", "headers": []}
GONE = {"type": "http.disconnect"}


async def echo(scope, receive, send):
    message = await receive()
    await PlainTextResponse(message["body"])(scope, receive, send)


def part(body: bytes, more: bool = False) -> dict:
    return {"type": "http.request", "body": body, "more_body": more}


def told(app, *messages: dict) -> list:
    """What a client gets that sends some messages and then is silent: status and content, or nothing."""
    waiting, sent = list(messages), []

    async def receive():
        return waiting.pop(0) if waiting else await asyncio.Event().wait()

    async def send(message):
        sent.append(message.get("status", message.get("body")))

    asyncio.run(app(POST, receive, send))
    return sent


@pytest.mark.parametrize(
    ("messages", "answer"),
    [
        ([part(b"ab", True), part(b"", True), part(b"c")], [200, b"abc"]),
        ([part(b"abc", True)], [408, "the whole request did not arrive within 0.05 seconds"]),
        ([], [408, "the whole request did not arrive within 0.05 seconds"]),
        ([part(b"abc", True), part(b"defg", True)], [413, "the request is longer than 6 bytes"]),
        ([part(b"abcdefg")], [413, "the request is longer than 6 bytes"]),
        ([part(b"abc", True), GONE], []),
    ],
)
def test_only_whole_requests_are_passed_on(messages, answer):
    expected = [
        json.dumps({"error": one}, separators=(",", ":")).encode() if type(one) is str else one for one in answer
    ]
    assert told(Guard(echo, ["*"], 6, 0.05), *messages) == expected


def test_after_its_body_a_request_has_the_messages_of_its_client():
    async def app(scope, receive, send):
        await PlainTextResponse(f"{(await receive())['body'].decode()}, {(await receive())['type']}")(
            scope, receive, send
        )

    assert told(Guard(app, ["*"], 9, 60), part(b"abc"), GONE) == [200, b"abc, http.disconnect"]


def test_other_hosts_are_refused_in_json():
    client = TestClient(Guard(PlainTextResponse("here"), ["localhost", "*.example.org", "[::1]"], 9, 60))
    for host in ("localhost", "localhost:8000", "LOCALHOST", "a.example.org", "[::1]:8000"):
        assert client.get("/", headers={"Host": host}).text == "here"
    for host in ("example.com", "example.org.evil.com", "127.0.0.1", "www.localhost", "a b", ""):
        answer = client.get("/", headers={"Host": host})
        assert answer.status_code == 400 and "--allowed-hosts" in answer.json()["error"], host
    client = TestClient(Guard(PlainTextResponse("here"), ["*"], 9, 60))
    assert client.get("/", headers={"Host": "any"}).text == "here"

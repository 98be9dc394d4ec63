"""The JSON API, and `transition-parser serve` as a process."""

import json
import signal
import socket
import sys
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from tests.conftest import run_here
from tests.integrations.pages import serving

pytest.importorskip("fastapi", reason="pip install '.[serve]'")
testclient = pytest.importorskip("fastapi.testclient", reason="pip install httpx")

from transition_parser import Parser  # noqa: E402
from transition_parser.analysis.traces import trace  # noqa: E402
from transition_parser.cli.main import build_parser  # noqa: E402
from transition_parser.integrations import server  # noqa: E402
from transition_parser.integrations.server import Limits, make_app  # noqa: E402

TEXT = "She sells sea shells. Who told you that?"


@pytest.fixture(scope="module")
def parsers():
    return {name: Parser.load(name, beam=2, precision="fp32") for name in ("en-ewt", "en-amr")}


@pytest.fixture(scope="module")
def client(parsers):
    limits = Limits(words=400, sentence=40, waiting=100)
    with testclient.TestClient(make_app(parsers, limits), raise_server_exceptions=False) as client:
        yield client


def ask(client, what="parse", **asked):
    return client.post(f"/api/{what}", json=asked)


@pytest.mark.parametrize("model", ["en-ewt", "en-amr"])
def test_parses_are_those_of_the_python_api(client, parsers, model):
    found = ask(client, model=model, text=TEXT).json()
    expected = parsers[model].parse(TEXT)
    assert [one["written"] for one in found["sentences"]] == [str(parse.annotated()) for parse in expected]
    for one, parse in zip(found["sentences"], expected, strict=True):
        due = parse.to_dict()
        parts = "words" if model == "en-ewt" else "nodes"
        assert [part.pop("score") for part in one[parts]] == pytest.approx(
            [part.pop("score") for part in due[parts]], abs=1e-3
        )
        assert one[parts] == due[parts] and {*one} - {"written"} == {*due} - {"actions"}
    assert found["formalism"] == parsers[model].formalism.name
    words = [["Stop", "!"], ["I", "wo", "n't", "."]]
    found = ask(client, model=model, sentences=words).json()["sentences"]
    assert [[word["form"] for word in one["words"]] for one in found] == words


@pytest.mark.parametrize("model", ["en-ewt", "en-amr"])
def test_graphs_and_steps_are_drawn_where_that_is_asked_for(client, parsers, model):
    parses = parsers[model].parse(TEXT)
    found = ask(client, model=model, text=TEXT, drawing=True).json()["sentences"]
    assert [one["drawing"] for one in found] == [parse.drawing() for parse in parses]
    assert all("drawing" not in one for one in ask(client, model=model, text=TEXT).json()["sentences"])
    first, second = ask(client, "derivation", model=model, text=TEXT, drawing=True).json()["derivations"]
    assert first["graph"]["drawing"] == found[0]["drawing"]
    assert bool(first["drawing"]) is (model == "en-amr") and "drawing" not in second["graph"]


@pytest.mark.parametrize("model", ["en-ewt", "en-amr"])
def test_derivations_are_those_of_traces(client, parsers, model):
    expected = trace(parsers[model], parsers[model].parse(TEXT)[1].sentence)
    whole = json.loads(json.dumps(expected.as_data()))
    for number in (1, 0):
        found = ask(client, "derivation", model=model, text=TEXT, sentence=1, derivation=number).json()
        derivations = [{**one, "steps": one["steps"] * (i == number)} for i, one in enumerate(whole["derivations"])]
        assert found == {**whole, "derivations": derivations}
    assert len(derivations) == 2 and len(derivations[0]["steps"]) == derivations[0]["actions"] + 1


def test_the_models_are_named(client):
    found = client.get("/api/models").json()
    assert [model["name"] for model in found["models"]] == ["en-ewt", "en-amr"]
    of_model = {"formalism": "trees", "system": "arc-hybrid-swap", "beam": 2, "actions": True}
    assert found["models"][0] == {"name": "en-ewt", "description": None, **of_model}
    assert found["limits"] == {"words": 400, "seconds": 60.0}


def test_without_names_the_best_models_are_served_and_one_with_steps():
    assert build_parser(["serve"]).parse_args(["serve"]).models == ["en", "en-ewt", "amr"]
    assert build_parser(["serve"]).parse_args(["serve", "amr"]).models == ["amr"]


def test_openapi_describes_it_and_nothing_is_loaded_from_elsewhere(client):
    described = client.get("/openapi.json").json()
    assert set(described["paths"]) == {"/api/models", "/api/parse", "/api/derivation"}
    assert client.get("/docs").status_code == client.get("/redoc").status_code == 404
    page = client.get("/")
    assert "http" not in page.text.replace("http://www.w3.org/2000/svg", "").replace("http-equiv", "")
    policy = page.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'sha256-") and "unsafe" not in policy
    assert "connect-src 'self'" in policy and page.headers["x-content-type-options"] == "nosniff"


BAD = [
    (404, "there is no model 'none': the models are en-ewt, en-amr", {"model": "none", "text": "x"}),
    (422, "give either text or sentences", {"model": "en-ewt"}),
    (422, "give either text or sentences", {"model": "en-ewt", "text": "x", "sentences": [["x"]]}),
    (422, "Extra inputs", {"model": "en-ewt", "text": "x", "colour": "red"}),
    (422, "text: Input should be a valid string", {"model": "en-ewt", "text": 3}),
    (400, "it has no words", {"model": "en-ewt", "sentences": [["a"], []]}),
    (400, "blanks, tabs or line breaks", {"model": "en-amr", "sentences": [["a b"]]}),
    (
        413,
        "the text has 401 words, and at most 400 are allowed: send it in parts",
        {"model": "en-ewt", "text": "a " * 401},
    ),
    (413, "a sentence has 41 words, and at most 40 are allowed", {"model": "en-ewt", "sentences": [["a"], ["b"] * 41]}),
    (413, "the request is longer than", {"model": "en-ewt", "text": "x" * 100_000}),
]


@pytest.mark.parametrize(("status", "problem", "asked"), BAD, ids=[f"{s} {p}" for s, p, _ in BAD])
def test_bad_requests_are_said_in_json(client, status, problem, asked):
    for what in ("parse", "derivation"):
        answer = ask(client, what, **asked)
        assert answer.status_code == status and problem in answer.json()["error"], answer.text
        assert list(answer.json()) == ["error"]


@pytest.mark.parametrize("model", ["en-ewt", "en-amr"])
@pytest.mark.parametrize("empty", [{"text": ""}, {"text": " \n"}, {"sentences": []}])
def test_an_empty_text_has_no_sentences(client, parsers, model, empty):
    answer = ask(client, model=model, **empty)
    assert answer.status_code == 200 and answer.json()["sentences"] == []
    assert answer.json()["formalism"] == parsers[model].formalism.name
    answer = ask(client, "derivation", model=model, **empty)
    assert answer.status_code == 404 and "there is no sentence 0: the text has 0" in answer.json()["error"]


def test_other_bad_requests(client):
    assert client.post("/api/parse", content=b"{").status_code == 422
    for headers in ({}, {"Content-Type": "application/x-www-form-urlencoded"}):
        answer = client.post("/api/parse", content=b'{"model": "en-ewt", "text": "x"}', headers=headers)
        assert answer.status_code == 422 and "with the header Content-Type: application/json" in answer.json()["error"]
    assert "Method Not Allowed" in client.get("/api/parse").json()["error"]
    assert "Not Found" in client.get("/nothing").json()["error"]
    answer = ask(client, "derivation", model="en-ewt", text="Stop!", sentence=1)
    assert answer.status_code == 404 and "the text has 1" in answer.json()["error"]
    body = (b"x" * 1000 for _ in range(100))  # of no length that is said beforehand
    assert client.post("/api/parse", content=body).status_code == 413


def test_fifty_requests_at_once_get_their_own_answers(client, parsers):
    texts = [f"Number {i} of them told me {'very ' * (i % 7)}little ." for i in range(50)]
    models = [("en-ewt", "en-amr")[i % 2] for i in range(50)]
    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(lambda model, text: ask(client, model=model, text=text), models, texts))
    assert {answer.status_code for answer in answers} == {200}
    for model, text, answer in zip(models, texts, answers, strict=True):
        assert [one["written"] for one in answer.json()["sentences"]] == [
            str(parse.annotated()) for parse in parsers[model].parse(text)
        ]


@pytest.fixture
def stuck(parsers, monkeypatch):
    """A server whose thread waits for an event."""
    go = Event()

    monkeypatch.setattr(server, "_parses", lambda parser, asked, some: go.wait(60) and [{}] * len(some))
    app = make_app(parsers, Limits(seconds=0.2, waiting=1))
    with testclient.TestClient(app, raise_server_exceptions=False) as client:
        yield client
        go.set()


def test_what_takes_too_long_or_waits_too_long_is_said(stuck):
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: ask(stuck, model="en-ewt", text="Stop!"), range(8)))
    assert {answer.status_code for answer in answers} == {503, 504}
    said = {answer.status_code: (answer.json()["error"], answer.headers.get("retry-after")) for answer in answers}
    assert said[504][0].startswith("parsing took too long and was stopped") and said[503][1] == "5"


def test_a_bug_is_a_500_and_the_server_goes_on(parsers, monkeypatch):
    monkeypatch.setattr(server, "_parses", lambda parser, asked, some: [1 / (len(some[0].forms) - 2)])
    with testclient.TestClient(make_app(parsers), raise_server_exceptions=False) as client:
        answer = ask(client, model="en-ewt", text="Stop!")
        assert answer.status_code == 500 and "ZeroDivisionError" in answer.json()["error"]
        assert client.get("/api/models").status_code == 200
        assert ask(client, "derivation", model="en-ewt", text="Stop!").status_code == 200


# --- the command ----------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_cleanly(number):
    with serving("en-ewt", "--beam", "1") as (process, where):
        asked = json.dumps({"model": "en-ewt", "text": "Stop!"}).encode()
        request = urllib.request.Request(f"{where}api/parse", asked, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request) as answer:
            assert [word["form"] for word in json.load(answer)["sentences"][0]["words"]] == ["Stop", "!"]
        process.send_signal(number)
        assert (process.wait(60), process.stderr.read()) == (0, "")


def test_a_taken_port_is_one_line():
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        done = run_here("serve", "en-ewt", "--port", port, status=2)
    assert done.stderr == (
        f"transition-parser: error: can't listen on port {port} of 127.0.0.1: Address already in use; "
        "--port 0 takes any free port\n"
    )


def test_bad_use_is_one_line(monkeypatch):
    assert "can't listen on port" in run_here("serve", "en-ewt", "--host", "no.such.host.invalid", status=2).stderr
    assert "have the same name" in run_here("serve", "a/x", "b/x", "--port", "0", status=2).stderr
    assert "no such checkpoint" in run_here("serve", "none", "--port", "0", status=2).stderr
    assert "not from 0 to 65,535" in run_here("serve", "en-ewt", "--port", "70000", status=2).stderr
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "transition_parser.integrations.server")
    done = run_here("serve", "en-ewt", status=2)
    assert done.stderr.startswith("transition-parser: error: pages and the API need the extra `serve` (")
    assert (
        done.stderr.endswith("): pip install '.[serve]' in the clone, or 'WHEEL.whl[serve]'\n")
        and done.stderr.count("\n") == 1
    )

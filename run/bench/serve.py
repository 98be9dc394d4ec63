"""Seconds until `transition-parser serve` answers a request of two words, while other clients keep it busy:

- alone: there are no other clients
- half-sent: `--half` clients have sent half of their headers, or the headers and a part of the body, and wait
- long: `--long` clients have each sent a text of about `--words` words
- left: `--left` clients have each sent a text of this length, and have closed the connection
- one derivation, derivations: one client, and `--tracing` clients, have asked for the derivations of 400 words
- pipelined: `--pipelined` clients have each sent 2,000 requests for the page, and read no answer

The report also has the server's output on standard error after its address. Sentences come from the sample treebank of
the tests. Ends with an error where the answer to the two words is not a parse.

    python run/bench/serve.py [MODEL] [--files 300]
"""

from __future__ import annotations

import json
import re
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import cycle
from pathlib import Path
from urllib.parse import urlsplit

from common import ROOT, parser, report

from transition_parser.graphs.conllu import read_conllu

SAMPLE = ROOT / "tests" / "data" / "sample.conllu"
PATIENCE = 120.0  # seconds that a client waits


@contextmanager
def serving(arguments) -> Iterator[tuple[tuple[str, int], Path]]:
    """Yield the address of a new server, and the file that gets its standard error."""
    command = [sys.executable, "-m", "transition_parser.cli.main", "serve", arguments.model, "--port", "0"]
    command += ["--beam", str(arguments.beam), "--threads", str(arguments.threads)]
    limit = partial(resource.setrlimit, resource.RLIMIT_NOFILE, (arguments.files, arguments.files))
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "stderr")
        with (
            open(log, "wb") as errors,
            subprocess.Popen(command, stderr=errors, preexec_fn=limit if arguments.files else None) as process,
        ):
            try:
                yield _address(process, log), log
            finally:
                process.terminate()


def _address(process: subprocess.Popen, log: Path) -> tuple[str, int]:
    while process.poll() is None:
        if found := re.search(r"http://\S+/", log.read_text(encoding="utf-8")):
            where = urlsplit(found[0])
            return str(where.hostname), int(where.port or 0)
        time.sleep(0.1)
    raise SystemExit(log.read_text(encoding="utf-8"))


def request(model: str, text: str, path: str = "parse") -> bytes:
    """Return the bytes of a request for the parses of a text, or for the `derivation` of the words of a text."""
    words = {"text": text} if path == "parse" else {"sentences": [text.split()]}
    body = json.dumps({"model": Path(model).name, **words}).encode()
    head = f"POST /api/{path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def ask(address: tuple[str, int], sent: bytes) -> tuple[int, float]:
    """Return the status of the answer, and the seconds until it was complete."""
    begin = time.perf_counter()
    with socket.create_connection(address, PATIENCE) as connection:
        connection.sendall(sent)
        answer = b"".join(iter(partial(connection.recv, 1 << 16), b""))
    return int(answer.split(maxsplit=2)[1]), time.perf_counter() - begin


def good(address: tuple[str, int], model: str) -> float:
    """Return the seconds until two words are parsed. Ends the program where the server refuses."""
    status, seconds = ask(address, request(model, "Stop it"))
    if status != 200:
        raise SystemExit(f"the request of two words was answered with status {status}")
    return seconds


def behind_half_sent(address: tuple[str, int], arguments, text: str) -> float:
    """Return the seconds until two words are parsed while clients never finish their requests."""
    whole = request(arguments.model, text)
    head = whole.index(b"\r\n\r\n")
    some = [socket.create_connection(address, PATIENCE) for _ in range(arguments.half)]
    for number, one in enumerate(some):
        one.sendall(whole[: head // 2] if number % 2 else whole[: head + 100])
    seconds = good(address, arguments.model)
    for one in some:
        one.close()
    return seconds


def behind_long(address: tuple[str, int], arguments, text: str) -> tuple[float, Counter]:
    """Return the seconds until two words are parsed behind long texts, and the statuses of the long texts' answers."""
    with ThreadPoolExecutor(arguments.long) as pool:
        others = [pool.submit(ask, address, request(arguments.model, text)) for _ in range(arguments.long)]
        time.sleep(arguments.wait)
        seconds = good(address, arguments.model)
        return seconds, Counter(other.result()[0] for other in others)


def behind(address: tuple[str, int], arguments, clients: int, sent: bytes, leave: bool = False) -> float:
    """Return the seconds until two words are parsed behind clients that read no answer.

    leave: the clients close their connections first
    """
    some = [socket.create_connection(address, PATIENCE) for _ in range(clients)]
    for one in some:
        one.setblocking(False)
        one.send(sent)
    time.sleep(arguments.wait)
    seconds = 0.0 if leave else good(address, arguments.model)
    for one in some:
        one.close()
    return good(address, arguments.model) if leave else seconds


def long_text(words: int) -> str:
    """Return sentences of the sample treebank, repeated until they have at least the given number of words."""
    some: list[str] = []
    for sentence in cycle(read_conllu(SAMPLE)):
        some.append(" ".join(sentence.forms))
        words -= len(sentence.forms)
        if words <= 0:
            return " ".join(some)
    raise AssertionError("a cycle has no end")


def main() -> None:
    """Measure each situation in turn, round by round, on one server."""
    options = parser(__doc__)
    options.add_argument("model", nargs="?", default="en-ewt", help="checkpoint, exported folder, or name")
    options.add_argument("--beam", type=int, default=4)
    options.add_argument("--half", type=int, default=320)
    options.add_argument("--long", type=int, default=30)
    options.add_argument("--left", type=int, default=200)
    options.add_argument("--tracing", type=int, default=10)
    options.add_argument("--pipelined", type=int, default=1100)
    options.add_argument("--words", type=int, default=1900, help="number of words in a long text")
    options.add_argument("--wait", type=float, default=0.5, help="seconds between the other clients and the request")
    options.add_argument("--files", type=int, help="the most files that the server may open (default: as here)")
    arguments = options.parse_args()
    text = long_text(arguments.words)
    derivation = request(arguments.model, " ".join(text.split()[:400]), "derivation")
    seconds: dict[str, list[float]] = defaultdict(list)
    statuses: Counter = Counter()
    with serving(arguments) as (address, log):
        good(address, arguments.model)
        for _ in range(arguments.rounds):
            seconds["alone"].append(good(address, arguments.model))
            seconds["half-sent"].append(behind_half_sent(address, arguments, text))
            found, others = behind_long(address, arguments, text)
            seconds["long"].append(found)
            statuses += others
            seconds["left"].append(behind(address, arguments, arguments.left, request(arguments.model, text), True))
            for name, clients in (("one derivation", 1), ("derivations", arguments.tracing)):
                seconds[name].append(behind(address, arguments, clients, derivation))
            page = 2000 * b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
            seconds["pipelined"].append(behind(address, arguments, arguments.pipelined, page))
        lines = log.read_text(encoding="utf-8").splitlines()
    report("serve, seconds", arguments, seconds, of_long_texts=dict(statuses), stderr=lines[1:])


if __name__ == "__main__":
    main()

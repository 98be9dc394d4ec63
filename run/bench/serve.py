"""Seconds until `transition-parser serve` answers a request of two words, while other clients keep it busy:

- alone: there are no other clients
- long: `--long` clients have each sent a text of about `--words` words
- derivations: `--tracing` clients have asked for the derivations of 400 words
- pipelined: `--pipelined` clients have each sent 2,000 requests for the page, and read no answer

The report also has the server's output on standard error after its address. Sentences come from the sample treebank of
the tests. Ends with an error where the answer to the two words is not a parse.

    python run/bench/serve.py [MODEL]
"""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain, cycle, islice
from pathlib import Path
from urllib.parse import urlsplit

from common import ROOT, parser, report, rounds

from transition_parser.graphs.conllu import read_conllu

SAMPLE = ROOT / "tests" / "data" / "sample.conllu"
PATIENCE = 120.0  # seconds that a client waits
WAIT = 0.5  # seconds between the other clients and the request


@contextmanager
def serving(arguments) -> Iterator[tuple[tuple[str, int], Path]]:
    """Yield the address of a new server, and the file that gets its standard error."""
    command = [sys.executable, "-m", "transition_parser", "serve", arguments.model, "--port", "0"]
    command += ["--beam", str(arguments.beam), "--threads", str(arguments.threads)]
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "stderr")
        with open(log, "wb") as errors, subprocess.Popen(command, stderr=errors) as process:
            try:
                while not (found := re.search(r"http://\S+/", log.read_text(encoding="utf-8"))):
                    if process.poll() is not None:
                        raise SystemExit(log.read_text(encoding="utf-8"))
                    time.sleep(0.1)
                where = urlsplit(found[0])
                yield (str(where.hostname), int(where.port or 0)), log
            finally:
                process.terminate()


def request(model: str, words: Sequence[str], path: str = "parse") -> bytes:
    """Return the bytes of a request for the parses of a text, or for the `derivation` of its words."""
    what = {"text": " ".join(words)} if path == "parse" else {"sentences": [[*words]]}
    body = json.dumps({"model": Path(model).name, **what}).encode()
    head = f"POST /api/{path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def seconds_alone(address: tuple[str, int], model: str) -> float:
    """Return the seconds until two words are parsed. Ends the program where the server refuses."""
    start = time.perf_counter()
    with socket.create_connection(address, PATIENCE) as connection:
        connection.sendall(request(model, ["Stop", "it"]))
        answer = b"".join(iter(partial(connection.recv, 1 << 16), b""))
    if answer.split(maxsplit=2)[1] != b"200":
        raise SystemExit(f"the request of two words was answered: {answer[:200]!r}")
    return time.perf_counter() - start


def seconds_beside(address: tuple[str, int], model: str, clients: Sequence[bytes]) -> float:
    """Return the seconds until two words are parsed, beside clients that have sent these bytes and read no answer."""
    some = [socket.create_connection(address, PATIENCE) for _ in clients]
    for one, sent in zip(some, clients, strict=True):
        one.setblocking(False)
        one.send(sent)
    time.sleep(WAIT)
    seconds = seconds_alone(address, model)
    for one in some:
        one.close()
    return seconds


def main() -> None:
    options = parser(__doc__)
    options.add_argument("model", nargs="?", default="en-ewt", help="checkpoint, exported folder, or name")
    options.add_argument("--beam", type=int, default=4)
    for name, default in (("long", 30), ("tracing", 10), ("pipelined", 1100)):
        options.add_argument(f"--{name}", type=int, default=default, help="number of clients")
    options.add_argument("--words", type=int, default=1900, help="number of words in a long text")
    arguments = options.parse_args()
    forms = [one.forms for one in read_conllu(SAMPLE)]
    words = [*islice(chain.from_iterable(cycle(forms)), arguments.words)]
    long, derivation = request(arguments.model, words), request(arguments.model, words[:400], "derivation")
    pages = 2000 * b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
    situations: dict[str, list[bytes]] = {
        "alone": [],
        "long": [long] * arguments.long,
        "derivations": [derivation] * arguments.tracing,
        "pipelined": [pages] * arguments.pipelined,
    }
    with serving(arguments) as (address, log):
        seconds_alone(address, arguments.model)
        turns = {name: partial(seconds_beside, address, arguments.model, sent) for name, sent in situations.items()}
        seconds = rounds(turns, arguments.rounds)
        lines = log.read_text(encoding="utf-8").splitlines()
    report("serve, seconds", arguments, seconds, stderr=lines[1:])


if __name__ == "__main__":
    main()

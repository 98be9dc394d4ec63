"""The page of `serve`, as tests drive it in a browser."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import parse_qs, urlsplit

from tests.conftest import OF_PROGRAMS, ROOT

BEAM = 3
TEXT = "The old lighthouse keeper waved at every ship. She told him what they had decided."
LONG = " ".join(f"The keeper of house {i} saw that the ship which passed lost its way ." for i in range(20))


def own(address: str) -> bool:
    return urlsplit(address).hostname == "127.0.0.1" or urlsplit(address).scheme in ("file", "data", "blob", "about")


def parse(tab, text: str, model: str = "en-ewt") -> None:
    tab.fill("#text", "")  # another model would parse the text that is there
    tab.select_option("#model", model)
    tab.fill("#text", text)
    tab.click("#parse")
    asked = {"model": [model], "text": [text]}
    tab.wait_for_url(lambda url: asked.items() <= parse_qs(urlsplit(url).fragment).items())
    tab.locator("article").first.wait_for()


def texts(tab, selector: str) -> list[str]:
    return tab.locator(selector).all_text_contents()


def downloaded(tab, name: str) -> str:
    with tab.expect_download() as caught:
        tab.get_by_role("button", name=name).first.click()
    with open(caught.value.path(), encoding="utf-8") as file:
        return file.read()


@contextmanager
def serving(*arguments: str) -> Iterator[tuple[subprocess.Popen, str]]:
    """The process, and the address at which it serves, once it does; it is gone at the end."""
    command = [sys.executable, "-m", "transition_parser", "serve", *arguments, "--port", "0"]
    environment = {**os.environ, **OF_PROGRAMS}
    with subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            line = process.stderr.readline()
            found = re.search(r"http://\S+/", line)
            assert found, line + process.stderr.read()
            yield process, found[0]
        finally:
            process.kill()

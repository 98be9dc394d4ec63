"""A browser, a server and its parsers, for the tests of the page."""

import os
import shutil

import pytest

from tests.integrations.pages import BEAM, own, serving
from transition_parser import Parser


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="no browser is driven here: pip install playwright")
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
    if path is None:
        pytest.skip("no Chromium here: apt-get install chromium, or name it in CHROMIUM")
    with sync_api.sync_playwright() as playwright:
        # root, as in containers, has no sandbox
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def served():
    with serving("en-ewt", "en-amr", "--beam", str(BEAM), "--precision", "fp32") as (_process, address):
        yield address


@pytest.fixture(scope="module")
def parsers():
    return {name: Parser.load(name, beam=BEAM, precision="fp32") for name in ("en-ewt", "en-amr")}


@pytest.fixture
def tab(browser):
    """A page that fails the test where anything is said on its console, or is asked of another host."""
    context = browser.new_context(viewport={"width": 1000, "height": 800}, accept_downloads=True)
    context.set_default_timeout(60_000)
    said: list[str] = []

    def opened(page):
        page.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: said.append(dialog.message))
        page.on("request", lambda request: said.append(request.url) if not own(request.url) else None)

    context.on("page", opened)
    yield context.new_page()
    context.close()
    assert said == []

"""The page of `serve` and of `draw`, as tests drive it in a browser."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

BEAM = 3
TEXT = "The old lighthouse keeper waved at every ship. She told him what they had decided."
LONG = " ".join(f"The keeper of house {i} saw that the ship which passed lost its way ." for i in range(20))


def own(address: str) -> bool:
    return urlsplit(address).hostname == "127.0.0.1" or urlsplit(address).scheme in ("file", "data", "blob", "about")


def parse(tab, text: str, model: str = "en-ewt") -> None:
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

"""Take the pictures of docs/page.md, docs/pictures/*.png, by driving Chromium, as the tests do.

    python run/pictures.py [--chromium PROGRAM] [-o docs/pictures]

Needs the extras [serve] and [test] and a Chromium (Debian: apt-get install chromium).
"""

from __future__ import annotations

import argparse
import io
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image
from playwright.sync_api import Page, sync_playwright

MODELS = ("en-ewt", "en-amr")
LETTER = "The old lighthouse keeper waved at every ship that passed. A letter came today that she had hoped for."
TEACHER = "The teacher who gave the book to Anna wanted to leave."
MOST_BYTES = 150_000


class Picture(NamedTuple):
    """A picture of the page.

    sentence: the sentence whose derivation is open, counted from 0; None: no derivation is open
    step: the step of that derivation that is shown
    width, height: the size of the window in pixels
    scheme: the colour scheme, light or dark
    """

    name: str
    model: str
    text: str
    sentence: int | None = None
    step: int = 0
    width: int = 1000
    height: int = 760
    scheme: str = "light"


PICTURES = (
    Picture("page-trees", "en-ewt", LETTER, height=800),
    Picture("page-steps", "en-ewt", LETTER, 0, 14, height=1140),
    Picture("page-amr", "en-amr", TEACHER, 0, 22, height=1060),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chromium", default=shutil.which("chromium") or "chromium", metavar="PROGRAM")
    parser.add_argument("-o", "--output", type=Path, default=Path("docs/pictures"), metavar="FOLDER")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    with serving() as address, sync_playwright() as playwright:
        # Chromium's sandbox does not work for root, the usual user of containers
        browser = playwright.chromium.launch(executable_path=arguments.chromium, args=["--no-sandbox"])
        for picture in PICTURES:
            size = {"width": picture.width, "height": picture.height}
            context = browser.new_context(viewport=size, color_scheme=picture.scheme)
            path = arguments.output / f"{picture.name}.png"
            path.write_bytes(small(taken(context.new_page(), address, picture)))
            print(f"{path}: {path.stat().st_size:,} bytes")
        browser.close()


@contextmanager
def serving() -> Iterator[str]:
    """Yield the address of a server that runs for as long as the block."""
    command = ["transition-parser", "serve", *MODELS, "--port", "0", "--precision", "fp32"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            found = re.search(r"http://\S+", process.stderr.readline())
            yield found[0] if found else sys.exit(f"no server: {process.stderr.read()}")
        finally:
            process.terminate()


def taken(page: Page, address: str, picture: Picture) -> bytes:
    """Return a PNG of the page after parsing the text of the picture."""
    page.goto(address)
    page.select_option("#model", picture.model)
    page.fill("#text", picture.text)
    page.click("#parse")
    page.locator("article svg").first.wait_for()
    if picture.sentence is not None:
        page.locator(".steps").nth(picture.sentence).click()
        page.get_by_label("Step of the derivation").fill(str(picture.step))
    page.mouse.move(0, 0)
    page.evaluate("() => { document.activeElement.blur(); scrollTo(0, 0); }")
    return page.screenshot(**({"full_page": True} if picture.width < 500 else {}))


def small(png: bytes) -> bytes:
    """Return a PNG with 128 colours, among them those of thin lines. Ends the program if it is above `MOST_BYTES`."""
    image: Any = Image.open(io.BytesIO(png)).convert("RGB").quantize(128, Image.Quantize.MAXCOVERAGE)
    found = io.BytesIO()
    image.save(found, "PNG", optimize=True)
    if found.tell() > MOST_BYTES:
        sys.exit(f"{found.tell():,} bytes: make it smaller")
    return found.getvalue()


if __name__ == "__main__":
    main()

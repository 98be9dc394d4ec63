"""The pages: links lead somewhere, the site holds them all and fetches nothing, the notebook prints what it shows."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from itertools import chain
from pathlib import Path

import pytest

from tests.conftest import ROOT, SAMPLE
from transition_parser.cli.main import COMMANDS
from transition_parser.graphs.conllu import read_conllu
from transition_parser.oracles.static import oracle
from transition_parser.transitions import RootRelations, make_system

DOCS = ROOT / "docs"
NOTEBOOK = DOCS / "notebook.ipynb"
PAGES = sorted(
    chain(ROOT.glob("*.md"), DOCS.rglob("*.md"), (ROOT / "transition_parser" / "pretrained").glob("*/README.md"))
)
MADE = {"cli.md", "notebook.md", "contributing.md", "changelog.md"}  # by run/site/hooks.py, with the cards of models
_CODE = re.compile(r"^```.*?^```|^    .*?$|`[^`\n]*`", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ +(.*?)\s*$", re.MULTILINE)


def links(page: Path) -> list[str]:
    """Where the links and pictures of a page lead, within the project."""
    text = _CODE.sub("", page.read_text(encoding="utf-8"))
    return [link for link in _LINK.findall(text) if not re.match(r"\w+:", link)]


def anchors(page: Path) -> set[str]:
    """The names of the headings of a page, as mkdocs makes them."""
    headings = _HEADING.findall(page.read_text(encoding="utf-8"))
    return {re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower()) for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page):
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if target.parent == DOCS and target.name in MADE:
            continue
        assert target.is_file(), f"{page.name}: {link}"
        if anchor:
            assert anchor in anchors(target), f"{page.name}: {link}"


def test_links_are_seen():
    assert "pictures/arc-eager.svg" in links(DOCS / "systems.md") and "docs/install.md" in links(ROOT / "README.md")
    assert "what-the-network-sees" in anchors(DOCS / "systems.md")


def test_every_page_is_in_the_order_of_the_site():
    """And nothing else is."""
    listed = re.findall(r"^ +- .*: (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    cards = {f"models/{path.parent.name}.md" for path in PAGES if path.parent.parent.name == "pretrained"}
    there = {page.relative_to(DOCS).as_posix() for page in PAGES if page.is_relative_to(DOCS)}
    assert len(listed) == len(set(listed)) and set(listed) == there | cards | MADE


@pytest.mark.parametrize("name", ["arc-standard", "arc-hybrid", "arc-eager"])
def test_pictures_of_systems_show_their_derivations(name):
    """Text in them is text: the actions of the oracle, in their order."""
    sentence = next(sentence for sentence in read_conllu(SAMPLE) if sentence.id == "sample-17")
    tree = sentence.tree()
    actions = [
        str(action)
        for action in oracle(make_system(name, roots=RootRelations.from_trees([tree])), sentence.forms, tree)
    ]
    drawn = re.findall(r">([^<>]+)</text>", (DOCS / "pictures" / f"{name}.svg").read_text(encoding="utf-8"))
    assert [text for text in drawn if text in set(actions)] == actions


def printed(cell: dict) -> str:
    """The text that a cell of a notebook prints."""
    return "".join(
        "".join(output.get("text", ())) for output in cell.get("outputs", ()) if output.get("name") == "stdout"
    )


def test_the_notebook_prints_what_it_shows(tmp_path):
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    shown = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    client = nbclient.NotebookClient(notebook, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}})
    client.execute(env=environment)
    before, now = ([printed(cell) for cell in some["cells"]] for some in (shown, notebook))
    assert now == before and sum(map(bool, now)) >= 6


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The built site."""
    pytest.importorskip("material", reason="mkdocs is not installed")
    pytest.importorskip("mkdocstrings", reason="mkdocstrings is not installed")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


def test_the_site_fetches_nothing(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) >= 20
    fetched = re.compile(r"""(?:\ssrc(?:set)?|<link[^>]*\shref)=["']?((?:https?:)?//[^"'\s>]*)""")
    assert {page.name: found for page in pages if (found := fetched.findall(page.read_text(encoding="utf-8")))} == {}


def test_references_hold_every_command_and_the_public_api(site):
    commands = (site / "cli.html").read_text(encoding="utf-8")
    assert [name for name in COMMANDS if f'id="transition-parser-{name}"' not in commands] == []
    api = (site / "api.html").read_text(encoding="utf-8")
    for name in (
        "transition_parser.parsing.parser.Parser.load",
        "transition_parser.parsing.parses.Parse",
        "transition_parser.oracles.static.oracle",
    ):
        assert f'id="{name}"' in api


def test_tables_that_ask_for_a_chart_get_one(site):
    """A bar for each row: the page keeps the table, and no comment stays."""
    for name, variant in (("words", "letters"), ("architectures", "use_parser"), ("papers", "h + b")):
        text = (site / f"{name}.html").read_text(encoding="utf-8")
        assert f'<span class="label">{variant}' in text and 'class="bar"' in text, name
    asked = sum(page.read_text(encoding="utf-8").count("<!-- chart:") for page in PAGES)
    drawn = sum(page.read_text(encoding="utf-8").count('class="chart"') for page in site.rglob("*.html"))
    assert asked == drawn >= 5


def test_long_lines_of_code_are_wrapped(site):
    (style,) = site.rglob("site.css")
    assert "white-space: pre-wrap" in style.read_text(encoding="utf-8")
    pages = [page for page in site.rglob("*.html") if page.name != "404.html"]
    assert all(re.search(r'href="(\.\./)*site\.css"', page.read_text(encoding="utf-8")) for page in pages)

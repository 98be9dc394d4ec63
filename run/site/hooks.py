"""Hooks that add pages to the documentation that mkdocs builds from docs.

The added pages are the command line reference (made from the code), the notebook, and files from elsewhere in the
project, such as README.md, which is the first page, the cards of models and corpora, and the papers' configurations.
"""

import argparse
import json
import os
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
# page → path of its source in the project
ELSEWHERE = {
    "index.md": "README.md",
    "contributing.md": "CONTRIBUTING.md",
    "changelog.md": "CHANGELOG.md",
    **{
        f"models/{path.parent.name}.md": path.relative_to(ROOT).as_posix()
        for path in sorted(ROOT.glob("transition_parser/pretrained/*/README.md"))
    },
    **{
        f"{path.parent.relative_to(ROOT).as_posix()}.md": path.relative_to(ROOT).as_posix()
        for path in sorted((*ROOT.glob("corpora/*/README.md"), *ROOT.glob("configs/papers/README.md")))
    },
    **{f"tables/{path.name}": path.relative_to(ROOT).as_posix() for path in ROOT.glob("transition_parser/text/*.md")},
}
_PAGES = {path: page for page, path in ELSEWHERE.items()}
_LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^)#\s]+)")
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
WIDTH = "90"  # characters in a line of the commands' help, which must not be wider than a page


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages to the files of the site."""
    made = {name: _FRONT_MATTER.sub("", (ROOT / path).read_text(encoding="utf-8")) for name, path in ELSEWHERE.items()}
    made["cli.md"] = cli_reference()
    made["notebook.md"] = notebook_page(json.loads((ROOT / "docs" / "notebook.ipynb").read_text(encoding="utf-8")))
    for name, text in made.items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Return the page with links between files turned into links between pages."""
    name = page.file.src_uri
    folder = posixpath.dirname(ELSEWHERE.get(name, f"docs/{name}"))

    def to_page(link: re.Match) -> str:
        path = posixpath.normpath(posixpath.join(folder, link[1]))
        target = _PAGES.get(path) or path.removeprefix("docs/")
        return posixpath.relpath(target, posixpath.dirname(name) or ".")

    return _LINK.sub(to_page, markdown)


def cli_reference() -> str:
    """Return the page with the help of each command."""
    from transition_parser.cli.main import build_parser

    text = ["# Command line reference", "", "Made from the code: the output of `transition-parser COMMAND --help`.", ""]
    with mock.patch.dict(os.environ, COLUMNS=WIDTH):
        for parser in _parsers(build_parser()):
            text += [f"## {parser.prog}", "", "```text", parser.format_help().rstrip(), "```", ""]
    return "\n".join(text)


def _parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Yield the parsers of a command and of its subcommands."""
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _parsers(command)


def notebook_page(notebook: dict[str, Any]) -> str:
    """Return a notebook with its outputs as Markdown."""
    parts = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        for output in cell["outputs"]:
            data = output.get("data", {})
            if "image/svg+xml" in data:
                svg = "".join(data["image/svg+xml"])
                parts.append(f'<div class="picture">{svg[svg.index("<svg") :]}</div>')
            elif text := "".join(output.get("text") or data.get("text/plain") or ()):
                parts.append(f"```text\n{text.rstrip()}\n```")
    return "\n\n".join(parts) + "\n"

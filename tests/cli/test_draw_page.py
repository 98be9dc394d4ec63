"""`transition-parser draw -o page.html`: what it writes, and what it refuses. A browser opens such pages elsewhere."""

import json
import re

import pytest

from tests.conftest import SAMPLE, SAMPLE_AMR, run_here
from tests.drawing.pictures import of_kind
from transition_parser import Parser
from transition_parser.cli.main import warnings_as_lines
from transition_parser.cli.pages import beam_of_pages
from transition_parser.drawing.trees import tree_drawings
from transition_parser.graphs.bank import read_bank
from transition_parser.graphs.conllu import read_conllu
from transition_parser.integrations.page import page
from transition_parser.modules.contract import ParserModel


def data_of(path) -> dict:
    """What a page holds."""
    found = re.search(
        r'<script type="application/json" id="data">(.*?)</script>', path.read_text(encoding="utf-8"), re.S
    )
    assert found is not None
    return json.loads(found[1])


def test_a_page_has_the_graphs_of_its_file(tmp_path):
    page = tmp_path / "page.html"
    run_here("draw", SAMPLE, "--sentences", "5", "-o", page)
    (document,) = data_of(page)["documents"]
    assert document["title"] == "sample.conllu, as it is"
    graphs = [trace["derivations"][0]["graph"] for trace in document["traces"]]
    gold = [sentence for sentence, _ in zip(read_conllu(SAMPLE), range(5))]
    assert [graph["written"] for graph in graphs] == [str(sentence) for sentence in gold]
    assert [tuple(word["head"] for word in graph["words"]) for graph in graphs] == [
        sentence.tree().heads for sentence in gold
    ]
    assert [graph["drawings"] for graph in graphs] == list(map(tree_drawings, gold))
    entry = list(read_bank(SAMPLE_AMR))[2]
    run_here("draw", SAMPLE_AMR, "--id", entry.id, "-o", page)
    (trace,) = data_of(page)["documents"][0]["traces"]
    (derivation,) = trace["derivations"]
    assert [node["concept"] for node in derivation["graph"]["nodes"]] == [*entry.amr.labels]
    for drawings in (derivation["graph"]["drawings"], derivation["drawings"]):
        assert of_kind(drawings[0], "word") == entry.forms


def test_a_page_has_the_parses_of_models(tmp_path):
    page, text = tmp_path / "page.html", tmp_path / "text.txt"
    text.write_text("She sells sea shells. Who told you?", encoding="utf-8")
    run_here("draw", text, "--raw", "--model", "en-ewt", "en-amr", "--beam", "2", "-o", page)
    for name, document in zip(("en-ewt", "en-amr"), data_of(page)["documents"], strict=True):
        parses = Parser.load(name, beam=2).parse(text.read_text(encoding="utf-8"))
        written = [trace["derivations"][0]["graph"]["written"] for trace in document["traces"]]
        assert written == [str(parse.annotated()) for parse in parses]
        assert all(len(trace["derivations"]) == 2 for trace in document["traces"])


def test_data_never_ends_the_script_that_holds_them():
    evil = "</script><script>alert(1)</script><!-- @SCRIPT@ @POLICY@"
    text = page({"documents": [{"title": evil, "traces": []}]})
    assert text.count("<script") == text.count("</script>") == 2 and "alert(1)</" not in text
    found = re.search(r'id="data">(.*?)</script>', text, re.S)
    assert json.loads(found[1])["documents"][0]["title"] == evil


def test_the_policy_allows_what_is_in_the_page_alone():
    text = page({"documents": []})
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', text)
    assert policy.startswith("default-src 'none'; script-src 'sha256-") and "unsafe" not in policy
    assert "connect-src 'none'" in policy and "connect-src 'self'" in page()
    assert re.findall(r"\son\w+=|style=\"|src=|@import|url\(", text.partition("<script>")[0]) == []


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("-o", "x.svg", "--raw"), "--raw is for pages: let x.svg end in .html"),
        (("-o", "x.png", "--sentences", "3"), "--sentences is for pages"),
        (("-o", "x.html", "--beam", "2"), "--beam is only for parses of models: give --model"),
        (("-o", "x.html", "--model", "en-ewt", "--system", "arc-eager"), "--system is for the graphs of files"),
        (("-o", "x.html", "--id", "none"), f"{SAMPLE}: no sentence 'none'"),
        (("-o", "x.htm"), "x.htm: the name must end in .svg, .png, .pdf, .tex, .html"),
        (("-o", "x.svg", "--system", "arc-eager"), "--system is for pages: let x.svg end in .html"),
        (("-o", "x.html", "--system", "arc-standard", "--sentences", "300"), "which arc-standard can't build"),
        (("-o", "x.html", "--model", "none"), "none: no such checkpoint"),
        (("-o", "x.html", "--model", "en-amr"), "is CoNLL-U, but the model parses into AMRs"),
    ],
)
def test_bad_use_is_one_line_and_nothing_is_written(tmp_path, monkeypatch, options, problem):
    monkeypatch.chdir(tmp_path)
    done = run_here("draw", SAMPLE, *options, status=2)
    assert problem in done.stderr and len(done.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("given", [None, 4])
def test_a_default_beam_is_no_reason_to_warn(given, monkeypatch, capsys):
    monkeypatch.setattr(ParserModel, "searches_directly", True)
    with warnings_as_lines():
        assert Parser.load("en-fast", beam_of_pages(given)).beam == 4
    assert capsys.readouterr().err.count("do nothing") == (given is not None)

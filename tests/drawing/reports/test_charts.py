"""The charts of `score --html`: bars as long as the figures say, with names, an axis and a text in their place."""

import re
from xml.etree import ElementTree

import pytest

from tests.conftest import SAMPLE, SAMPLE_AMR, run_here
from transition_parser.drawing.reports.page import BARS, CHARACTER, Bar, Chart
from transition_parser.graphs.conllu import read_conllu
from transition_parser.graphs.dependency_score import Comparison


def charts(gold, system, folder) -> dict[str, ElementTree.Element]:
    """The charts of a report by their titles: each is well-formed XML."""
    report = folder / "report.html"
    run_here("score", gold, system, "--html", report)
    found = re.findall(r"<svg.*?</svg>", report.read_text(encoding="utf-8"), re.DOTALL)
    return {chart.findtext("title"): chart for chart in map(ElementTree.fromstring, found)}


def texts(chart: ElementTree.Element, kind: str) -> list[str]:
    return [text.text.strip() for text in chart.iter("text") if text.get("class") == kind]


def bars(chart: ElementTree.Element) -> list[tuple[str, float, str]]:
    """Name, length as a share of the scale, and figure of each bar."""
    lengths = [float(bar.get("width")) / BARS for bar in chart.iter("rect")]
    return list(zip(texts(chart, "name"), lengths, texts(chart, "figure"), strict=True))


@pytest.fixture
def parsed(tmp_path):
    text = SAMPLE.read_text(encoding="utf-8").replace("\tobj\t", "\tiobj\t")
    path = tmp_path / "parsed.conllu"
    path.write_text(text, encoding="utf-8")
    return path


def test_bars_of_trees_are_the_scores(parsed, tmp_path):
    shown = charts(SAMPLE, parsed, tmp_path)
    comparison = Comparison(list(read_conllu(SAMPLE)), list(read_conllu(parsed)))
    expected = {
        "LAS by words of the sentence": comparison.by_length(),
        "LAS by distance to the head": comparison.by_distance(),
        "LAS by relation": comparison.by_relation(),
    }
    assert shown.keys() == expected.keys()
    for title, scores in expected.items():
        found = bars(shown[title])
        assert len(found) == min(20, len(scores))
        for (name, length, figure), (key, score) in zip(found, scores.items(), strict=False):
            assert (name, figure) == (key, f"{score.f1:.2f}")
            assert length == pytest.approx(score.f1 / 100, abs=1e-3)
    assert ("obj", 0.0, "0.00") in bars(shown["LAS by relation"])


def test_bars_of_amrs_are_the_scores_of_each_class(tmp_path):
    text = SAMPLE_AMR.read_text(encoding="utf-8").replace(":ARG0", ":ARG2")
    (tmp_path / "parsed.amr").write_text(text, encoding="utf-8")
    shown = charts(SAMPLE_AMR, tmp_path / "parsed.amr", tmp_path)
    found = {name: (length, figure) for name, length, figure in bars(shown["Fine-grained scores"])}
    assert {"smatch", "concepts", "srl", "reentrancies"} <= found.keys()
    assert found["concepts"] == (1.0, "1.0000") and found["srl"][0] < 0.9
    assert all(length == pytest.approx(float(figure), abs=1e-3) for length, figure in found.values())
    assert len(bars(shown["Smatch by words of the sentence"])) >= 1


def test_a_chart_has_an_axis_and_says_in_words_the_same(parsed, tmp_path):
    for title, chart in charts(SAMPLE, parsed, tmp_path).items():
        assert chart.get("role") == "img"
        named = {part.get("id"): part.text for part in (chart.find("title"), chart.find("desc"))}
        assert [named[name] for name in chart.get("aria-labelledby").split()] == [title, chart.findtext("desc")]
        assert all(f"{name}: {figure}" in chart.findtext("desc") for name, _, figure in bars(chart))
        assert texts(chart, "tick") == ["0", "25", "50", "75", "100"] and texts(chart, "note measure") == ["LAS"]
        assert len(texts(chart, "note")) == len(bars(chart))


def test_the_scale_begins_at_zero():
    chart = Chart("F1", 1, [Bar("none", 0.0, "0", "x"), Bar("all", 1.0, "1", "y")])
    (_, first, none), (_, second, every) = chart.placed()
    assert (none, every) == (0, BARS) and first < second < chart.height
    assert [x for x, _ in chart.ticks()][::4] == [chart.left, chart.left + BARS]
    assert chart.description() == "none: 0 (x); all: 1 (y)"


def test_long_names_have_room():
    short, long = (Chart("F1", 1, [Bar(name, 0.5, "0.5", "")]) for name in ("x", "x" * 40))
    assert long.left - short.left == 39 * CHARACTER == long.width - short.width

"""`score --html`: what the pages say, and that nothing in them runs or is loaded."""

import json
from html.parser import HTMLParser

import pytest

from tests.conftest import SAMPLE, SAMPLE_AMR, run_here
from transition_parser.drawing.reports import OPEN, WORST
from transition_parser.graphs.conllu import read_conllu
from transition_parser.graphs.dependency_score import Comparison

ATTACK = "<script>alert(1)</script>"


class Page(HTMLParser):
    """The tags of a page, its text, its marked cells; first text of each row with a bar → its last text, the bar."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags, self.addresses, self.marked, self.text = [], [], [], ""
        self._in_marked = False
        self.row, self.bars = [], {}
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        given = dict(attributes)
        self.addresses += [name for name in given if name in ("src", "href") or name.startswith("on")]
        self._in_marked = given.get("class") == "wrong"
        if tag == "tr":
            self.row = []
        if tag == "div" and "style" in given:
            self.bars[self.row[0]] = (self.row[-1], float(given["style"].removeprefix("width: ").removesuffix("%")))

    def handle_endtag(self, tag):
        self._in_marked = False

    def handle_data(self, data):
        self.text += data
        self.row.append(data)
        if self._in_marked:
            self.marked.append(data)


def conllu(*words: tuple[str, int, str]) -> str:
    lines = (
        f"{i}\t{form}\t_\t_\t_\t_\t{head}\t{relation}\t_\t_\n" for i, (form, head, relation) in enumerate(words, 1)
    )
    return "".join(lines) + "\n"


def page(gold, system, folder, *options) -> Page:
    report = folder / "report.html"
    run_here("score", gold, system, "--html", report, *options)
    return Page(report.read_text(encoding="utf-8"))


@pytest.fixture
def parsed(tmp_path):
    """The sample with other heads and relations: `obj` is called `iobj`, and a form is an attack."""
    text = SAMPLE.read_text(encoding="utf-8").replace("\tobj\t", "\tiobj\t")
    path = tmp_path / "parsed.conllu"
    path.write_text(text, encoding="utf-8")
    return path


def test_trees_confusions_and_marks_are_those_of_the_files(parsed, tmp_path):
    shown = page(SAMPLE, parsed, tmp_path)
    objects = sum(row.deprel == "obj" for sentence in read_conllu(SAMPLE) for row in sentence.words)
    assert objects > 5 and shown.marked == ["iobj"] * objects
    assert "script" not in shown.tags and not shown.addresses
    figures = json.loads(run_here("score", SAMPLE, parsed, "--json").stdout)
    assert str(figures["las"]) in shown.text and "Most frequent confusions" in shown.text
    wrong = sum(any(row.deprel == "obj" for row in sentence.words) for sentence in read_conllu(SAMPLE))
    by_length = Comparison(list(read_conllu(SAMPLE)), list(read_conllu(parsed))).by_length()
    errors = {length: score.gold - score.right for length, score in by_length.items()}
    assert sum(errors.values()) == objects
    for length, score in by_length.items():
        share = 100 * errors[length] / max(errors.values())
        assert f"{score.f1:.2f}" in shown.text
        assert shown.bars[length] == (str(errors[length]), pytest.approx(share, abs=0.05))
    assert shown.bars["obj"] == (str(objects), 100.0) and shown.bars["det"] == ("0", 0.0)
    assert f"{min(wrong, WORST)} of 64, the most wrong arcs first" in shown.text
    assert shown.text.index("Worst sentences") < shown.text.index("Wrong arcs by relation")
    assert "right heads and relations (LAS, %)" in shown.text and "label_accuracy" not in shown.text


def test_punctuation_that_does_not_count_is_not_shown_as_wrong(tmp_path):
    """The gold file says what it is: the parse has no tags."""
    right, wrong = ((("a", 0, "root"), (".", 1, relation)) for relation in ("punct", "dep"))
    gold = (conllu(*right) + conllu(("b", 2, "nsubj"), ("c", 0, "root"), (".", 2, "punct"))).replace(
        ".\t_\t_\t_", ".\t_\t_\t."
    )
    (tmp_path / "gold.conllu").write_text(gold)
    (tmp_path / "parsed.conllu").write_text(
        conllu(*wrong) + conllu(("b", 2, "obj"), ("c", 0, "root"), (".", 1, "punct"))
    )
    files = tmp_path / "gold.conllu", tmp_path / "parsed.conllu"
    counted, skipped = page(*files, tmp_path), page(*files, tmp_path, "--punct", "skip")
    assert sorted(counted.marked) == ["1 b", "dep", "obj"] and "2 of 3 arcs wrong" in counted.text
    assert skipped.marked == ["obj"] and "1 of 2 arcs wrong" in skipped.text
    assert "but of punctuation" in skipped.text and "but of punctuation" not in counted.text


def test_texts_are_escaped(tmp_path):
    for name, relation in (("gold", "obj"), ("parsed", ATTACK)):
        lines = f"# sent_id = {ATTACK}\n" + conllu((ATTACK, 0, "root"), ("\"'&", 1, relation))
        (tmp_path / f"{name}.conllu").write_text(lines)
    shown = page(tmp_path / "gold.conllu", tmp_path / "parsed.conllu", tmp_path)
    assert "script" not in shown.tags and ATTACK in shown.text and not shown.addresses


def test_amrs_show_both_graphs_and_what_they_do_not_share(tmp_path):
    text = SAMPLE_AMR.read_text(encoding="utf-8").replace("want-01", f'want-01 :note "{ATTACK}"', 1)
    (tmp_path / "parsed.amr").write_text(text, encoding="utf-8")
    shown = page(SAMPLE_AMR, tmp_path / "parsed.amr", tmp_path)
    assert "script" not in shown.tags and ATTACK in shown.text and "1 of " in shown.text
    assert all(name in shown.text for name in ("named entities", "re-entrancies", "want-01 :note"))
    assert {"all triples (Smatch)", "concepts", "re-entrancies"} <= shown.bars.keys()
    assert shown.bars["arguments of frames"] == ("1.0000", 0.0)
    assert all(length == pytest.approx(100 - 100 * float(f1), abs=0.05) for f1, length in shown.bars.values())
    assert shown.text.index("Worst sentences") < shown.text.index("Scores, and errors")


def test_a_large_file_shows_the_worst_alone(tmp_path):
    sentence = conllu(("a", 0, "root"), ("b", 1, "obj"))
    (tmp_path / "gold.conllu").write_text(sentence * 300)
    (tmp_path / "parsed.conllu").write_text(sentence.replace("obj", "x") * 300)
    shown = page(tmp_path / "gold.conllu", tmp_path / "parsed.conllu", tmp_path)
    assert shown.tags.count("details") == WORST + 1 and "100 of 300" in shown.text
    assert f"{WORST - OPEN} more" in shown.text

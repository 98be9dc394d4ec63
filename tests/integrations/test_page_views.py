"""The page in a real browser: what helps to read it, on any screen, with or without a mouse."""

from __future__ import annotations

import pytest

from tests.conftest import SAMPLE_AMR, run_here
from tests.integrations.pages import LONG, TEXT, downloaded, parse, texts
from transition_parser.storage.cards import PRETRAINED, read_card

pytest.importorskip("playwright.sync_api", reason="no browser is driven here: pip install playwright")
pytest.importorskip("fastapi", reason="pip install 'transition-parser[serve]'")


def test_an_empty_page_says_its_purpose_and_has_examples(tab, served):
    tab.goto(served)
    examples = tab.locator("#about .example")
    examples.first.wait_for()
    assert examples.count() == 3 and "dependency tree" in tab.locator("#about p").text_content()
    example = examples.nth(1).text_content()
    examples.nth(1).focus()
    tab.keyboard.press("Enter")
    tab.locator("article").first.wait_for()
    assert tab.input_value("#text") == example == tab.locator(".sentence").text_content().removeprefix("1")
    assert not tab.locator("#about").is_visible()
    tab.goto(served)
    tab.reload()
    tab.locator("#about").wait_for()


def test_a_text_without_words_is_said_to_have_no_sentences(tab, served):
    tab.goto(served)
    parse(tab, TEXT)
    tab.fill("#text", " ")
    tab.click("#parse")
    tab.locator("#status.error").wait_for()
    assert tab.locator("#status").text_content() == "There are no sentences: type a text"
    assert tab.locator("article").count() == 0


def test_models_are_named_by_their_cards(tab, served):
    tab.goto(served)
    tab.locator("#model").wait_for()
    names = [f"{read_card(PRETRAINED / name).description} ({name})" for name in ("en-ewt", "en-amr")]
    assert texts(tab, "#model option") == names


@pytest.mark.slow
def test_touch_screens_read_nothing_of_keys(browser, served):
    for touch in (False, True):
        context = browser.new_context(has_touch=touch, is_mobile=touch)
        tab = context.new_page()
        tab.goto(served)
        tab.locator("#parse").wait_for()
        assert tab.get_by_text("Ctrl+Enter").is_visible() is not touch
        context.close()


CONTRAST = """() => {
  const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const light = (colour) => {
    probe.fillStyle = colour;
    probe.fillRect(0, 0, 1, 1);
    const parts = [...probe.getImageData(0, 0, 1, 1).data].slice(0, 3).map((v) => v / 255);
    const [r, g, b] = parts.map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  };
  const ground = light(getComputedStyle(document.querySelector(".card")).backgroundColor);
  const found = {};
  for (const text of document.querySelectorAll(".picture text")) {
    const colour = light(getComputedStyle(text).fill);
    found[text.getAttribute("class").trim()] = Math.max(colour, ground) / Math.min(colour, ground);
  }
  return found;
}"""


@pytest.mark.slow
def test_texts_of_pictures_are_readable_in_light_and_dark(browser, served):
    for scheme in ("light", "dark"):
        context = browser.new_context(color_scheme=scheme)
        tab = context.new_page()
        tab.goto(served)
        for model, kinds in (("en-ewt", {"word gone", "tag", "lemma", "figure"}), ("en-amr", {"word gone", "figure"})):
            parse(tab, TEXT, model)
            tab.locator("#sentence-1 .steps").click()
            tab.get_by_label("Step of the derivation").fill("10")
            ratios = tab.evaluate(CONTRAST)
            assert kinds <= ratios.keys() and min(ratios.values()) >= 4.5, (scheme, ratios)
        context.close()


@pytest.mark.slow
def test_long_sentences_scroll_with_a_hint_and_can_be_fitted(tab, served):
    tab.goto(served)
    parse(tab, LONG.replace(" .", ",").rpartition(" The ")[0])
    frame, drawing, hint = (tab.locator(f"#sentence-1 {part}") for part in (".picture", "svg", ".hint"))

    def width() -> float:
        return drawing.bounding_box()["width"]

    room, whole = frame.evaluate("(frame) => frame.clientWidth"), width()
    assert whole > room and hint.is_visible()
    frame.focus()
    tab.keyboard.press("ArrowRight")
    tab.wait_for_function("(frame) => frame.scrollLeft > 0", arg=frame.element_handle())
    tab.get_by_role("button", name="Larger").click()
    assert width() == pytest.approx(1.25 * whole) and "125 %" in texts(tab, ".zoom .size")
    tab.get_by_role("button", name="Fit").click()
    assert width() == pytest.approx(room) and not hint.is_visible()
    assert "style" not in downloaded(tab, "Download the drawing as SVG").partition("viewBox")[2].partition(">")[0]
    tab.locator(".steps").click()
    tab.locator(".derivation").wait_for()
    assert tab.locator(".derivation svg").bounding_box()["width"] == pytest.approx(room)


def test_confidence_is_written_where_the_model_is_unsure(tab, served, parsers):
    tab.goto(served)
    for model, score in (("en-ewt", "arc_scores"), ("en-amr", "node_scores")):
        parse(tab, TEXT, model)
        for number, one in enumerate(parsers[model].parse(TEXT), 1):
            unsure = [f"{int(100 * value)} %" for value in getattr(one, score) if value < 0.9]
            assert unsure and sorted(texts(tab, f"#sentence-{number} .figure")) == sorted(unsure)


def test_a_table_says_the_same_as_the_tree(tab, served, parsers):
    tab.goto(served)
    parse(tab, TEXT)
    one = parsers["en-ewt"].parse(TEXT)[0]
    table = tab.locator("#sentence-1 .details")
    assert not table.is_visible()
    tab.locator("#sentence-1 .as-table").focus()
    tab.keyboard.press("Enter")
    assert table.is_visible()
    rows, tree, forms = one.annotated().words, one.tree, ["", *one.sentence.forms]
    columns = [(row.lemma, row.upos, row.xpos, row.feats.replace("_", "").replace("|", " ")) for row in rows]
    expected = [
        [f"{i} {row.form}", *of_row, tree.relations[i - 1], f"{head} {forms[head]}" if head else "–"]
        for i, (row, of_row, head) in enumerate(zip(rows, columns, tree.heads, strict=True), 1)
    ]
    found = [row.locator("th, td").all_text_contents() for row in table.locator("tbody tr").all()]
    assert [row[:-1] for row in found] == expected
    shown = [float(row[-1].split()[0]) / 100 for row in found]
    assert shown == pytest.approx(one.arc_scores, abs=1e-3)


@pytest.mark.slow
def test_features_of_a_file_are_in_its_tables(tab, tmp_path):
    page = tmp_path / "page.html"
    row = "1\tDogs\tdog\tNOUN\t_\tCase=Nom|Number=Plur\t2\tnsubj\t_\t_\n2\tbark\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n"
    (tmp_path / "gold.conllu").write_text(row)
    run_here("draw", tmp_path / "gold.conllu", "-o", page)
    tab.goto(page.as_uri())
    tab.locator(".as-table").click()
    assert texts(tab, ".details thead th") == ["Word", "Lemma", "UPOS", "Features", "Relation", "Head"]
    dogs, bark = ("dog", "NOUN", "Case=Nom Number=Plur", "nsubj", "2 bark"), ("", "VERB", "", "root", "–")
    assert texts(tab, ".details tbody td") == [*dogs, *bark]
    assert texts(tab, "svg .lemma") == ["dog", ""] and tab.locator(".figure").count() == 0


CROSSINGS = """() => {
  const between = (at, start, size, margin) => at > start + margin && at < start + size - margin;
  const inside = ({ x, y }, box) => between(x, box.x, box.width, 1) && between(y, box.y, box.height, 2);
  const crosses = (path, part) => {
    const box = part.getBBox(), length = path.getTotalLength();
    for (let at = 4; at < length - 4; at += 2) if (inside(path.getPointAtLength(at), box)) return true;
    return false;
  };
  const count = (paths, parts, own) => paths.flatMap((path, i) =>
    parts.filter((part) => part !== own[i] && crosses(path, part))).length;
  const found = { again: 0, threads: 0, crossings: 0 };
  for (const picture of document.querySelectorAll("article svg")) {
    const [boxes, roles, own, again, threads] = [".box", ".role", ".againrole", ".again", ".aligned"].map(
      (one) => [...picture.querySelectorAll(one)]);
    found.again += again.length;
    found.threads += threads.length;
    found.crossings += count(threads, boxes, []) + count(again, boxes, []) + count(again, roles, own);
  }
  return found;
}"""


@pytest.mark.slow
def test_lines_of_amrs_cross_neither_nodes_nor_roles(tab, tmp_path):
    page = tmp_path / "page.html"
    run_here("draw", SAMPLE_AMR, "--sentences", "100", "-o", page)
    tab.goto(page.as_uri())
    tab.locator("article").first.wait_for()
    found = tab.evaluate(CROSSINGS)
    assert found["again"] > 20 and found["threads"] > 200 and found["crossings"] == 0


@pytest.mark.slow
def test_a_legend_says_what_lines_and_boxes_are(tab, served):
    tab.goto(served)
    parse(tab, TEXT, "en-amr")
    said = " ".join(texts(tab, ".legend li"))
    assert all(word in said for word in ("concept", "constant", "top", "re-entrancy", "words", "less than 90 % sure"))

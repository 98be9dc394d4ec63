"""Pictures of any text: well-formed SVG, one warning of what a font lacks, and long texts shortened."""

import io
import re
import sys
import warnings
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import run_here
from transition_parser.drawing.amrs import draw_amr
from transition_parser.drawing.derivations import draw_tree, drawable, svg_of
from transition_parser.graphs.amr import AmrGraph, Edge
from transition_parser.graphs.bank import AmrEntry
from transition_parser.graphs.conllu import Sentence
from transition_parser.graphs.dependency import DependencyTree
from transition_parser.parsing.parses import Parse

IN_XML = re.compile("[\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]*")  # Source: XML 1.0, production Char
TEXTS = st.text(st.characters(), min_size=1, max_size=8)


def shown(svg: str) -> list[str]:
    """The texts of a picture, by an XML parser."""
    return [element.text for element in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def test_every_character_can_stand_in_xml_and_most_stay():
    characters = list(map(chr, range(sys.maxunicode + 1)))
    drawn = list(map(drawable, characters))
    assert IN_XML.fullmatch("".join(drawn))
    replaced = [one for one, other in zip(characters, drawn, strict=True) if one != other]
    assert set(drawn) - set(characters) == set() and "\ufffd" in drawn
    assert len(replaced) == 32 + 33 + 0x800 + 2  # C0, DEL and C1, surrogates, U+FFFE and U+FFFF


@settings(max_examples=25)
@given(TEXTS, TEXTS)
def test_pictures_of_any_words_are_well_formed(word, relation):
    parse = Parse(Sentence.from_words(["w"]), DependencyTree((0,), (relation,)), (1.0,), (), 0.0)
    assert shown(parse._repr_svg_())[-1] == drawable(relation)
    tree = DependencyTree((0,), ("root",))
    assert shown(svg_of(lambda file: draw_tree([word], tree, file)))[0] == drawable(word)
    graph = AmrGraph((word, relation), frozenset({1}), (Edge(0, relation, 1),))
    entry = AmrEntry({"tok": "w"}, graph, alignments=((0,), ()))
    assert sorted(shown(svg_of(lambda file: draw_amr(entry, file)))) == sorted(
        map(drawable, ["w", word, relation, relation])
    )


def test_long_texts_are_shortened():
    entry = AmrEntry({"tok": "w"}, AmrGraph(("a", "b"), frozenset(), (Edge(0, "r" * 160_000, 1),)))
    svg = svg_of(lambda file: draw_amr(entry, file))
    assert "r" * 97 + "..." in shown(svg) and len(svg) < 20_000
    svg = svg_of(lambda file: draw_tree(["w" * 160_000], DependencyTree((0,), ("root",)), file))
    width = float(re.search(r'width="([0-9.]+)pt"', svg)[1])
    assert "w" * 97 + "..." in shown(svg) and width < 3000


TREE = "1\t日本語\t_\t_\t_\t_\t0\troot\t_\t_\n2\t日本語の\t_\t_\t_\t_\t1\tdep\t_\t_\n\n"
AMR = "# ::snt 日本語\n(a / 日本語)\n"


@pytest.mark.parametrize(("name", "text"), [("a.conllu", TREE), ("a.amr", AMR)])
def test_what_a_font_lacks_is_one_line(name, text, tmp_path):
    (tmp_path / name).write_text(text, encoding="utf-8")
    system = ["--system", "arc-hybrid"] if name.endswith("conllu") else []
    lines = run_here("draw", tmp_path / name, *system, "-o", tmp_path / "out.png").stderr.splitlines()
    assert len(lines) == 1 and "the font lacks some characters" in lines[0]
    assert run_here("draw", tmp_path / name, *system, "-o", tmp_path / "out.svg").stderr == ""


def test_notebooks_get_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        draw_tree(["日本"], DependencyTree((0,), ("root",)), io.BytesIO())
        draw_amr(AmrEntry({"tok": "日本"}, AmrGraph(("日本",), frozenset(), ())), io.BytesIO())

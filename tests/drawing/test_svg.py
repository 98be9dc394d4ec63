"""Pictures of any text: well-formed SVG of known widths, in readable colors."""

import re
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.drawing.pictures import texts
from transition_parser.drawing.amrs import amr_drawing
from transition_parser.drawing.svg import (
    colors,
    drawable,
    number,
    style,
    text,
    text_width,
)  # fmt: skip
from transition_parser.drawing.trees import latex, tree_drawing
from transition_parser.graphs.amr import AmrGraph, Edge
from transition_parser.graphs.bank import AmrEntry
from transition_parser.graphs.conllu import Row, Sentence

IN_XML = re.compile("[\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]*")  # Source: XML 1.0, production Char
TEXTS = st.text(st.characters(), min_size=1, max_size=8)


def test_every_character_can_stand_in_xml_and_most_stay():
    characters = list(map(chr, range(sys.maxunicode + 1)))
    drawn = list(map(drawable, characters))
    assert IN_XML.fullmatch("".join(drawn))
    replaced = [one for one, other in zip(characters, drawn, strict=True) if one != other]
    assert set(drawn) - set(characters) == set() and "\ufffd" in drawn
    assert len(replaced) == 32 + 33 + 0x800 + 2  # C0, DEL and C1, surrogates, U+FFFE and U+FFFF


def tree_of(form: str, relation: str) -> Sentence:
    row = Row("1", form, "_", "_", "_", "_", "0", relation, "_", "_")
    return Sentence((row,))


@settings(max_examples=50)
@given(TEXTS, TEXTS)
def test_pictures_of_any_words_are_well_formed(word, relation):
    svg = tree_drawing(tree_of(word, relation))
    assert [one.text for one in texts(svg)] == [drawable(relation), drawable(word)]
    graph = AmrGraph((word, relation), frozenset({1}), (Edge(0, relation, 1),))
    svg = amr_drawing(AmrEntry({"tok": "w"}, graph, alignments=((0,), ())))
    shown = sorted(one.text for one in texts(svg))
    assert shown == sorted(map(drawable, ["w", "1", "1", word, relation, relation]))


def test_long_texts_are_shortened():
    entry = AmrEntry({"tok": "w"}, AmrGraph(("a", "b"), frozenset(), (Edge(0, "r" * 160_000, 1),)))
    svg = amr_drawing(entry)
    assert "r" * 97 + "..." in [one.text for one in texts(svg)] and len(svg) < 20_000
    svg = tree_drawing(tree_of("w" * 160_000, "root"))
    assert "w" * 97 + "..." in [one.text for one in texts(svg)] and len(svg) < 20_000


@pytest.mark.parametrize(
    ("word", "thousandths"),
    [
        ("Will", 944 + 3 * 222),
        ("éé", 2 * 556),
        ("e\u0301e\u0301", 2 * 556),
        ("日本語", 3000),
        ("ｗ", 1000),
        ("한", 1000),
        ("\u1112\u1161\u11ab", 1000),  # the same syllable in three letters
        ("👩\u200d💻", 1000),  # one picture of three characters
        ("שלום", 4 * 550),
        ("שָׁלוֹם", 4 * 550),
        ("مرحبا", 5 * 480),
        ("\u0301", 300),  # too narrow to be seen
        ("", 0),
    ],
)
def test_widths_of_texts(word, thousandths):
    assert text_width(word, "concept") == pytest.approx(14 * thousandths / 1000, abs=0.01)
    assert (f'textLength="{number(text_width(word, "concept"))}"' in text(word, 0, 0, "concept")) is bool(word)


def test_words_from_right_to_left_say_so():
    assert 'direction="rtl"' in text("(שלום)", 0, 0, "word") and 'direction="rtl"' in text("مرحبا", 0, 0, "word")
    assert "direction" not in text("日本 x", 0, 0, "word")


def light(color: str) -> float:
    """The relative luminance. Source: WCAG 2.2"""
    parts = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
    red, green, blue = (v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05


@pytest.mark.parametrize("mode", [0, 1], ids=["light", "dark"])
def test_colors_are_readable_on_their_ground(mode):
    values = colors(mode)
    ground = light(values.pop("surface"))
    for name, color in values.items():
        bright, dark = sorted((ground, light(color)), reverse=True)
        assert bright / dark >= 4.5, name
        assert color in style()


def test_latex():
    words = [("A&B", "2", "nsubj:pass"), ("50%_\\", "0", "root")]
    rows = tuple(Row(str(i), form, *"____", head, rel, "_", "_") for i, (form, head, rel) in enumerate(words, 1))
    assert (
        latex(Sentence(rows))
        == r"""% \usepackage{tikz-dependency}
\begin{dependency}
\begin{deptext}
A\&B \& 50\%\_\textbackslash{} \\
\end{deptext}
\depedge{2}{1}{nsubj:pass}
\deproot{2}{root}
\end{dependency}
"""
    )

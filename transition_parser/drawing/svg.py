"""Pictures as SVG: escaped elements, texts of a known width, the style that all pictures share; files of pictures."""

from __future__ import annotations

import math
import re
import unicodedata
from functools import cache, lru_cache
from html import escape
from pathlib import Path
from string import Template

import regex

from transition_parser.base.errors import needs_extra, shortened

SIZES = {  # kind of text → font size in pixels
    "word": 15, "tag": 11, "lemma": 11, "role": 12, "concept": 14, "constant": 13,
}  # fmt: skip
UNSURE, DOUBTFUL = 0.9, 0.5  # below the first confidence an arc or node is unsure, below the second doubtful

_LONGEST = 100  # maximum number of characters of a text in a picture
_UNWRITABLE = re.compile("[^\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # control and non-XML characters
_WIDTHS = {  # width in thousandths of the font size → characters, as in Arial, Helvetica and Liberation Sans
    191: "'", 222: "ijl‘’", 260: "|", 278: " !,./:;I[\\]ft", 333: "()-`r“”", 334: "{}", 355: '"', 389: "*", 469: "^",
    500: "Jcksvxyz", 556: "#$0123456789?L_abdeghnopqu–", 584: "+<=>~", 611: "FTZ", 667: "&ABEKPSVXY", 722: "CDHNRUw",
    778: "GOQ", 833: "Mm", 889: "%", 944: "W", 1000: "—…→", 1015: "@",
}  # fmt: skip
_WIDTH_OF = {character: width for width, characters in _WIDTHS.items() for character in characters}
# mean widths of other characters, by category; of Arabic and Hebrew by direction
_MEANS = {"Mn": 0, "Me": 0, "Cf": 0, "Lu": 700, "Ll": 560, "Nd": 556, "AL": 480, "R": 550}
_MEAN = 600

COLORS = {  # name of a color → its values in light and in dark pictures
    "text": ("#1c2430", "#e4e9f0"), "quiet": ("#5d6878", "#9aa6b5"), "surface": ("#ffffff", "#1a2029"),
    "stack": ("#1b5fa8", "#7db3ee"), "buffer": ("#2f7a3b", "#83c98f"), "gone": ("#6a7381", "#8591a2"),
    "new": ("#b3392f", "#f0897e"), "aside": ("#8a5a00", "#e0b25c"),
}  # fmt: skip


def colors(mode: int) -> dict[str, str]:
    """Return name → color of light (0) or dark pictures (1)."""
    return {name: values[mode] for name, values in COLORS.items()}


@cache
def style() -> str:
    """Return the style sheet of pictures, which follow the light or dark mode of the system."""
    rules = Path(__file__).with_name("pictures.css").read_text(encoding="utf-8").splitlines()
    rules += (f".{kind}{{font-size:{size}px}}" for kind, size in SIZES.items())
    rules = [re.sub(r"(^|,)(?=[.\w][^{}]*\{)", r"\1.drawing ", rule) for rule in rules]
    shapes = "\n".join(rule for rule in rules if "$" not in rule)
    colored = Template("\n".join(rule for rule in rules if "$" in rule))  # with names of `COLORS`
    dark = f"@media (prefers-color-scheme:dark){{\n{colored.substitute(colors(1))}}}"
    return f"{shapes}\n{colored.substitute(colors(0))}\n{dark}"


def element(name: str, *children: str, **attributes: str | float | None) -> str:
    """Return an element. Values of attributes are escaped, and None leaves an attribute out; children are SVG.

    >>> element("path", class_="line", d="M0 0", stroke_width=2.04)
    '<path class="line" d="M0 0" stroke-width="2"/>'
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value) if isinstance(value, str) else number(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    inside = "".join(children)
    return f"<{name}{written}>{inside}</{name}>" if inside else f"<{name}{written}/>"


def number(value: float) -> str:
    """Return a number with one decimal place at most."""
    return f"{round(value, 1) + 0.0:.1f}".removesuffix(".0")  # no minus before 0


def drawable(text: str) -> str:
    """Return the text as pictures show it.

    Each control character and each character that XML forbids becomes U+FFFD, and a long text is shortened.

    >>> drawable("a\\x07b")
    'a\ufffdb'
    """
    return _UNWRITABLE.sub("\ufffd", shortened(text, _LONGEST))


@lru_cache(maxsize=20_000)
def text_width(text: str, kind: str) -> float:
    """Return the width of a text of a kind (see `SIZES`) in pixels, by the table of a sans-serif font.

    >>> text_width("will", "word"), text_width("日本", "word")
    (20.82, 30.0)
    """
    clusters = regex.findall(r"\X", drawable(text))
    width = sum(max(map(_character_width, cluster)) for cluster in clusters)
    return round(max(width, 300) * SIZES[kind] / 1000, 2) if text else 0.0


@cache
def _character_width(character: str) -> int:
    if unicodedata.east_asian_width(character) in "WF":
        return 1000
    base = unicodedata.normalize("NFKD", character)[0]  # é is as wide as e
    mean = _MEANS.get(unicodedata.category(base), _MEANS.get(unicodedata.bidirectional(base), _MEAN))
    return _WIDTH_OF.get(base, mean)


def text(content: str, x: float, y: float, kind: str, more: str = "") -> str:
    """Return a text in the middle of `x`, as wide as `text_width` says in any font.

    kind: a key of `SIZES`
    more: further classes
    """
    if not content:
        return ""
    is_rtl = any(unicodedata.bidirectional(character) in ("R", "AL") for character in content)
    return element(
        "text", escape(drawable(content), quote=False), class_=f"{kind} {more}".rstrip(), x=x, y=y,
        textLength=text_width(content, kind), lengthAdjust="spacingAndGlyphs", direction="rtl" if is_rtl else None,
    )  # fmt: skip


def tip(x: float, y: float, dx: float, dy: float, kind: str = "tip") -> str:
    """Return an arrowhead with its point at (x, y) and the direction (dx, dy)."""
    length = math.hypot(dx, dy) or 1.0
    ux, uy = dx / length, dy / length
    left, right = ((x - 7 * ux + side * uy, y - 7 * uy - side * ux) for side in (-3.4, 3.4))
    return element(
        "polygon", class_=kind, points=" ".join(f"{number(a)},{number(b)}" for a, b in ((x, y), left, right))
    )


def picture(width: float, height: float, label: str, *parts: str, middle: float | None = None) -> str:
    """Return a picture as a stand-alone `<svg>` element.

    label: the text for screen readers
    middle: the x at which a frame that is narrower than the picture begins
    """
    wide, high = math.ceil(width), math.ceil(height)
    ground = element("rect", class_="ground", width="100%", height="100%")
    return element(
        "svg", element("style", style()), ground, *parts, xmlns="http://www.w3.org/2000/svg", class_="drawing",
        width=wide, height=high, viewBox=f"0 0 {wide} {high}", role="img", aria_label=drawable(label),
        data_middle=middle,
    )  # fmt: skip


# --- confidences ------------------------------------------------------------------------------


def doubt(confidence: float | None) -> str:
    """Return the classes of an arc or node with a confidence; None where it is not known."""
    if confidence is None or confidence >= UNSURE:
        return ""
    return "unsure" if confidence >= DOUBTFUL else "unsure doubtful"


def title(name: str, confidence: float | None) -> str:
    """Return the title with the confidence that is shown at the mouse."""
    if confidence is None:
        return ""
    digits = 0 if confidence >= 0.99995 else 1 if confidence >= 0.0995 else 2
    return element("title", escape(f"{drawable(name)}: {100 * confidence:.{digits}f} %", quote=False))


# --- files ------------------------------------------------------------------------------------


_PIXELS_PER_INCH = 192.0  # of PNG: two for each pixel of the drawing
_DOCUMENT = b'#set page(width: auto, height: auto, margin: 0pt)\n#image("drawing.svg")'


def write_drawing(svg: str, path: Path) -> None:
    """Write a drawing as the suffix of the path says: `.svg`, or by typst, which embeds fonts, `.png` or `.pdf`."""
    file = f'<?xml version="1.0" encoding="UTF-8"?>\n{svg}\n'.encode()
    if path.suffix != ".svg":
        with needs_extra("draw", "pictures in PNG and PDF, unlike SVG,"):
            import typst
        source = {"main": _DOCUMENT, "drawing.svg": file}
        # the time is that of the epoch, so that equal drawings give equal files
        file = typst.compile(source, format=path.suffix[1:], ppi=_PIXELS_PER_INCH, timestamp=0)
    path.write_bytes(file)

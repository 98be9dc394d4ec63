"""The page that shows parses and their derivations, as one HTML file, which `serve` serves and `draw` writes.

Graphs come drawn, in SVG, and the scripts mark, step and zoom. Nothing is loaded from elsewhere: the
Content-Security-Policy allows only the scripts and styles of this folder and of drawings, by their hashes. Data reach
the page as JSON, and are inserted as text.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from transition_parser.drawing import svg as drawing

FOLDER = Path(__file__).parent
SCRIPTS = ("elements.js", "views.js", "tables.js", "derivations.js", "app.js")
SERVED: Mapping[str, Any] = {}  # the data of a page that asks the server for parses


@cache
def _read(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


@cache
def _script() -> str:
    return '"use strict";\n(() => {\n' + "".join(map(_read, SCRIPTS)) + "})();\n"


@cache
def _style() -> str:
    light, dark = ("".join(f"--{name}:{color};" for name, color in drawing.colors(mode).items()) for mode in (0, 1))
    return f":root{{{light}}}\n@media (prefers-color-scheme:dark){{:root{{{dark}}}}}\n{_read('page.css')}"


def page(data: Mapping[str, Any] = SERVED) -> str:
    """Return the HTML of the page."""
    parts = {
        "@POLICY@": policy(connects="documents" not in data),
        "@STYLE@": _style(),
        "@SCRIPT@": _script(),
        # `<` is escaped, so that no HTML tag can begin in the JSON, which keeps its meaning
        "@DATA@": json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c"),
    }
    head, *rest = _read("page.html").split("@")
    return head + "".join(parts.get(f"@{part}@", part) for part in rest)


def policy(connects: bool) -> str:
    """Return the Content-Security-Policy of the page."""
    texts = (_script(), _style(), drawing.style())
    script, *styles = (
        f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in texts
    )
    connect = "'self'" if connects else "'none'"
    return (
        f"default-src 'none'; script-src {script}; style-src {' '.join(styles)}; img-src data:; connect-src {connect}; "
        "base-uri 'none'; form-action 'none'"
    )

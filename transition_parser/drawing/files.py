"""Files of pictures. SVG needs no other package; PNG and PDF are made of it by typst, which embeds fonts."""

from __future__ import annotations

from pathlib import Path

from transition_parser.base.errors import needs_extra

_PIXELS_PER_INCH = 192.0  # of PNG: two for each pixel of the drawing
_DOCUMENT = b'#set page(width: auto, height: auto, margin: 0pt)\n#image("drawing.svg")'


def write_drawing(svg: str, path: Path) -> None:
    """Write a drawing in the format of the suffix of the path: `.svg`, `.png` or `.pdf`."""
    file = f'<?xml version="1.0" encoding="UTF-8"?>\n{svg}\n'.encode()
    if path.suffix != ".svg":
        with needs_extra("draw", "pictures in PNG and PDF, unlike SVG,"):
            import typst
        source = {"main": _DOCUMENT, "drawing.svg": file}
        # the time is that of the epoch, so that equal drawings give equal files
        file = typst.compile(source, format=path.suffix[1:], ppi=_PIXELS_PER_INCH, timestamp=0)
    path.write_bytes(file)

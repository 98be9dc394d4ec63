"""The paragraphs of a text, which are runs of lines that are not blank."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def stretches(lines: Iterable[str], most: int) -> Iterator[tuple[int, str, bool]]:
    """Yield each paragraph, which is a run of lines that are not blank, in stretches where it is long.

    An item is the position of a stretch, its text, and True where the paragraph ends there. The stretches hold all
    characters of the paragraph.

    most: about how many characters a stretch may have
    """
    block: list[str] = []
    size = start = here = 0
    is_open = False
    for line in lines:
        if line.strip():
            start = start if block else here
            for piece in _pieces(line, most):
                if size > most:
                    yield start, "".join(block), False
                    block, start, size = [], start + size, 0
                block.append(piece)
                size += len(piece)
            block.append("\n")
            size, is_open = size + 1, True
        elif is_open:
            yield start, "".join(block), True
            block, size, is_open = [], 0, False
        here += len(line) + 1
    if is_open:
        yield start, "".join(block), True


def _pieces(line: str, most: int) -> Iterator[str]:
    """Yield the line in one piece, or a long line in several. A piece ends behind a blank where there is one."""
    first = 0
    while len(line) - first > most:
        end = line.rfind(" ", first + most // 2, first + most) + 1 or first + most
        yield line[first:end]
        first = end
    yield line[first:]

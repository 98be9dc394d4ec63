"""The paragraphs of a text, which are runs of lines that are not blank."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def stretches(lines: Iterable[str], most: int) -> Iterator[tuple[int, str, bool]]:
    """Yield the paragraphs of a text. A long paragraph comes in several stretches.

    An item is the position of a stretch, its text, and True where the paragraph ends there. The stretches hold all
    characters of the paragraph.

    most: the approximate maximum number of characters of a stretch
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
    """Yield a line in pieces of up to `most` characters. A piece ends behind a blank if its second half has one."""
    first = 0
    while len(line) - first > most:
        end = line.rfind(" ", first + most // 2, first + most) + 1 or first + most
        yield line[first:end]
        first = end
    yield line[first:]

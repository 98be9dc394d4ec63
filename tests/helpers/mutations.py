"""Random changes of text and bytes, for tests of what readers make of broken files."""

import random
import re

NUMBERS = "0 1 -1 2 3-4 4-3 1-999999999 2.1 0.1 1.0 01 +1 1e3 ² ١ ٣ nan inf"
AMR = "( ) / : ~e.1 ~e.0,1 ~e.99 0-1|0 0-999999999|0 :ARG0 :ARG0-of :-of :mod :domain :wiki :name :op1 name a a1"
TREES = "_ - root nsubj:pass null None % # ▁ ␣ é e\u0301 😀 \u200b \ufeff \ud83d"
STRANGE = (  # what tokens of either format may become
    *(*NUMBERS.split(" "), *AMR.split(" "), *TREES.split(" "), "", " ", "  ", "\t", "\n", "\n\n", "\r"),
    *("\x1c", "\x0b", "\x0c", "\x85", "\xa0", "\u2028", "\u3000"),
    *("9" * 9, "9" * 10, "9" * 4301, "x" * 3000, f"~{'9' * 4301}"),
    *('"', '""', "\\", "a\\", '"a\\"b"', '"a b"', "# ::id", "# ::tok", "# ::snt", "# ::alignments 0-1|0"),
    *("sent_id = a", "# sent_id = a", "# text = a"),
)  # fmt: skip


def mutated_bytes(data: bytes, rng: random.Random) -> bytes:
    """`data` after one to five random changes of bytes, tokens or lines."""
    for _ in range(rng.randint(1, 5)):
        data = rng.choice(_CHANGES)(data, rng)
    return data


def _byte(data: bytes, rng: random.Random) -> bytes:
    """One byte is lost, doubled, set anew or has a bit turned; or the rest is lost."""
    place = rng.randrange(len(data) + 1)
    old, rest = data[place : place + 1] or b"\n", data[place + 1 :]
    new = rng.choice((b"", old * 2, bytes((rng.randrange(256),)), bytes((old[0] ^ 1 << rng.randrange(8),)), None))
    return data[:place] if new is None and rng.random() < 0.2 else data[:place] + (new or b"") + rest


def _token(data: bytes, rng: random.Random) -> bytes:
    """One token is lost, doubled, changes places with another one, or becomes a strange one."""
    parts = re.split(rb"([ \t\n()|=,]+)", data)
    one, other = rng.randrange(0, len(parts), 2), rng.randrange(0, len(parts), 2)
    change = rng.randrange(5)
    if change == 0:
        parts[one] = b""
    elif change == 1:
        parts[one] += b" " + parts[one]
    elif change == 2:
        parts[one], parts[other] = parts[other], parts[one]
    else:
        parts[one] = rng.choice(STRANGE).encode("utf-8", "surrogatepass")
    return b"".join(parts)


def _line(data: bytes, rng: random.Random) -> bytes:
    """One line is lost, doubled, or changes places with another one."""
    lines = data.splitlines(keepends=True) or [b"\n"]
    one, other, change = rng.randrange(len(lines)), rng.randrange(len(lines)), rng.randrange(3)
    if change == 0:
        lines[one] = b""
    elif change == 1:
        lines.insert(other, lines[one])
    else:
        lines[one], lines[other] = lines[other], lines[one]
    return b"".join(lines)


_CHANGES = (_byte, _byte, _token, _token, _token, _line)

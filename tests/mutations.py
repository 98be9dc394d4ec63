"""Random changes of text and bytes, for tests of what readers make of broken files."""

from __future__ import annotations

import random

MEANINGFUL = '()/:~"\\#\n\r\t ,.|-_0e²\u2028\x85\xa0'


def mutated(text: str, rng: random.Random) -> str:
    """`text` with one to four characters deleted, doubled, swapped or replaced by those that mean something."""
    characters = list(text)
    for _ in range(rng.randint(1, 4)):
        i = rng.randrange(len(characters))
        change = rng.randrange(4)
        if change == 0:
            characters[i] = ""
        elif change == 1:
            characters[i] *= 2
        elif change == 2:
            characters[i] = rng.choice(MEANINGFUL)
        else:
            j = rng.randrange(len(characters))
            characters[i], characters[j] = characters[j], characters[i]
    return "".join(characters)

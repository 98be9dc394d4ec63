"""Numbers in English words: `thirteen`, `eighty-six`, `40 million`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal

UNITS: Mapping[str, int] = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen".split()
    )
} | {word: 10 * (2 + i) for i, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split())}
SCALES: Mapping[str, int] = {
    "hundred": 10**2, "thousand": 10**3, "k": 10**3, "million": 10**6, "mn": 10**6, "m": 10**6, "billion": 10**9,
    "bn": 10**9, "b": 10**9, "trillion": 10**12, "dozen": 12, "crore": 10**7, "lakh": 10**5,
}  # fmt: skip

_DIGITS = re.compile(r"(\d{1,3}(?:,\d{3})+|\d{1,15})(\.\d{1,9})?")
HYPHENS = ("-", "@-@")
_SHORTEST_SCALE = 3  # in letters; shorter scale words such as `m` are ambiguous

Part = tuple[Decimal | int | None, int | None]  # (value, scale) of a word, at least one of them None


def totals(parts: Iterable[Part]) -> Iterator[Decimal | int]:
    """Yield after each word the number that the words so far denote. Stop at a word that can't continue the number."""
    total: Decimal | int = 0
    group: Decimal | int | None = None
    for value, scale in parts:
        if scale is not None:
            group = (1 if group is None else group) * scale
            if scale >= 10**3:
                total, group = total + group, 0
        elif value is None:
            return
        else:
            # `twenty` + `five`, `hundred` + `twenty`
            after_hundreds = value < 100 and (group or 0) % 100 == 0
            after_tens = value < 10 and (group or 0) % 10 == 0 and (group or 0) % 100 >= 20
            if group and not (after_hundreds or after_tens):
                return
            group = (group or 0) + value
        yield total + (group or 0)


def number_of(forms: Sequence[str]) -> str | None:
    """Return the number that the words denote, in digits (`40000000` for 40 million); None if they denote none."""
    if not forms or forms[0] in HYPHENS or forms[-1] in HYPHENS:
        return None
    parts = [part for form in forms if form not in HYPHENS for part in _parts(form.lower())]
    numbers = [*totals(parts)]
    if len(numbers) < len(parts):
        return None
    digits = format(Decimal(numbers[-1]), "f")
    return digits.rstrip("0").rstrip(".") if "." in digits else digits


def _parts(form: str) -> Iterator[Part]:
    """Yield the value or scale of each part of a word; `eighty-six` has two parts."""
    if match := _DIGITS.fullmatch(form):
        yield Decimal(match[0].replace(",", "")), None
        return
    for part in form.split("-"):
        yield UNITS.get(part), SCALES.get(part) if len(part) >= _SHORTEST_SCALE else None

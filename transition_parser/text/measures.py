"""Times of day and numbers that an English sentence says, also in several words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import NamedTuple

from transition_parser.text import word_list
from transition_parser.text.lemmas import number_of

_WORDS = word_list("numbers")  # from *zero* on
_UNIT, _ONE, _TEENS = ("|".join(_WORDS[first:end]) for first, end in ((1, 10), (1, 13), (13, 20)))
_TENS = "|".join(word_list("tens"))
_AT = r"(?:(?<=at )|(?<=by )|(?<=until )|(?<=till )|(?<=before )|(?<=after )|(?<=around )|(?<=about )|(?<=since ))"
_IS = r"(?:(?<=it is )|(?<=it was )|(?<=it 's )|(?<=it was already )|(?<=it is already )|(?<=it 's already ))"
_AFTER_TIMES = "and|or at|on|today|tomorrow|tonight|every|sharp|if|because|but|when"
_EVENING = re.compile(r" (?:in the|this) (?:afternoon|evening)(?!\S)")
_END = rf"(?= ?$| [.,;:!?] ?| (?:{_AFTER_TIMES})(?!\S))"  # of a clause
_HALF = r"(?P<half>[ap])\.? ?m\.?(?!\S)"  # of the day
_MINUTE = r"a quarter|quarter|five|ten|twenty(?: ?- ?| )five|twenty|\d\d?"
_TIMES = (
    re.compile(r"(?<!\S)(?P<hour>\d\d?)(?:[:.](?P<minute>[0-5]\d))? ?" + _HALF),
    re.compile(rf"{_AT}(?P<hour>[012]?\d):(?P<minute>[0-5]\d)(?!\S| [ap]\.?m)"),
    re.compile(rf"(?<!\S)(?P<minute>half) past (?P<hour>\d\d?|{_ONE})(?!\S)"),
    re.compile(rf"(?<!\S)(?P<minute>{_MINUTE})(?: minutes)? past (?P<hour>\d\d?|{_ONE})(?: {_HALF}|(?!\S))"),
    re.compile(rf"{_AT}(?P<minute>{_MINUTE})(?: minutes)? (?P<side>to) (?P<hour>\d\d?|{_ONE})(?!\S)"),
    re.compile(rf"{_IS}(?!a? ?quarter)(?P<minute>{_MINUTE})(?: minutes)? (?P<side>to) (?P<hour>{_ONE}){_END}"),
    re.compile(rf"(?<!\S)(?P<hour>\d\d?|{_ONE}) o'clock(?!\S)"),
    re.compile(rf"{_IS}(?P<minute>(?:a )?quarter) (?P<side>to) (?P<hour>{_ONE})(?!\S)"),
    re.compile(
        rf"{_AT}(?P<hour>{_ONE}) (?P<minute>fifteen|thirty|forty(?: ?- ?| )five)"
        rf"(?: {_HALF}|{_END}|(?= (?:in|during|when|the|my|our|his|her|their|i|we|you|he|she|they) ))"
    ),
    # *the bus leaves at ten*, not *at ten shops*; *look at one* is not about time
    re.compile(rf"(?<=at )(?P<hour>(?!one){_ONE}){_END}"),
)
_MINUTES = {"half": 30, "quarter": 15, "a quarter": 15}
_LARGE = "thousand|million|billion|trillion"
_SCALE = f"hundred|{_LARGE}"
_NUMBERS = (  # (pattern, the words of the number, the factor of its scale)
    (re.compile(rf"(?<!\S)(?:a |one )?half (?:of )?an? (?P<scale>{_SCALE})(?!\S)"), "0.5"),
    (re.compile(rf"(?<!\S)(?:a|one) quarter of an? (?P<scale>{_SCALE})(?!\S)"), "0.25"),
    (re.compile(rf"(?<!\S)three quarters of an? (?P<scale>{_SCALE})(?!\S)"), "0.75"),
)
_WORD = rf"(?:{_ONE}|{_TEENS}|(?:{_TENS})(?:(?: ?- ?| )(?:{_UNIT}))?)"  # *seven*, *thirty-two*
_AND_A_HALF = re.compile(rf"(?<!\S)(?P<whole>\d+|{_WORD}) and a half(?: (?P<scale>{_SCALE}))?(?!\S)")
_HUNDRED_AND = re.compile(
    rf"(?<!\S)(?<!between )(?P<whole>(?:a|{_WORD})(?: (?:{_WORD}|{_SCALE}))* (?:{_SCALE})) and (?P<rest>{_WORD})"
    rf"(?: (?P<scale>{_LARGE}))?(?! (?:hundred|and a half)(?!\S))(?!\S)"
)
_PARTS = {"third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "eighth": 8, "tenth": 10}
_FRACTIONS = re.compile(rf"(?<!\S)(?P<whole>{_ONE})(?: ?- ?| )(?P<part>{'|'.join(_PARTS)})s(?= of )")
_SHARES = re.compile(rf"(?<!\S)(?P<part>\d|{_ONE}) (?:in|out of) (?:every )?(?P<whole>\d{{1,3}}|{_ONE}|twenty)(?= \w)")
_DOZENS = re.compile(rf"(?<!\S)(?P<whole>\d+|{_ONE}) dozen(?!\S)")
_MINUS = re.compile(rf"(?<!\S)minus (?P<whole>\d[\d,.]*|{_WORD})(?!\S)")
_AND_HALF_OF_IT = re.compile(
    rf"(?<!\S)(?P<whole>an?|\d+|{_WORD}) (?P<unit>hour|day|week|month|year)s? and a half(?!\S)"
)
_QUARTERS = re.compile(r"(?<!\S)(?:an?|one|(?P<whole>three))[ -]quarters? of an hour(?!\S)")
_DEGREES = re.compile(
    r"(?<!\S)(?P<whole>(?:minus |- ?)?\d[\d,.]*) (?:degrees?|°) ?(?P<scale>celsius|fahrenheit|c|f)(?!\S)"
)
_SCALES = {"c": "celsius", "f": "fahrenheit"}
_PRICES = re.compile(  # *six pounds fifty*, not *six pounds fifty times*
    rf"(?<!\S)(?P<whole>\d+|{_WORD}) (?P<unit>dollar|euro|franc|pound)s? (?P<rest>\d\d|{_WORD})"
    r"(?= ?$| [.,;:!?] ?| (?:an?|and|at|each|for|in|on|or|per|today)(?!\S))"
)
_UNITS = {
    "monetary": "dollar euro yen cent franc rupee",  # a pound may be a mass, too
    "distance": "kilometer kilometre meter metre mile foot inch centimeter yard",
    "mass": "kilogram gram ton tonne ounce",
    "volume": "liter litre gallon",
}
UNITS = {unit: f"{kind}-quantity" for kind, units in _UNITS.items() for unit in units.split()}


class SpanValue(NamedTuple):
    """A value that a span of words expresses: `16:20` or `500000`."""

    first: int
    end: int  # the word after the last one
    value: str


class Measure(NamedTuple):
    """A quantity that a span of words expresses: 20 `celsius` of the kind `temperature`."""

    span: SpanValue
    kind: str  # `temperature`, `temporal` or `monetary`
    unit: str


def times_of_day(forms: Sequence[str]) -> Iterator[SpanValue]:
    """Yield the times of day in hours from 0 to 24 and minutes: *4:20 p.m.*, *half past six*, *at six thirty*.

    >>> [*times_of_day("It is 4:20 p.m. , not half past six".split())]
    [SpanValue(first=2, end=4, value='16:20'), SpanValue(first=6, end=9, value='6:30')]
    """
    text = _text(forms)
    for match in (match for pattern in _TIMES for match in pattern.finditer(text)):
        given = match.groupdict()
        hour, said = int(number_of([given["hour"]]) or 0), given.get("minute") or "0"
        minute = _MINUTES.get(said) or int(number_of(re.split("[ -]+", said)) or said)
        if half := given.get("half"):
            hour = hour % 12 + 12 * (half == "p") if hour <= 12 else 24
        elif hour < 12 and _EVENING.match(text, match.end()):
            hour += 12
        if given.get("side") == "to":
            hour, minute = hour - 1 or 12, 60 - minute
        if hour < 24 and minute < 60:
            yield _span_value(match, f"{hour}:{minute:02}")


def numbers_of_several_words(forms: Sequence[str]) -> Iterator[SpanValue]:
    """Yield *half a million*, *a hundred and one*, *two and a half*, *two dozen*, *minus 12* and the like in digits.

    >>> [*numbers_of_several_words("half a million people at minus 12 degrees".split())]
    [SpanValue(first=0, end=3, value='500000'), SpanValue(first=5, end=7, value='-12')]
    """
    text = _text(forms)
    for pattern, factor in _NUMBERS:
        for match in pattern.finditer(text):
            yield _span_value(match, _product(factor, match["scale"]))
    for match in _AND_A_HALF.finditer(text):
        if number := number_of(match["whole"].split(" ")):
            yield _span_value(match, _product(f"{number}.5", match["scale"]))
    for match in _HUNDRED_AND.finditer(text):
        whole = "one" + match["whole"][1:] if match["whole"].startswith("a ") else match["whole"]
        if number := number_of([*whole.split(" "), *match["rest"].split(" ")]):
            yield _span_value(match, _product(number, match["scale"]))
    for match in _DOZENS.finditer(text):
        yield _span_value(match, str(12 * int(number_of([match["whole"]]) or match["whole"])))
    for match in _MINUS.finditer(text):
        yield _span_value(match, f"-{number_of(match['whole'].split(' ')) or match['whole'].replace(',', '')}")


def shares(forms: Sequence[str]) -> Iterator[SpanValue]:
    """Yield *one in five* and the like, before a noun, in percent, rounded."""
    for match in _SHARES.finditer(_text(forms)):
        part, whole = (int(number_of([match[name]]) or match[name]) for name in ("part", "whole"))
        if 0 < part < whole:
            yield _span_value(match, str(round(100 * part / whole)))


def fractions(forms: Sequence[str]) -> Iterator[SpanValue]:
    """Yield *two thirds of* and the like in percent, rounded where they have more than one decimal."""
    for match in _FRACTIONS.finditer(_text(forms)):
        percent = 100 * Decimal(number_of([match["whole"]]) or 1) / _PARTS[match["part"]]
        rounded = percent if percent == round(percent, 1) else round(percent)
        yield _span_value(match, format(Decimal(rounded).normalize(), "f"))


def measures(forms: Sequence[str]) -> Iterator[Measure]:
    """Yield temperatures in degrees, *a quarter of an hour*, *an hour and a half* and *six pounds fifty* with units.

    >>> [*measures("It is 20 degrees Celsius .".split())]
    [Measure(span=SpanValue(first=2, end=5, value='20'), kind='temperature', unit='celsius')]
    """
    text = _text(forms)
    for match in _DEGREES.finditer(text):
        digits = re.sub("[^0-9.]", "", match["whole"])
        value = digits if match["whole"][0].isdigit() else f"-{digits}"
        yield Measure(_span_value(match, value), "temperature", _SCALES.get(match["scale"], match["scale"]))
    for match in _QUARTERS.finditer(text):
        yield Measure(_span_value(match, "45" if match["whole"] else "15"), "temporal", "minute")
    for match in _AND_HALF_OF_IT.finditer(text):
        whole = number_of(match["whole"].split(" ")) or ("1" if match["whole"][0] == "a" else match["whole"])
        yield Measure(_span_value(match, f"{whole}.5"), "temporal", match["unit"])
    for match in _PRICES.finditer(text):
        whole, rest = (int(number_of(re.split("[ -]+", match[name])) or match[name]) for name in ("whole", "rest"))
        if 10 <= rest < 100:
            yield Measure(_span_value(match, f"{whole}.{rest}"), "monetary", match["unit"])


def _product(factor: str, scale: str | None) -> str:
    value = Decimal(factor) * Decimal(number_of(["one", scale]) or 1) if scale else Decimal(factor)
    return format(value.normalize(), "f")


def _text(forms: Sequence[str]) -> str:
    return " ".join(forms).lower().replace("’", "'")


def _span_value(match: re.Match[str], value: str) -> SpanValue:
    first = match.string.count(" ", 0, match.start())
    return SpanValue(first, first + match[0].strip().count(" ") + 1, value)

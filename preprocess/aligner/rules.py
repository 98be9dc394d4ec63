"""Rules that find the tokens that may express a node, with a score, from knowledge of English and of AMR."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from typing import NamedTuple

from transition_parser.graphs.amr import AmrGraph, is_number, named
from transition_parser.preprocess.aligner import (
    AGENT_SUFFIXES,
    CONCEPT_WORDS,
    CONSTANT_WORDS,
    MONTHS,
    NOMINALS,
    NUMBER_WORDS,
    ORDINALS,
    QUESTION_WORDS,
)
from transition_parser.preprocess.aligner.names import name_spans, unquoted
from transition_parser.preprocess.aligner.words import DERIVED, Span, Words, negated, similarity, span, without_sense
from transition_parser.text.lemmas import HYPHENS, SCALES, UNITS, Part, totals

_DIGITS = re.compile(r"[-+]?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?|[-+]?\.\d+")
_ORDINAL_DIGITS = re.compile(r"(\d{1,9})(st|nd|rd|th)")
_CLOCK = re.compile(r"(\d{1,2})(?::(\d{2}))?(?::\d{2})?\s*(a\.?m\.?|p\.?m\.?|h)?")
_NUMBERS_IN_DATE = re.compile(r"\d+")
_HALVES = {"a.m.": 0, "am": 0, "a.m": 0, "p.m.": 12, "pm": 12, "p.m": 12, "o'clock": None, "o’clock": None}


def numbers(words: Words) -> list[tuple[float, Span]]:
    """Return (value, span) of each number, longer spans first at each token: `six`, `1 million`, `twenty @-@ five`."""
    values: list[tuple[float, Span]] = []
    for first in range(len(words)):
        runs = list(_runs(words, first))
        values += reversed(runs)
    return values


def _runs(words: Words, first: int) -> Iterator[tuple[float, Span]]:
    """Yield each number that begins at a token, shorter ones first."""
    tokens: list[int] = []
    parts: list[Part] = []
    for token, form in enumerate(words.forms[first : first + 8], first):
        if tokens and form in ("and", *HYPHENS):
            continue
        value, scale = _simple(form)
        parts.append((value, scale if tokens or len(form) > 2 else None))
        tokens.append(token)
    values = [*totals(parts)]
    for token, value in zip(tokens, values, strict=False):
        yield float(value), span(first, token)
    if not values and words.forms[first] in NUMBER_WORDS:
        yield NUMBER_WORDS[words.forms[first]], (first,)


def _simple(form: str) -> Part:
    """Return the value (`six`) and the scale (`million`) of a word; either is None if the word has none."""
    match = _DIGITS.match(form)
    if match and match.end() == len(form):
        return Decimal(form.replace(",", "")), None
    if match and form[match.end() :] in ("%", "m", "bn", "k", "million", "th", "st", "s"):
        return Decimal(match[0].replace(",", "")) * SCALES.get(form[match.end() :], 1), None
    if "-" in form.strip("-"):
        parts = [UNITS.get(part, ORDINALS.get(part)) for part in form.split("-")]
        if all(part is not None for part in parts):
            return sum(parts), None  # type: ignore[arg-type]
    if form.startswith("$") and len(form) > 1:
        return _simple(form[1:])
    return UNITS.get(form), SCALES.get(form) or SCALES.get(form.removesuffix("s"))


def ordinal(form: str) -> int | None:
    """Return the value of `first`, `21st` or `last` (-1), None for a word that is not an ordinal."""
    match = _ORDINAL_DIGITS.fullmatch(form)
    if match:
        return int(match[1])
    if form in ("last", "final", "latter", "latest"):
        return -1
    if "-" in form:
        tens, _, ones = form.partition("-")
        return UNITS[tens] + ORDINALS[ones] if tens in UNITS and ones in ORDINALS else None
    return ORDINALS.get(form)


def month(form: str) -> int | None:
    """Return the number of a month, given its name; None for another word."""
    form = form.rstrip(".")
    for names in MONTHS:
        if form in names:
            return names.index(form) + 1
    return 9 if form == "sept" else None


def date_parts(form: str) -> frozenset[int]:
    """Return the numbers in a token that is a date: 2012-06-07, 7/6/2012, 20120607, '12, 1990s."""
    if form.isdecimal() and len(form) in (6, 8):
        year = int(form[:-4])
        return frozenset({year, year + 2000, year + 1900, int(form[-4:-2]), int(form[-2:])})
    parts = {int(part) for part in _NUMBERS_IN_DATE.findall(form)} if len(form) < 24 else set()
    years = {part + century for part in parts if part < 100 for century in (1900, 2000)} if "'" in form else set()
    return frozenset(parts | years)


def times_of_day(words: Words) -> Iterator[tuple[tuple[int, int], Span]]:
    """Yield ((hour, minute), span) of each time of day: `four o'clock in the afternoon`, `4:30 pm`, `noon`."""
    for token, form in enumerate(words.forms):
        if form in ("noon", "midday"):
            yield (12, 0), (token,)
        elif form == "midnight":
            yield (0, 0), (token,)
        match = _CLOCK.fullmatch(form)
        hour = int(match[1]) if match else UNITS.get(form)
        if hour is None or hour > 24:
            continue
        minute = int(match[2] or 0) if match else 0
        last, half = _half(words, token, match[3] if match else None)
        for shift in (0, 12) if half is None else (half,):
            yield (hour % 12 + shift, minute), span(token, last)
        if half is None:
            yield (hour, minute), span(token, last)


def _half(words: Words, token: int, written: str | None) -> tuple[int, int | None]:
    """Return the last token of the time at `token`, and its half of the day: 0 (am), 12 (pm), None if unknown."""
    last, half = token, _HALVES.get(written or "")
    if token + 1 < len(words) and words.forms[token + 1] in _HALVES:
        last, half = token + 1, _HALVES[words.forms[token + 1]]
    rest = words.forms[last + 1 : last + 4]
    if rest[:2] == ("in", "the") and rest[2:] in (("morning",), ("afternoon",), ("evening",)):
        return last + 3, 0 if rest[2] == "morning" else 12
    if rest[:2] == ("at", "night"):
        return last + 2, 12
    return last, half


NOMINAL = 0.55  # the score of a noun made of a verb: `result` for the node `thing` in thing :ARG2-of result-01
STRONG, WEAK = 0.9, 0.45  # the scores of words before and after `|` in `CONCEPT_WORDS` and `CONSTANT_WORDS`
_LEAST = 0.3  # a word that is less similar to the concept is not a candidate
_DATE_ROLES = frozenset({"year", "year2", "month", "day", "decade", "century", "quarter"})


class Candidate(NamedTuple):
    """A span that may express a node, with the score, 0 … 1, of the rule that found it."""

    tokens: Span
    score: float


class Around:
    """The edges of a graph by node: (role, target) of each edge out of it, (role, source) of each edge into it."""

    def __init__(self, graph: AmrGraph) -> None:
        self.graph = graph
        self.out: list[list[tuple[str, int]]] = [[] for _ in graph.labels]
        self.into: list[list[tuple[str, int]]] = [[] for _ in graph.labels]
        for source, role, target in graph.edges:
            self.out[source].append((role, target))
            self.into[target].append((role, source))

    def lemma(self, node: int) -> str:
        """Return the concept of a node without its sense."""
        return without_sense(self.graph.labels[node])


class Names(NamedTuple):
    """The names of a graph."""

    parts: dict[tuple[int, Span], list[Span]]  # (name node, its span) → the span of each of its strings
    strings: dict[int, tuple[int, ...]]  # name node → its constants


def candidates(graph: AmrGraph, words: Words) -> tuple[list[list[Candidate]], Names]:
    """Return the candidates of each node, best first, and the names. The strings of names have no candidates."""
    around = Around(graph)
    names = Names({}, {})
    options: list[list[Candidate]] = [[] for _ in graph.labels]
    for entity, name, strings in named(graph):
        names.strings[name] = strings
        for score, spans in name_spans([unquoted(graph.labels[string]) for string in strings], words):
            whole = span(min(s[0] for s in spans), max(s[-1] for s in spans))
            names.parts.setdefault((name, whole), spans)
            options[name].append(Candidate(whole, score))
            options[entity].append(Candidate(whole, 0.8 * score))
    taken = {string for strings in names.strings.values() for string in strings}
    counts = numbers(words) if any(is_number(graph.labels[node]) for node in graph.constants) else []
    for node in range(len(graph)):
        if node in taken or node in names.strings:
            continue
        if node in graph.constants:
            options[node] += _constant(around, node, words, counts)
        else:
            # a word inside the name does not express the node: in New York City, City does not express `city`
            inside = {token for tokens, _ in options[node] for token in tokens}
            options[node] += (c for c in _concept(around, node, words) if inside.isdisjoint(c.tokens))
    best: list[dict[Span, float]] = [{} for _ in options]
    for own, each in zip(best, options, strict=True):
        for tokens, score in each:
            own[tokens] = max(score, own.get(tokens, 0.0))
    ranked = (sorted(own.items(), key=lambda item: (-item[1], item[0])) for own in best)
    return [[Candidate(*item) for item in each] for each in ranked], names


def _constant(around: Around, node: int, words: Words, counts: list[tuple[float, Span]]) -> Iterator[Candidate]:
    label = around.graph.labels[node]
    role, source = around.into[node][0] if around.into[node] else ("", node)
    if label in CONSTANT_WORDS:
        yield from _listed(_scores_of(CONSTANT_WORDS[label]), words)
        if label == "-":
            lemma = around.lemma(source)
            yield from (Candidate((i,), STRONG) for i, form in enumerate(words.forms) if negated(lemma, form))
        return
    if is_number(label):
        yield from _number(around, role, source, float(label), words, counts)
    text = unquoted(label)
    hour, colon, minute = text.partition(":")
    if role == "time" and colon and hour.isdecimal() and len(hour) < 3 and minute[:2].isdecimal():
        found = (tokens for time, tokens in times_of_day(words) if time == (int(hour), int(minute[:2])))
        yield from (Candidate(tokens, 0.8 + 0.03 * min(len(tokens), 5)) for tokens in found)
    if not is_number(label):
        for score, spans in name_spans(text.split() or [text], words):
            yield Candidate(span(min(s[0] for s in spans), max(s[-1] for s in spans)), score)
        if is_number(digits := text.replace(",", "")):
            yield from (Candidate(tokens, 0.9) for value, tokens in counts if value == float(digits))


def _number(around, role, source, value, words: Words, counts) -> Iterator[Candidate]:
    for number, tokens in counts:
        if abs(number - value) <= 1e-6 * max(1.0, abs(value)):
            article = words.forms[tokens[0]] in ("a", "an", "no")
            yield Candidate(tokens, WEAK if article else 1.0 - 0.01 * (len(tokens) == 1))
    for token, form in enumerate(words.forms):
        if role == "value" and ordinal(form) == value:
            yield Candidate((token,), 1.0)
        if role == "month" and month(form) == value:
            yield Candidate((token,), 1.0)
        if role in _DATE_ROLES and (value in date_parts(form) or ordinal(form) == value):
            yield Candidate((token,), 0.95 if form.isdigit() and len(form) < 5 else 0.85)
        elif value in date_parts(form) and not form.isdigit():
            yield Candidate((token,), WEAK)


def _concept(around: Around, node: int, words: Words) -> Iterator[Candidate]:
    label = around.graph.labels[node]
    lemma = without_sense(label)
    yield from _listed(_scores_of(CONCEPT_WORDS.get(label) or CONCEPT_WORDS.get(lemma, "")), words)
    for role, name in around.out[node]:
        if role == "name" and name in around.graph.constants:
            yield from (Candidate(c.tokens, 0.8 * c.score) for c in _constant(around, name, words, []))
    if lemma == "amr-unknown":
        for role, source in around.into[node]:
            wanted = "why" if around.lemma(source) == "cause" and role == "ARG0" else QUESTION_WORDS.get(role, "")
            for rank, form in enumerate(wanted.split()):
                yield from (Candidate((i,), 1.0 - 0.02 * rank) for i, other in enumerate(words.forms) if other == form)
    if label.endswith("-91") or lemma in ("multi-sentence", "amr-unknown"):
        return
    if "-" in lemma.strip("-"):
        yield from _several_words(lemma, words)
    sound = (score for score in enumerate(_alike(lemma, words)) if score[1] >= _LEAST)
    yield from (Candidate((token,), score) for token, score in sound)
    if lemma in NOMINALS and not any(role == "name" for role, _ in around.out[node]):
        yield from _nominalized(around, node, words)
    if lemma in ("more", "most"):  # forms of the compared adjective, :ARG2 of have-degree-91: bigger, biggest
        ending = "er" if lemma == "more" else "est"
        compared = [other for _, source in around.into[node] for role, other in around.out[source] if role == "ARG2"]
        for other in compared:
            for token, form in enumerate(words.forms):
                alike = similarity(around.lemma(other), form, words.lemmas[token])
                if form.endswith(ending) and alike >= DERIVED:
                    yield Candidate((token,), STRONG)


def _alike(lemma: str, words: Words) -> list[float]:
    scores = []
    for form, word_lemma, function in zip(words.forms, words.lemmas, words.function, strict=True):
        score = similarity(lemma, form, word_lemma)
        if "-" in form.strip("-"):
            score = max([score, *(0.9 * similarity(lemma, part, part) for part in form.split("-") if len(part) > 2)])
        scores.append(0.0 if function and score < 1 else score * (0.6 if function else 1))
    return scores


def _several_words(lemma: str, words: Words) -> Iterator[Candidate]:
    """Yield candidates for a concept of several parts: tokens that express all parts, or one of the parts."""
    parts = [part for part in lemma.split("-") if part]
    joined = "".join(parts)
    size = len(parts)
    for token, form in enumerate(words.forms):
        if form == joined or form.replace("-", "") == joined or words.lemmas[token] == joined:
            yield Candidate((token,), 1.0)
        tokens = tuple(t for t in range(token, min(token + 2 * size, len(words))) if words.forms[t] != "@-@")[:size]
        if len(tokens) == size and all(
            similarity(part, words.forms[t], words.lemmas[t]) >= DERIVED for part, t in zip(parts, tokens, strict=True)
        ):
            yield Candidate(span(tokens[0], tokens[-1]), 1.0)
    for index, part in enumerate(parts if size else []):
        for token, score in enumerate(_alike(part, words)):
            if score >= DERIVED and not words.function[token]:
                particle = any(parts[-1] == form for form in words.forms[token + 1 : token + 6])
                yield Candidate((token,), (0.8 if particle else 0.7) if index == 0 else 0.55)


def _nominalized(around: Around, node: int, words: Words) -> Iterator[Candidate]:
    """Yield nouns that name a person or a thing by an action that it takes part in, or by its role."""
    for role, source in around.into[node]:
        if not role.startswith("ARG"):
            continue
        for token, form in enumerate(words.forms):
            alike = similarity(around.lemma(source), form, words.lemmas[token])
            if alike >= 0.4 and words.lemmas[token] != around.lemma(source) and form.endswith(AGENT_SUFFIXES):
                yield Candidate((token,), 0.92)
            elif alike >= DERIVED and source > node:  # the edge is written as an inverse role, such as :ARG1-of
                yield Candidate((token,), NOMINAL)
        if around.graph.labels[source] in ("have-org-role-91", "have-rel-role-91"):
            nouns = [noun for role, noun in around.out[source] if role in ("ARG2", "ARG3")]
            scores = (score for noun in nouns for score in enumerate(_alike(around.lemma(noun), words)))
            yield from (Candidate((token,), 0.88) for token, score in scores if score >= DERIVED)


def _listed(scores: dict[str, float], words: Words) -> Iterator[Candidate]:
    for token, form in enumerate(words.forms if scores else ()):
        score = scores.get(form) or scores.get(words.lemmas[token])
        if score:
            yield Candidate((token,), score)


@cache
def _scores_of(entry: str) -> dict[str, float]:
    """Return the scores of the words in an entry of a table. Earlier words have slightly higher scores."""
    strong, _, weak = entry.partition("|")
    scores = {word: WEAK - 0.004 * rank for rank, word in reversed(list(enumerate(weak.split())))}
    return scores | {word: STRONG - 0.004 * rank for rank, word in reversed(list(enumerate(strong.split())))}

"""Rules that find the tokens that may express a node, with a score, from knowledge of English and of AMR."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from transition_parser.graphs.amr import AmrGraph, is_number, named
from transition_parser.preprocess.aligner.lexicon import AGENT_SUFFIXES
from transition_parser.preprocess.aligner.morphology import DERIVED, negated, similarity, without_sense
from transition_parser.preprocess.aligner.names import name_spans, unquoted
from transition_parser.preprocess.aligner.numbers import date_parts, month, numbers, ordinal, times_of_day
from transition_parser.preprocess.aligner.tables import CONCEPT_WORDS, CONSTANT_WORDS, NOMINALS, QUESTION_WORDS
from transition_parser.preprocess.aligner.words import Span, Words, span

NOMINAL = 0.55  # the score of a noun made of a verb: `result` for the node `thing` in thing :ARG2-of result-01
STRONG, WEAK = 0.9, 0.45  # the scores of words before and after `|` in `CONCEPT_WORDS` and `CONSTANT_WORDS`
_LEAST = 0.3  # a word that is less similar to the concept is not a candidate
_DATE_ROLES = frozenset({"year", "year2", "month", "day", "decade", "century", "quarter"})


class Candidate(NamedTuple):
    """A span that may express a node, with the score of the rule that found the span.

    tokens: the tokens that may express the node
    score: 0 … 1
    """

    tokens: Span
    score: float


class Around:
    """The edges of a graph by node.

    out: for each node, (role, target) of each edge that leaves the node
    into: for each node, (role, source) of each edge that reaches the node
    """

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
    """The names of a graph.

    parts: (name node, its span) → the span of each of its strings
    strings: name node → its constants
    """

    parts: dict[tuple[int, Span], list[Span]]
    strings: dict[int, tuple[int, ...]]


def candidates(graph: AmrGraph, words: Words) -> tuple[list[list[Candidate]], Names]:
    """Return the candidates of each node, best first, and the names. The strings of names have no candidates."""
    around = Around(graph)
    names = Names({}, {})
    options: list[list[Candidate]] = [[] for _ in graph.labels]
    _find_names(graph, words, names, options)
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
    return [_best(each) for each in options], names


def _best(options: list[Candidate]) -> list[Candidate]:
    """Return the best candidate of each span, the highest score first."""
    best: dict[Span, Candidate] = {}
    for option in options:
        before = best.setdefault(option.tokens, option)
        if option.score > before.score:
            best[option.tokens] = option
    return sorted(best.values(), key=lambda candidate: (-candidate.score, candidate.tokens))


def _find_names(graph: AmrGraph, words: Words, names: Names, options: list[list[Candidate]]) -> None:
    for entity, name, strings in named(graph):
        names.strings[name] = strings
        for score, spans in name_spans([unquoted(graph.labels[string]) for string in strings], words):
            whole = span(min(s[0] for s in spans), max(s[-1] for s in spans))
            names.parts.setdefault((name, whole), spans)
            options[name].append(Candidate(whole, score))
            options[entity].append(Candidate(whole, 0.8 * score))


def _constant(around: Around, node: int, words: Words, counts: list[tuple[float, Span]]) -> Iterator[Candidate]:
    label = around.graph.labels[node]
    role, source = around.into[node][0] if around.into[node] else ("", node)
    if label in CONSTANT_WORDS:
        yield from _listed(_word_scores(CONSTANT_WORDS, label), words)
        if label == "-":
            yield from _negations(around.lemma(source), words)
        return
    if is_number(label):
        yield from _number(around, role, source, float(label), words, counts)
    text = unquoted(label)
    if role == "time" and ":" in text:
        yield from _time_of_day(text, words)
    if not is_number(label):
        for score, spans in name_spans(text.split() or [text], words):
            yield Candidate(span(min(s[0] for s in spans), max(s[-1] for s in spans)), score)
        yield from _number_in_text(text, counts)


def _number_in_text(text: str, counts: list[tuple[float, Span]]) -> Iterator[Candidate]:
    digits = text.replace(",", "")
    if is_number(digits):
        yield from (Candidate(tokens, 0.9) for value, tokens in counts if value == float(digits))


def _negations(lemma: str, words: Words) -> Iterator[Candidate]:
    for token, form in enumerate(words.forms):
        if negated(lemma, form):
            yield Candidate((token,), STRONG)


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


def _time_of_day(text: str, words: Words) -> Iterator[Candidate]:
    hour, _, minute = text.partition(":")
    if not (hour.isdecimal() and len(hour) < 3 and minute[:2].isdecimal()):
        return
    wanted = (int(hour), int(minute[:2]))
    for time, tokens in times_of_day(words):
        if time == wanted:
            yield Candidate(tokens, 0.8 + 0.03 * min(len(tokens), 5))


def _concept(around: Around, node: int, words: Words) -> Iterator[Candidate]:
    label = around.graph.labels[node]
    lemma = without_sense(label)
    yield from _listed(_word_scores(CONCEPT_WORDS, label) or _word_scores(CONCEPT_WORDS, lemma), words)
    for role, name in around.out[node]:
        if role == "name" and name in around.graph.constants:
            yield from (Candidate(c.tokens, 0.8 * c.score) for c in _constant(around, name, words, []))
    if lemma == "amr-unknown":
        yield from _question_words(around, node, words)
    if label.endswith("-91") or lemma in ("multi-sentence", "amr-unknown"):
        return
    if "-" in lemma.strip("-"):
        yield from _several_words(lemma, words)
    sound = (score for score in enumerate(_alike(lemma, words)) if score[1] >= _LEAST)
    yield from (Candidate((token,), score) for token, score in sound)
    if lemma in NOMINALS and not any(role == "name" for role, _ in around.out[node]):
        yield from _nominalised(around, node, words)
    if lemma in ("more", "most"):
        yield from _inflected(lemma, around, node, words)


def _alike(lemma: str, words: Words) -> list[float]:
    scores = []
    for form, word_lemma, function in zip(words.forms, words.lemmas, words.function, strict=True):
        score = similarity(lemma, form, word_lemma)
        if "-" in form.strip("-"):
            score = max([score, *(0.9 * similarity(lemma, part, part) for part in form.split("-") if len(part) > 2)])
        scores.append(0.0 if function and score < 1 else score * (0.6 if function else 1))
    return scores


def _several_words(lemma: str, words: Words) -> Iterator[Candidate]:
    """Yield candidates for a concept of several parts: tokens that express all parts, or one of the parts.

    Examples are `at-last`, `back-up-06`, `break-down-12` (breakdown) and `growth-factor`.
    """
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


def _question_words(around: Around, node: int, words: Words) -> Iterator[Candidate]:
    for role, source in around.into[node]:
        wanted = QUESTION_WORDS.get(role, "")
        if around.lemma(source) == "cause" and role == "ARG0":
            wanted = "why"
        for rank, form in enumerate(wanted.split()):
            for token, other in enumerate(words.forms):
                if other == form:
                    yield Candidate((token,), 1.0 - 0.02 * rank)


def _nominalised(around: Around, node: int, words: Words) -> Iterator[Candidate]:
    """Yield nouns that name a person or a thing by an action that it takes part in, or by its role.

    Examples are teacher (person :ARG0-of teach-01), lamplighter, employee, and president (have-org-role-91).
    """
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
            yield from _role_nouns(around, source, words)


def _role_nouns(around: Around, relation: int, words: Words) -> Iterator[Candidate]:
    for role, noun in around.out[relation]:
        if role in ("ARG2", "ARG3"):
            for token, score in enumerate(_alike(around.lemma(noun), words)):
                if score >= DERIVED:
                    yield Candidate((token,), 0.88)


def _inflected(lemma: str, around: Around, node: int, words: Words) -> Iterator[Candidate]:
    """Yield forms of the compared adjective, :ARG2 of have-degree-91: bigger for `more`, biggest for `most`."""
    ending = "er" if lemma == "more" else "est"
    compared = [target for _role, source in around.into[node] for role, target in around.out[source] if role == "ARG2"]
    for other in compared:
        for token, form in enumerate(words.forms):
            if form.endswith(ending) and similarity(around.lemma(other), form, words.lemmas[token]) >= DERIVED:
                yield Candidate((token,), STRONG)


def _listed(scores: dict[str, float], words: Words) -> Iterator[Candidate]:
    for token, form in enumerate(words.forms if scores else ()):
        score = scores.get(form) or scores.get(words.lemmas[token])
        if score:
            yield Candidate((token,), score)


def _word_scores(table, label: str) -> dict[str, float]:
    return _scores_of(table[label]) if label in table else {}


@cache
def _scores_of(entry: str) -> dict[str, float]:
    """Return the scores of the words in an entry of a table. Earlier words have slightly higher scores."""
    strong, _, weak = entry.partition("|")
    scores = {word: WEAK - 0.004 * rank for rank, word in reversed(list(enumerate(weak.split())))}
    return scores | {word: STRONG - 0.004 * rank for rank, word in reversed(list(enumerate(strong.split())))}

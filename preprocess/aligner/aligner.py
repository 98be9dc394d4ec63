"""The aligner: rules, EM and neighbors together find a token for every node of a corpus."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from transition_parser.base.errors import InputError, collected
from transition_parser.base.process import in_parallel
from transition_parser.graphs.amr import AmrGraph
from transition_parser.graphs.bank import AmrEntry, jamr_lines, metadata_of, split_tokens
from transition_parser.preprocess.aligner.rules import Candidate, candidates
from transition_parser.preprocess.aligner.selection import SpanSelection, complete, is_lexical
from transition_parser.preprocess.aligner.words import Span, Words, span, without_sense
from transition_parser.text.tokens import tokenize

NULL = ""
_ITERATIONS = 8
_NULL_WEIGHT = 0.3
_LEAST = 0.02


class Observation(NamedTuple):
    """A node for which the rules find no sure tokens: its concept without its sense, and words that may express it."""

    concept: str
    words: Sequence[str]
    weights: Sequence[float]


class WordConceptTable(NamedTuple):
    """The strengths of the links between words and concepts: concept → word → 0 … 1."""

    strengths: dict[str, dict[str, float]]

    @classmethod
    def train(cls, observations: Iterable[Observation]) -> WordConceptTable:
        """Return the table that EM learns from nodes and the words of their sentences."""
        concepts: dict[str, int] = {}
        words: dict[str, int] = {NULL: 0}
        # The (concept, word) pairs of all observations, each of which also has a pair with `NULL`, for no word
        group, concept, word, weight = [], [], [], []
        for number, seen in enumerate(observations):
            index = concepts.setdefault(seen.concept, len(concepts))
            group += [number] * (len(seen.words) + 1)
            concept += [index] * (len(seen.words) + 1)
            word += [0, *(words.setdefault(w, len(words)) for w in seen.words)]
            weight += [_NULL_WEIGHT, *seen.weights]
        if not group:
            return cls({})
        groups, weights = np.array(group, dtype=np.int64), np.array(weight, dtype=np.float64)
        codes = np.array(concept, dtype=np.int64) * len(words) + np.array(word, dtype=np.int64)
        codes, pairs = np.unique(codes, return_inverse=True)
        concept_of, word_of = np.divmod(codes, len(words))
        probability = np.ones(len(codes))
        for _ in range(_ITERATIONS):
            share = probability[pairs] * weights
            share /= np.bincount(groups, share)[groups]
            expected = np.bincount(pairs, share, minlength=len(codes))  # of each distinct pair
            of_word = np.bincount(word_of, expected)[word_of]
            probability = expected / of_word
        of_concept = np.bincount(concept_of, expected)[concept_of]
        strength = expected / np.sqrt(of_word * of_concept) * expected / (expected + 0.5)
        named_concepts, named_words = list(concepts), list(words)
        strengths: dict[str, dict[str, float]] = {}
        for pair in np.flatnonzero((strength >= _LEAST) & (word_of > 0)):
            of_words = strengths.setdefault(named_concepts[concept_of[pair]], {})
            of_words[named_words[word_of[pair]]] = float(strength[pair])
        return cls(strengths)

    def posterior(self, concept: str, words: Sequence[str]) -> list[float]:
        """Return for each word of a sentence the probability that it expresses a concept."""
        strengths = self.strengths.get(concept)
        if not strengths:
            return [0.0] * len(words)
        values = [strengths.get(word, 0.0) for word in words]
        total = sum(values) + 0.05
        return [value / total * min(1.0, 2 * value) ** 0.5 for value in values]


_SURE = 0.7  # EM neither learns from nor changes a node with a candidate of at least this score
_TAKEN_WEIGHT, _FUNCTION_WEIGHT = 0.15, 0.3
_EM_SCORE, _FUNCTION_SCORE = 0.75, 0.5
_CHUNK = 64
MOST = 1_000  # words, nodes or edges; entries with more are refused; open corpora have at most a quarter of this


def entry_tokens(entry: AmrEntry) -> list[str]:
    """Return the tokens to which the numbers in alignments refer: `# ::tok`, or else the tokens of the sentence.

    The sentence of an entry with alignments is split at blanks, others by spaCy's rules for English.
    """
    return entry.tokens or (split_tokens(entry.text) if any(entry.alignments) else tokenize(entry.text))


def with_sentences(bank: Iterable[AmrEntry], problems: list[InputError] | None) -> list[AmrEntry]:
    """Return the entries of a bank that have a sentence and can be aligned (see `check_size`)."""
    entries = []
    for entry in bank:
        with collected(problems):
            entry = _tokenized(entry)
            check_size(entry)
            entries.append(entry)
    return entries


def _tokenized(entry: AmrEntry) -> AmrEntry:
    if entry.tokens:
        return entry
    return replace(entry, metadata={**entry.metadata, "tok": " ".join(entry_tokens(entry))})


def check_size(entry: AmrEntry) -> None:
    """Raise `InputError` for an entry that is too large."""
    if entry.graph is None:
        return
    sizes = {
        "words": _parts(entry_tokens(entry)),
        "nodes (the words of labels count)": _parts(entry.graph.labels),
        "edges": len(entry.graph.edges),
    }
    for things, size in sizes.items():
        if size > MOST:
            raise entry.error(f"{size:,} {things}, but the aligner takes {MOST:,} at the most: divide the entry")


def _parts(texts: Sequence[str]) -> int:
    return sum(max(1, len(text.replace("-", " ").split())) for text in texts)


def aligned(
    entries: Sequence[AmrEntry], table: WordConceptTable | None = None, keep: bool = True, processes: int = 1
) -> Iterator[AmrEntry]:
    """Yield the entries with at least one token for every node; without a table, these entries train one."""
    table = train_table(entries) if table is None else table
    align = partial(align_entry, table=table, keep=keep)
    return in_parallel(align, entries, processes, _CHUNK)


def align_entry(entry: AmrEntry, table: WordConceptTable | None = None, keep: bool = True) -> AmrEntry:
    """Return one entry with at least one token for every node; see `aligned`. Without a table, EM is not used."""
    if entry.graph is None:
        return entry
    entry = _tokenized(entry)
    check_size(entry)
    words = Words.from_tokens(entry.forms)
    given = {node: tokens for node, tokens in enumerate(entry.alignments) if tokens} if keep else {}
    return entry.with_alignments(_align(entry.graph, words, table, given))


def train_table(entries: Sequence[AmrEntry]) -> WordConceptTable:
    """Return the word–concept strengths that EM learns from the nodes for which rules find no sure tokens."""
    seen = (observation for entry in entries if entry.graph is not None for observation in _observations(entry))
    return WordConceptTable.train(seen)


def _observations(entry: AmrEntry) -> Iterator[Observation]:
    check_size(entry)
    graph, words = entry.graph, Words.from_tokens(entry_tokens(entry))
    options, names = candidates(graph, words)
    sure = {node: each[0].tokens for node, each in enumerate(options) if each and each[0].score >= _SURE}
    taken = {token for tokens in sure.values() for token in tokens}
    tokens = [token for token in range(len(words)) if not words.is_punctuation(token)]
    weights = [
        (_TAKEN_WEIGHT if token in taken else 1.0) * (_FUNCTION_WEIGHT if words.function[token] else 1.0)
        for token in tokens
    ]
    lemmas = [words.lemmas[token] for token in tokens]
    for node in range(len(graph)):
        if node not in graph.constants and node not in sure and node not in names.strings:
            yield Observation(without_sense(graph.labels[node]), lemmas, weights)


def _align(graph: AmrGraph, words: Words, table: WordConceptTable | None, given: dict[int, Span]) -> list[Span]:
    options, names = candidates(graph, words)
    if table is not None:
        options = [_with_table(graph, node, each, words, table) for node, each in enumerate(options)]
    selection = SpanSelection(graph, options, given, len(words))
    spans = selection.run()
    for name, strings in names.strings.items():  # each has its tokens within the span of the name
        whole = spans.get(name)
        if whole is not None:
            for string, tokens in zip(strings, names.parts.get((name, whole), [whole] * len(strings)), strict=True):
                spans.setdefault(string, span(tokens[0], tokens[-1]))
    lexical = [node for node in range(len(graph)) if node not in spans and is_lexical(graph, node)]
    content = [token for token in range(len(words)) if not words.function[token] and words.forms[token].isalpha()]
    spans = selection.spend(lexical, content)
    return complete(graph, words, spans)


def _with_table(graph, node: int, options: list[Candidate], words: Words, table: WordConceptTable) -> list[Candidate]:
    """Return the candidates of a node, best first, after EM has added candidates and raised scores."""
    if node in graph.constants or (options and options[0].score >= _SURE):
        return options
    posterior = table.posterior(without_sense(graph.labels[node]), words.lemmas)
    best = {candidate.tokens: candidate.score for candidate in options}
    for token, value in enumerate(posterior):
        if value > 0:
            likely = _EM_SCORE * value * (_FUNCTION_SCORE if words.function[token] else 1)
            best[(token,)] = max(best.get((token,), 0.0), likely)
    return [Candidate(*item) for item in sorted(best.items(), key=lambda item: (-item[1], item[0]))]


# --- alignments written into a bank ------------------------------------------------------------


STYLES = ("isi", "jamr")
_LISTED = re.compile(r"\s*#+\s*::(alignments|node)(\s|$)|\s*#\s*::tok\s*$")  # old alignments, and empty lists of tokens


def marked(entry: AmrEntry, style: str = "isi") -> str:
    """Return the text of an entry with its alignments in place of others.

    style: `isi` (`~e.5`) or `jamr` (`# ::alignments`, `# ::node`)
    """
    new = entry.with_graph(entry.amr, entry.alignments, entry.wiki, style == "isi", entry.variables)
    comments = [line for line in entry.comments if not _LISTED.match(line)]
    if not metadata_of(comments).get("tok"):
        comments.append(f"# ::tok {entry.metadata['tok']}")
    return str(replace(new, comments=(*comments, *(jamr_lines(new) if style == "jamr" else ()))))

"""Make silver AMRs, to train on beside gold AMRs: several models parse, and the parse that they agree on most is kept.

    python run/recipes/silver.py TREEBANK.conllu ... -o silver.amr [--propbank TSV ... --frames JSONL]
    python run/recipes/silver.py ENGLISH.txt ... -o silver.amr [--model MODEL ...]
    python run/recipes/silver.py --examples 8000 --frames frames.jsonl -o silver.amr

Sentences of 3 to 60 words are parsed, each text once. Each model gives its best parses of a sentence. The parse with
the largest mean Smatch against all others is kept. Graphs whose mean is below --least are left out. So are graphs with
a concept of --without: such concepts are known errors of the models in text of another domain, such as `enzyme` for a
person's name. Graphs with structures that no AMR has, such as the month 13 or the concept `be`, are left out, too.

PropBank's annotation of the sentences gives facts that all parses keep: the frames of predicates and their arguments.
Features of treebanks give the modes of imperatives. Edits after search read the trees of the treebanks, and of texts
those of the model --trees.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Collection, Container, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import shared
from facts import facts_of
from odd_structures import odd_structures
from propbank import Annotation, Example, Predicate, read_annotations, read_frames, spread

from transition_parser import Parser
from transition_parser.base.errors import InputError
from transition_parser.graphs.bank import AmrEntry
from transition_parser.graphs.conllu import Sentence, decoded, read_conllu
from transition_parser.graphs.dependency import DependencyTree
from transition_parser.graphs.smatch import best_mapping, graph_triples
from transition_parser.parsing.given import Given
from transition_parser.parsing.parses import AmrParse, Parse
from transition_parser.preprocess.amr import AGREEMENT, EXAMPLE, rewritten
from transition_parser.text.segmentation import ENGLISH
from transition_parser.text.tokens import tokenize

LEAST, MOST = 3, 60  # the bounds of the number of words of a sentence
EXAMPLE_WORDS = (5, 30)  # the bounds of the number of words of an example
MOST_OF_ONE_WORD = 6  # the most concepts of one word: gold AMRs rarely have 4, but a search in a loop makes more


class Source(NamedTuple):
    """A sentence to parse and the facts about it, None where there are none."""

    entry: AmrEntry
    facts: Given | None = None


class Sources:
    """A collector of sentences, each text once, without `excluded` texts; `inventory`: the rolesets that AMR uses."""

    def __init__(self, excluded: Container[str] = (), inventory: Collection[str] = ()) -> None:
        self.texts, self.inventory = shared.NewTexts(LEAST, MOST, excluded), inventory
        self.found: list[Source] = []
        self.trees: dict[tuple[str, ...], DependencyTree] = {}
        self.counts: Counter[str] = Counter()
        self.left_out = self.texts.left_out
        self.annotated = 0

    def add_treebank(self, path: Path, annotations: Mapping[str, Annotation]) -> None:
        """Add the sentences of a CoNLL-U file. Raises `InputError` for annotation of other words."""
        for number, sentence in enumerate(read_conllu(path), 1):
            annotation = annotations.get(sentence.id or "")
            if annotation is not None:
                annotation.check(sentence.forms)
                self.annotated += 1
            name = f"{path.stem}.{shared.unspaced(sentence.id or str(number))}"
            self._add(name, sentence, annotation.predicates if annotation else ())

    def add_text(self, path: Path) -> None:
        """Add the sentences of an English text, divided into words as `parse` divides text for AMRs."""
        with open(path, "rb") as file:
            lines = (decoded(line, str(path), number) for number, line in enumerate(file, 1))
            for number, one in enumerate(ENGLISH.sentences(lines), 1):
                self._add(f"{path.stem}.{number}", Sentence.from_words(tokenize(one.text)), ())

    def add_examples(self, examples: Iterable[Example], parser: Parser[Parse]) -> None:
        """Add examples of frames. A model of trees with tags finds the heads of arguments."""
        some = [one for one in examples if " ".join(one.words) not in self.texts.seen]
        parses = parser.parse_stream(Sentence.from_words(one.words) for one in some)
        for example, parse in zip(some, parses, strict=True):
            of = {EXAMPLE: example.predicate.roleset}
            self._add(f"frames.{example.id}", parse.annotated(), [example.predicate], of)

    def _add(
        self, name: str, sentence: Sentence, predicates: Sequence[Predicate], more: Mapping[str, str] | None = None
    ) -> None:
        if not self.texts.let_pass(sentence):
            return
        given, words = None, [*map(shared.unspaced, sentence.forms)]
        if predicates or all(row.head != "_" for row in sentence.words):  # text alone gives no facts
            given, left_out = facts_of(sentence, predicates, self.inventory)
            self.left_out.update(left_out)
            self.trees[*words,] = sentence.tree()
        if given is not None:
            self.counts.update({"node": len(given.nodes), "edge": len(given.edges), "sentence with facts": 1})
        self.found.append(Source(AmrEntry.from_words(words, {"id": name, **(more or {})}), given))


class TreeReader(Parser[AmrParse]):
    """A parser of AMRs whose edits read trees that are known, by the words of the sentence, and others of a model."""

    known: Mapping[tuple[str, ...], DependencyTree]
    of_others: str  # the model

    @cached_property
    def tree_parser(self) -> Parser[Parse]:
        return Parser.load(self.of_others)

    def read_trees(self, sentences: Sequence[Sequence[str]]) -> list[DependencyTree]:
        others = [Sentence.from_words(words) for words in sentences if (*words,) not in self.known]
        parsed = self.tree_parser.parse_stream(others) if others else iter(())
        return [self.known.get((*words,)) or next(parsed).tree for words in sentences]


def agreements(parses: Sequence[AmrParse], weights: Sequence[int]) -> list[float]:
    """Return for each AMR its mean Smatch F1 with all AMRs, itself included; nodes of equal words are joined first."""
    sums = [*map(float, weights)]
    triples = [graph_triples(one.graph) for one in parses]
    places = [_places(one) for one in parses]
    for i, (one, own) in enumerate(zip(triples, places, strict=True)):
        for j in range(i):
            number = {place: node for node, place in enumerate(places[j])}
            match, _ = best_mapping(one, triples[j], start=[number.get(place, -1) for place in own])
            score = 2 * match / (len(one.normalized) + len(triples[j].normalized))
            sums[i] += score * weights[j]
            sums[j] += score * weights[i]
    return [one / sum(weights) for one in sums]


def _places(parse: AmrParse) -> list[tuple[tuple[int, ...], int]]:
    """Return (words, number among the nodes of these words) for each concept node."""
    seen: Counter[tuple[int, ...]] = Counter()
    places = []
    for node, words in enumerate(map(tuple, parse.alignments)):
        if node not in parse.graph.constants:
            places.append((words, seen[words]))
            seen[words] += 1
    return places


def best_of(candidates: Sequence[AmrParse]) -> tuple[AmrParse, float]:
    """Return the parse with the largest mean Smatch against all others, the first of equal ones, and this mean.

    Several parses may have the same graph, and each of them counts. A single parse agrees with itself.
    """
    same: dict[Hashable, list[AmrParse]] = {}
    for one in candidates:
        same.setdefault(one.graph_key(), []).append(one)
    distinct, counts = [group[0] for group in same.values()], [*map(len, same.values())]
    found = agreements(distinct, counts)
    best, others = found.index(max(found)), len(candidates) - 1
    return distinct[best], max(found[best] * len(candidates) - 1, 0.0) / others if others else 1.0


def make_bank(
    path: str,
    sources: Sequence[Source],
    parsers: Sequence[Parser[AmrParse]],
    least: float = 0.0,
    without: Collection[str] = (),
) -> shared.Made:
    """Write a bank of AMRs with `least` agreement or more, without concepts `without`, `:wiki` and alignments."""
    entries, facts = [one.entry for one in sources], [one.facts for one in sources]
    of_models = [parser.parse_stream(entries, given=facts) for parser in parsers]
    results = (
        kept(entry, *best_of([one for parse in parses for one in parse.ranked]), least, without)
        for entry, *parses in zip(entries, *of_models, strict=True)
    )
    return shared.make_file(path, results, len(entries))


def kept(entry: AmrEntry, parse: AmrParse, agreement: float, least: float, without: Collection[str]) -> shared.Result:
    """Return the AMR of a sentence as the bank holds it, or why it is left out."""
    graph = parse.graph
    aligned = (words for node, words in enumerate(parse.alignments) if words and node not in graph.constants)
    if agreement < least:
        return shared.Result(left_out=f"agreement below {least:g}")
    if max(Counter(words[0] for words in aligned).values()) > MOST_OF_ONE_WORD:
        return shared.Result(left_out=f"more than {MOST_OF_ONE_WORD} concepts of one word")
    if not set(without).isdisjoint(graph.labels):
        return shared.Result(left_out="unwanted concept")
    odd = next(odd_structures(graph), "")
    if odd:
        return shared.Result(left_out=odd)
    found = replace(parse, place=None).annotated(wiki=False)
    found = replace(found, metadata={**entry.metadata, AGREEMENT: f"{agreement:.4f}"})
    return shared.Result(rewritten(found, ("id", AGREEMENT, EXAMPLE, "snt"), alignments=False), agreement)


def make(arguments: argparse.Namespace) -> list[str]:
    """Write the bank, and return lines about what it holds. Raises `InputError` and `OSError`."""
    nbest = arguments.beam if arguments.nbest is None else arguments.nbest
    inputs = [*arguments.treebanks, *arguments.exclude, *arguments.propbank, *filter(None, [arguments.frames])]
    shared.check_options(arguments, inputs, nbest)
    if arguments.examples < 0 or arguments.each < 1:
        raise InputError("--examples must be 0 or more, and --each 1 or more")
    if (arguments.propbank or arguments.examples) and not arguments.frames:
        raise InputError("--propbank and --examples need --frames FILE, PropBank's frames")
    if not arguments.treebanks and not arguments.examples:
        raise InputError("no sentences: give treebanks, or --examples N")
    if arguments.frames and not (arguments.propbank or arguments.examples):
        raise InputError("--frames is for --propbank and --examples: give one of them")
    inventory, examples = read_frames(arguments.frames) if arguments.frames else (frozenset(), [])
    annotations = read_annotations(arguments.propbank)
    found = Sources(shared.Excluded(shared.read_texts(arguments.exclude)), inventory)
    for path in arguments.treebanks:
        if path.suffix == ".txt":
            found.add_text(path)
        else:
            found.add_treebank(path, annotations)
    if annotations and not found.annotated:
        raise InputError("--propbank: no sentence of the treebanks has an id of the annotation")
    if arguments.examples:
        some = spread(examples, arguments.examples, *EXAMPLE_WORDS, arguments.each)
        found.add_examples(some, shared.of_kind(Parser.load(arguments.trees), "trees"))
    if not found.found:
        raise InputError(f"no sentence of {LEAST} to {MOST} words")
    parsers = [shared.of_kind(TreeReader.load(one, arguments.beam, nbest=nbest), "AMRs") for one in arguments.model]
    for parser in parsers:
        parser.known, parser.of_others = found.trees, arguments.trees
    made = make_bank(arguments.output, found.found, parsers, arguments.least, arguments.without)
    facts = ", ".join(f"{count:,} × {kind}" for kind, count in found.counts.most_common())
    return [*made.notices(found.left_out), *([f"facts: {facts}"] if facts else []),
            f"{made.kept} AMRs in {arguments.output}"]  # fmt: skip


if __name__ == "__main__":
    of = shared.options(__doc__)
    of.add_argument("treebanks", nargs="*", type=Path, metavar="FILE",
                    help="treebanks (CoNLL-U; --propbank needs their trees) and English texts (.txt)")  # fmt: skip
    shared.common_options(of, ["en-amr-minilm", "en-amr"], 5)
    of.add_argument("--without", nargs="+", default=[], metavar="CONCEPT", help="leave out graphs with one of these")
    propbank = "tables of PropBank's annotation (predicates, their frames and arguments) of sentences of the treebanks"
    of.add_argument("--propbank", nargs="+", default=[], metavar="TSV", help=f"{propbank}, which the AMRs keep")
    of.add_argument("--examples", type=int, default=0, metavar="N", help="also parse up to N examples of the frames")
    of.add_argument("--each", type=int, default=2, metavar="N", help="maximum number of examples of a roleset")
    of.add_argument("--trees", default="en-ewt-minilm", metavar="MODEL", help="model of the trees of texts, examples")
    shared.run(of, make)

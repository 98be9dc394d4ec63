"""Make silver trees, to train on beside gold trees: several models parse, and the tree that they agree on most is kept.

    python run/recipes/silver_trees.py TEXT ... -o silver.conllu --model MODEL ... [--frames FILE] [--exclude FILE ...]

TEXT is CoNLL-U or an AMR bank, whose graphs are not read. With --frames the examples of PropBank's frames are parsed,
too. Sentences of 4 to 60 words are parsed, each text once. Each model gives its best tree, or the best --nbest of its
beam. The tree that shares most labeled arcs with the other trees is kept, unless its mean share is below --least (Lee
et al. 2022, sec. 3, with labeled arcs in place of Smatch). Tags, lemmas and features that its model does not predict
come from the first model that predicts them. Where a sentence has a single tree, the mean confidence
in its arcs replaces the mean share.
"""

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import shared
from propbank import read_frames

from transition_parser import Parser
from transition_parser.base.errors import InputError
from transition_parser.graphs.bank import read_bank
from transition_parser.graphs.conllu import Sentence, read_conllu
from transition_parser.graphs.dependency import DependencyTree
from transition_parser.parsing.parses import Parse
from transition_parser.text.tokens import tokens

WORDS = (4, 60)  # the bounds of the number of words of a sentence
AGREEMENT = "# agreement = "  # begins the comment with the mean agreement of a silver tree


def sentences_of(path: Path) -> Iterator[Sentence]:
    """Yield the sentences of a CoNLL-U file or an AMR bank without their graphs, with words without white space.

    The text of an AMR is divided as UD divides English. The new id joins the name of the file and the old id, or the
    number of a sentence without id.
    """
    if path.suffix == ".conllu":
        read = ((one.id, one.forms) for one in read_conllu(path))
    else:
        entries = read_bank(path, graphs=False)
        read = ((one.id, [form for token in tokens(one.text) for form in token.words]) for one in entries)
    for number, (name, forms) in enumerate(read, 1):
        yield with_id(map(shared.unspaced, forms), f"{path.stem}.{shared.unspaced(name or str(number))}")


def with_id(words: Iterable[str], name: str) -> Sentence:
    return Sentence.from_words(words, (f"# sent_id = {name}",))


def make_treebank(
    path: str, sentences: Sequence[Sentence], parsers: Sequence[Parser[Parse]], least: float = 0.0
) -> shared.Made:
    """Write a treebank with the tree of each sentence that agrees most with all others, at least `least`."""

    results = (
        shared.Result(written(parse, agreement), agreement)
        if agreement >= least
        else shared.Result(left_out=f"agreement below {least:g}")
        for parse, agreement in silver_trees(parsers, sentences)
    )
    return shared.make_file(path, results, len(sentences))


def silver_trees(parsers: Sequence[Parser[Parse]], sentences: Sequence[Sentence]) -> Iterator[tuple[Parse, float]]:
    """Yield for each sentence the tree that agrees most with all other trees of the models, and its agreement."""
    is_one = sum(parser.nbest for parser in parsers) == 1
    for parses in zip(*(parser.parse_stream(sentences) for parser in parsers), strict=True):
        candidates = [one for parse in parses for one in parse.ranked]
        best, agreement = consensus_of_trees([one.tree for one in candidates])
        parse = candidates[best]
        sentence = parse.sentence
        for other in candidates:  # some models do not predict all columns
            rows = other.sentence.words
            columns = zip(*((row.upos, row.lemma, row.xpos, row.feats) for row in rows), strict=True)
            sentence = sentence.with_tags(*map(tuple, columns))
        yield replace(parse, sentence=sentence), fmean(parse.arc_scores) if is_one else agreement


def consensus_of_trees(trees: Sequence[DependencyTree]) -> tuple[int, float]:
    """Return the index of the tree that agrees most with the others, the first of equal ones, and its agreement.

    The agreement is the mean share of the tree's labeled arcs that the other trees have, from 0 to 1.

    trees: at least one tree, all of the same words

    >>> one, other = DependencyTree((0, 1), ("root", "obj")), DependencyTree((0, 1), ("root", "nmod"))
    >>> consensus_of_trees([other, one, one])
    (1, 0.75)
    """
    if len(trees) == 1:
        return 0, 1.0
    arcs = [[*zip(tree.heads, tree.relations, strict=True)] for tree in trees]
    votes = [Counter(of_word) for of_word in zip(*arcs, strict=True)]
    shared = [sum(count[arc] - 1 for count, arc in zip(votes, of_tree, strict=True)) for of_tree in arcs]
    return shared.index(max(shared)), max(shared) / ((len(trees) - 1) * len(votes))


def written(parse: Parse, agreement: float) -> str:
    """Return a silver tree as CoNLL-U, with the comment `# agreement = …`."""
    sentence = replace(parse, place=None).annotated()  # an n-best rank (`place`) above 1 drops the id
    comments = (one for one in sentence.comments if not one.startswith(AGREEMENT))
    return str(Sentence(sentence.rows, (*comments, f"{AGREEMENT}{agreement:.4f}")))


def make(arguments: argparse.Namespace) -> list[str]:
    """Write the treebank and return lines about what it holds. Raises `InputError` and `OSError`."""
    if not arguments.texts and not arguments.frames:
        raise InputError("no sentences: give files, or --frames FILE")
    inputs = [*arguments.texts, *arguments.exclude, *filter(None, [arguments.frames])]
    shared.check_options(arguments, inputs, arguments.nbest)
    given = [one for path in arguments.texts for one in sentences_of(path)]
    for example in read_frames(arguments.frames)[1] if arguments.frames else ():
        given.append(with_id(example.words, f"frames.{example.id}"))
    texts = shared.NewTexts(*WORDS, shared.Excluded(shared.read_texts(arguments.exclude)))
    found = [*filter(texts.let_pass, given)]
    if not found:
        raise InputError(f"no sentence of {WORDS[0]} to {WORDS[1]} words is left to parse")
    settings = {"nbest": arguments.nbest, "device": arguments.device}
    parsers = [shared.of_kind(Parser.load(model, arguments.beam, **settings), "trees") for model in arguments.model]
    made = make_treebank(arguments.output, found, parsers, arguments.least)
    return [*made.notices(texts.left_out), f"{made.kept:,} trees in {arguments.output}"]


if __name__ == "__main__":
    of = shared.options(__doc__)
    of.add_argument("texts", nargs="*", type=Path, metavar="TEXT", help="CoNLL-U files and AMR banks")
    shared.common_options(of, ["en-ewt-minilm"], 10)
    of.set_defaults(nbest=1)
    of.add_argument("--device", default="cpu", metavar="D", help="device to compute on: cpu (default), cuda, …")
    shared.run(of, make)

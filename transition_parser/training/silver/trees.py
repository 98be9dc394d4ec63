"""Silver trees: of the trees that several models give a sentence, the one that agrees most with the others.

Source: Lee et al. 2022 (Maximum Bayes Smatch Ensemble Distillation for AMR Parsing), sec. 3, with labelled arcs in
place of Smatch
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from transition_parser.graphs.bank import read_bank
from transition_parser.graphs.conllu import Sentence, read_conllu, unspaced
from transition_parser.graphs.dependency import DependencyTree
from transition_parser.parsing.parser import Parser
from transition_parser.parsing.parses import Parse
from transition_parser.parsing.sentences.streams import in_chunks
from transition_parser.text.tokens import tokens
from transition_parser.training.silver.files import KeptSentence, LeftOut, Made, described, make_file

PREDICTED = ("upos", "lemmas", "xpos", "feats")  # the fields of a parse that some models do not predict
AGREEMENT = "# agreement = "  # begins the comment with the mean agreement of a silver tree
CHUNK = 1024  # sentences that all models parse together; an interrupted run loses at most their parses


class TreeChoice(NamedTuple):
    """The parse that was chosen among all models' parses of a sentence.

    agreement: the mean share of the tree's labelled arcs that the other trees have, from 0 to 1. If there is only one
        parser, with one tree for each sentence, this is the mean of `Parse.arc_scores`.
    """

    parse: Parse
    agreement: float


def sentences_of(path: Path, least: int, most: int) -> Iterator[Sentence]:
    """Yield the sentences of a CoNLL-U file or an AMR bank that have `least` to `most` words, without their graphs.

    The new id joins the name of the file and the id of the sentence, or the sentence's number if it has no id.

    Raises `InputError` for a broken file.
    """
    for number, (name, forms) in enumerate(_read(path), 1):
        words = [*map(unspaced, forms)]
        if all(words) and least <= len(words) <= most:
            yield with_id(words, f"{path.stem}.{unspaced(name or str(number))}")


def _read(path: Path) -> Iterator[tuple[str | None, list[str]]]:
    """Yield the id and the words of each sentence. The text of an AMR is divided as UD divides English."""
    if path.suffix == ".conllu":
        yield from ((one.id, one.forms) for one in read_conllu(path))
    else:
        yield from (
            (one.id, [form for token in tokens(one.text) for form in token.words])
            for one in read_bank(path, graphs=False)
        )


def with_id(words: Iterable[str], name: str) -> Sentence:
    """Return a sentence of these words with this id."""
    return Sentence.from_words(words, (f"# sent_id = {name}",))


def distinct(sentences: Iterable[Sentence], excluded: Container[str], left_out: Counter[str]) -> Iterator[Sentence]:
    """Yield the sentences, each text once, without those of excluded texts.

    left_out: counts the sentences left out, by the reason
    """
    seen = set()
    for sentence in sentences:
        text = " ".join(sentence.forms)
        if text in seen:
            left_out["sentence that came before"] += 1
        elif text in excluded:
            left_out["sentence of an excluded text"] += 1
        else:
            seen.add(text)
            yield sentence


def make_treebank(
    path: str, sentences: Sequence[Sentence], parsers: Sequence[Parser[Parse]], least: float = 0.0
) -> Made:
    """Write a treebank with, for each sentence, the tree that agrees most with all other trees of the models.

    An interrupted run leaves `path`.partial. A run with the same sentences and options goes on from it (`make_file`).

    parsers: each gives up to `Parser.nbest` trees of a sentence
    least: trees with a smaller agreement are left out

    Raises `InputError` if `path`.partial is of another run, and if no tree is left.
    """

    def made_from(start: int) -> Iterator[KeptSentence | LeftOut]:
        for choice in silver_trees(parsers, sentences[start:]):
            is_kept = choice.agreement >= least
            yield KeptSentence(written(choice), choice.agreement) if is_kept else LeftOut(f"agreement below {least:g}")

    settings = {"models": described(parsers), "least": least}
    return make_file(path, settings, ((one.id, one.forms) for one in sentences), made_from)


def silver_trees(parsers: Sequence[Parser[Parse]], sentences: Sequence[Sentence]) -> Iterator[TreeChoice]:
    """Yield for each sentence the tree that agrees most with all other trees of the models.

    Tags, lemmas and features that the tree's model does not predict are taken from the first model that predicts them.

    parsers: each gives up to `Parser.nbest` trees of a sentence
    """
    is_one = sum(parser.nbest for parser in parsers) == 1
    for some in in_chunks(sentences, CHUNK):
        for parses in zip(*(parser.parse_stream(some) for parser in parsers), strict=True):
            choice = _chosen([one for parse in parses for one in parse.ranked])
            yield choice._replace(agreement=fmean(choice.parse.arc_scores)) if is_one else choice


def _chosen(candidates: Sequence[Parse]) -> TreeChoice:
    best, agreement = consensus_of_trees([one.tree for one in candidates])
    sources = (candidates[best], *candidates)
    columns: dict[str, Any] = {
        name: next(filter(None, (getattr(one, name) for one in sources)), ()) for name in PREDICTED
    }
    return TreeChoice(replace(candidates[best], **columns), agreement)


def consensus_of_trees(trees: Sequence[DependencyTree]) -> tuple[int, float]:
    """Return the index of the tree that agrees most with the others, and this tree's agreement (see `TreeChoice`).

    Of equally good trees, the first is chosen.

    trees: at least one tree, all of the same words

    >>> one, other = DependencyTree((0, 1), ("root", "obj")), DependencyTree((0, 1), ("root", "nmod"))
    >>> consensus_of_trees([other, one, one])
    (1, 0.75)
    """
    if len(trees) == 1:
        return 0, 1.0
    votes = [Counter(arcs) for arcs in zip(*(zip(tree.heads, tree.relations, strict=True) for tree in trees))]
    others = (len(trees) - 1) * len(votes)

    def shared(tree: DependencyTree) -> int:
        arcs = zip(tree.heads, tree.relations, strict=True)
        return sum(count[arc] - 1 for count, arc in zip(votes, arcs, strict=True))

    sums = [shared(tree) for tree in trees]
    best = max(range(len(trees)), key=lambda i: (sums[i], -i))
    return best, sums[best] / others


def written(choice: TreeChoice) -> str:
    """Return a silver tree as CoNLL-U, with the comment `# agreement = …`."""
    sentence = replace(choice.parse, place=None).annotated()  # an n-best rank (`place`) above 1 drops the id
    kept = tuple(one for one in sentence.comments if not one.startswith(AGREEMENT))
    comments = (*kept, f"{AGREEMENT}{choice.agreement:.4f}")
    return str(Sentence(sentence.rows, comments))

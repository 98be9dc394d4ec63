"""PropBank's annotation of the sentences of a corpus, as the column `{train,valid,test}.propbank`."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence

from transition_parser.base.errors import InputError, input_error
from transition_parser.graphs.conllu import Sentence, read_conllu, unspaced
from transition_parser.graphs.dependency import DependencyTree
from transition_parser.graphs.propbank import Predicate, Span, read_annotations
from transition_parser.text.columns import NO_PREDICATE, UNKNOWN, value_of

Paths = Collection[str | os.PathLike]


class PropBank:
    """PropBank's annotation of sentences, looked up by their words.

    Sentences with the same words have the annotation of the first of them.

    lines: the words of a sentence → the values of the column, one for each word
    paths: the files of the annotation, for messages
    """

    def __init__(self, lines: Mapping[tuple[str, ...], Sequence[str]], paths: Paths = ()) -> None:
        self.lines, self.paths = lines, paths

    @classmethod
    def read(cls, paths: Paths, treebanks: Paths) -> PropBank:
        """Read files of annotation, and the trees of the annotated sentences, which give the heads of arguments.

        Raises `InputError` for broken files, for a sentence whose words differ from those of the tree with the same
        id, and for an annotated sentence without a tree.

        paths: tab-separated files, see `graphs.propbank`
        treebanks: CoNLL-U files
        """
        annotations = read_annotations(paths)
        lines: dict[tuple[str, ...], list[str]] = {}
        for sentence in (sentence for path in treebanks for sentence in read_conllu(path)):
            annotation = annotations.pop(sentence.id or "", None)
            if annotation is not None:
                annotation.check(sentence.forms)
                lines.setdefault(_key(sentence.forms), _values(sentence, annotation.predicates))
        if annotations:
            first = next(iter(annotations.values()))
            problem = f"no tree has this `# sent_id`; {len(annotations) - 1} other sentences have no tree either"
            raise input_error(f"{problem}: give the treebank that was annotated", first.path, first.line, first.id)
        return cls(lines, paths)

    def line(self, forms: Sequence[str]) -> str:
        """Return the line of a sentence in the column; a sentence without annotation has `_` for each word."""
        return " ".join(self.lines.get(_key(forms), [UNKNOWN] * len(forms)))

    def check(self, sentences: Iterable[Sequence[str]], path: str | os.PathLike) -> None:
        """Raise `InputError` where none of the sentences has an annotation.

        sentences: the forms of each sentence of the training data
        path: the file of the training data
        """
        if not any(_key(forms) in self.lines for forms in sentences):
            problem = f"no sentence is annotated in {' '.join(map(str, self.paths))}"
            raise input_error(f"{problem}: give its annotation, or leave out --propbank", path)


def propbank_of_amrs(paths: Paths, treebanks: Paths) -> PropBank | None:
    """Return the annotation that the options `--propbank` and `--propbank-trees` name; None without these options.

    Raises `InputError` if only one of the options is given, and for unfit files.
    """
    if paths and not treebanks:
        raise InputError("--propbank needs --propbank-trees CONLLU, the trees of the annotated sentences")
    if treebanks and not paths:
        raise InputError("--propbank-trees needs --propbank TSV, the annotation of its sentences")
    return PropBank.read(paths, treebanks) if paths else None


def _key(forms: Iterable[str]) -> tuple[str, ...]:
    return tuple(map(unspaced, forms))


def _values(sentence: Sentence, predicates: Iterable[Predicate]) -> list[str]:
    """Return each word's value for the column `propbank`. A word with several rolesets gets the value of the first."""
    values = [NO_PREDICATE] * len(sentence.forms)
    tree = sentence.tree()
    for one in predicates:
        if values[one.word] == NO_PREDICATE:
            heads = [(label, head_of(tree, span)) for label, span in one.arguments]
            values[one.word] = value_of(one.roleset, heads)
    return values


def head_of(tree: DependencyTree, span: Span) -> int:
    """Return the number, from 1, of the word that heads a span: the first of the words nearest to the root.

    span: first and last word, from 0

    >>> head_of(DependencyTree((2, 4, 2, 0), ("det", "nsubj", "nmod", "root")), (0, 2))
    2
    """
    return min(range(span[0] + 1, span[1] + 2), key=lambda word: _depth(tree, word))


def _depth(tree: DependencyTree, word: int) -> int:
    depth = 0
    while word:
        word, depth = tree.heads[word - 1], depth + 1
    return depth

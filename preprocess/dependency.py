"""The preparation of treebanks for training."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TypeVar

from transition_parser.base.errors import input_error
from transition_parser.base.process import progress
from transition_parser.graphs.conllu import Sentence, read_conllu
from transition_parser.graphs.dependency import DependencyTree
from transition_parser.oracles.static import NonProjectiveError, oracle
from transition_parser.preprocess.splits import (
    by_frequency,
    data_folder,
    make_pieces,
    save_words,
    source_line,
    values_of,
)
from transition_parser.text.columns import (
    KNOWN,
    Columns,
    forms_of_domains,
    labels_of_domains,
    seen_with_tags,
    values_of_forms,
)
from transition_parser.text.pieces import Pieces, normalize
from transition_parser.transitions import RootRelations, make_system
from transition_parser.transitions.config import ParserConfig

HELD_OUT = 10  # sentences whose number is a multiple of this are held out
T = TypeVar("T")
_SUBJECTS = frozenset({"nsubj", "nsubj:pass", "csubj", "csubj:pass"})  # of a predicate; `:outer` is of a clause in it
_FEW = 20  # heads; what fewer of them have says little


@dataclass(frozen=True)
class DependencyOptions:
    """The options of `preprocess dependency`."""

    system: str
    pieces: int = 4000  # size of the subword vocabulary
    labeled_shift: int = 0  # how many of the most frequent words have a labeled SHIFT
    columns: Collection[str] = ()  # names of `text.columns.KNOWN`, which are written, too
    pieces_from: str | os.PathLike | None = None  # a folder whose subword vocabulary is taken
    holds_out: bool = False  # True to hold out training sentences as `valid`, see `hold_out`


def preprocess_dependency(
    splits: Mapping[str, Sequence[str | os.PathLike]], dest: str | os.PathLike, options: DependencyOptions
) -> dict[str, dict[str, int]]:
    """Write the files of each split into `dest`. `train` is needed; `valid` and `test` are optional.

    Where `train` has several treebanks, small ones are written more often, by the root of their size. Return for each
    split how many sentences were written and how many were skipped as non-projective. For a malformed input, raises
    `InputError` and leaves `dest` as it was.
    """
    make_system(options.system)
    of_files = {split: [*map(_read, paths)] for split, paths in splits.items()}
    treebanks = {split: [*chain.from_iterable(of_split)] for split, of_split in of_files.items()}
    if options.holds_out:
        treebanks["train"], treebanks["valid"] = hold_out(treebanks["train"])
    train = treebanks["train"]
    if all(len(sentence.forms) == 1 for sentence in train):
        raise input_error(
            "each sentence is one word: a parser learns from sentences of two or more", splits["train"][0]
        )
    words = by_frequency(normalize(form) for sentence in train for form in sentence.forms)
    with data_folder(dest, chain.from_iterable(splits.values())) as folder:
        pieces = make_pieces((sentence.forms for sentence in train), folder, options.pieces, options.pieces_from)
        roots = RootRelations.from_trees(sentence.tree() for sentence in train)
        config = ParserConfig(
            system=options.system,
            relations=by_frequency(row.deprel for sentence in train for row in sentence.words),
            shift_words=words[: options.labeled_shift],
            roots=tuple(sorted(roots.labels)),
            shared_roots=tuple(sorted(roots.shared)),
            once=once_in(sentence.tree() for sentence in train),
        )
        save_words(words, folder)
        config.save(folder)
        values = values_of(train, options.columns, splits["train"][0])
        of_domains = labels_of_domains(train, values)
        several = forms_of_domains(train, options.columns)
        forms = {} if several else values_of_forms(train, options.columns)
        columns = Columns(values, forms, seen_with_tags(train, values), of_domains, several)
        if columns.values:
            columns.save(folder)
        if options.holds_out:
            Path(folder, "valid.conllu").write_text("".join(map(str, treebanks["valid"])), encoding="utf-8")
        if len(of_files["train"]) > 1:
            sizes = [sum(len(sentence.forms) for sentence in sentences) for sentences in of_files["train"]]
            treebanks["train"] = balanced(of_files["train"], sizes)
        return {
            split: _write_split(folder, split, sentences, pieces, config, columns)
            for split, sentences in treebanks.items()
        }


def _read(path: str | os.PathLike) -> list[Sentence]:
    sentences = list(read_conllu(path))
    if not sentences:
        raise input_error("the file holds no sentences", path)
    return sentences


def balanced(treebanks: Sequence[Sequence[T]], sizes: Sequence[int]) -> list[T]:
    """Return the sentences of all treebanks, smaller ones several times, by the root of their size in words."""
    times = [round(math.sqrt(max(sizes) / size)) for size in sizes]
    return [one for sentences, n in zip(treebanks, times, strict=True) for _ in range(n) for one in sentences]


def hold_out(sentences: Sequence[T]) -> tuple[list[T], list[T]]:
    """Divide sentences: return all but every tenth, and every tenth."""
    kept = [sentence for number, sentence in enumerate(sentences, 1) if number % HELD_OUT]
    return kept, list(sentences[HELD_OUT - 1 :: HELD_OUT])


def once_in(trees: Iterable[DependencyTree]) -> tuple[tuple[str, ...], ...]:
    """Return the groups of relations of which no head has two in these trees: subjects, and single relations."""
    heads, repeated = Counter[frozenset[str]](), set[frozenset[str]]()
    for tree in trees:
        counts = Counter[tuple[int, frozenset[str]]]()
        for head, relation in zip(tree.heads, tree.relations, strict=True):
            if head:
                counts[head, frozenset({relation})] += 1
                counts[head, _SUBJECTS] += relation in _SUBJECTS
        heads.update(group for (_, group), count in counts.items() if count)
        repeated.update(group for (_, group), count in counts.items() if count > 1)
    once = [group for group, count in heads.items() if count >= _FEW and group not in repeated]
    return tuple(sorted(tuple(sorted(group)) for group in once if not any(group < other for other in once)))


def _write_split(
    folder: Path,
    split: str,
    sentences: list[Sentence],
    pieces: Pieces,
    config: ParserConfig,
    columns: Columns,
) -> dict[str, int]:
    counts, system = {"sentences": 0, "skipped": 0}, config.transition_system()
    names = ["src", "act", *columns.values]
    with ExitStack() as stack:
        files = {n: stack.enter_context(open(folder / f"{split}.{n}", "w", encoding="utf-8")) for n in names}
        for sentence in progress(sentences, f"{split} oracle"):
            words = [normalize(form) for form in sentence.forms]
            try:
                actions = [str(action) for action in oracle(system, words, sentence.tree())]
            except NonProjectiveError:
                counts["skipped"] += 1
                continue
            counts["sentences"] += 1
            print(source_line(pieces, sentence.forms), file=files["src"])
            print(" ".join(actions), file=files["act"])
            for column in columns.values:
                print(*KNOWN[column].values(sentence), file=files[column])
    return counts

"""Parts that recipes share: options, tables, texts to leave out, and files of silver data."""

import argparse
import csv
import os
import sys
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from transition_parser.base.errors import InputError, input_error
from transition_parser.base.files import output
from transition_parser.base.process import progress
from transition_parser.graphs.bank import read_bank
from transition_parser.graphs.conllu import Sentence, read_conllu
from transition_parser.parsing.parser import Parser

P = TypeVar("P", bound=Parser[Any])


def options(description: str | None) -> argparse.ArgumentParser:
    """Return a parser of options whose help begins with the docstring of a script."""
    return argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)


def run(of: argparse.ArgumentParser, work: Callable[[argparse.Namespace], Iterable[str] | None]) -> None:
    """Do the work of a script, and print its notices. Bad input ends the script with one line and status 2."""
    try:
        for notice in work(of.parse_args()) or ():
            print(notice, file=sys.stderr)
    except (InputError, OSError) as error:
        of.exit(2, f"{of.prog}: error: {error}\n")


def of_kind(parser: P, kind: str) -> P:
    """Return a parser, whose graphs must be "trees" or "AMRs". Raises `InputError` for a model of others."""
    if parser.formalism.name != kind:
        raise InputError(f"{parser.version} is a model of {parser.formalism.name}, not of {kind}")
    return parser


def read_rows(path: str | os.PathLike, *columns: str) -> list[dict[str, str]]:
    """Return the rows of a table whose first line names its columns. Raises `InputError` for a missing column."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            table = csv.DictReader(file, delimiter="\t", restval="", quoting=csv.QUOTE_NONE)
            rows = list(table)
    except (csv.Error, ValueError) as error:
        raise input_error(str(error), path) from None
    if missing := [column for column in columns if column not in (table.fieldnames or ())]:
        raise input_error(f"no column {missing[0]!r}", path)
    return rows


def write(path: str, text: str) -> None:
    """Write a file, whole or not at all."""
    with output(path) as file:
        file.write(text)


def unspaced(form: str) -> str:
    """Return a form without white space, as AMR banks and PropBank's annotation have it: `10000` for `10 000`."""
    return "".join(form.split())


# --- texts that models are evaluated on ----------------------------------------------------------

LEAST = 8  # texts of at least this many words are also compared with parts of other texts


class Excluded:
    """Texts to keep out of training data, compared by letters and digits alone, in lower case, without accents.

    A sentence is excluded if it is one of the texts. It is also excluded if it contains one of the texts, or is a part
    of one; the contained sentence must have `LEAST` or more words with a letter or digit.

    >>> excluded = Excluded(["You can't see it."])
    >>> "You ca n't see it !" in excluded, "You see it" in excluded
    (True, False)
    """

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._whole: set[str] = set()
        self._long: dict[str, list[str]] = defaultdict(list)  # first characters of long texts → the texts
        for text in texts:
            letters = squeezed(text)
            if letters and letters not in self._whole:
                self._whole.add(letters)
                if _is_long(text):
                    self._long[letters[:LEAST]].append(letters)
        self._all = "\n".join(sorted(self._whole))

    def __contains__(self, text: str) -> bool:
        letters = squeezed(text)
        if letters in self._whole or (_is_long(text) and letters in self._all):
            return True
        starts = range(len(letters) - LEAST + 1)
        return any(letters.startswith(other, i) for i in starts for other in self._long.get(letters[i : i + LEAST], ()))


def read_texts(paths: Iterable[str | os.PathLike]) -> Iterator[str]:
    """Yield each sentence of CoNLL-U files and AMR banks, as written and as its words. Raises `InputError`."""
    for path in paths:
        if str(path).endswith(".conllu"):
            texts = [text for one in read_conllu(path) for text in (" ".join(one.forms), one.text)]
        else:
            texts = [one.metadata[key] for one in read_bank(path, graphs=False) for key in ("snt", "tok")
                     if key in one.metadata]  # fmt: skip
        if not texts:
            raise InputError(f"{path}: the file has no sentences to exclude")
        yield from texts


def squeezed(text: str) -> str:
    """Return the letters and digits of a text in lower case, without accents."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKD", text).casefold()))


class NewTexts:
    """A filter that lets sentences of `least` to `most` words pass, each text once, without `excluded` texts."""

    def __init__(self, least: int, most: int, excluded: Container[str] = ()) -> None:
        self.least, self.most, self.excluded = least, most, excluded
        self.seen: set[str] = set()
        self.left_out: Counter[str] = Counter()

    def let_pass(self, sentence: Sentence) -> bool:
        """Return True for a sentence that is wanted, and count the others by the reason in `left_out`."""
        words = [*map(unspaced, sentence.forms)]
        text = " ".join(words)
        if not (all(words) and self.least <= len(words) <= self.most):
            return False
        if text in self.seen:
            self.left_out["sentence that came before"] += 1
        elif text in self.excluded or sentence.text in self.excluded:
            self.left_out["sentence of an excluded text"] += 1
        else:
            self.seen.add(text)
            return True
        return False


def _is_long(text: str) -> bool:
    return sum(any(map(str.isalnum, word)) for word in text.split()) >= LEAST


# --- files of silver data ------------------------------------------------------------------------


class Result(NamedTuple):
    """A sentence of the file with its graph, and how far the models agree (0 to 1); or why it is left out."""

    text: str = ""
    agreement: float = 0.0
    left_out: str = ""


@dataclass(frozen=True)
class Made:
    """The number of sentences in the file, reason → number of those left out, and the mean agreement."""

    kept: int
    left_out: Counter[str] = field(default_factory=Counter)
    agreement: float = 0.0

    def notices(self, others: Counter[str]) -> list[str]:
        """Return lines about what was left out, here and by `others`, and about the agreement."""
        lines = [f"left out: {count:,} × {reason}" for reason, count in (others + self.left_out).most_common()]
        return [*lines, f"mean agreement: {self.agreement:.3f}"]


def common_options(of: argparse.ArgumentParser, models: list[str], beam: int) -> None:
    """Add the options of silver.py and silver_trees.py."""
    of.add_argument("-o", "--output", required=True, metavar="FILE")
    of.add_argument("--model", nargs="+", default=models, help="names, checkpoints or exported folders")
    of.add_argument("--beam", type=int, default=beam)
    of.add_argument("--nbest", type=int, metavar="N", help="parses of a sentence by each model")
    of.add_argument("--least", type=float, default=0.0, help="leave out what agrees less (0 to 1)")
    of.add_argument("--exclude", nargs="+", default=[], metavar="FILE",
                    help="CoNLL-U or AMR banks whose sentences must stay out, even as a part (of 8 words or more)"
                    " of others")  # fmt: skip
    of.add_argument("--frames", metavar="JSONL", help="PropBank's frames, as frames.py reads them")


def check_options(arguments: argparse.Namespace, inputs: Iterable[str | os.PathLike], nbest: int) -> None:
    """Raise `InputError` for options that do not fit each other."""
    if Path(arguments.output).resolve() in {Path(path).resolve() for path in inputs}:
        raise InputError(f"{arguments.output} is one of the inputs: write to another file")
    if nbest > arguments.beam:
        raise InputError(f"--nbest {nbest} is more than --beam {arguments.beam}")


def make_file(path: str, results: Iterable[Result], number: int) -> Made:
    """Write a file of silver data from the results of a number of sentences, whole or not at all."""
    found = [*progress(results, "parsing", number)]
    kept = [one for one in found if not one.left_out]
    if not kept:
        raise InputError("no sentence is left whose tree or graph is wanted")
    with output(path) as file:
        file.writelines(one.text for one in kept)
    left_out = Counter(one.left_out for one in found if one.left_out)
    return Made(len(kept), left_out, sum(one.agreement for one in kept) / len(kept))

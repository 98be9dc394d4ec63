"""Silver AMRs, to train on beside gold ones: the sentences of treebanks, parsed by models of AMRs.

    python run/silver.py TREEBANK.conllu ... -o silver.amr --model MODEL [--ensemble MODEL ...] [--without CONCEPT ...]

Sentences of 3 to 40 words are parsed, each text once. A graph with one of the concepts of --without is left out. Such
concepts are known errors of the models in text of another domain, such as `enzyme` for a person's name.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from transition_parser import Parser
from transition_parser.base.errors import InputError
from transition_parser.base.files import output
from transition_parser.base.progress import progress
from transition_parser.graphs.bank import AmrEntry
from transition_parser.graphs.conllu import read_conllu
from transition_parser.parsing.parses import AmrParse

LEAST, MOST = 3, 40  # the bounds of the number of words of a sentence


def sentences(paths: Iterable[Path]) -> Iterator[AmrEntry]:
    """Yield the sentences of CoNLL-U files that have `LEAST` to `MOST` words, each text once.

    An id is the name of the file and the id of the sentence, or its number where it has no id.
    """
    seen: set[str] = set()
    for path in paths:
        for number, sentence in enumerate(read_conllu(path), 1):
            words = ["".join(form.split()) for form in sentence.forms]  # `10 000` has a space
            text = " ".join(words)
            if all(words) and LEAST <= len(words) <= MOST and text not in seen:
                seen.add(text)
                yield AmrEntry.from_words(words, {"id": f"{path.stem}.{''.join((sentence.id or str(number)).split())}"})


def silver(parser: Parser, entries: Iterable[AmrEntry], without: Collection[str] = ()) -> Iterator[AmrEntry]:
    """Yield the parses of the entries, without `:wiki`; graphs with a concept of `without` are left out."""
    unwanted = frozenset(without)
    for parse in progress(parser.parse_stream(entries), "parsing"):
        assert isinstance(parse, AmrParse), "the parser is one of AMRs"
        if unwanted.isdisjoint(parse.graph.labels):
            yield parse.annotated(wiki=False)


def write(arguments: argparse.Namespace) -> int:
    """Write the bank, and return its number of AMRs.

    Raises `InputError` for unfit options or an empty result, and `OSError` for files that can't be read or written.
    """
    if Path(arguments.output).resolve() in {path.resolve() for path in arguments.treebanks}:
        raise InputError(f"{arguments.output} is one of the treebanks: write to another file")
    parser = Parser.load(arguments.model, arguments.beam, others=arguments.ensemble)
    if parser.formalism.sentence is not AmrEntry:
        raise InputError(f"{arguments.model} is a model of trees: one of AMRs is needed")
    written = 0
    with output(arguments.output) as file:
        for entry in silver(parser, sentences(arguments.treebanks), arguments.without):
            file.write(entry.rewritten(("id", "snt"), alignments=False))
            written += 1
        if not written:
            raise InputError(f"no sentence of {LEAST} to {MOST} words whose graph is wanted")
    return written


def main() -> None:
    """Write the bank and report its number of AMRs. The exit status is 2 for bad input."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument(
        "treebanks", nargs="+", type=Path, metavar="TREEBANK", help="CoNLL-U: words are read, no trees"
    )
    options.add_argument("-o", "--output", required=True, metavar="FILE", help="the AMR bank")
    options.add_argument("--model", default="en-amr-minilm", help="name, checkpoint or exported folder")
    options.add_argument("--ensemble", nargs="+", default=[], metavar="MODEL", help="further models of the same data")
    options.add_argument("--beam", type=int, default=5)
    options.add_argument(
        "--without", nargs="+", default=[], metavar="CONCEPT", help="leave out graphs with one of these"
    )
    arguments = options.parse_args()
    try:
        written = write(arguments)
    except (InputError, OSError) as error:
        sys.stderr.write(f"silver.py: error: {error}\n")
        sys.exit(2)
    sys.stderr.write(f"{written} AMRs in {arguments.output}\n")


if __name__ == "__main__":
    main()

"""Silver AMRs, to train on beside gold ones: the sentences of treebanks, parsed by models of AMRs.

    python run/silver.py TREEBANK.conllu ... -o silver.amr --model MODEL [--ensemble MODEL ...] [--without CONCEPT ...]

Sentences of 3 to 40 words are parsed, each text once. A graph with one of the concepts of --without is left out: what
the models are known to make of text that is not of their domain, such as `enzyme` of the names of people.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Iterable, Iterator

from transition_parser import Parser
from transition_parser.errors import InputError
from transition_parser.files import output
from transition_parser.graphs.bank import AmrEntry
from transition_parser.graphs.conllu import read_conllu
from transition_parser.parses import AmrParse


def sentences(paths: Iterable[str], least: int = 3, most: int = 40) -> Iterator[AmrEntry]:
    """The sentences of CoNLL-U files that have `least` to `most` words, each text once."""
    seen = set()
    for path in paths:
        for sentence in read_conllu(path):
            words = [form.replace(" ", "") for form in sentence.forms]  # of numbers: `10 000`
            text = " ".join(words)
            if least <= len(words) <= most and text not in seen:
                seen.add(text)
                yield AmrEntry.from_words(words, {"id": sentence.id or f"silver-{len(seen)}"})


def silver(parser: Parser, entries: Iterable[AmrEntry], without: Collection[str] = ()) -> Iterator[AmrEntry]:
    """The entries as the parser parses them, `:wiki` left out; none of a graph with a concept of `without`."""
    if parser.formalism.sentence is not AmrEntry:
        raise InputError("the model builds trees: a model of AMRs is needed")
    for parse in parser.parse_stream(entries):
        if isinstance(parse, AmrParse) and not {*without}.intersection(parse.graph.labels):
            yield parse.annotated(wiki=False)


def main() -> None:
    """Writes the bank, and says how many sentences it has. Exit status 2 for bad input."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument(
        "treebanks", nargs="+", metavar="TREEBANK", help="CoNLL-U files: their words are read, no trees"
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
        parser = Parser.load(arguments.model, arguments.beam, others=arguments.ensemble)
        with output(arguments.output) as file:
            written = 0
            for entry in silver(parser, sentences(arguments.treebanks), arguments.without):
                file.write(entry.rewritten(("id", "snt"), alignments=False))
                written += 1
    except (InputError, OSError) as error:
        sys.stderr.write(f"silver.py: error: {error}\n")
        sys.exit(2)
    print(f"{written} AMRs in {arguments.output}")


if __name__ == "__main__":
    main()

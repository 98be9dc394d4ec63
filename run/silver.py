"""Make silver AMRs, to train on beside gold AMRs: several models parse, and the parse that they agree on most is kept.

    python run/silver.py TREEBANK.conllu ... -o silver.amr [--model MODEL ...] [--propbank FILE.tsv ... --frames FILE]
    python run/silver.py --examples 8000 --frames frames.jsonl -o silver.amr

Sentences of 3 to 40 words are parsed, each text once. Each model gives its best parses of a sentence. The parse with
the largest mean Smatch against all others is kept. Graphs whose mean is below --least are left out. So are graphs with
a concept of --without: such concepts are known errors of the models in text of another domain, such as `enzyme` for a
person's name. Graphs with an impossible date, such as the month 13 or the year 17, are left out, too.

PropBank's annotation of the sentences gives facts that all parses keep: the frames of predicates and their arguments.
An interrupted run leaves FILE.partial; the same command goes on from it.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

from transition_parser import Parser
from transition_parser.base.errors import InputError
from transition_parser.graphs.propbank import read_annotations
from transition_parser.training.silver.exclusion import Excluded, read_texts
from transition_parser.training.silver.files import Made, check_options
from transition_parser.training.silver.making import make_bank
from transition_parser.training.silver.propbank import Rolesets, spread
from transition_parser.training.silver.sources import LEAST, MOST, Sources

EXAMPLE_WORDS = (5, 30)  # the bounds of the number of words of an example


def sources(arguments: argparse.Namespace) -> Sources:
    """Return the sentences to parse, with the facts about them.

    Raises `InputError` for unfit options and files, and where there are no sentences.
    """
    if (arguments.propbank or arguments.examples) and not arguments.frames:
        raise InputError("--propbank and --examples need --frames FILE, PropBank's frames")
    if not arguments.treebanks and not arguments.examples:
        raise InputError("no sentences: give treebanks, or --examples N")
    if arguments.frames and not (arguments.propbank or arguments.examples):
        raise InputError("--frames is for --propbank and --examples: give one of them")
    frames = Rolesets.read(arguments.frames) if arguments.frames else Rolesets(frozenset())
    annotations = read_annotations(arguments.propbank)
    found = Sources(Excluded(read_texts(arguments.exclude)), frames.inventory)
    for path in arguments.treebanks:
        found.add_treebank(path, annotations)
    if annotations and not found.annotated:
        raise InputError("--propbank: no sentence of the treebanks has an id of the annotation")
    if arguments.examples:
        some = spread(frames.examples, arguments.examples, *EXAMPLE_WORDS, arguments.each)
        found.add_examples(some, Parser.load(arguments.trees, kind="trees"))
    if not found.found:
        raise InputError(f"no sentence of {LEAST} to {MOST} words")
    return found


def write(arguments: argparse.Namespace) -> tuple[Sources, Made]:
    """Write the bank.

    Raises `InputError` for unfit options or an empty result, and `OSError` for files that can't be read or written.
    """
    nbest = arguments.beam if arguments.nbest is None else arguments.nbest
    models, others = arguments.model, arguments.ensemble
    if others and len(models) > 1:
        raise InputError("--ensemble adds models to one --model: give one")
    inputs = [*arguments.treebanks, *arguments.exclude, *arguments.propbank, *filter(None, [arguments.frames])]
    check_options(arguments.output, inputs, nbest, arguments.beam)
    if arguments.examples < 0 or arguments.each < 1:
        raise InputError("--examples must be 0 or more, and --each 1 or more")
    found = sources(arguments)
    parsers = [Parser.load(model, arguments.beam, others=others, nbest=nbest, kind="AMRs") for model in models]
    return found, make_bank(arguments.output, found.found, parsers, arguments.least, arguments.without)


def summary(found: Sources, made: Made) -> list[str]:
    """Return lines about what was left out, about the facts and about the agreement."""
    facts, left_out = found.counts, Counter(found.left_out) + Counter(made.left_out)
    lines = [f"left out: {count:,} × {reason}" for reason, count in left_out.most_common()]
    if facts:
        lines.append("facts: " + ", ".join(f"{count:,} × {kind}" for kind, count in facts.most_common()))
    return [*lines, f"mean agreement of the AMRs: {made.agreement:.3f}"]


def options() -> argparse.ArgumentParser:
    """Return the options of the command."""
    of = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    of.add_argument(
        "treebanks", nargs="*", type=Path, metavar="TREEBANK", help="CoNLL-U; trees are read with --propbank"
    )
    of.add_argument("-o", "--output", required=True, metavar="FILE", help="the AMR bank")
    of.add_argument(
        "--model", nargs="+", default=["en-amr-minilm", "en-amr"], help="names, checkpoints or exported folders"
    )
    of.add_argument(
        "--ensemble", nargs="+", default=[], metavar="MODEL",
        help="further models of the same data, whose mean probability with one --model decides in search",
    )  # fmt: skip
    of.add_argument("--beam", type=int, default=5)
    of.add_argument("--nbest", type=int, metavar="N", help="parses of a sentence by each model (default: the beam)")
    of.add_argument(
        "--least", type=float, default=0.0, metavar="F1", help="leave out graphs whose agreement is below (0 to 1)"
    )
    of.add_argument("--without", nargs="+", default=[], metavar="CONCEPT", help="leave out graphs with one of these")
    of.add_argument(
        "--exclude", nargs="+", default=[], metavar="FILE",
        help="CoNLL-U or AMR banks whose sentences must stay out, even as a part (of 8 words or more) of others",
    )  # fmt: skip
    of.add_argument("--propbank", nargs="+", default=[], metavar="TSV", help="annotation of sentences of the treebanks")
    of.add_argument("--frames", metavar="JSONL", help="PropBank's frames")
    of.add_argument("--examples", type=int, default=0, metavar="N", help="also parse up to N examples of the frames")
    of.add_argument("--each", type=int, default=2, metavar="N", help="maximum number of examples of a roleset")
    of.add_argument("--trees", default="en-ewt-minilm", metavar="MODEL", help="model that finds heads in examples")
    return of


def main() -> None:
    """Write the bank and report its number of AMRs. The exit status is 2 for bad input."""
    arguments = options().parse_args()
    try:
        found, made = write(arguments)
    except (InputError, OSError) as error:
        sys.stderr.write(f"silver.py: error: {error}\n")
        sys.exit(2)
    sys.stderr.writelines(f"{line}\n" for line in summary(found, made))
    sys.stderr.write(f"{made.kept} AMRs in {arguments.output}\n")


if __name__ == "__main__":
    main()

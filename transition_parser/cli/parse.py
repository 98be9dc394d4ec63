"""Parses sentences with a trained model and writes CoNLL-U, in the order of the input.

MODEL is a checkpoint of fairseq-train, a folder that `export` wrote, or the name of a model that comes
with the package (en-ewt). IN is CoNLL-U (its comments and columns are kept; HEAD and DEPREL are
replaced), or text with one tokenised sentence a line, or - for standard input."""

from __future__ import annotations

import argparse

from transition_parser.cli.options import output, positive
from transition_parser.progress import progress

HELP = "sentences to trees"
EXAMPLE = """example:
  echo 'She sells sea shells .' | transition-parser parse en-ewt -
  transition-parser parse checkpoints/checkpoint_best.pt dev.conllu -o dev.parsed.conllu --beam 10"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of this subcommand."""
    parser.add_argument("model", metavar="MODEL", help="checkpoint, exported folder, or name")
    parser.add_argument("input", metavar="IN", help="CoNLL-U or text file, - for standard input")
    parser.add_argument("-o", "--output", metavar="FILE", help="default: standard output")
    parser.add_argument("--beam", type=positive, default=1, metavar="N", help="1: greedy (default)")
    parser.add_argument(
        "--batch-tokens",
        type=positive,
        default=40000,
        metavar="N",
        help="words times beam that are parsed at once (default 40000)",
    )
    parser.add_argument("--device", default="cpu", metavar="D", help="cpu (default), cuda, …")
    parser.add_argument("--tokenize", action="store_true", help="text is not tokenised: use spaCy's English rules")
    parser.add_argument("--scores", action="store_true", help="write ArcScore into MISC and # parse_score")
    parser.add_argument("--actions", action="store_true", help="write # actions")


def run(arguments: argparse.Namespace) -> int:
    """Parses the file."""
    from transition_parser.parser import Parser
    from transition_parser.sentences import read_sentences

    parser = Parser.load(arguments.model, arguments.beam, arguments.batch_tokens, arguments.device)
    sentences = read_sentences(arguments.input, not arguments.tokenize)
    with output(arguments.output) as file:
        for parse in progress(parser.parse_stream(sentences), "parsing"):
            file.write(str(parse.annotated(arguments.scores, arguments.actions)))
    return 0

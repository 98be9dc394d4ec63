"""Commands that parse sentences, and score parses."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from itertools import chain
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from transition_parser.base.errors import InputError, input_error
from transition_parser.base.files import folder, may_pause, output, unpacked_name
from transition_parser.cli.options import (
    Command,
    OptionsOf,
    add,
    check_inputs,
    check_options,
    check_output,
    import_user_dir,
    positive,
    print_figures,
)
from transition_parser.parsing.formalisms import AMR, FORMALISMS, formalism_of_files
from transition_parser.text.segmentation import LONGEST

if TYPE_CHECKING:
    from transition_parser.parsing.parser import Parser

_PARSE = """example:
  echo 'She sells sea shells. Do they sell?' | transition-parser parse en -
  transition-parser parse en letter.txt -o letter.conllu
  transition-parser parse checkpoints/checkpoint_best.pt dev.conllu -o dev.parsed.conllu --beam 10
  transition-parser parse en letters/*.txt -o parsed/
  transition-parser parse amr sentences.txt --tokenize --alignments marks"""
_OF_PARSE: OptionsOf = {AMR: {"alignments": None, "wiki": True}}


def add_parse(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="name of a model, exported folder, or checkpoint")
    inputs = "files to parse: text, CoNLL-U or AMR (-: standard input)"
    parser.add_argument("input", nargs="+", metavar="IN", help=inputs)
    path = "output file (default: standard output); DIR/, with the slash: write one file for each input into DIR"
    parser.add_argument("-o", "--output", metavar="FILE", help=path)
    beam = "number of derivations that search follows at a time (default: 1, greedy search)"
    parser.add_argument("--beam", type=positive, default=1, metavar="N", help=beam)
    scores = "write the confidence in each graph, and in its arcs or nodes, as comments and in MISC"
    parser.add_argument("--scores", action="store_true", help=scores)
    as_json = "write one line of JSON for each sentence, with scores and alignments"
    parser.add_argument("--json", action="store_true", help=as_json)
    _add_input(parser.add_argument_group("input"))
    _add_output(parser.add_argument_group("output"))
    _add_search(parser.add_argument_group("search"))
    _add_speed(parser.add_argument_group("speed and many files"))


def _add_input(group: argparse._ArgumentGroup) -> None:
    layouts = group.add_mutually_exclusive_group()
    for name, what in (
        ("raw", "read IN as raw text, even if it looks like CoNLL-U or an AMR bank, and divide it into sentences"),
        ("tokens", "read text as one tokenized sentence a line, with spaces between the tokens"),
        ("tokenize", "read text as one sentence a line, and tokenize it"),
        ("vertical", "read text as one word a line, up to a tab, with a blank line after each sentence"),
    ):
        layouts.add_argument(f"--{name}", action="store_const", dest="layout", const=name, help=what)
    longest = (
        "most words of a sentence (default: %(default)s); raw text is divided there, longer given sentences are refused"
    )
    group.add_argument("--longest", type=positive, default=LONGEST, metavar="N", help=longest)


def _add_output(group: argparse._ArgumentGroup) -> None:
    nbest = "write the K best parses of each sentence, or fewer if search finds fewer; needs a beam of K or more"
    group.add_argument("--nbest", type=positive, default=1, metavar="K", help=nbest)
    group.add_argument("--actions", action="store_true", help="write the actions of each derivation as a comment")
    group.add_argument(
        "--alignments",
        nargs="?",
        choices=["metadata", "marks"],
        const="metadata",
        metavar="FORM",
        help="AMR: write alignments; metadata (default): as # ::alignments and # ::node lines, in JAMR's form; marks: "
        "also as ~e.N after each node, which smatch.py reads as a part of the concept",
    )
    group.add_argument("--no-wiki", action="store_false", dest="wiki", help="AMR: write no :wiki of named nodes")
    edits = "AMR: write graphs as search finds them, without the edits after it"
    group.add_argument("--no-edits", action="store_false", dest="edits", help=edits)


def _add_search(group: argparse._ArgumentGroup) -> None:
    domain = "corpus that the text resembles, if the model was trained on several with --read-domain (default: none)"
    group.add_argument("--domain", metavar="NAME", help=domain)
    add(group, "--user-dir")


def _add_speed(group: argparse._ArgumentGroup) -> None:
    add(group, "--threads", "--precision", "--device")
    batch = "words, times the beam, that are computed together (default: by model and device); more takes more memory"
    group.add_argument("--batch-tokens", type=positive, metavar="N", help=batch)
    resume = "keep the files that DIR/ has already: each file is written whole or not at all"
    group.add_argument("--resume", action="store_true", help=resume)


def run_parse(arguments: argparse.Namespace) -> int:
    """Parse sentences with a trained model, and write CoNLL-U or AMRs in the order of the input.

    MODEL is the name of a model (en for trees, amr for AMRs; `transition-parser models` lists all), the folder of an
    exported model, or a checkpoint of fairseq-train.

    IN is a file, or - for standard input. Text has any number of sentences, and its paragraphs end at blank lines; the
    model divides it into sentences and tokens. Files of CoNLL-U (for models of AMRs: AMR banks) are known by their
    content, and keep their tokens; their trees or graphs are replaced. Standard input and pipes are parsed as they
    come: whenever the input pauses, the parses of all complete sentences (of text: paragraphs) are written.

    Several inputs are written one after another, or with -o DIR/ to one file each. One after another, sentences of a
    text a.txt have the ids a-1, a-2, …, and # newdoc id = a opens its trees. Ids in CoNLL-U and AMR banks stay.
    """
    from transition_parser.base.process import keep_few_kernels, keep_freed_memory

    into_folder = (arguments.output or "").endswith(("/", os.sep))
    if arguments.resume and not into_folder:
        raise InputError("--resume keeps whole files of a folder: give -o DIR/")
    if arguments.json and (arguments.alignments or not arguments.wiki):
        raise InputError("--alignments and --no-wiki are for AMRs as text: leave them out, --json writes all of a node")
    import_user_dir(arguments.user_dir)
    keep_freed_memory()
    keep_few_kernels()
    check_inputs(arguments.input)
    check_output(arguments.output, arguments.input)
    parser = _parser(arguments)
    if into_folder:
        suffix = ".jsonl" if arguments.json else parser.formalism.suffix
        names = _names_in(arguments.output, arguments.input, suffix)
        with folder(arguments.output):
            for path, name in zip(arguments.input, names, strict=True):
                if not (arguments.resume and os.path.exists(name)):
                    _parse_files(arguments, parser, [path], name)
    else:
        _parse_files(arguments, parser, arguments.input, arguments.output)
    return 0


def _parser(arguments: argparse.Namespace) -> Parser:
    from transition_parser.parsing.parser import Parser

    names = "beam batch_tokens device precision threads domain nbest longest edits".split()
    parser = Parser.load(arguments.model, **{name: getattr(arguments, name) for name in names})
    check_options(arguments, _OF_PARSE, parser.formalism, f"{arguments.model} is a model of {parser.formalism.name}")
    return parser


def _names_in(dest: str, paths: Sequence[str], suffix: str) -> list[str]:
    """Return for each input the path of its output in a folder."""
    names: dict[str, str] = {}
    for path in paths:
        if path == "-":
            raise InputError("standard input has no name for an output in a folder: give -o FILE")
        target = str(Path(dest, PurePath(unpacked_name(path)).stem + suffix))
        if target in names:
            problem = f"its output would be {target}, as for {names[target]}: rename one of these inputs"
            raise input_error(problem, path)
        if Path(target).exists() and Path(target).samefile(path):
            raise input_error("its output would replace the input itself: give another folder", path)
        names[target] = path
    return list(names)


def _parse_files(arguments: argparse.Namespace, parser: Parser, paths: Sequence[str], path: str | None) -> None:
    """Parse files into one file."""
    from transition_parser.base.process import as_they_come, progress
    from transition_parser.parsing.parser import CHUNK
    from transition_parser.parsing.texts import read_files

    wanted = {"scores": arguments.scores, "actions": arguments.actions, "wiki": arguments.wiki}
    wanted["alignment_markers"] = arguments.alignments == "marks"
    options = {name: wanted[name] for name in parser.formalism.annotations}
    sentences = read_files(paths, parser.reading._replace(layout=arguments.layout))
    chunks = as_they_come(sentences, CHUNK) if any(map(may_pause, paths)) else [sentences]
    parses = chain.from_iterable(map(parser.parse_stream, chunks))
    with output(path) as file:
        for parse in progress(parses, "parsing"):
            if arguments.json:
                file.write(parse.to_json(arguments.actions) + "\n")
            else:
                file.writelines(str(one.annotated(**options)) for one in parse.ranked)
            if file is sys.stdout:
                file.flush()


# --- score ------------------------------------------------------------------------------------


_SCORE = """example:
  transition-parser score dev.conllu dev.parsed.conllu --full-labels
  transition-parser score dev.amr dev.parsed.amr --fine-grained --processes 4
  transition-parser score dev.conllu dev.parsed.conllu --conll18"""
_OF_SCORE: OptionsOf = {formalism: formalism.score_options for formalism in FORMALISMS}


def add_score(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("gold", metavar="GOLD", help="CoNLL-U or AMR file with the gold graphs")
    system = "parses of the same text, in the format of GOLD (AMR: with the same entries)"
    parser.add_argument("system", metavar="SYSTEM", help=system)
    trees = parser.add_argument_group("trees")
    trees.add_argument(
        "--conll18",
        action="store_true",
        help="give all 13 scores of the CoNLL 2018 shared task, as its official script does: precision, recall, F1 and "
        "accuracy on aligned words",
    )
    labels = "compare relations with their subtypes (default: without)"
    trees.add_argument("--full-labels", action="store_true", help=labels)
    trees.add_argument(
        "--punct",
        choices=["count", "skip"],
        help="punctuation; count (default): score all words; skip: do not score the words whose XPOS in GOLD is one of "
        "`` '' : , . (tags of the Penn Treebank)",
    )
    amrs = parser.add_argument_group("AMRs")
    fine = "also give the fine-grained scores (unlabeled, concepts, named entities and others)"
    amrs.add_argument("--fine-grained", action="store_true", help=fine)
    wiki = "leave :wiki out of both files (parse --no-wiki writes none)"
    amrs.add_argument("--ignore-wiki", action="store_true", help=wiki)
    ids = "compare entries by their order alone, if their ids differ"
    amrs.add_argument("--ignore-ids", action="store_true", help=ids)
    seed = "seed of the random starts of Smatch's search (default: 0)"
    amrs.add_argument("--seed", type=int, default=0, metavar="N", help=seed)
    add(amrs, "--processes")
    add(parser, "--json")


def run_score(arguments: argparse.Namespace) -> int:
    """Score parses against gold graphs.

    Trees (CoNLL-U): UAS, LAS, CLAS and label accuracy as the CoNLL 2018 shared task defines them (words are aligned by
    their characters, subtypes of relations are ignored). UPOS, lemmas, XPOS and universal features are scored if both
    files have them, on the words for which gold has them. If the files divide their text differently, the F1 of tokens,
    sentences and words is printed, too. --conll18 prints the table of the official script of the shared task instead,
    with all its 13 scores. They count all words; a last line names the columns that some words of gold lack.

    AMRs (.amr, PENMAN): Smatch, as `smatch.py -f SYSTEM GOLD` (1.0.4) counts it but with a fixed seed, each of several
    equal triples matched only once, and strings compared whole (`"New York"`); the fine-grained scores of Damonte et
    al. 2017. For graphs of more than about 400 nodes each, Smatch's hill climbing runs once, without restarts: it
    starts from equal concepts, and takes the best step for one node after the other. Graphs of more than about 10,000
    nodes each are refused.
    """
    formalism = formalism_of_files(arguments.gold, arguments.system)
    check_options(arguments, _OF_SCORE, formalism, f"{arguments.gold} holds {formalism.name}")
    options = {name: getattr(arguments, name) for name in formalism.score_options}
    figures = formalism.scoring.score(arguments.gold, arguments.system, **options)
    if arguments.json:
        print_figures(figures, True)
    else:
        print(formalism.scoring.table(figures))
    return 0


COMMANDS = {
    "parse": Command("parse sentences to dependency trees or AMRs", _PARSE, add_parse, run_parse),
    "score": Command(
        "score parses against gold graphs: UAS, LAS, UPOS and others for trees, Smatch for AMRs",
        _SCORE,
        add_score,
        run_score,
    ),
}

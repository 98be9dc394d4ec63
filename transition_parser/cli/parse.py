"""Parse sentences with a trained model, and write CoNLL-U or AMRs in the order of the input.

MODEL is a checkpoint of fairseq-train, a folder that `export` wrote, or the name of a model that comes with the
package: en-ewt, en-fast, en-amr, en-ewt-minilm, en-amr-minilm, or en (trees) and amr, which stand for the best of these
models that runs here.

IN is a file, or - for standard input. Text has any number of sentences, and its paragraphs end at blank lines. The
segmenter of the model (see `transition-parser segmenter`) divides the text into sentences and tokens. If the model has
no segmenter, rules for English do so.
A model of trees also reads CoNLL-U (see below). A model of AMRs also reads an AMR bank; it keeps the # ::key comments,
and replaces the graphs without reading them. If a text is already divided into sentences, one on each line, give
--tokens (there are blanks between the tokens) or --tokenize (the sentences are not tokenised). Standard input and
pipes are parsed as they come: whenever the input pauses, the parses of all complete sentences (of text: paragraphs) are
written.

In CoNLL-U, HEAD and DEPREL are replaced. Given values of LEMMA, UPOS, XPOS and FEATS are kept; a model that predicts
these columns replaces the value _ (in FEATS only if no word of the sentence has features, since _ also means "none").
MISC and comments are kept. Annotations of the earlier tree are removed: DEPS becomes _, and empty nodes (8.1),
ArcScore= in MISC and the comments # nbest, # score, # parse_score and # actions are deleted. ArcScore= and these
comments are written anew only with --nbest, --scores and --actions. In the same way an AMR bank loses # ::node, #
::edge, # ::root, # ::alignments, # ::nbest, # ::score, # ::parse_score, # ::node_scores and # ::actions of its earlier
graphs.

With --nbest K the K best parses of each sentence follow one another. Each is a different graph, and has the comments
# nbest = 1/K, # nbest = 2/K, … (AMRs: # ::nbest 1/K) and # score, the probability of the graph. The first parse has the
id of the sentence. The command `transition-parser score` reads only this parse.

With --json each sentence is one line of JSON: id, text, words (form, lemma, upos, xpos, feats, head, relation, score,
place in the text). The JSON of AMRs has penman, nodes with their words and scores, edges, top and triples. With
--nbest, the list `alternatives` has the other parses.

With --given FACTS the AMRs keep facts that are known about them: nodes, names, edges, words without nodes, the top.
FACTS has one JSON object a line, for one sentence:

  {"id": "s1", "nodes": [{"span": [2, 2], "concept": "price-01", "variable": "p"}],
   "names": [{"span": [0, 1], "type": "company", "variable": "c"}],
   "edges": [{"source": "p", "role": "ARG1", "target": [3, 5]}], "none": [6], "top": "p"}

Words count from 0, and a span is [first word, last word]. Without ids the facts are in the order of the sentences.

Several inputs are written one after another, or with -o DIR/ to one file each. One after another, sentences of a text
a.txt have the ids a-1, a-2, …, and # newdoc id = a opens its trees; ids in CoNLL-U and AMR banks change in the same way
if several inputs have them. For JSONL and Parquet, --column names
the column of the texts (or lists of words). All rows are written in the format of the input, with an additional column
of parses.
"""

from __future__ import annotations

import argparse
import os
from functools import partial
from typing import TYPE_CHECKING

from transition_parser.base.errors import InputError
from transition_parser.base.files import folder
from transition_parser.cli.options import (
    OptionsOf,
    add,
    add_text,
    check_inputs,
    check_options,
    check_output,
    import_user_dir,
    layout_of_text,
    positive,
    shard,
)
from transition_parser.parsing.formalisms import AMR
from transition_parser.text.segmentation import LONGEST

if TYPE_CHECKING:
    from transition_parser.parsing.bulk import Job
    from transition_parser.parsing.given import GivenFacts

HELP = "parse sentences to dependency trees or AMRs"
EXAMPLE = """example:
  echo 'She sells sea shells. Do they sell?' | transition-parser parse en -
  transition-parser parse en letter.txt -o letter.conllu
  transition-parser parse checkpoints/checkpoint_best.pt dev.conllu -o dev.parsed.conllu --beam 10
  transition-parser parse en reviews-*.parquet --column text -o parsed/
  transition-parser parse amr sentences.txt --tokenize --alignments marks"""

OPTIONS: OptionsOf = {AMR: {"alignments": None, "wiki": "keep", "given": None}}
WIKI = {"keep": True, "none": False, "name": "name"}  # --wiki → the option `wiki` of `annotated`


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this subcommand."""
    parser.add_argument("model", metavar="MODEL", help="checkpoint, exported folder, or name of a model")
    inputs = "files to parse: CoNLL-U, AMR, text, JSONL or Parquet (-: standard input)"
    parser.add_argument("input", nargs="+", metavar="IN", help=inputs)
    output = "output file (default: standard output); DIR/, with the slash: write one file for each input into DIR"
    parser.add_argument("-o", "--output", metavar="FILE", help=output)
    _add_many(parser)
    _add_search(parser)
    given = "AMR: keep the facts of this file (see above); facts that contradict each other are an error"
    parser.add_argument("--given", metavar="FACTS", help=given)
    add_text(parser)
    parser.add_argument(
        "--longest",
        type=positive,
        default=LONGEST,
        metavar="N",
        help="longest sentence, in words (default: %(default)s); longer sentences of raw text are divided, with a "
        "warning; longer sentences of other inputs are refused; a word of more than 100 characters counts as one word "
        "for each 100",
    )
    _add_written(parser)


def _add_search(parser: argparse.ArgumentParser) -> None:
    """Add the options of search and computation."""
    parser.add_argument(
        "--ensemble",
        nargs="+",
        default=[],
        metavar="MODEL",
        help="parse with these models, too; if all models score actions and were trained on the same data folder, "
        "search uses the mean of their log-probabilities; otherwise the mean probability of each arc gives the trees",
    )
    parser.add_argument("--beam", type=positive, default=1, metavar="N", help="beam size (default: 1, greedy search)")
    nbest = "write the K best parses of each sentence, or fewer if search finds fewer; needs a beam of K or more"
    parser.add_argument("--nbest", type=positive, default=1, metavar="K", help=nbest)
    parser.add_argument(
        "--batch-tokens",
        type=positive,
        metavar="N",
        help="batch size: words times beam (default: on a CPU 1000 or 2000, depending on the model, times the beam "
        "(at most 8); on a GPU 8000 times the beam (at most 4))",
    )
    add(parser, "--device", "--precision", "--threads")
    parser.add_argument(
        "--lenpen",
        type=float,
        metavar="P",
        help="length penalty: a beam ranks derivations by log-probability / (actions + 1) ** P (default: 1, for AMRs "
        "2); a larger P prefers longer derivations",
    )
    add(parser, "--user-dir")
    domain = "training corpus that the text resembles, for models trained with --read-domain (default: none)"
    parser.add_argument("--domain", metavar="NAME", help=domain)


def _add_written(parser: argparse.ArgumentParser) -> None:
    """Add the options of the output format."""
    parser.add_argument(
        "--scores",
        action="store_true",
        help="write confidences: the comments score (probability of the graph) and parse_score (mean log-probability "
        "of its actions), and ArcScore in MISC (AMR: the comment node_scores)",
    )
    parser.add_argument("--actions", action="store_true", help="write the actions of each derivation as a comment")
    as_json = "write one line of JSON for each sentence, with scores and alignments (in tables: one list for each row)"
    parser.add_argument("--json", action="store_true", help=as_json)
    parser.add_argument(
        "--alignments",
        nargs="?",
        choices=["metadata", "marks"],
        const="metadata",
        metavar="FORM",
        help="AMR: write alignments; metadata (default): as # ::alignments and # ::node lines, in JAMR's form; marks: "
        "also as ~e.N after each node, which smatch.py reads as a part of the concept",
    )
    parser.add_argument(
        "--wiki",
        choices=WIKI,
        default="keep",
        help="AMR: :wiki of named nodes; keep (default): the :wiki that the name has in the training data, - for other "
        'names; none: no :wiki; name: as keep, but other names get the name itself, "New_York"',
    )


def _add_many(parser: argparse.ArgumentParser) -> None:
    """Add the options of tables, and of several processes and machines."""
    column = "column of JSONL or Parquet files that holds the text (standard input is read as JSONL)"
    parser.add_argument("--column", metavar="NAME", help=column)
    added = "name of the column that is added to tables (default: conllu, for AMRs amr, with --json parses)"
    parser.add_argument("--parse-column", metavar="NAME", help=added)
    resume = "keep the files that DIR/ has already: each file is written whole or not at all"
    parser.add_argument("--resume", action="store_true", help=resume)
    parser.add_argument(
        "--shard",
        type=shard,
        metavar="I/N",
        help="parse the I-th of N parts of the input (with -o DIR/: every N-th file, from the I-th on); the outputs of "
        "all parts, joined in order, are the whole output",
    )
    parser.add_argument(
        "--engine",
        choices=["local", "ray"],
        default="local",
        help="local (default): this process; ray: actors on this machine, or on the cluster that RAY_ADDRESS names, "
        "write into -o DIR/",
    )
    actors = "number of actors of ray (default: one for each core, or for each GPU)"
    parser.add_argument("--actors", type=positive, metavar="N", help=actors)


def run(arguments: argparse.Namespace) -> int:
    """Parse the files."""
    from transition_parser.base.process import keep_few_kernels, keep_freed_memory
    from transition_parser.parsing.bulk import check_formats, names_in
    from transition_parser.parsing.sentences.files import Part
    from transition_parser.parsing.sentences.parts import documents, shard

    by_ray, into_folder = arguments.engine == "ray", (arguments.output or "").endswith(("/", os.sep))
    if arguments.actors and not by_ray:
        raise InputError("--actors is for --engine ray")
    if arguments.resume and not into_folder:
        raise InputError("--resume keeps whole files of a folder: give -o DIR/ (or divide the input by --shard I/N)")
    if by_ray and not into_folder:
        raise InputError("--engine ray writes a folder: give -o DIR/")
    if by_ray and arguments.shard is not None:
        raise InputError("--shard and --engine ray both divide the work: give one of them")
    import_user_dir(arguments.user_dir)
    keep_freed_memory()
    keep_few_kernels()
    check_inputs(arguments.input)
    check_output(arguments.output, arguments.input)
    given = _given(arguments)
    job = _job(arguments, given)
    if by_ray:
        from transition_parser.integrations.ray import parse_by_ray

        prepare = partial(import_user_dir, arguments.user_dir and os.path.abspath(arguments.user_dir))
        parse_by_ray(job, arguments.input, arguments.output, arguments.actors, arguments.resume, prepare)
        return 0
    if into_folder:
        names = names_in(arguments.output, arguments.input, job.suffix, job.reading)
        first, step = arguments.shard or (1, 1)
        with folder(arguments.output):
            for path, name in list(zip(arguments.input, names, strict=True))[first - 1 :: step]:
                if not (arguments.resume and os.path.exists(name)):
                    job.write([Part(path)], name)
    else:
        check_formats(arguments.input, job.reading)
        inputs = arguments.input, job.parser.formalism.sentence, job.reading
        if arguments.shard is not None:
            parts = shard(*inputs, *arguments.shard)
        else:
            parts = [Part(path, document=one) for path, one in zip(arguments.input, documents(*inputs), strict=True)]
        job.write(parts, arguments.output)
    if given is not None and arguments.shard is None and not arguments.resume:
        given.warn_of_unused()
    return 0


def _given(arguments: argparse.Namespace) -> GivenFacts | None:
    """Return the facts in the file of `--given`, None without this option."""
    from transition_parser.parsing.given import GivenFacts, read_given

    if arguments.given is None:
        return None
    facts = read_given(arguments.given)
    given = GivenFacts(facts)
    in_parts = arguments.resume or arguments.shard or arguments.engine == "ray" or len(arguments.input) > 1
    if facts and in_parts and not given.has_ids:
        raise facts[0].error(
            "the facts have no id, so line N holds the facts of sentence N: give the facts ids, or parse one input as "
            "a whole, without --resume, --shard and --engine ray"
        )
    return given


def _job(arguments: argparse.Namespace, given: GivenFacts | None) -> Job:
    from transition_parser.parsing.bulk import Job
    from transition_parser.parsing.parser import Parser
    from transition_parser.parsing.sentences.files import Reading

    names = ("beam", "batch_tokens", "device", "precision", "domain", "lenpen", "nbest", "longest")
    options = {name: getattr(arguments, name) for name in names}
    threads = arguments.threads or (1 if arguments.engine == "ray" else None)
    parser = Parser.load(arguments.model, threads=threads, others=arguments.ensemble, **options)
    check_options(arguments, OPTIONS, parser.formalism, f"{arguments.model} is a model of {parser.formalism.name}")
    wanted = {
        "scores": arguments.scores,
        "actions": arguments.actions,
        "alignment_markers": arguments.alignments == "marks",
        "wiki": WIKI[arguments.wiki],
    }
    annotations = {name: wanted[name] for name in parser.formalism.annotations}
    added = arguments.parse_column or ("parses" if arguments.json else parser.formalism.suffix.lstrip("."))
    others = {"column": arguments.column, "longest": arguments.longest, "segmenter": parser.resources.segmenter}
    reading = Reading(**layout_of_text(arguments), **others, added=added)
    return Job(parser, reading, annotations, arguments.json, given)

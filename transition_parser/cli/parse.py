"""Parses sentences with a trained model and writes CoNLL-U or AMRs, in the order of the input.

MODEL is a checkpoint of fairseq-train, a folder that `export` wrote, or the name of a model that comes with the
package: en-ewt, en-amr, en-ewt-minilm, en-amr-minilm, or en (trees) and amr, the best of these that runs here. IN is
text with one tokenised sentence a line, or - for standard input; for a model of trees also CoNLL-U (its comments and
columns are kept; HEAD and DEPREL are replaced), for a model of AMRs also an AMR bank (its # ::key comments are kept;
its graphs are replaced without being read). With --raw IN is text of any number of English sentences, whose paragraphs
end at blank lines. Standard input and pipes are parsed as they come: whenever the input pauses, the parses of all
complete sentences are written.

With --nbest K the K best parses of each sentence follow one another, each a different graph: with the comments
# nbest = 1/K, # nbest = 2/K, … (# ::nbest 1/K) and # score, the probability of the graph. The first has the id of the
sentence; `score` compares it alone."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from transition_parser.cli.options import OptionsOf, add_user_dir, check_options, import_user_dir, output, positive
from transition_parser.errors import InputError, input_error
from transition_parser.files import growing
from transition_parser.formalisms import AMR
from transition_parser.progress import progress
from transition_parser.sentences.streams import as_they_come, in_chunks, may_pause

HELP = "sentences to trees or AMRs"
EXAMPLE = """example:
  echo 'She sells sea shells .' | transition-parser parse en -
  transition-parser parse en letter.txt --raw -o letter.conllu
  transition-parser parse checkpoints/checkpoint_best.pt dev.conllu -o dev.parsed.conllu --beam 10
  echo 'The dog wants to sleep.' | transition-parser parse amr - --tokenize --alignments"""

OPTIONS: OptionsOf = {AMR: {"alignments": False, "no_wiki": False}}
_PLACE = re.compile(rb"# (?:nbest = |::nbest )(\d+)/(\d+)\b")
_SAVED_TOGETHER = 256  # sentences that an interrupted run may lose


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of this subcommand."""
    parser.add_argument("model", metavar="MODEL", help="checkpoint, exported folder, or name")
    parser.add_argument("input", metavar="IN", help="CoNLL-U, AMR or text file, - for standard input")
    parser.add_argument("-o", "--output", metavar="FILE", help="default: standard output")
    parser.add_argument(
        "--ensemble",
        nargs="+",
        default=[],
        metavar="MODEL",
        help="further models of the same data folder: the mean of the log-probabilities of all decides "
        "(not of spa_dp_graph, which scores no actions)",
    )
    parser.add_argument(
        "--resume",
        action="store_true",
        help="collect the output in FILE.partial, and continue after the sentences that an interrupted run (of the "
        "same model and options) has written there",
    )
    parser.add_argument("--beam", type=positive, default=1, metavar="N", help="1: greedy (default)")
    parser.add_argument(
        "--nbest",
        type=positive,
        default=1,
        metavar="K",
        help="write the K best parses of each sentence (fewer where there are fewer), from a beam of K or more",
    )
    parser.add_argument(
        "--batch-tokens",
        type=positive,
        metavar="N",
        help="words times beam that are parsed at once (default 8000, with a beam up to 32000)",
    )
    parser.add_argument("--device", default="cpu", metavar="D", help="cpu (default), cuda, …")
    parser.add_argument(
        "--precision",
        choices=["auto", "fp32", "bf16", "int8"],
        default="auto",
        help="auto (default): bf16 where the machine computes in it natively; int8: for CPUs that do not",
    )
    parser.add_argument(
        "--lenpen",
        type=float,
        metavar="P",
        help="a beam ranks derivations by log-probability / (actions + 1) ** P (default 1, of AMRs 4): more prefers "
        "longer ones",
    )
    add_user_dir(parser)
    parser.add_argument(
        "--domain",
        metavar="NAME",
        help="the corpus of the training data that the text resembles, for models that were told (default: none)",
    )
    parser.add_argument("--threads", type=positive, metavar="N", help="cores to use (default: all, or OMP_NUM_THREADS)")
    text = parser.add_mutually_exclusive_group()
    text.add_argument(
        "--tokenize", action="store_true", help="text with one sentence a line is not tokenised: use rules for English"
    )
    text.add_argument(
        "--raw", action="store_true", help="text is divided into neither sentences nor words: use rules for English"
    )
    parser.add_argument(
        "--scores",
        action="store_true",
        help="write score and parse_score as comments, and ArcScore into MISC (AMR: node_scores)",
    )
    parser.add_argument("--actions", action="store_true", help="write the actions as a comment")
    parser.add_argument("--alignments", action="store_true", help="AMR: write ~e.N after each node")
    parser.add_argument("--no-wiki", action="store_true", help="AMR: write no :wiki")


def run(arguments: argparse.Namespace) -> int:
    """Parses the file."""
    from transition_parser.parser import CHUNK, Parser
    from transition_parser.process import keep_few_kernels, keep_freed_memory

    import_user_dir(arguments.user_dir)
    keep_freed_memory()
    keep_few_kernels()
    parser = Parser.load(
        arguments.model,
        arguments.beam,
        arguments.batch_tokens,
        arguments.device,
        arguments.precision,
        arguments.threads,
        arguments.domain,
        arguments.ensemble,
        arguments.lenpen,
        arguments.nbest,
    )
    check_options(arguments, OPTIONS, parser.formalism, f"{arguments.model} is a model of {parser.formalism.name}")
    sentences = parser.read(arguments.input, not arguments.tokenize, arguments.raw)
    if arguments.resume:
        return _resume(arguments, parser, sentences)
    with output(arguments.output) as file:
        for text in _parsed(arguments, parser, sentences, CHUNK):
            file.write(text)
            if file is sys.stdout:
                file.flush()
    return 0


def _parsed(arguments: argparse.Namespace, parser, sentences: Iterable, size: int) -> Iterator[str]:
    """The parses as text. size: sentences that are held at a time; fewer where the input pauses."""
    wanted = {
        "scores": arguments.scores,
        "actions": arguments.actions,
        "marks": arguments.alignments,
        "wiki": not arguments.no_wiki,
    }
    options = {name: wanted[name] for name in parser.formalism.annotations}
    chunks = (as_they_come if may_pause(arguments.input) else in_chunks)(sentences, size)
    for parse in progress(parser.parse_chunks(chunks), "parsing"):
        yield "".join(str(one.annotated(**options)) for one in parse.ranked)


def _resume(arguments: argparse.Namespace, parser, sentences: Iterable) -> int:
    if arguments.output in (None, "-"):
        raise InputError("--resume needs -o FILE")
    with growing(arguments.output) as partial:
        sentences = iter(sentences)
        for number, done in enumerate(_finished(partial, parser), 1):
            sentence = next(sentences, None)
            if sentence is None or (sentence.id, sentence.forms) != (done.id, done.forms):
                here = "ends before it" if sentence is None else f"has {_name(sentence)} there"
                raise input_error(
                    f"sentence {number} of it is {_name(done)}, but the input {here}: remove the file, or give the "
                    "input that it was made from",
                    partial,
                )
        with open(partial, "a", encoding="utf-8") as file:
            for text in _parsed(arguments, parser, sentences, _SAVED_TOGETHER):
                file.write(text)
                file.flush()
    return 0


def _name(sentence) -> str:
    return sentence.id or repr(" ".join(sentence.forms))


def _finished(partial: Path, parser) -> Iterator:
    """The sentences that an earlier run finished; an unfinished one at the end is removed from the file."""
    with open(partial, "r+b") as file:
        whole = _last_blank_line(file)
        file.truncate(whole)
    if whole:
        yield from (sentence for sentence in parser.read(partial) if not sentence.is_alternative)


def _last_blank_line(file) -> int:
    """The position behind the last blank line after which no alternative parse of the same sentence is missing, in
    bytes."""
    end = position = 0
    more_to_come = False
    for line in file:
        position += len(line)
        if place := _PLACE.match(line):
            more_to_come = place[1] != place[2]
        if line == b"\n" and not more_to_come:
            end = position
    return end

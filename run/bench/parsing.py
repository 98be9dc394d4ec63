"""Parsing speed, sentences/s, from words in Python to graphs in Python, in interleaved rounds without loading.

Our parser is measured greedily or with a beam, and on request other parsers (run/bench/peers.py) on the same sentences.

    python run/bench/parsing.py en-ewt test.conllu [--beams 1 10] [--others MODEL ...] [--peers train.conllu]
        [--precisions fp32 int8]
    python run/bench/parsing.py en-amr dev.amr --beams 1 10

spaCy and UDPipe compute on one core; with more threads they are also measured in as many processes.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from itertools import islice, product

import torch
from common import parser, report
from peers import LABELS, Forked, peers

from transition_parser import Parser
from transition_parser.base.errors import InputError
from transition_parser.base.machine import has_fast_bf16
from transition_parser.graphs.conllu import read_conllu
from transition_parser.parsing.formalisms import TREES
from transition_parser.parsing.preparation import PRECISIONS

WARM_UP = 20  # sentences parsed before the time starts


def rate(parse: Callable[[], int], sentences: int) -> float:
    """Return the sentences per second of one pass. Raises `RuntimeError` where sentences are missing.

    parse: returns the number of sentences that it has parsed
    """
    start = time.perf_counter()
    done = parse()
    seconds = time.perf_counter() - start
    if done != sentences:
        raise RuntimeError(f"{done} of {sentences} sentences were parsed")
    return sentences / seconds


def main() -> None:
    """Measure the contenders in turn, round by round."""
    options = parser(__doc__)
    options.add_argument("model", help="checkpoint, exported folder, or model of the package")
    options.add_argument("file", help="CoNLL-U file, or AMR bank")
    options.add_argument("--sentences", type=int, help="how many of the file, from the start")
    options.add_argument("--beams", type=int, nargs="+", default=[1])
    options.add_argument("--device", default="cpu")
    options.add_argument("--others", metavar="MODEL", nargs="+", default=[], help="measure these models, too")
    options.add_argument("--precisions", nargs="+", choices=PRECISIONS, help="default: fp32, and bf16 if native")
    options.add_argument("--peers", metavar="TRAIN", help="measure other parsers, set up from this CoNLL-U file")
    arguments = options.parse_args()
    torch.set_num_threads(arguments.threads)
    native = ["fp32", *(["bf16"] if has_fast_bf16(torch.device(arguments.device)) else [])]
    precisions = arguments.precisions or native
    contenders: dict[str, Callable[[list], int]] = {}
    models = {"ours": arguments.model, **{name: name for name in arguments.others}}
    ours = None
    try:
        for (name, model), beam, precision in product(models.items(), arguments.beams, precisions):
            loaded = Parser.load(model, beam, device=arguments.device, precision=precision, threads=arguments.threads)
            ours = ours or loaded
            if loaded.formalism is not ours.formalism:
                options.error(f"{model} parses into {loaded.formalism.name}, but {arguments.model} does not")
            contenders[f"{name}, beam {beam}, {precision}"] = lambda some, loaded=loaded: len(loaded.parse(some))
        sentences = list(islice(ours.read(arguments.file), arguments.sentences))
    except (InputError, OSError) as error:
        options.error(str(error))
    status: dict[str, str] = {}
    with ExitStack() as stack:
        runs = {}
        if arguments.peers:
            if ours.formalism is not TREES:
                options.error("--peers measures parsers of trees, but the model parses into AMRs: leave out --peers")
            training = list(islice(read_conllu(arguments.peers), LABELS))
            others, status = peers(training, arguments.device)
            for name, other in others.items():
                contenders[name] = lambda some, other=other: len(other.parse(some))
                other.parse(sentences[:WARM_UP])  # warmed up before it is forked
                if other.one_core and arguments.threads > 1:
                    forked = Forked(other.parse, sentences, arguments.threads)
                    stack.callback(forked.close)
                    runs[f"{name}, {arguments.threads} processes"] = forked
            for package, result in status.items():
                print(f"peer {package}: {result}", file=sys.stderr)
        runs = {name: lambda parse=parse: parse(sentences) for name, parse in contenders.items()} | runs
        rates: dict[str, list[float]] = {name: [] for name in runs}
        for parse in contenders.values():
            parse(sentences[:WARM_UP])
        for _ in range(arguments.rounds):
            for name, run in runs.items():
                rates[name].append(rate(run, len(sentences)))
    counts = {"sentences_measured": len(sentences), "words": sum(len(sentence.forms) for sentence in sentences)}
    report("parsing, sentences/s", arguments, rates, next(iter(rates)), **counts, peers=status)


if __name__ == "__main__":
    main()

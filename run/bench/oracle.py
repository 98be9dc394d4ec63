"""Oracle speed: gold graphs to action sequences, one core, sentences/s of each system.

python run/bench/oracle.py TREEBANK.conllu [--systems arc-hybrid …]
python run/bench/oracle.py BANK.amr --systems amr

Reading is not counted. For AMRs the aligner, which runs first, and the lemmas of the words are not counted either;
entries that can't be used are left out and named.
"""

from __future__ import annotations

import sys
import time
from itertools import islice

from common import parser, report

from transition_parser.base.errors import InputError
from transition_parser.graphs.conllu import read_conllu
from transition_parser.oracles.amr import amr_oracle
from transition_parser.oracles.static import NonProjectiveError, oracle
from transition_parser.preprocess.aligner import aligned, train_table
from transition_parser.preprocess.banks import read_entries
from transition_parser.text.pieces import normalise
from transition_parser.transitions import SYSTEMS, TREE_SYSTEMS, make_system
from transition_parser.transitions.amr import AmrSystem


def tree_rate(name: str, sentences: list) -> float:
    """Return the sentences per second of one pass.

    Trees that the system can't build count in the time, but not in the number of sentences.
    """
    system, done = make_system(name), 0
    start = time.perf_counter()
    for words, tree in sentences:
        try:
            for _ in oracle(system, words, tree):
                pass
            done += 1
        except NonProjectiveError:
            continue
    return done / (time.perf_counter() - start)


def amr_rate(system: AmrSystem, entries: list) -> float:
    """Return the sentences per second of one pass."""
    start = time.perf_counter()
    for words, graph, alignments in entries:
        amr_oracle(system, words, graph, alignments)
    return len(entries) / (time.perf_counter() - start)


def read_amrs(path: str, system: AmrSystem, limit: int | None, left_out: list[str]) -> list:
    """Return words, graph and alignments of the entries that have a derivation.

    left_out: gets the problem of each other entry
    """
    problems: list[InputError] = []
    entries = read_entries([path], problems)
    usable = []
    for entry in aligned(entries[:limit], train_table(entries)):
        words = system.read([normalise(form) for form in entry.forms])
        try:
            amr_oracle(system, words, entry.graph, entry.alignments)
        except ValueError as error:
            problems.append(entry.error(str(error)))
            continue
        usable.append((words, entry.graph, entry.alignments))
    left_out += map(str, problems)
    return usable


def main() -> None:
    """Measure every system in turn, round by round."""
    options = parser(__doc__)
    options.add_argument("treebank", help="CoNLL-U file, for the system amr an AMR bank")
    options.add_argument("--systems", "--system", nargs="+", default=sorted(TREE_SYSTEMS), choices=sorted(SYSTEMS))
    options.add_argument("--sentences", type=int, help="how many of the file, from the start")
    arguments = options.parse_args()
    if AmrSystem.name in arguments.systems and len(arguments.systems) > 1:
        options.error("the system amr reads other files than the systems of trees: measure it by itself")
    left_out: list[str] = []
    if arguments.systems == [AmrSystem.name]:
        amr = AmrSystem()
        sentences = read_amrs(arguments.treebank, amr, arguments.sentences, left_out)
        print(*(f"left out: {problem}" for problem in left_out), sep="\n", end="\n" * bool(left_out), file=sys.stderr)
        contenders = {amr.name: lambda: amr_rate(amr, sentences)}
    else:
        sentences = [(s.forms, s.tree()) for s in islice(read_conllu(arguments.treebank), arguments.sentences)]
        contenders = {name: lambda name=name: tree_rate(name, sentences) for name in arguments.systems}
    rates: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(arguments.rounds):
        for name, rate in contenders.items():
            rates[name].append(rate())
    report(
        "oracle, sentences/s", arguments, rates, next(iter(rates)), sentences_measured=len(sentences), left_out=left_out
    )


if __name__ == "__main__":
    main()

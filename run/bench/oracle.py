"""Oracle speed: gold graphs to action sequences, one core, sentences/s of each system.

    python run/bench/oracle.py TREEBANK.conllu [--systems arc-hybrid …]
    python run/bench/oracle.py BANK.amr --systems amr

Reading is not counted. For AMRs the aligner, which runs first, and the lemmas of the words are not counted either;
entries that can't be used are left out and named. Trees that a system can't build count in the time alone.
"""

from __future__ import annotations

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


def trees_done(name: str, sentences: list) -> int:
    """Run the oracle on all trees, and return how many the system can build."""
    system, done = make_system(name), 0
    for words, tree in sentences:
        try:
            for _ in oracle(system, words, tree):
                pass
            done += 1
        except NonProjectiveError:
            continue
    return done


def amrs_done(system: AmrSystem, entries: list) -> int:
    """Run the oracle on all AMRs, and return their number."""
    for words, graph, alignments in entries:
        amr_oracle(system, words, graph, alignments)
    return len(entries)


def read_amrs(path: str, system: AmrSystem, limit: int | None, left_out: list[InputError]) -> list:
    """Return words, graph and alignments of the entries that have a derivation.

    left_out: gets the problem of each other entry
    """
    entries = read_entries([path], left_out)
    usable = []
    for entry in aligned(entries[:limit], train_table(entries)):
        words = system.read([normalise(form) for form in entry.forms])
        try:
            amr_oracle(system, words, entry.graph, entry.alignments)
        except ValueError as error:
            left_out.append(entry.error(str(error)))
            continue
        usable.append((words, entry.graph, entry.alignments))
    return usable


def main() -> None:
    options = parser(__doc__)
    options.add_argument("treebank", help="CoNLL-U file, for the system amr an AMR bank")
    options.add_argument("--systems", "--system", nargs="+", default=sorted(TREE_SYSTEMS), choices=sorted(SYSTEMS))
    options.add_argument("--sentences", type=int, help="how many of the file, from the start")
    arguments = options.parse_args()
    if AmrSystem.name in arguments.systems and len(arguments.systems) > 1:
        options.error("the system amr reads other files than the systems of trees: measure it by itself")
    left_out: list[InputError] = []
    if arguments.systems == [AmrSystem.name]:
        amr = AmrSystem()
        sentences = read_amrs(arguments.treebank, amr, arguments.sentences, left_out)
        contenders = {amr.name: lambda: amrs_done(amr, sentences)}
    else:
        sentences = [(s.forms, s.tree()) for s in islice(read_conllu(arguments.treebank), arguments.sentences)]
        contenders = {name: lambda name=name: trees_done(name, sentences) for name in arguments.systems}
    rates: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(arguments.rounds):
        for name, run in contenders.items():
            start = time.perf_counter()
            done = run()
            rates[name].append(done / (time.perf_counter() - start))
    more = {"sentences_measured": len(sentences), "left_out": [*map(str, left_out)]}
    report("oracle, sentences/s", arguments, rates, **more)


if __name__ == "__main__":
    main()

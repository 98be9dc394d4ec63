"""Oracle speed: sentences to action sequences, one core, sentences/s of each system.

python run/bench/oracle.py TREEBANK.conllu [--systems arc-hybrid …]
"""

from __future__ import annotations

import time

from common import parser, report

from oracles.static import NonProjectiveError, oracle
from transition_parser.graphs.conllu import read_conllu
from transition_parser.transitions import SYSTEMS, make_system


def rate(name: str, sentences: list) -> float:
    """Sentences a second of one pass; trees that the system can't build are found out within the time."""
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


def main() -> None:
    """Measures every system in turn, round by round."""
    options = parser(__doc__)
    options.add_argument("treebank", help="CoNLL-U file")
    options.add_argument("--systems", nargs="+", default=sorted(SYSTEMS), choices=sorted(SYSTEMS))
    arguments = options.parse_args()
    sentences = [(s.forms, s.tree()) for s in read_conllu(arguments.treebank)]
    rates: dict[str, list[float]] = {name: [] for name in arguments.systems}
    for _ in range(arguments.rounds):
        for name in arguments.systems:
            rates[name].append(rate(name, sentences))
    report("oracle, sentences/s", arguments, rates, arguments.systems[0], sentences=len(sentences))


if __name__ == "__main__":
    main()

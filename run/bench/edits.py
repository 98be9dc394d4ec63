"""What each edit of AMRs after search gains: Smatch with all edits, without all, and the gain of each one.

    python run/bench/edits.py MODEL GOLD.amr … [--beam 1] [--most 300]

MODEL: a model of AMRs, in fp32. GOLD.amr: AMR banks, whose first sentences (--most) are parsed. Search runs once; its
derivations are then replayed with the edits of `transition_parser/parsing/edits/order.py` but one. For each bank and
edit the report has how many points of Smatch (100 F1) the parses lose without it, and how many graphs are others. Edits
that change nothing are left out.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from unittest import mock

from common import amr_model, amr_options

from transition_parser import AmrParse, Parser
from transition_parser.data.resources import Resources
from transition_parser.graphs.amr import AmrGraph
from transition_parser.graphs.bank import AmrEntry, read_bank
from transition_parser.graphs.smatch import Counts, smatch_counts
from transition_parser.parsing.edits import order
from transition_parser.parsing.formalisms.amr import Amr, ReadTrees
from transition_parser.parsing.texts import Reading, read_sentences


class Recorder(Amr):
    """The formalism of AMRs, which also keeps the derivations that search found, batch by batch."""

    def __init__(self) -> None:
        self.batches: list[list] = []
        self.trees: ReadTrees | None = None

    def replay(
        self, resources: Resources, found: Iterable, edits: bool = True, trees: ReadTrees | None = None
    ) -> list[AmrParse]:
        self.trees = trees
        self.batches.append([*found])
        return super().replay(resources, self.batches[-1], edits, trees)

    def graphs(self, resources: Resources, edits: Mapping[str, order.Edit]) -> list[AmrGraph]:
        """Return the graphs of all derivations after some edits."""
        with mock.patch.object(order, "EDITS", edits):
            return [
                parse.graph for batch in self.batches for parse in Amr.replay(self, resources, batch, True, self.trees)
            ]


class Scores:
    """Smatch of several parses of the same sentences. A graph that comes again is not compared again."""

    def __init__(self, gold: Sequence[AmrGraph]) -> None:
        self._gold, self._known = gold, [dict[AmrGraph, Counts]() for _ in gold]

    def of(self, graphs: Sequence[AmrGraph]) -> float:
        """Return 100 F1 of the graphs."""
        total = Counts(0, 0, 0)
        for gold, known, graph in zip(self._gold, self._known, graphs, strict=True):
            if graph not in known:
                known[graph] = smatch_counts(gold, graph, restarts=4)
            total += known[graph]
        return 100 * total.f1


def gains(loaded: Parser[AmrParse], path: str, most: int) -> dict[str, object]:
    """Return Smatch of the parses of the first sentences of a bank, and what each edit gains."""
    gold = {entry.id: entry.amr for entry in islice(read_bank(path, []), most)}  # some banks have broken entries
    sentences = [sentence for sentence in read_sentences(path, Reading(AmrEntry)) if sentence.id in gold]
    recorder, edits = Recorder(), order.EDITS
    loaded.formalism = recorder
    loaded.parse(sentences)
    scores = Scores([gold[one.sentence.id] for batch in recorder.batches for one, *_ in batch])
    whole = recorder.graphs(loaded.resources, edits)
    best = scores.of(whole)
    found: dict[str, object] = {
        "sentences": len(sentences),
        "smatch": round(best, 2),
        "no edits": round(scores.of(recorder.graphs(loaded.resources, {})), 2),
    }
    for name in edits:
        graphs = recorder.graphs(loaded.resources, {other: edits[other] for other in edits if other != name})
        others = sum(one != other for one, other in zip(whole, graphs, strict=True))
        if others:
            found[name] = {"gain": round(best - scores.of(graphs), 2), "graphs": others}
    return found


def main() -> None:
    """Print the figures as JSON."""
    options = amr_options(__doc__ or "")
    options.set_defaults(beam=1)
    options.add_argument("gold", nargs="+", metavar="GOLD.amr", help="AMR banks")
    options.add_argument("--most", type=int, default=300, help="number of sentences of each bank")
    arguments = options.parse_args()
    loaded = amr_model(arguments)
    for path in arguments.gold:
        print(json.dumps({Path(path).parent.name or path: gains(loaded, path, arguments.most)}), flush=True)


if __name__ == "__main__":
    main()

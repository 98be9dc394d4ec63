"""Speed of dynamic oracles, sentences/s: the cost of every action, in every state of a treebank's derivations.

python run/bench/costs.py TREEBANK.conllu [--systems arc-hybrid …] [--threads 1]

The states are on the static oracle's derivations, and on random legal walks. Only the costs and the steps of the
batched machine are timed; reading, the static oracle and drawing random actions are not counted. Trees that a system
can't build are left out. Each batch has sentences of similar length.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import islice

import torch
from common import parser, report
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from transition_parser.graphs.conllu import read_conllu
from transition_parser.graphs.dependency import DependencyTree
from transition_parser.oracles.static import oracle
from transition_parser.states.costs import Costs
from transition_parser.states.device_table import DeviceTable
from transition_parser.states.machine import DependencyMachine
from transition_parser.states.table import ActionTable
from transition_parser.transitions import TREE_SYSTEMS, TreeSystem

LABELS = ("x", "root")


class Batch:
    """Trees of similar length.

    derivations: (R, T) int64; the tokens of the static oracle's derivations of R trees, padded with the end token
    """

    def __init__(self, table: ActionTable, trees: list[DependencyTree]) -> None:
        system, tokens = table.system, {token: number for number, token in enumerate(table.tokens)}
        assert isinstance(system, TreeSystem)
        self.lengths = torch.tensor([len(tree) for tree in trees])
        self.heads = pad_sequence([torch.tensor(tree.heads) for tree in trees], batch_first=True)
        derivations = [[tokens[str(a)] for a in oracle(system, ["w"] * len(tree), tree)] for tree in trees]
        ids = [torch.tensor([*derivation, table.end]) for derivation in derivations]
        self.derivations = pad_sequence(ids, batch_first=True, padding_value=table.end)

    def seconds(self, table: DeviceTable, tokens_of: Callable[[Batch, DependencyMachine, int], Tensor]) -> float:
        """Return the seconds that costs and steps take until all rows are final.

        tokens_of: returns the next token of each row, outside the measured time
        """
        start, other = time.perf_counter(), 0.0
        machine = DependencyMachine(table, self.lengths, needs=())
        costs, step = Costs(machine, self.heads), 0
        while not machine.is_final().all():
            costs.now()
            before = time.perf_counter()
            tokens = tokens_of(self, machine, step)
            other += time.perf_counter() - before
            machine.apply(tokens)
            step += 1
        return time.perf_counter() - start - other


def static(batch: Batch, machine: DependencyMachine, step: int) -> Tensor:
    """Return the tokens of the static oracle, (R,)."""
    return batch.derivations[:, step]


def at_random(batch: Batch, machine: DependencyMachine, step: int) -> Tensor:
    """Return a random legal token of each row, (R,)."""
    return machine.legal().float().multinomial(1)[:, 0]


def table_of(name: str) -> ActionTable:
    """Return a system's vocabulary with only a few labels; costs do not depend on labels."""
    system = TREE_SYSTEMS[name]()
    return ActionTable(system, ["<s>", "<pad>", "</s>", "<unk>", *map(str, system.actions(LABELS))])


def batches_of(table: ActionTable, trees: list[DependencyTree], size: int) -> list[Batch]:
    """Return all trees that the system can build in batches, the shortest trees first."""
    known = [t for t in trees if not table.system.projective_only or t.is_projective()]
    known = [DependencyTree(t.heads, tuple(LABELS[not head] for head in t.heads)) for t in sorted(known, key=len)]
    return [Batch(table, known[start : start + size]) for start in range(0, len(known), size)]


def main() -> None:
    """Measure every system in turn, round by round."""
    options = parser(__doc__)
    options.add_argument("treebank", help="CoNLL-U file")
    options.add_argument("--systems", "--system", nargs="+", default=sorted(TREE_SYSTEMS), choices=sorted(TREE_SYSTEMS))
    options.add_argument("--sentences", type=int, help="how many of the file, from the start")
    options.add_argument("--batch", type=int, default=256, help="sentences in a batch")
    arguments = options.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(1)
    trees = [s.tree() for s in islice(read_conllu(arguments.treebank), arguments.sentences)]
    tables = {name: table_of(name) for name in arguments.systems}
    batches = {name: batches_of(table, trees, arguments.batch) for name, table in tables.items()}
    rates: dict[str, list[float]] = {}
    for _ in range(arguments.rounds):
        for name, table in tables.items():
            on_device, sentences = DeviceTable.from_table(table), sum(len(batch.lengths) for batch in batches[name])
            for way in (static, at_random):
                seconds = sum(batch.seconds(on_device, way) for batch in batches[name])
                rates.setdefault(f"{name} {way.__name__}", []).append(sentences / seconds)
    measured = {name: sum(len(batch.lengths) for batch in batches[name]) for name in batches}
    report("costs, sentences/s", arguments, rates, next(iter(rates)), sentences_measured=measured)


if __name__ == "__main__":
    main()

"""The batched costs equal the pure-Python costs, in whatever configurations."""

import random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import SAMPLE
from tests.helpers.costs import costs
from tests.helpers.simulated_device import DEVICE, SimulatedDevice
from tests.helpers.strategies import trees
from tests.states.brute_force import gold_heads
from tests.states.test_machine import make_machine, make_table
from transition_parser.graphs.conllu import read_conllu
from transition_parser.graphs.dependency import DependencyTree
from transition_parser.oracles import oracle
from transition_parser.states.costs import ILLEGAL, Costs
from transition_parser.states.machine import DependencyMachine
from transition_parser.states.states import DeviceTable
from transition_parser.states.table import ActionClass, ActionTable
from transition_parser.transitions import TREE_SYSTEMS, Action, Kind, State

LEFT_ARCS = (ActionClass.LEFT_ARC, ActionClass.LEFT_ARC_ROOT, ActionClass.LEFT_ARC_ANY)


def padded(golds: list[DependencyTree], padding: int = 0) -> torch.Tensor:
    ids = [torch.tensor(gold_heads(gold)) for gold in golds]
    return torch.nn.utils.rnn.pad_sequence(ids, batch_first=True, padding_value=padding)


def expected(system, state: State, gold: DependencyTree, legal: list[bool]) -> list[int]:
    """A row of the costs."""
    row = [ILLEGAL] * len(ActionClass)
    for kind, cost in costs(system, state, gold).items():
        for column in LEFT_ARCS if kind is Kind.LEFT_ARC else (ActionClass[kind.name],):
            row[column] = cost
    if system.is_final(state):
        row[ActionClass.END] = 0
    return [cost if may else ILLEGAL for cost, may in zip(row, legal, strict=True)]


class Walk:
    """The same steps by the batched machine and the pure one, whose costs are compared at each step."""

    def __init__(self, table: ActionTable, sentences: list[list[str]], golds: list[DependencyTree]) -> None:
        self.table, self.golds = table, golds
        self.machine = make_machine(table, sentences, needs=())
        self.costs = Costs(self.machine, padded(golds))
        self.states = [table.system.initial(words) for words in sentences]
        self.tokens = {str(token): number for number, token in enumerate(table.tokens)}

    def compare(self) -> torch.Tensor:
        found, legal = self.costs.now(), self.machine.legal_columns().tolist()
        for row, (state, gold) in enumerate(zip(self.states, self.golds, strict=True)):
            assert found[row].tolist() == expected(self.table.system, state, gold, legal[row]), (state, gold)
        return found

    def step(self, actions: list[Action | None]) -> None:
        """None: of rows that are at their end."""
        self.machine.apply(torch.tensor([self.table.end if a is None else self.tokens[str(a)] for a in actions]))
        moves = zip(self.states, actions, strict=True)
        self.states = [state if a is None else self.table.system.apply(state, a) for state, a in moves]

    def legal(self, row: int) -> list[Action]:
        known = (action for action in self.table.actions if action is not None)
        return [action for action in known if self.table.system.why_illegal(self.states[row], action) is None]


def random_walk(walk: Walk, rng: random.Random, explored: float) -> None:
    """Takes the actions that cost least, and others with this probability."""
    while True:
        found = walk.compare()
        actions: list[Action | None] = []
        for row, state in enumerate(walk.states):
            legal = [] if walk.table.system.is_final(state) else walk.legal(row)
            if legal and rng.random() >= explored:
                least = found[row].min()
                legal = [a for a in legal if found[row, walk.table.column[walk.tokens[str(a)]]] == least]
            actions.append(rng.choice(legal) if legal else None)
        if not any(actions):
            return
        walk.step(actions)


@pytest.mark.usefixtures("both_ways")
@pytest.mark.parametrize("name", TREE_SYSTEMS)
@given(data=st.data(), seed=st.integers(0, 2**32), explored=st.sampled_from([0, 0.2, 1]))
@settings(max_examples=25)
def test_random_walks(name, data, seed, explored):
    table, rng = make_table(name, ("a",)), random.Random(seed)
    sizes = data.draw(st.lists(st.integers(1, 14), min_size=1, max_size=4))
    golds = [data.draw(trees(max_words=size, projective=table.system.projective_only)) for size in sizes]
    random_walk(Walk(table, [[rng.choice("ab") for _ in gold.heads] for gold in golds], golds), rng, explored)


def sentences_of(path, name: str) -> list:
    projective_only = TREE_SYSTEMS[name].projective_only
    return [s for s in read_conllu(path) if not projective_only or s.tree().is_projective()]


def walk_of(name: str, sentences: list) -> Walk:
    """Only heads matter."""
    golds = [sentence.tree() for sentence in sentences]
    plain = [DependencyTree(g.heads, tuple("obj" if head else "root" for head in g.heads)) for g in golds]
    return Walk(make_table(name), [sentence.forms for sentence in sentences], plain)


@pytest.mark.parametrize("name", TREE_SYSTEMS)
def test_static_derivations_of_the_sample_cost_nothing(name):
    sentences = sentences_of(SAMPLE, name)[:40]
    walk = walk_of(name, sentences)
    system = walk.table.system
    derivations = [list(oracle(system, s.forms, gold)) for s, gold in zip(sentences, walk.golds, strict=True)]
    for step in range(max(map(len, derivations)) + 1):
        actions = [actions[step] if step < len(actions) else None for actions in derivations]
        found = walk.costs.now()
        for row, action in enumerate(actions):
            token = walk.table.end if action is None else walk.tokens[str(action)]
            assert found[row, walk.table.column[token]] == 0
        walk.step(actions)


@pytest.mark.slow
@pytest.mark.parametrize("treebank", ["UD_English-EWT", "UD_Basque-BDT-v1.4", "UD_Hungarian-Szeged"])
@pytest.mark.parametrize("name", TREE_SYSTEMS)
def test_walks_through_a_treebank(name, treebank, corpora):
    sentences = sentences_of(corpora / "ud" / treebank / "dev.conllu", name)[::2]
    rng = random.Random(1)
    for start in range(0, len(sentences), 64):
        random_walk(walk_of(name, sentences[start : start + 64]), rng, rng.choice([0, 0.1, 0.5]))


# --- how they are computed ------------------------------------------------------------------


@pytest.mark.parametrize("name", TREE_SYSTEMS)
def test_what_is_behind_a_sentence_does_not_count(name):
    golds = [DependencyTree((2, 0, 2, 3), ("x", "root", "x", "x")), DependencyTree((0, 1), ("root", "x"))]
    table = make_table(name)
    lengths = torch.tensor([4, 2])
    machine = DependencyMachine(DeviceTable(table), lengths)
    found = [Costs(machine, padded(golds, padding)) for padding in (0, 1, -1, 99)]
    found.append(Costs(machine, torch.cat([padded(golds), torch.full((2, 3), 5)], 1)))
    for _ in range(4):
        first, *others = (costs.now() for costs in found)
        assert all(torch.equal(first, other) for other in others)
        machine.apply(first[:, torch.from_numpy(table.column)].argmin(1))


@pytest.mark.parametrize("name", TREE_SYSTEMS)
def test_on_a_device(name):
    """The host waits for one copy a step."""
    golds = [DependencyTree((2, 0, 2, 3), ("x", "root", "x", "x")), DependencyTree((2, 3, 0), ("x", "x", "root"))]
    table = make_table(name)

    def walk(device):
        machine = DependencyMachine(DeviceTable(table, device), torch.tensor([4, 3]).to(device))
        costs, column = Costs(machine, padded(golds)), torch.from_numpy(table.column).to(device)
        for _ in range(8):
            found = costs.now()
            yield found
            machine.apply(found[:, column].argmin(1))

    here = list(walk(torch.device("cpu")))
    with SimulatedDevice() as device:
        there = walk(DEVICE)
        first = next(there).cpu()
        device.waits.clear()
        others = [next(there) for _ in range(7)]
        assert device.waits.kinds["cpu"] == 7, device.waits
        assert all(
            torch.equal(one, other) for one, other in zip(here, [first, *(x.cpu() for x in others)], strict=True)
        )

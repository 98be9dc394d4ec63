"""The costs of actions against a search through all that can follow, and what they lead to, step by step."""

import random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import SAMPLE
from tests.helpers.simulated_device import DEVICE, SimulatedDevice
from tests.helpers.strategies import trees
from tests.helpers.tables import make_machine, make_table
from tests.states.brute_force import Graph, all_trees, gold_heads, legal_steps
from transition_parser.graphs.conllu import read_conllu
from transition_parser.graphs.dependency import DependencyTree
from transition_parser.oracles.static import oracle
from transition_parser.states.costs import ILLEGAL, SYSTEMS, Costs
from transition_parser.states.machine import DependencyMachine
from transition_parser.states.states import DeviceTable
from transition_parser.states.table import ActionClass
from transition_parser.transitions import TREE_SYSTEMS, Kind, State, make_system

PROJECTIVE_SYSTEMS = [name for name in SYSTEMS if TREE_SYSTEMS[name].projective_only]
COLUMNS = {
    Kind.SHIFT: ActionClass.SHIFT,
    Kind.RIGHT_ARC: ActionClass.RIGHT_ARC,
    Kind.LEFT_ARC: ActionClass.LEFT_ARC_ANY,
}


# --- all configurations ---------------------------------------------------------------------


def machine_at(name: str, states: list[State]) -> DependencyMachine:
    """Return the machine in configurations of the same number of words."""
    lengths = torch.tensor([state.root for state in states])
    machine = DependencyMachine(DeviceTable(make_table(name)), lengths)
    for row, state in enumerate(states):
        for array, words in ((machine.stack, state.stack), (machine.buffer, state.buffer[::-1])):
            array[row, : len(words)] = torch.tensor(words, dtype=torch.long)
        machine.depth[row], machine.buffer_size[row] = len(state.stack), len(state.buffer)
        machine.heads[row, : state.root] = torch.tensor(state.heads)
    machine._read()
    return machine


def check(name: str, graph: Graph, golds: list[DependencyTree]) -> int:
    """Check the costs of all kinds of actions in all configurations. Return the number of pairs of these and trees."""
    states = [state for state, steps in zip(graph.states, graph.steps, strict=True) if steps]
    machine, pairs = machine_at(name, states), 0
    for gold in golds:
        found = Costs(machine, padded([gold]).expand(len(states), -1)).now().tolist()
        for costs, (state, expected) in zip(found, graph.costs(gold_heads(gold)), strict=True):
            assert {kind: costs[COLUMNS[kind]] for kind in expected} == expected, (state, gold)
            pairs += 1
    return pairs


def check_all(name: str, n: int) -> int:
    system = make_system(name)
    return check(name, Graph(system, system.initial(["w"] * n)), all_trees(n, projective=True))


def test_all_configurations_of_up_to_five_words():
    for n in range(1, 5):
        check_all("arc-hybrid", n)
    assert check_all("arc-hybrid", 5) == 8866


@pytest.mark.slow
@pytest.mark.parametrize("name", PROJECTIVE_SYSTEMS)
def test_all_configurations_of_six_words(name):
    check_all(name, 6)


@pytest.mark.parametrize("name", PROJECTIVE_SYSTEMS)
@given(tree=trees(max_words=9, projective=True), rng=st.randoms(use_true_random=False))
def test_configurations_of_more_words(name, tree, rng):
    """Of long sentences the stacks have more gold arcs that exclude one another."""
    system = make_system(name)
    start = system.initial(["w"] * len(tree))
    for _ in range(rng.randrange(len(tree), 2 * len(tree))):
        start = rng.choice([after for _, after in legal_steps(system, start)])
    check(name, Graph(system, start), [tree])


# --- batches --------------------------------------------------------------------------------


def padded(golds: list[DependencyTree], padding: int = 0) -> torch.Tensor:
    ids = [torch.tensor(gold_heads(gold)) for gold in golds]
    return torch.nn.utils.rnn.pad_sequence(ids, batch_first=True, padding_value=padding)


def walk(name: str, golds: list[DependencyTree], seed: int, explored: float = 0.0) -> DependencyMachine:
    """Return the machine after random walks, which take the actions that cost least, and others as often as `explored`.

    In each state some action may be explored.
    """
    rng = torch.Generator().manual_seed(seed)
    table = make_table(name, ("a",))
    machine = make_machine(table, [["ab"[i % 2] for i in range(len(gold))] for gold in golds])
    costs, column = Costs(machine, padded(golds)), torch.from_numpy(table.column)
    while not machine.is_final().all():
        now = costs.now()
        assert torch.equal(now < ILLEGAL, machine.legal_columns())
        explores = torch.rand(len(golds), 1, generator=rng) < explored
        may = torch.where(explores, now <= machine.root[:, None], now == now.amin(1, keepdim=True))
        may = machine.legal() & may[:, column]
        assert may.any(1).all()
        machine.apply(may.float().multinomial(1, generator=rng)[:, 0])
    return machine


def heads_of(machine: DependencyMachine) -> list[list[int]]:
    return [row[:n].tolist() for row, n in zip(machine.heads, machine.root.tolist(), strict=True)]


@pytest.mark.parametrize("name", SYSTEMS)
@given(data=st.data(), seed=st.integers(0, 2**32), explored=st.sampled_from([0, 0.2, 1]))
@settings(max_examples=8)
def test_random_walks(name, data, seed, explored):
    projective = TREE_SYSTEMS[name].projective_only
    golds = data.draw(st.lists(trees(max_words=14, projective=projective), min_size=1, max_size=6))
    machine = walk(name, golds, seed, explored)
    assert explored or heads_of(machine) == [gold_heads(gold) for gold in golds]


@given(golds=st.lists(trees(max_words=9, projective=True), min_size=1, max_size=6), seed=st.integers(0, 2**32))
def test_without_swaps_costs_are_those_of_the_system_without_swap(golds, seed):
    rng = torch.Generator().manual_seed(seed)
    tables = [make_table(name) for name in ("arc-hybrid", "arc-hybrid-swap")]
    both = [make_machine(table, [["w"] * len(gold) for gold in golds]) for table in tables]
    costs = [Costs(machine, padded(golds)) for machine in both]
    while not both[0].is_final().all():
        plain, with_swap = (one.now() for one in costs)
        swap = with_swap[:, ActionClass.SWAP].clone()
        with_swap[:, ActionClass.SWAP] = plain[:, ActionClass.SWAP]
        assert torch.equal(plain, with_swap) and bool((swap > both[0].root).all())
        steps = both[0].legal().float().multinomial(1, generator=rng)[:, 0].tolist()
        for machine, table in zip(both, tables, strict=True):
            machine.apply(torch.tensor([table.tokens.index(tables[0].tokens[step]) for step in steps]))


@pytest.mark.parametrize("name", SYSTEMS)
def test_actions_that_cost_nothing_build_all_trees_of_up_to_four_words(name):
    golds = [tree for n in range(1, 5) for tree in all_trees(n, TREE_SYSTEMS[name].projective_only)] * 4
    assert heads_of(walk(name, golds, 1)) == [gold_heads(gold) for gold in golds]


def sentences_of(path, name: str) -> list:
    projective_only = TREE_SYSTEMS[name].projective_only
    return [s for s in read_conllu(path) if not projective_only or s.tree().is_projective()]


@pytest.mark.parametrize("name", SYSTEMS)
def test_static_derivations_of_the_sample_cost_nothing(name):
    golds = [sentence.tree() for sentence in sentences_of(SAMPLE, name)[:40]]
    golds = [DependencyTree(g.heads, tuple("obj" if head else "root" for head in g.heads)) for g in golds]
    table = make_table(name)
    sentences = [["w"] * len(gold) for gold in golds]
    tokens = [
        torch.tensor([table.tokens.index(str(action)) for action in oracle(table.system, words, gold)] + [table.end])
        for words, gold in zip(sentences, golds, strict=True)
    ]
    derivations = torch.nn.utils.rnn.pad_sequence(tokens, True, table.end)
    machine = make_machine(table, sentences)
    costs = Costs(machine, padded(golds))
    for step in derivations.unbind(1):
        assert not costs.now()[:, torch.from_numpy(table.column)].gather(1, step[:, None]).any()
        machine.apply(step)


@pytest.mark.slow
@pytest.mark.parametrize("treebank", ["UD_English-EWT", "UD_Basque-BDT-v1.4", "UD_Hungarian-Szeged"])
@pytest.mark.parametrize("name", SYSTEMS)
def test_walks_through_a_treebank(name, treebank, corpora):
    golds = [s.tree() for s in sentences_of(corpora / "ud" / treebank / "dev.conllu", name)[::2]]
    rng = random.Random(1)
    for start in range(0, len(golds), 64):
        walk(name, golds[start : start + 64], start, rng.choice([0, 0.1, 0.5]))


# --- how they are computed ------------------------------------------------------------------


@pytest.mark.parametrize("name", SYSTEMS)
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


@pytest.mark.parametrize("name", SYSTEMS)
def test_on_a_device(name):
    """The host never waits for the device."""
    golds = [DependencyTree((2, 0, 2, 3), ("x", "root", "x", "x")), DependencyTree((2, 3, 0), ("x", "x", "root"))]
    table = make_table(name)

    def walk(device):
        machine = DependencyMachine(DeviceTable(table, device), torch.tensor([4, 3]).to(device))
        costs, column = Costs(machine, padded(golds).to(device)), torch.from_numpy(table.column).to(device)
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
        assert not device.waits, device.waits
        assert all(
            torch.equal(one, other) for one, other in zip(here, [first, *(x.cpu() for x in others)], strict=True)
        )

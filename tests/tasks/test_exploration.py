"""Derivations that models find in training, and what is correct at each of their steps."""

import random
from argparse import Namespace

import pytest
import torch

from tests.helpers.crosses import USUAL_KINDS, mostly_slow
from tests.helpers.small_models import MEMORYLESS, make_batch, make_folder, make_model, make_task, with_words, words_of
from tests.helpers.strategies import random_heads
from tests.helpers.tables import make_table
from transition_parser.base.errors import InputError
from transition_parser.data.dataset import TransitionDataset
from transition_parser.graphs.dependency import DependencyTree
from transition_parser.models.registry import architecture_of
from transition_parser.oracles.static import oracle
from transition_parser.states.costs import SYSTEMS, Costs, GoldTrees
from transition_parser.states.machine import make_machine
from transition_parser.states.states import FIELDS, DeviceTable
from transition_parser.tasks import exploration
from transition_parser.tasks.exploration import ExplorationPolicy, explore
from transition_parser.tasks.losses import LegalCrossEntropyCriterion
from transition_parser.transitions import Kind

OF_STATES = ("no state", "positions", "shift words", "stack attention", "structures")
MODELS = (*OF_STATES, "sentence", "sentence graph", "state graph", "composed", "CLS", *MEMORYLESS)


@pytest.fixture(scope="module", params=mostly_slow(SYSTEMS, "arc-hybrid-swap"))
def of_system(request, tmp_path_factory):
    """(task, batch with gold trees) of a system."""
    folder = make_folder(request.param, tmp_path_factory)
    task = make_task(folder)
    batch = make_batch(task, folder, range(2, 15), 12)
    return task, batch


def _unpadded(task, batch):
    for side, end in (("src", task.source_dictionary.eos()), ("act", task.target_dictionary.eos())):
        rows = batch["net_input"]["src_tokens"] if side == "src" else batch["target"]
        yield [row[: int((row == end).nonzero()[0, 0]) + 1] for row in rows]


def _policy(share=0.3):
    return ExplorationPolicy(share, torch.Generator().manual_seed(5))


@pytest.mark.parametrize("kind", mostly_slow(MODELS, *USUAL_KINDS))
def test_correct_actions_build_the_gold_tree(of_system, kind):
    """Whatever an untrained model prefers among them."""
    task, batch = of_system
    model = make_model(kind, task.resources)
    net_input, model = with_words(model, task, batch)["net_input"], model.plain
    found = explore(model, net_input, GoldTrees(**batch["net_input"]["trees"]), None)
    for tokens, steps, (words, gold) in zip(
        found.actions.tolist(), found.steps.tolist(), batch["references"], strict=True
    ):
        actions = [task.table.actions[token] for token in tokens[: steps - 1]]
        assert task.table.system.replay(words, actions) == gold
        assert set(tokens[steps - 1 :]) == {task.table.end}


def test_correct_actions_along_gold_derivations(of_system):
    """The action of the static oracle is one of them, and all of them are legal."""
    task, batch = of_system
    model = make_model("no state", task.resources).plain
    found = explore(model, batch["net_input"], GoldTrees(**batch["net_input"]["trees"]), None)
    legal = model.decoder.legality(found.states) > 0
    assert bool((found.correct <= legal).all()) and bool((found.gold_arcs <= found.correct).all())
    assert bool(found.correct.any(2).all())
    # the first state is the same in each derivation of a sentence
    assert bool(found.correct[:, 0].gather(1, batch["target"][:, :1]).all())


@pytest.mark.parametrize("kind", mostly_slow(MODELS, *USUAL_KINDS))
def test_states_are_those_of_the_derivation(of_system, kind):
    """What search saw on the way is what teacher forcing sees of the same actions."""
    task, batch = of_system
    model = make_model(kind, task.resources)
    net_input, model = with_words(model, task, batch)["net_input"], model.plain
    found = explore(model, net_input, GoldTrees(**batch["net_input"]["trees"]), _policy())
    ends = torch.full_like(found.actions[:, :1], task.table.end)
    prefix = torch.cat([ends, found.actions[:, :-1]], 1)
    again = model.decoder.states(prefix, model.encode(net_input))
    real = torch.arange(prefix.size(1)) < found.steps[:, None]
    for name in ("columns", "context", *FIELDS):
        seen, wanted = getattr(found.states, name), getattr(again, name)
        assert (seen is None) == (wanted is None)
        if seen is not None:
            assert torch.equal(seen[real], wanted[real])


def test_sentences_do_not_depend_on_their_neighbors(of_system):
    task, batch = of_system
    model, gold = make_model("positions", task.resources).plain, GoldTrees(**batch["net_input"]["trees"])
    together = explore(model, batch["net_input"], gold, _policy(0.0))
    sources, targets = (list(side) for side in _unpadded(task, batch))
    for row in range(3):
        one = [sources[row]]
        trees = TransitionDataset(task.resources, words_of(task.resources, one), one, [targets[row]], trees=True)
        alone = trees.collater([trees[0]])
        found = explore(model, alone["net_input"], GoldTrees(**alone["net_input"]["trees"]), _policy(0.0))
        steps = int(found.steps[0])
        assert steps == int(together.steps[row]) and torch.equal(found.correct[0], together.correct[row, :steps])
        assert torch.equal(found.actions[0], together.actions[row, :steps])


def test_mistakes_are_followed(of_system, monkeypatch):
    """An untrained model makes many; what is drawn adds others; the same draws give the same derivations."""
    monkeypatch.setattr(exploration, "MARGIN", 10.0)  # it prefers arcs by more than 1: they are many
    task, batch = of_system
    model = make_model("no state", task.resources).plain
    gold = GoldTrees(**batch["net_input"]["trees"])
    followed = [explore(model, batch["net_input"], gold, policy) for policy in (_policy(), _policy(), _policy(0.0))]
    assert torch.equal(followed[0].actions, followed[1].actions)
    assert not torch.equal(followed[0].actions, followed[2].actions)
    taken = followed[2].correct.gather(2, followed[2].actions[..., None])[..., 0]
    assert not bool(taken.all())
    assert bool(followed[2].correct.any(2).all())  # something is correct even where the gold tree is lost


def test_what_is_for_trees_or_for_actions(tmp_path_factory):
    amrs = make_folder("amr", tmp_path_factory)
    with pytest.raises(InputError, match="--oracle dynamic is for arc-hybrid, arc-hybrid-swap: "):
        make_task(amrs, oracle="dynamic")
    trees = make_task(make_folder("arc-hybrid-swap", tmp_path_factory), oracle="dynamic")
    with pytest.raises(InputError, match="actions, which spa_dp_graph_small does not"):
        trees.build_model(
            Namespace(
                **vars(architecture_of("spa_dp_graph_small").options()),
                arch="spa_dp_graph_small",
                _name="spa_dp_graph_small",
            )
        )
    for task, options, problem in (
        (make_task(amrs), {}, "--action-loss hinge is for dependency trees, not for amr"),
        (trees, {"label_smoothing": 0.1}, "--action-loss hinge needs --softmax-over legal and --label-smoothing 0"),
        (trees, {"hinge_weight": 2.0}, "--hinge-weight 2.0 is not between 0 and 1"),
    ):
        with pytest.raises(InputError, match=problem):
            LegalCrossEntropyCriterion(task, False, **{"label_smoothing": 0.0, "action_loss": "hinge", **options})


def as_tree(heads: list[int]) -> DependencyTree:
    return DependencyTree(tuple(heads), tuple("dep" if head else "root" for head in heads))


def test_the_bound_of_search_on_swaps_does_not_count():
    """More than two swaps a word: the gold tree is still built."""
    n, table = 16, make_table("arc-hybrid-swap", relations=["dep", "root"])
    system, words = table.system, ["w"] * n

    def swaps(heads: list[int]) -> int:
        return sum(action.kind is Kind.SWAP for action in oracle(system, words, as_tree(heads)))

    heads = next(
        heads for heads in (random_heads(n, random.Random(seed)) for seed in range(500)) if swaps(heads) > 2 * n
    )
    tree = as_tree(heads)
    machine = make_machine(DeviceTable(table), torch.tensor([n]), in_search=True)
    machine.swaps_left = None
    positions = torch.tensor([[n if head == 0 else head - 1 for head in heads] + [n]])
    relations = torch.tensor([[table.relations.index(label) for label in tree.relations] + [0]])
    costs, gold = Costs(machine, positions), GoldTrees(positions, relations)
    taken = []
    while not bool(machine.is_final().all()):
        taken.append(costs.correct(gold).actions.float().argmax(1))
        machine.apply(taken[-1])
    assert system.replay(words, [table.actions[int(token)] for token in taken]) == tree

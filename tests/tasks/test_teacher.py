"""Training by the probabilities of other models, `--teacher`."""

from argparse import Namespace
from functools import partial

import pytest
import torch

from tests.conftest import preprocess, train, weights
from tests.helpers.crosses import mostly_slow
from tests.helpers.small_models import make_criterion, make_folder, make_model, make_task, task_and_batch, task_of
from transition_parser import Parser
from transition_parser.base.errors import InputError
from transition_parser.modules.contract import only_legal
from transition_parser.states.costs import GoldTrees
from transition_parser.tasks.teacher import Teacher, _Member, teacher_of

LENGTHS = range(3, 14)


def asked(models, weight=None) -> Namespace:
    return Namespace(teacher=models and ",".join(map(str, models)), teacher_weight=weight)


def words_of(task, batch) -> list[list[str]]:
    return [task.resources.words(tokens) for tokens in batch["net_input"]["src_tokens"].tolist()]


@pytest.fixture(scope="module")
def other(tmp_path_factory):
    """A model over the same actions with other pieces, which also predicts tags and reads letters."""
    folder = tmp_path_factory.mktemp("other")
    data = preprocess(folder / "data", "--pieces", "350", "--labeled-shift", "3", "--upos")
    train(data, folder, "--tag-loss", "0.1", "--character-width", "8", "--disable-validation", updates=4)
    return folder / "checkpoint_last.pt"


@pytest.fixture(scope="module")
def student(tmp_path_factory):
    """A task and a batch of the system of `checkpoint`."""
    return task_and_batch("arc-hybrid-swap", tmp_path_factory, LENGTHS, 6)


def test_the_probabilities_are_those_of_the_model(student, other):
    task, batch = student
    (member,) = teacher_of(asked([other]), task.resources).members
    (found,) = member.probabilities(words_of(task, batch), batch["net_input"]["prev_output_tokens"], None)
    parser = Parser.load(other)
    theirs = parser.resources
    for row, words in enumerate(words_of(task, batch)):
        real = batch["target"][row] != task.target_dictionary.pad()
        names = [task.target_dictionary[i] for i in batch["net_input"]["prev_output_tokens"][row][real].tolist()]
        actions = torch.tensor([[theirs.target_dictionary.index(name) for name in names]])
        with torch.no_grad():
            read = {"features": theirs.features_of([words]), "words": parser.model.inputs.read([words])}
            encoder_out = parser.model.encode({"src_tokens": theirs.encode_all([words])[0][None], **read})
            states = parser.model.decoder.states(actions, encoder_out)
            scores = parser.model.decoder.scores(actions, encoder_out, states)
        expected = only_legal(scores, parser.model.decoder.legality(states)).softmax(-1)[0]
        ours = [theirs.target_dictionary.index(name) for name in task.target_dictionary.symbols]
        known = torch.tensor([action is not None for action in task.table.actions])
        known[task.table.end] = True
        assert torch.allclose(found[row][real][:, known], expected[:, ours][:, known], atol=2e-2)
        assert torch.allclose(found[row][real].sum(-1), torch.ones(int(real.sum())), atol=1e-3)


def test_several_models_teach_the_mean_of_their_probabilities(student, other, checkpoint):
    task, batch = student
    words = words_of(task, batch)
    alone = [teacher_of(asked([path]), task.resources).taught(batch, words)["taught"] for path in (other, checkpoint)]
    both = teacher_of(asked([other, checkpoint], 0.3), task.resources).taught(batch, words)["taught"]
    assert torch.allclose(both.probabilities[0], (alone[0].probabilities[0] + alone[1].probabilities[0]) / 2)
    assert (alone[0].weight, both.weight) == (0.5, 0.3)


def itself(model, task) -> _Member:
    """The model as its own teacher."""
    parser = Parser(model.plain, task.resources, precision="fp32")
    count, relations = len(task.table.tokens), torch.arange(len(task.table.relations))
    return _Member("itself", parser, torch.arange(count), torch.ones(count), relations)


@pytest.mark.parametrize("kind,system", [("state", "arc-hybrid-swap"), ("state", "amr"), ("heads", "arc-hybrid-swap")])
def test_who_is_their_own_teacher_has_nothing_to_learn(kind, system, tmp_path_factory):
    """With the weight 1 the loss is the entropy of the probabilities, whose gradient is 0."""
    task, batch = task_and_batch(system, tmp_path_factory, LENGTHS, 6)
    model = make_model(kind, task.resources).train()
    taught = Teacher([itself(model, task)], 1.0).taught(batch, words_of(task, batch))
    gradients = []
    for sample in (batch, taught):
        model.zero_grad()
        loss, *_ = make_criterion(task)(model, sample)
        loss.backward()
        gradients.append(max(float(p.grad.abs().max()) for p in model.parameters() if p.grad is not None))
    assert gradients[1] < 1e-4 < 1e-1 < gradients[0]


@pytest.mark.parametrize("kind", ["heads", "refined"])
def test_whole_trees_are_taught_by_their_last_reading(kind, tmp_path_factory):
    """The probabilities are those of the decisions."""
    task, batch = task_and_batch("arc-hybrid-swap", tmp_path_factory, LENGTHS, 6)
    model = make_model(kind, task.resources).eval()
    words, inputs = words_of(task, batch), batch["net_input"]
    found = itself(model, task).probabilities(words, inputs["prev_output_tokens"], GoldTrees(**inputs["trees"]))
    with torch.no_grad():
        _, extra = model(**inputs)
    for ours, decision in zip(found, extra["decisions"][-2:], strict=True):
        expected = only_legal(decision.scores, decision.competing).softmax(-1)
        assert torch.allclose(ours[decision.counted], expected[decision.counted], atol=1e-5)
        assert torch.allclose(ours[decision.counted].sum(-1), torch.ones(int(decision.counted.sum())), atol=1e-5)


@pytest.mark.parametrize("of_trees", mostly_slow([False, True], False))
def test_training_with_a_teacher_and_an_interruption_gives_the_same_weights(of_trees, data_folder, request, tmp_path):
    arch = "recursive_g2g_small" if of_trees else "stack_transformer_small"
    learn = partial(train, data_folder, arch=arch)
    if of_trees:
        learn(tmp_path / "teacher", updates=2)
        teacher = tmp_path / "teacher" / "checkpoint_last.pt"
    else:
        teacher = request.getfixturevalue("checkpoint")
    options = ("--disable-validation", "--teacher", teacher, "--teacher-weight", "0.7")
    learn(tmp_path / "whole", *options, updates=4)
    learn(tmp_path / "twice", *options, updates=2)
    learn(tmp_path / "twice", *options, updates=4)
    learn(tmp_path / "alone", "--disable-validation", updates=4)
    whole, twice, alone = (weights(tmp_path / name) for name in ("whole", "twice", "alone"))
    assert all(torch.equal(value, twice[name]) for name, value in whole.items())
    assert any(not torch.equal(value, alone[name]) for name, value in whole.items())


def test_options_that_do_not_fit(student, checkpoint, other, tmp_path_factory):
    task, _ = student
    standard = task_of("arc-standard", tmp_path_factory)
    more = make_task(make_folder("arc-hybrid-swap", tmp_path_factory, shift_words=9))
    amrs = task_of("amr", tmp_path_factory)
    for options, resources, problem in (
        (asked(None, 0.5), task.resources, "--teacher-weight is for --teacher"),
        (asked([checkpoint], 0.0), task.resources, "--teacher-weight 0.0 is not above 0 and at most 1"),
        (asked([checkpoint], 1.5), task.resources, "--teacher-weight 1.5 is not above 0"),
        (asked(["no-such"]), task.resources, "no-such"),
        (asked(["en-ewt-minilm"]), task.resources, "scores whole trees, but the model that learns scores actions"),
        (asked([checkpoint]), standard.resources, "the teacher is for arc-hybrid-swap, but the data is for arc-st"),
        (asked([checkpoint]), more.resources, "its SHIFTs have other words"),
        (asked(["en-amr"]), amrs.resources, "a teacher of AMRs must be trained on the same data folder"),
    ):
        with pytest.raises(InputError, match=problem):
            teacher_of(options, resources)
    assert teacher_of(asked(None), task.resources) is None

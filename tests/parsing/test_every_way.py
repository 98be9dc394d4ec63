"""Training, validation and search give the same with kernels, without them, and on a (simulated) accelerator."""

import copy
import itertools
import statistics
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import islice
from unittest import mock

import pytest
import torch
from fairseq.utils import apply_to_sample
from torch.nn import functional
from torch.utils._python_dispatch import _disable_current_modes

from tests.conftest import SAMPLE, SAMPLE_AMR, without_kernels
from tests.helpers.crosses import USUAL, mostly_slow
from tests.helpers.simulated_device import DEVICE, SimulatedDevice
from tests.helpers.small_models import (
    GRAPHS,
    MEMORYLESS,
    MODELS,
    OF_TREES,
    SYSTEMS,
    encode,
    make_criterion,
    make_model,
    make_optimizer,
    make_task,
    runs_with,
    task_and_batch,
    with_words,
)
from transition_parser import Parser
from transition_parser.base.errors import InputError
from transition_parser.kernels import loader
from transition_parser.kernels.encoders import has_int8
from transition_parser.modules.contract import only_legal
from transition_parser.parsing.parses import AmrParse, Parse
from transition_parser.parsing.search import search
from transition_parser.states.states import BatchedMachine, States
from transition_parser.tasks.transition_parsing import TrainingModel, TransitionParsingTask

WAYS = ("kernels", "torch", "device")
CLOSE = 1e-5
TEXTS = ("Dogs bark .", "Stop !", "The old man saw 3 cats in Paris and slept , or so he said .", "No")
SENTENCES = [text.split() for text in TEXTS]


@pytest.fixture
def move(request) -> Callable:
    """Brings a model or a batch to where it is computed with."""
    if request.param == "torch":
        with without_kernels():
            yield lambda x: x
    elif request.param == "device":
        with SimulatedDevice():
            yield to_device
    elif loader.library() is None:
        pytest.skip("set up without a compiler for the kernels")
    else:
        yield lambda x: x


def to_device(x: TrainingModel | dict) -> TrainingModel | dict:
    """A model or a batch on the simulated device."""
    return apply_to_sample(to_device, x) if isinstance(x, dict) else x.to(DEVICE)


@dataclass
class Case:
    """A model that has learned for some updates, so that its derivations are short, and a batch."""

    task: TransitionParsingTask
    model: TrainingModel
    batch: dict
    _wanted: dict = field(default_factory=dict)

    def wanted(self, function: Callable, *options):
        """What the function gives on the CPU without kernels."""
        key = function, options
        if key not in self._wanted:
            with _disable_current_modes(), without_kernels():
                self._wanted[key] = function(self, lambda x: x, *options)
        return self._wanted[key]


@pytest.fixture(scope="module")
def case_of(tmp_path_factory) -> Callable[[str, str], Case]:
    tasks, cases = {}, {}

    def case(system: str, kind: str) -> Case:
        if system not in tasks:
            tasks[system] = task_and_batch(system, tmp_path_factory, range(1, 7), 4)
        if (system, kind) not in cases:
            task, batch = tasks[system]
            with _disable_current_modes():  # a case is the same whichever way comes first
                model = make_model(kind, task.resources)
                cases[system, kind] = Case(task, model, with_words(model, task, batch))
                _update(task, model, cases[system, kind].batch, 15)
        return cases[system, kind]

    return case


def _update(task: TransitionParsingTask, model: TrainingModel, batch: dict, count: int) -> torch.Tensor:
    """The loss of the last of some updates; leaves its gradients."""
    criterion, optimizer = make_criterion(task), make_optimizer(model)
    for update in range(count):
        optimizer.zero_grad()
        loss, size, _ = task.train_step(batch, model, criterion, optimizer, update)
        optimizer.multiply_grads(1.0 / size)
        optimizer.clip_grad_norm(5.0)
        optimizer.step()
    return loss


def trained(case: Case, move: Callable) -> dict[str, torch.Tensor]:
    """What two more updates change: the loss, gradients and weights."""
    model = move(copy.deepcopy(case.model))
    # rounding opens or shuts a ReLU whose input is almost 0: let a smooth function take its place
    with mock.patch.object(functional, "relu", functional.silu):
        found = {"loss": _update(case.task, model, move(case.batch), 2)}
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            found |= {name: parameter, f"gradient of {name}": parameter.grad}
    return {name: value.detach().cpu() for name, value in found.items()}


def validated(case: Case, move: Callable) -> dict:
    """What `fairseq-train` logs of a batch of validation data."""
    model = move(copy.deepcopy(case.model)).eval()
    with torch.no_grad():
        return case.task.valid_step(move(case.batch), model, make_criterion(case.task))[2]


def searched(case: Case, move: Callable, beam: int) -> list[list[tuple[list[int], list[float], float]]]:
    """All hypotheses of each sentence: tokens, their scores, the score of all."""
    model, net_input = move(copy.deepcopy(case.model)).eval(), move(case.batch)["net_input"]
    with torch.no_grad():
        encoder_out = model.plain.encode(net_input)
    if model.plain.searches_directly:
        trees = model.plain.decoder.trees(encoder_out)
        return [[([*tree.heads], scores, sum(scores))] for tree, scores in trees]
    found = search(model.plain, encoder_out, beam, nbest=beam)
    return [[(h.tokens, h.step_scores, h.score) for h in hypotheses] for hypotheses in found]


EACH_CASE = [(system, kind) for system in SYSTEMS for kind in MODELS if runs_with(kind, system)]
each_case = pytest.mark.parametrize(("system", "kind"), mostly_slow(EACH_CASE, *USUAL))
each_other_way = pytest.mark.parametrize("move", ["kernels", "device"], indirect=True)


@each_case
@each_other_way
def test_training(case_of, system, kind, move):
    case = case_of(system, kind)
    wanted, found = case.wanted(trained), trained(case, move)
    assert found.keys() == wanted.keys()
    for name, value in wanted.items():  # updates make differences of rounding larger
        assert torch.allclose(found[name], value, rtol=CLOSE, atol=CLOSE if "gradient" in name else 10 * CLOSE), name


@pytest.mark.parametrize(
    ("system", "kind"),
    mostly_slow(
        [
            *((system, kind) for system, kind in EACH_CASE if kind not in GRAPHS),
            *itertools.product(("arc-standard-swap", "arc-hybrid"), OF_TREES),
        ],
        *USUAL,
    ),
)
def test_steps_of_search_score_like_teacher_forcing(case_of, system, kind):
    """One step after the other with what search carries along, and all steps at once."""
    case = case_of(system, kind)
    model, net_input, target = case.model.eval(), case.batch["net_input"], case.batch["target"]
    with torch.no_grad():
        encoder_out, actions = model.plain.encode(net_input), net_input["prev_output_tokens"]
        decoder = model.plain.decoder
        states = decoder.states(actions, encoder_out)
        for name, value in States(**net_input["states"]).tensors().items():  # those of the loader
            own = getattr(states, name)
            assert own is None or torch.equal(value, own), name
        wanted = only_legal(
            decoder.pooled_shifts(decoder.scores(actions, encoder_out, states)), decoder.legality(states)
        )
        search_state = decoder.start(encoder_out)
        for step in range(actions.size(1)):
            if step:
                search_state.machine.apply(actions[:, step])
            found = decoder.step(actions[:, step], search_state).masked()
            real = target[:, step] != case.task.target_dictionary.pad()
            both = ((found > float("-inf")) & (wanted[:, step] > float("-inf")))[real]  # search of AMRs has its limits
            assert bool(both.gather(1, target[:, step][real][:, None]).all())
            ours, theirs = (only_legal(scores[real], both).log_softmax(-1) for scores in (found, wanted[:, step]))
            assert torch.allclose(ours[both], theirs[both], atol=1e-5)


@each_case
@each_other_way
def test_validation(case_of, system, kind, move):
    case = case_of(system, kind)
    found = validated(case, move)
    assert found == pytest.approx(case.wanted(validated), rel=CLOSE)
    assert found["_gold" if system == "amr" else "_words"] > 0


@each_case
@each_other_way
@pytest.mark.parametrize("beam", mostly_slow([1, 3], 3))
def test_search(case_of, system, kind, move, beam):
    case = case_of(system, kind)
    found, wanted = searched(case, move, beam), case.wanted(searched, beam)
    for ours, theirs in zip(found, wanted, strict=True):
        if kind in MEMORYLESS:  # for them the same actions in another order may be exactly as likely
            ours, theirs = ([(sorted(h[0]), sorted(h[1]), h[2]) for h in hypotheses] for hypotheses in (ours, theirs))
        for hypothesis, other in zip(sorted(ours), sorted(theirs), strict=True):
            assert hypothesis[0] == other[0]
            assert hypothesis[1] == pytest.approx(other[1], abs=3 * CLOSE)
            assert hypothesis[2] == pytest.approx(other[2], abs=CLOSE)


def gradients(model: TrainingModel) -> torch.Tensor:
    """All of them, one after the other."""
    return torch.cat([parameter.grad.detach().cpu().float().flatten() for parameter in model.parameters()])


@pytest.mark.parametrize(
    ("system", "kind"), mostly_slow([case for case in EACH_CASE if case[0] in ("arc-hybrid-swap", "amr")], *USUAL)
)
def test_every_precision(case_of, system, kind):
    """Also on a processor without bf16: training and parsing then emulate it."""
    case = case_of(system, kind)
    task = make_task(case.task.cfg.data, train_precision="bf16")
    half, full = (_update(t, copy.deepcopy(case.model), case.batch, 1).item() for t in (task, case.task))
    assert half == pytest.approx(full, rel=0.05)
    exact = None
    for precision in ("fp32", "bf16", "int8")[: 2 + has_int8()]:
        parses = Parser(case.model.plain, task.resources, precision=precision).parse(SENTENCES)
        exact = exact or parses
        apart = [
            abs(parse.mean_log_probability - other.mean_log_probability)
            for parse, other in zip(parses, exact, strict=True)
        ]
        assert statistics.median(apart) < 0.1


def read_as(parser: Parser, sentences: list[list[str]]) -> list[tuple]:
    """What a parser finds: all that it says of each sentence but its score, and the score."""
    return [((parse.actions, str(parse.annotated())), parse.mean_log_probability) for parse in parser.parse(sentences)]


@each_case
@pytest.mark.parametrize("move", mostly_slow(["kernels", "torch"], "kernels"), indirect=True)
@pytest.mark.parametrize(
    ("precision", "beam"), mostly_slow(itertools.product(("fp32", "int8"), (1, 3)), ("fp32", 3), ("int8", 1))
)
def test_a_sentence_does_not_depend_on_its_batch(case_of, system, kind, move, precision, beam):
    """Of whatever model; int8 computes the rest in bf16, where sums are rounded otherwise."""
    if precision == "int8" and not has_int8():
        pytest.skip("nothing multiplies integers here")
    model, resources = case_of(system, kind).model.plain, case_of(system, kind).task.resources
    parser = Parser(model, resources, beam, precision=precision, threads=1)
    together, close = read_as(parser, SENTENCES), 1e-4 if precision == "fp32" else 2e-3
    others = [read_as(parser, [sentence])[0] for sentence in SENTENCES]
    for (found, score), (other, its_score) in zip(together, others, strict=True):
        assert other == found and its_score == pytest.approx(score, abs=close)


PRETRAINED = {"en-ewt": (SAMPLE, 8), "en-amr": (SAMPLE_AMR, 3)}  # what it is tried on: so many sentences


def parses(name: str, beam: int, precision: str, device: str = "cpu") -> list[AmrParse] | list[Parse]:
    path, count = PRETRAINED[name]
    parser = Parser.load(name, beam=beam, precision=precision, device=device, threads=1)
    sentences = [sentence for sentence in parser.read(path) if len(sentence.forms) <= 12]
    return parser.parse(sentences[:count])


@pytest.mark.parametrize("move", ["kernels", "torch"], indirect=True)
@pytest.mark.parametrize("beam", mostly_slow([1, 4], 4))
@pytest.mark.parametrize("name", PRETRAINED)
def test_parsers_of_the_package(move, name, beam):
    wanted = parses(name, beam, "fp32")
    with SimulatedDevice():
        found = parses(name, beam, "fp32", DEVICE.type)
    assert len(found) == PRETRAINED[name][1]
    for ours, theirs in zip(found, wanted, strict=True):
        assert ours.actions == theirs.actions
        assert ours.mean_log_probability == pytest.approx(theirs.mean_log_probability, abs=CLOSE)


@pytest.mark.parametrize("move", WAYS, indirect=True)
@pytest.mark.parametrize("beam", [1, 3])
@pytest.mark.parametrize("part", ["encoder", "decoder"])
def test_finite_weights_with_which_scores_are_not_finite(move, request, part, beam):
    device = DEVICE.type if request.node.callspec.params["move"] == "device" else "cpu"
    parser = Parser.load("en-ewt", beam=beam, precision="fp32", device=device)
    for weights in getattr(parser.model, part).parameters():
        weights.data.mul_(1e30)
    with pytest.raises(InputError, match=r"the weights of the model are too large: .*train again"):
        parser.parse([["Dogs", "bark", "."], ["Stop", "!"]])


# how often the host waits for the device in a step of search, at the most: each wait leaves an accelerator idle
MOST_WAITS = {"en-ewt": 1.0, "en-amr": 2.0}


@pytest.mark.parametrize("beam", [1, 4])
@pytest.mark.parametrize("name", PRETRAINED)
def test_search_seldom_waits_for_a_device(name, beam):
    with SimulatedDevice() as device:
        parser = Parser.load(name, precision="fp32", device=DEVICE.type, threads=1)
        some = [list(s.forms) for s in parser.read(PRETRAINED[name][0]) if len(s.forms) <= 12][:3]
        encoder_out = encode(parser, some)
        assert parser.model.decoder.device_table.column.device == DEVICE  # moved once, not in each search
        device.waits.clear()
        with mock.patch.object(BatchedMachine, "apply", autospec=True, side_effect=BatchedMachine.apply) as step:
            search(parser.model, encoder_out, beam)
    assert step.call_count >= 2 * int(encoder_out.lengths.inner.max())
    assert device.waits.total() <= MOST_WAITS[name] * step.call_count, f"\n{device.waits}"
    # what has a size that depends on values waits in the midst of a step
    assert device.waits.keys() <= {"item", "cpu", "upload"}, f"\n{device.waits}"


@pytest.mark.slow
@pytest.mark.parametrize(("precision", "most"), [("fp32", 0), ("bf16", 9)])
def test_kernels_change_few_trees(corpora, precision, most):
    """Sums in another order are rounded otherwise, which only bf16 makes visible."""
    found = []
    for context in (nullcontext(), without_kernels()):
        with context:
            parser = Parser.load("en-ewt", precision=precision, threads=1)
            sentences = islice(parser.read(corpora / "ud" / "UD_English-EWT" / "dev.conllu"), 300)
            found.append([parse.tree for parse in parser.parse(list(sentences))])
    assert sum(ours != theirs for ours, theirs in zip(*found, strict=True)) <= most


@pytest.mark.parametrize("system", ["arc-hybrid-swap", "amr"])
def test_training_in_bf16_on_a_device(case_of, system):
    """With `--train-precision bf16` the loss and the direction of the gradients are about those of the CPU."""
    case = case_of(system, "positions")
    task = make_task(case.task.cfg.data, train_precision="bf16")
    here, there = copy.deepcopy(case.model), copy.deepcopy(case.model)
    wanted = _update(task, here, case.batch, 1)
    with SimulatedDevice():
        there = to_device(there)
        found = _update(task, there, to_device(case.batch), 1)
        assert float(found) == pytest.approx(float(wanted), rel=0.01)
        assert torch.cosine_similarity(gradients(there), gradients(here), 0) > 0.99


def test_dropout_on_a_device(case_of):
    """Other numbers are dropped than on the CPU: the gradients are finite, and not those without dropout."""
    case, found = case_of("arc-eager", "state"), []
    with SimulatedDevice():
        for dropout in (0.0, 0.5):
            model = to_device(make_model("state", case.task.resources, dropout))
            _update(case.task, model, to_device(case.batch), 1)
            found.append(gradients(model))
    assert all(gradient.isfinite().all() for gradient in found)
    assert 0 < torch.cosine_similarity(*found, 0) < 0.9

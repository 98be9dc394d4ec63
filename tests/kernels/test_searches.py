"""Kernels that find whole derivations find what search finds step by step."""

import copy
from collections.abc import Callable
from dataclasses import replace
from unittest import mock

import pytest
import torch

from tests.conftest import threads
from tests.helpers.crosses import mostly_slow, needs_int8
from tests.helpers.small_models import encode, make_folder, make_model, make_task
from transition_parser import Parser
from transition_parser.base.errors import NotFiniteError
from transition_parser.kernels import loader, searches
from transition_parser.kernels.encoders import has_int8
from transition_parser.models import stack_transformer as decoder
from transition_parser.parsing.search import search
from transition_parser.states.amr_machine import Nodes, Rows
from transition_parser.states.table import ActionClass

WORDS = "The old dog saw 3 cats in Paris and slept , or so he said .".split()
CLOSE = {"fp32": 1e-4, "int8": 0.1, "bf16": 0.1}


def search_by_steps(model, encoder_out, *options):
    """What search finds without the kernels of whole searches."""
    with mock.patch.object(type(model.decoder), "search_at_once", lambda *_: None):
        return search(model, encoder_out, *options)


def assert_same(found, wanted, precision: str) -> None:
    """In other precisions than fp32, sums that differ in their last bit are rounded to other numbers, and many scores
    are equal, so that some beams are ordered otherwise."""
    same = 0
    for one, other in zip(found, wanted, strict=True):
        assert len(one) == len(other)
        same += [a.tokens for a in one] == [b.tokens for b in other]
        for a, b in zip(one, other, strict=True):
            if a.tokens == b.tokens:
                assert a.step_scores == pytest.approx(b.step_scores, abs=CLOSE[precision])
                assert a.score == pytest.approx(b.score, abs=CLOSE[precision])
    assert same >= (1.0 if precision == "fp32" else 0.5) * len(found)


SYSTEMS = [("arc-hybrid", 1), ("arc-hybrid-swap", 7), ("arc-standard", 2), ("arc-standard-swap", 2)]


@pytest.mark.parametrize(
    ("system", "beam", "precision"),
    mostly_slow(
        [(*system, precision) for system in SYSTEMS for precision in ("fp32", "bf16")],
        *((*system, "fp32") for system in SYSTEMS),
        (*SYSTEMS[1], "bf16"),
    ),
)
def test_the_kernel_finds_what_search_finds_step_by_step(lanes, tmp_path_factory, system, beam, precision):
    """A decoder that adds up vectors of words is searched by one call: the same derivations with the same scores."""
    resources = make_task(make_folder(system, tmp_path_factory, 0)).resources
    model = make_model("tob", resources).plain
    with torch.no_grad():
        for parameter in model.decoder.parameters():
            parameter.mul_(3.0)  # random weights are small: derivations would have nearly equal scores
    parser = Parser(model, resources, precision=precision)
    words = "the old dog saw a cat and its Kittens slept , 1999".split()
    sentences = [[words[(i * step) % len(words)] for i in range(step)] for step in (*range(1, 24), 3, 1)] * 3
    encoded = encode(parser, sentences)
    at_once = search(parser.model, encoded, beam, beam)
    by_steps = search_by_steps(parser.model, encoded, beam, beam)
    with torch.inference_mode():
        assert parser.model.decoder.search_at_once(encoded, beam) is not None
    assert_same(at_once, by_steps, precision)


@pytest.mark.parametrize("kind", ["arc-eager", "labeled shift", "amr"])
def test_search_goes_step_by_step_where_the_kernel_cannot_follow(lanes, tmp_path_factory, kind):
    """Legality depends on arcs, on the word of SHIFT, or on the nodes of an AMR."""
    labeled = kind == "labeled shift"
    folder = make_folder("arc-hybrid-swap" if labeled else kind, tmp_path_factory, 3 if labeled else 0)
    resources = make_task(folder).resources
    parser = Parser(make_model("tob", resources).plain, resources, precision="fp32")
    with torch.inference_mode():
        assert parser.model.decoder.search_at_once(encode(parser, [["The", "dog"]]), 1) is None


@pytest.fixture
def amr_parser(tmp_path_factory):
    """A function from a model of `MODELS` and a precision to a parser of AMRs, whose scores differ much."""
    resources = make_task(make_folder("amr", tmp_path_factory)).resources
    system = resources.table.system
    system.limits = replace(system.limits, nodes=4, swaps=0, span=4)  # long derivations differ in their last bits

    def make(kind: str, precision: str = "fp32") -> Parser:
        model = make_model(kind, resources).plain
        with torch.no_grad():
            # else sums in another order would change derivations
            model.decoder.output.weight.mul_(5.0 if model.decoder.functions is None else 3.0)
            if model.decoder.functions is not None:  # derivations with frames and their arguments
                tokens = enumerate(resources.table.tokens)
                likely = [i for i, name in tokens if name.startswith("FRAME") or "(ARG" in name]
                model.decoder.norm.bias.add_(1.0)
                model.decoder.output.weight[likely] += 0.1
                model.decoder.functions.weight.normal_(std=0.1)
        return Parser(model, resources, precision=precision)

    return make


WAYS = [("no state", 1), ("state", 2), ("positions", 5), ("sinusoids", 2), ("top2", 2), ("columns", 3)]


@pytest.mark.parametrize(
    ("kind", "beam", "precision"),
    mostly_slow(
        [(*way, precision) for way in WAYS for precision in ("fp32", "bf16", "int8")],
        *((*way, "fp32") for way in WAYS if way[0] not in ("sinusoids", "top2")),
        *((*WAYS[-1], precision) for precision in ("bf16", "int8")),
    ),
)
def test_the_kernel_finds_the_amrs_that_search_finds_step_by_step(lanes, amr_parser, kind, beam, precision):
    if precision == "int8" and (lanes < 16 or not has_int8()):
        pytest.skip("only the widest variant multiplies integers")
    parser = amr_parser(kind, precision)
    encoded = encode(parser, [WORDS[start : start + length] for start, length in ((0, 4), (4, 1), (9, 3))])
    with torch.inference_mode():
        assert parser.model.decoder.search_at_once(encoded, beam) is not None
    at_once = search(parser.model, encoded, beam, beam)
    by_steps = search_by_steps(parser.model, encoded, beam, beam)
    assert_same(at_once, by_steps, precision)
    if parser.model.decoder.functions is not None and precision == "fp32":
        with torch.no_grad():
            parser.model.decoder.functions.weight.zero_()
        assert any(one != other for one, other in zip(search(parser.model, encoded, beam, beam), at_once, strict=True))


@needs_int8
def test_convolutions_are_computed_with_int8(amr_parser, monkeypatch):
    """Also where the rest is packed for bf16; the linear layer over three words gives what the convolution gives."""
    (layer,) = amr_parser("positions", "int8").model.encoder.local
    assert layer.inner.product is not None
    x, words = torch.randn(2, 5, layer.norm.weight.numel()).to(layer.norm.weight.dtype), torch.ones(2, 5, dtype=bool)
    words[1, 3:] = False
    with torch.inference_mode():
        found = layer(x, words)
        monkeypatch.setattr(layer, "inner", None)
        assert torch.allclose(found, layer(x, words), atol=0.05)


@pytest.mark.parametrize("why", ["training", "autocast", "SHIFTs", "no kernels"])
def test_amrs_are_searched_step_by_step_where_the_kernel_cannot_follow(amr_parser, monkeypatch, why):
    """Exploration searches while a model trains: in bf16 by autocast, with weights in fp32, and with dropout."""
    parser = amr_parser("shift words" if why == "SHIFTs" else "state")
    if why == "no kernels":
        monkeypatch.setattr(loader, "library", lambda: None)
    model = parser.model.train(why == "training")
    with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16, enabled=why == "autocast"):
        assert model.decoder.search_at_once(encode(parser, [["The", "dog"]]), 1) is None
    parser.model.eval()


def test_weights_that_change_are_read_again(amr_parser):
    """Only a parser keeps them, because its weights do not change; copies of its model have them anew."""
    parser = amr_parser("state")
    encoded = encode(parser, [WORDS])
    kept, model = search(parser.model, encoded), copy.deepcopy(parser.model)
    assert parser.model.decoder._stack is not None and model.decoder._stack is None
    assert search(model, encoded) == kept
    with torch.no_grad():
        model.decoder.layers[0].feed_forward.inner.weight.normal_()
    (changed,), (wanted,) = search(model, encoded), search_by_steps(model, encoded)
    assert changed[0].step_scores == pytest.approx(wanted[0].step_scores, abs=1e-4)
    assert changed[0].step_scores != kept[0][0].step_scores


def test_what_the_kernel_knows_of_python():
    assert len(ActionClass) == searches._COLUMNS
    assert len(Rows._fields) == searches._NUMBERS and len(Nodes._fields) == searches._NODE


@pytest.fixture
def amr_search(amr_parser, monkeypatch):
    """The arguments with which the decoder calls the kernel for two sentences."""
    if loader.library() is None:
        pytest.skip("there are no kernels here")
    parser, given = amr_parser("columns"), {}
    names = ("table", "features", "rows", "span", "actions", "sinusoids", "stack", "attended", "beam")
    monkeypatch.setattr(decoder, "search_amrs", lambda *values: given.update(zip(names, values, strict=True)))
    with torch.inference_mode():
        parser.model.decoder.search_at_once(encode(parser, [["The", "dog", "slept"], ["The", "dog"]]), 2)
    monkeypatch.undo()
    return given


def _changed(given: dict, name: str, **changed) -> dict:
    if isinstance(given[name], tuple):
        return {name: given[name]._replace(**changed)}
    table = copy.copy(given[name])
    vars(table).update(changed)
    return {name: table}


def _functions(given: dict, name: str, change: Callable) -> dict:
    functions = given["actions"].functions
    return _changed(given, "actions", functions=functions._replace(**{name: change(getattr(functions, name))}))


def _at(tensor: torch.Tensor, index: tuple, value: int) -> torch.Tensor:
    tensor = tensor.clone()
    tensor[index] = value
    return tensor


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda given: {"beam": 0}, "must be 1 or more"),
        (lambda given: {"sinusoids": given["sinusoids"][:2]}, "a derivation has more actions"),
        (lambda given: _changed(given, "actions", end=10**6), "end: beyond the vocabulary"),
        (lambda given: _changed(given, "attended", memories=given["attended"].memories[:1]), "for each of 2 layers"),
        (
            lambda given: _changed(given, "attended", positions=[x[:, :0] for x in given["attended"].positions]),
            "one vector",
        ),
        (lambda given: _changed(given, "attended", roles=given["attended"].roles + 5), "roles: beyond"),
        (lambda given: _changed(given, "attended", lengths=given["attended"].lengths + 5), "lengths: beyond"),
        (lambda given: {"rows": _at(given["rows"], (1, 0), 7)}, "rows: beyond"),
        (lambda given: {"span": -1}, "span 0 or more"),
        (lambda given: {"features": given["features"][:, :, :7]}, "the features more than 7"),
        (lambda given: {"features": _at(given["features"], (1, 0, 7), 10**6)}, "features: beyond the lexicon"),
        (lambda given: {"features": _at(given["features"], (1, 0, 4), -1)}, "features: beyond the table of frames"),
        (lambda given: _changed(given, "table", column=given["table"].column + 21), "column: there is no such"),
        (lambda given: _changed(given, "table", route=given["table"].route + 9), "route or sense: beyond"),
        (lambda given: _functions(given, "tokens", lambda old: old + 10**6), "arcs: beyond the vocabulary"),
        (lambda given: _functions(given, "places", lambda old: old + 2), "arcs: .* of a third node"),
        (lambda given: _functions(given, "tokens", lambda old: old.repeat(65)), "at most 64 arcs"),
        (
            lambda given: _changed(given, "table", frame_classes=[x - 1 for x in given["table"].frame_classes]),
            "frames: beyond the classes",
        ),
    ],
)
def test_the_kernel_that_searches_amrs_checks_what_it_reads(amr_search, change, problem):
    with threads(2), pytest.raises(ValueError, match=problem):
        searches.search_amrs(**{**amr_search, **change(amr_search)})


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_the_kernel_that_searches_amrs_needs_finite_numbers(amr_search, number):
    for name, tensors in (("attended", "memories"), ("attended", "positions")):
        wrong = [torch.full_like(part, number) for part in getattr(amr_search[name], tensors)]
        with pytest.raises(NotFiniteError):
            searches.search_amrs(**{**amr_search, **_changed(amr_search, name, **{tensors: wrong})})
    for name in ("embedded", "output"):
        wrong = torch.full_like(getattr(amr_search["actions"], name), number)
        with pytest.raises(NotFiniteError):
            searches.search_amrs(**{**amr_search, **_changed(amr_search, "actions", **{name: wrong})})


PRECISIONS = ["fp32", "bf16", pytest.param("int8", marks=needs_int8)]


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("beam", mostly_slow([1, 4, 60], 1, 60))
@pytest.mark.parametrize("kind", mostly_slow(["no state", "positions"], "positions"))
def test_the_amr_of_a_sentence_does_not_depend_on_those_beside_it(amr_parser, kind, precision, beam):
    """One call searches many sentences, some side by side, the others after them; with a beam of 60, one by one."""
    parser = amr_parser(kind, precision)
    starts, lengths = range(0, 9, 4), (1, 3, 2)
    sentences = [WORDS[start : start + length] for length in lengths for start in starts] * (5 if beam == 1 else 1)
    encoded = encode(parser, sentences)
    together = search(parser.model, encoded, beam, beam)
    for found, one in zip(together, sentences, strict=True):
        (alone,) = search(parser.model, encode(parser, [one]), beam, beam)
        if precision == "fp32":  # where the encoder's sums depend on the shape of the batch
            assert [best.step_scores for best in found] == [pytest.approx(best.step_scores, abs=1e-4) for best in alone]
        else:
            assert found == alone
    with threads(3):
        assert search(parser.model, encoded, beam, beam) == together

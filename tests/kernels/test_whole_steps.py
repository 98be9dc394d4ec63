"""Kernels that compute whole derivations, or all layers of a step, find what search finds part by part."""

from __future__ import annotations

import pytest
import torch

from tests.conftest import threads
from tests.small_models import encode, make_folder, make_model, make_task
from transition_parser import Parser
from transition_parser.kernels import amr_search_kernels, search_kernels
from transition_parser.kernels.code_kernels import has_codes
from transition_parser.models.stack_transformer import decoder
from transition_parser.models.stack_transformer.decoder import StackTransformerDecoder
from transition_parser.modules import packing
from transition_parser.parsing.search import Observed, search

needs_codes = pytest.mark.skipif(not has_codes(), reason="this processor multiplies no codes")
WORDS = "The old dog saw 3 cats in Paris and slept , or so he said .".split()
PRECISIONS = ["fp32", "bf16", pytest.param("int8", marks=needs_codes)]


def _forced_steps(_step: Observed) -> None:
    """An observer that does nothing: with an observer, search goes step by step."""


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
@pytest.mark.parametrize("beam", [1, 2, 7])
@pytest.mark.parametrize("system", ["arc-hybrid", "arc-hybrid-swap", "arc-standard", "arc-standard-swap"])
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
    by_steps = search(parser.model, encoded, beam, beam, observer=_forced_steps)
    with torch.inference_mode():
        assert parser.model.decoder.search_at_once(encoded, beam) is not None
    same = 0
    for one, other in zip(at_once, by_steps, strict=True):
        assert len(one) == len(other)
        if [a.tokens for a in one] == [b.tokens for b in other]:
            same += 1
            for a, b in zip(one, other, strict=True):
                assert a.step_scores == pytest.approx(b.step_scores, abs=0.05 if precision == "bf16" else 1e-4)
                assert a.score == pytest.approx(b.score, abs=0.05 if precision == "bf16" else 1e-4)
    # in bf16 sums that differ in their last bit are rounded to other numbers, so that few beams are ordered otherwise
    assert same == len(sentences) if precision == "fp32" else same >= 0.8 * len(sentences)


@pytest.mark.parametrize("kind", ["arc-eager", "labelled shift", "amr"])
def test_search_goes_step_by_step_where_the_kernel_cannot_follow(lanes, tmp_path_factory, kind):
    """Legality depends on arcs, on the word of SHIFT, or on the nodes of an AMR."""
    labelled = kind == "labelled shift"
    folder = make_folder("arc-hybrid-swap" if labelled else kind, tmp_path_factory, 3 if labelled else 0)
    resources = make_task(folder).resources
    parser = Parser(make_model("tob", resources).plain, resources, precision="fp32")
    with torch.inference_mode():
        assert parser.model.decoder.search_at_once(encode(parser, [["The", "dog"]]), 1) is None


@pytest.fixture
def amr_parser(tmp_path_factory, monkeypatch):
    """A function from a model of `MODELS` and a precision to a parser of AMRs that a kernel searches."""
    monkeypatch.setattr(decoder, "LARGE_VOCABULARY", 1)
    resources = make_task(make_folder("amr", tmp_path_factory)).resources

    def make(kind: str, precision: str = "fp32") -> Parser:
        return Parser(make_model(kind, resources).plain, resources, precision=precision)

    return make


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("beam", [1, 2, 4])
@pytest.mark.parametrize("kind", ["no state", "state", "positions", "sinusoids", "top2", "columns"])
def test_the_kernel_finds_the_amrs_that_search_finds_step_by_step(lanes, amr_parser, kind, beam, precision):
    """A sentence is searched by one call: the same derivations with the very same scores."""
    if precision == "int8" and lanes < 16:
        pytest.skip("only the widest variant multiplies codes")
    parser = amr_parser(kind, precision)
    for sentence in (WORDS, WORDS[:1], WORDS[3:7]):
        encoded = encode(parser, [sentence])
        with torch.inference_mode():
            assert parser.model.decoder.search_at_once(encoded, beam) is not None
        at_once = search(parser.model, encoded, beam, beam)
        assert at_once == search(parser.model, encoded, beam, beam, observer=_forced_steps)


@pytest.mark.parametrize(
    ("precision", "beam"),
    [("fp32", 1), ("bf16", 1), *(pytest.param("int8", beam, marks=needs_codes) for beam in (1, 4, 60))],
)
@pytest.mark.parametrize("kind", ["no state", "positions", "top2"])
def test_the_amr_of_a_sentence_does_not_depend_on_those_beside_it(amr_parser, kind, precision, beam):
    """One call searches many sentences, some side by side, the others after them; with a beam of 60, one by one."""
    parser = amr_parser(kind, precision)
    starts = range(0, 7, 1 if beam < 60 else 6)
    sentences = [WORDS[start : start + length] for length in (1, 5, 2, 9) for start in starts] * (3 if beam == 1 else 1)
    encoded = encode(parser, sentences)
    with torch.inference_mode():
        assert parser.model.decoder.search_at_once(encoded, beam) is not None
    together = search(parser.model, encoded, beam, beam)
    for found, one in zip(together, sentences, strict=True):
        (alone,) = search(parser.model, encode(parser, [one]), beam, beam)
        if precision == "fp32":  # where the encoder's sums depend on the shape of the batch
            assert [best.step_scores for best in found] == [pytest.approx(best.step_scores, abs=1e-4) for best in alone]
        else:
            assert found == alone
    with threads(3):
        assert search(parser.model, encoded, beam, beam) == together
    if precision == "int8":
        by_steps = search(parser.model, encoded, beam, beam, observer=_forced_steps)
        for one, other in zip(together, by_steps, strict=True):
            # the softmax adds up the actions that are legal in some row of all sentences, in another order
            assert [best.score for best in one] == pytest.approx([best.score for best in other], abs=1e-5)


@needs_codes
@pytest.mark.parametrize("count", [1, 2])
def test_a_wrong_sentence_among_many(amr_parser, monkeypatch, count):
    given = _arguments(amr_parser("positions", "int8"), [WORDS[:3], WORDS[2:9], WORDS[:1], WORDS[:5]], monkeypatch)
    context = given["rows"].context.clone()
    context[1] += 10**6
    with threads(count), pytest.raises(ValueError, match="context: beyond"):
        amr_search_kernels.search_amrs(**{**given, **_rows(given, context=context)})
    amr_search_kernels.search_amrs(**given)


@needs_codes
def test_convolutions_are_computed_with_codes(amr_parser):
    """Also where the rest is packed for bf16; with kernels and without, the convolution is the same."""
    (layer,) = amr_parser("positions", "int8").model.encoder.local
    assert layer.inner.product is not None
    x, words = torch.randn(2, 5, layer.norm.weight.numel()).to(layer.norm.weight.dtype), torch.ones(2, 5, dtype=bool)
    words[1, 3:] = False
    with torch.inference_mode():
        assert torch.equal(layer(x, words), layer.infer(x.clone(), words))


@pytest.mark.parametrize("why", ["large beam", "beams", "emulated int8", "training", "small vocabulary", "SHIFTs"])
def test_amrs_are_searched_step_by_step_where_the_kernel_cannot_follow(amr_parser, monkeypatch, why):
    if why == "emulated int8":
        monkeypatch.setattr(packing, "has_codes", lambda: False)
    parser = amr_parser("shift words" if why == "SHIFTs" else "state", "int8" if why == "emulated int8" else "fp32")
    model = parser.model.train(why == "training")
    if why == "small vocabulary":
        monkeypatch.setattr(decoder, "LARGE_VOCABULARY", 10**6)
    encoded = encode(parser, [["The", "dog"]] * (2 if why == "beams" else 1))
    with torch.inference_mode():
        assert model.decoder.search_at_once(encoded, {"large beam": 17, "beams": 2}.get(why, 1)) is None
    parser.model.eval()


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("beam", [1, 2])
@pytest.mark.parametrize(("kind", "system"), [("no state", "amr"), ("top2", "amr"), ("positions", "arc-hybrid-swap")])
def test_all_layers_of_a_few_rows_at_once(lanes, tmp_path_factory, monkeypatch, kind, system, beam, precision):
    """One call computes what the layers compute one by one, also where sentences leave the batch."""
    if precision == "int8" and lanes < 16:
        pytest.skip("only the widest variant multiplies codes")
    resources = make_task(make_folder(system, tmp_path_factory)).resources
    parser = Parser(make_model(kind, resources).plain, resources, precision=precision)
    encoded = encode(parser, [["word"] * length for length in (9, 1, 4, 2)])
    with torch.inference_mode():
        stack = parser.model.decoder.start(encoded).stack
    assert stack is not None and stack.is_coded == (precision == "int8")
    at_once = search(parser.model, encoded, beam, beam)
    monkeypatch.setattr(StackTransformerDecoder, "_fits_kernel", lambda *_: False)
    one_by_one = search(parser.model, encoded, beam, beam)
    close = 0.1 if precision == "bf16" else 1e-4
    for one, other in zip(at_once, one_by_one, strict=True):
        assert len(one) == len(other)
        if precision != "bf16":
            assert [best.tokens for best in one] == [best.tokens for best in other]
        for best, same in zip(one, other, strict=True):
            if best.tokens == same.tokens:
                assert best.step_scores == pytest.approx(same.step_scores, abs=close)
    assert any(one[0].tokens == other[0].tokens for one, other in zip(at_once, one_by_one, strict=True))


@needs_codes
@pytest.mark.parametrize("beam", [1, 3])
def test_in_int8_a_few_rows_get_the_very_numbers_of_many(tmp_path_factory, beam):
    """A sentence alone is computed by one call a step, and among others layer by layer."""
    resources = make_task(make_folder("arc-hybrid-swap", tmp_path_factory)).resources
    parser = Parser(make_model("positions", resources).plain, resources, precision="int8")
    sentences = [["word", "The", "dog", "word"][:length] * 3 for length in (1, 4, 2, 3)] * 6
    together = search(parser.model, encode(parser, sentences), beam, beam)
    for sentence, found in zip(sentences[:4], together[:4], strict=True):
        (alone,) = search(parser.model, encode(parser, [sentence]), beam, beam)
        assert [(one.tokens, one.step_scores) for one in alone] == [(one.tokens, one.step_scores) for one in found]


@pytest.mark.parametrize("way", ["autocast", "training"])
def test_layers_that_train_are_computed_one_by_one(tmp_path_factory, way):
    """Exploration searches while a model trains: in bf16 by autocast, with weights in fp32, and with dropout."""
    resources = make_task(make_folder("arc-hybrid-swap", tmp_path_factory)).resources
    parser = Parser(make_model("state", resources).plain, resources, precision="fp32")
    model = parser.model.train(way == "training")
    with torch.autocast("cpu", torch.bfloat16, enabled=way == "autocast"):
        encoded = encode(parser, [["word"] * length for length in (3, 2)])
        with torch.inference_mode():
            assert model.decoder.start(encoded).stack is None
        assert len(search(model, encoded)) == 2
    parser.model.eval()
    encoded = encode(parser, [["word"]])
    with torch.inference_mode():
        assert (model.decoder.start(encoded).stack is None) == (search_kernels.library() is None)


@pytest.fixture
def amr_search(amr_parser, monkeypatch):
    """The arguments with which the decoder calls the kernel for a sentence."""
    if amr_search_kernels.library() is None:
        pytest.skip("there are no kernels here")
    return _arguments(amr_parser("positions"), [["The", "dog", "slept"]], monkeypatch)


def _arguments(parser: Parser, sentences: list[list[str]], monkeypatch) -> dict:
    """The arguments with which the decoder calls the kernel for sentences."""
    given: dict = {}
    names = ("rows", "vocabulary", "actions", "sinusoids", "stack", "attended", "beam")
    monkeypatch.setattr(
        decoder.amr_search_kernels, "search_amrs", lambda *values: given.update(zip(names, values, strict=True))
    )
    with torch.inference_mode():
        parser.model.decoder.search_at_once(encode(parser, sentences), 2)
    monkeypatch.undo()
    return given


def _rows(given: dict, **changed) -> dict:
    return {"rows": given["rows"]._replace(**changed)}


def _attended(given: dict, **changed) -> dict:
    return {"attended": given["attended"]._replace(**changed)}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda given: {"beam": 0}, "must be 1 or more"),
        (lambda given: {"sinusoids": given["sinusoids"][:2]}, "a derivation has more actions"),
        (lambda given: {"sinusoids": given["sinusoids"].double()}, "sinusoids must be torch.float32"),
        (lambda given: {"actions": given["actions"]._replace(end=10**6)}, "end: beyond the vocabulary"),
        (lambda given: {"actions": given["actions"]._replace(output=given["actions"].output[1:])}, "output must be"),
        (lambda given: _attended(given, memories=[]), "for each of 2 layers"),
        (lambda given: _attended(given, positions=[None]), "for each of 2 layers"),
        (lambda given: _attended(given, positions=[x[:, :0] for x in given["attended"].positions]), "one vector"),
        (lambda given: _attended(given, roles=given["attended"].roles + 5), "roles: beyond"),
        (lambda given: _attended(given, lengths=given["attended"].lengths + 5), "lengths"),
        (lambda given: _rows(given, numbers=given["rows"].numbers[:, :4]), "numbers must be"),
        (lambda given: _rows(given, numbers=given["rows"].numbers + 10**6), "numbers: beyond"),
        (lambda given: _rows(given, nodes=given["rows"].nodes[:, :, :1]), "nodes must be"),
        (lambda given: _rows(given, nodes=given["rows"].nodes[:, :0]), "slots must be 1 or more"),
        (lambda given: _rows(given, columns=given["rows"].columns.long()), "columns must be"),
        (lambda given: _rows(given, columns=given["rows"].columns[:, :20]), "columns must be"),
        (lambda given: _rows(given, columns=given["rows"].columns.repeat(1, 2)), "columns must be"),
        (lambda given: _rows(given, context=given["rows"].context[:, :6]), "context must be"),
        (lambda given: _rows(given, context=given["rows"].context + 10**6), "context: beyond"),
    ],
)
def test_the_kernel_that_searches_amrs_checks_what_it_reads(amr_search, change, problem):
    with pytest.raises(ValueError, match=problem):
        amr_search_kernels.search_amrs(**{**amr_search, **change(amr_search)})

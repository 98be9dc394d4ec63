"""Parsers that are copied, pickled, and sent to other processes."""

import copy
import multiprocessing
import pickle
from functools import cache

import pytest
import torch

from tests.conftest import SAMPLE, SAMPLE_AMR, run_here
from tests.helpers.crosses import mostly_slow, needs_int8
from transition_parser import Parser
from transition_parser.base.errors import InputError
from transition_parser.kernels.encoders import has_fast_bf16
from transition_parser.storage.checkpoints import load_model

PATHS = {"en-ewt": SAMPLE, "en-amr": SAMPLE_AMR}
PRECISIONS = pytest.mark.parametrize(
    "precision", [*mostly_slow(["fp32", "bf16"]), pytest.param("int8", marks=needs_int8)]
)


def some_parses(parser: Parser, model: str) -> list[tuple]:
    sentences = list(parser.read(PATHS[model]))[:5]
    return [(parse.actions, parse.mean_log_probability) for parse in parser.parse(sentences)]


@pytest.fixture(scope="module")
def original():
    """A parser with its parses."""

    @cache
    def made(model: str, precision: str) -> tuple[Parser, list[tuple]]:
        parser = Parser.load(model, 2, 500, precision=precision)
        return parser, some_parses(parser, model)

    return made


@PRECISIONS
@pytest.mark.parametrize("model", PATHS)
@pytest.mark.parametrize("copied", [copy.deepcopy, copy.copy, lambda parser: pickle.loads(pickle.dumps(parser))])
def test_a_copy_parses_alike(original, model, precision, copied):
    parser, expected = original(model, precision)
    other = copied(parser)
    assert other.model is not parser.model
    assert (other.beam, other.batch_tokens, other.threads) == (parser.beam, parser.batch_tokens, parser.threads)
    assert some_parses(other, model) == expected == some_parses(parser, model)


def in_another_process(parser: Parser, sentences: list) -> list[tuple]:
    return [(parse.actions, parse.mean_log_probability) for parse in parser.parse(sentences)]


def test_another_process_parses_alike():
    parser = Parser.load("en-ewt")
    sentences = list(parser.read(SAMPLE))[:5]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.apply(in_another_process, (parser, sentences))
    assert found == in_another_process(parser, sentences)


def test_a_loaded_parser_is_pickled_as_its_path_and_options(checkpoint, tmp_path, monkeypatch):
    run_here("export", checkpoint, "-o", tmp_path / "model")
    monkeypatch.chdir(tmp_path)
    pickled = pickle.dumps(Parser.load("model", beam=3))
    assert len(pickled) < 1000
    monkeypatch.chdir("/")
    assert pickle.loads(pickled).beam == 3
    (tmp_path / "model").rename(tmp_path / "moved")
    with pytest.raises(InputError, match=r"model: no such checkpoint.* for other languages than English"):
        pickle.loads(pickled)


def test_what_is_done_to_the_model_later_does_not_reach_the_parser():
    model, resources = load_model("en-ewt")
    parser = Parser(model, resources, precision="bf16")
    expected = some_parses(parser, "en-ewt")
    with torch.no_grad():
        for weights in model.parameters():
            weights.zero_()
    assert some_parses(parser, "en-ewt") == expected
    with pytest.raises(InputError, match="a parser of a model in memory can't be copied: export the model"):
        copy.deepcopy(parser)


@pytest.mark.skipif(not has_fast_bf16(torch.device("cpu")), reason="int8 stands beside fp32 here")
@pytest.mark.parametrize("precision", ["bf16", pytest.param("int8", marks=needs_int8)])
def test_weights_that_overflow_in_half_precision_are_not_used(precision):
    model, resources = load_model("en-ewt")
    with torch.no_grad():
        model.state_dict()["decoder.output.weight"].view(-1)[0] = torch.finfo(torch.float32).max  # inf in bf16
    with pytest.raises(InputError, match=r"decoder\.output\.weight"):
        Parser(model, resources, precision=precision)

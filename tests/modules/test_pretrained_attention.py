"""The attention of pretrained encoders is the same by kernels and without them."""

from __future__ import annotations

import copy
from functools import cache
from types import SimpleNamespace
from unittest import mock

import pytest
import torch
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from tests.modules.test_pretrained import SENTENCES, vectors, words_of
from tests.tiny_encoder import make_encoder
from transition_parser.kernels import search_kernels
from transition_parser.modules.pretrained import PieceIds
from transition_parser.modules.pretrained_encoder import FUSED, KERNELS, PackedRow, reads_rows, register

KINDS = {
    **dict.fromkeys(("bert", "electra", "distilbert", "roberta"), "kernels"),
    **dict.fromkeys(("deberta-v2", "mpnet"), "its own"),
}
WIDE = 64  # two heads that kernels compute


@pytest.fixture(scope="module")
def encoder_of(tmp_path_factory):
    """The encoder of a kind, made once."""
    folder = tmp_path_factory.mktemp("encoders")
    return cache(lambda kind: words_of(make_encoder(folder / kind, width=WIDE, kind=kind)).eval())


@pytest.fixture
def encoder(encoder_of):
    return encoder_of("bert")


@pytest.fixture
def calls():
    """How often the kernel was called."""
    if search_kernels.library() is None:
        pytest.skip("there are no search kernels here")
    with mock.patch.object(search_kernels, "self_attention", wraps=search_kernels.self_attention) as called:
        yield called


@torch.no_grad()
@pytest.mark.parametrize("kind", list(KINDS))
def test_words_are_read_alike_by_kernels_and_without_them(encoder_of, kind, calls):
    """Also beside others: in more rows than one, and in windows."""
    encoder = encoder_of(kind)
    found = vectors(encoder, SENTENCES)
    assert bool(calls.call_count) == (KINDS[kind] == "kernels")
    calls.reset_mock()
    with mock.patch.object(search_kernels, "supports", return_value=False):
        wanted = vectors(encoder, SENTENCES)
    assert not calls.called
    for words, one, other in zip(SENTENCES, found, wanted, strict=True):
        assert torch.allclose(one, other, atol=1e-4)
        assert torch.allclose(one, vectors(encoder, [words])[0], atol=1e-4)


@torch.no_grad()
def test_bf16(encoder, calls):
    wanted = torch.cat(vectors(encoder, SENTENCES))
    found = torch.cat(vectors(copy.deepcopy(encoder).to(torch.bfloat16), SENTENCES))
    assert found.dtype is torch.bfloat16 and torch.allclose(found.float(), wanted, atol=0.1)


@torch.no_grad()
@pytest.mark.parametrize("name", ["none", "behind", "before", "between", "each word another", "causal"])
def test_any_mask_is_heeded(encoder, calls, name):
    """By kernels where padding is behind the words, or where there is none."""
    ids, mask = torch.randint(5, 20, (3, 7)), torch.ones(3, 7, dtype=torch.long)
    masks = {"none": None, "behind": mask.clone(), "before": mask.clone(), "between": mask.clone()}
    masks["behind"][0, 4:], masks["before"][1, :2], masks["between"][2, 3] = 0, 0, 0
    masks["each word another"] = (torch.rand(3, 1, 7, 7) < 0.6) | torch.eye(7, dtype=torch.bool)
    masks["causal"] = torch.ones(3, 1, 7, 7, dtype=torch.bool).tril()
    seen = torch.ones(3, 7, dtype=torch.bool)
    if masks[name] is not None and masks[name].dim() == 2:
        seen = masks[name].bool()
    read = {}
    for way in (KERNELS, FUSED):
        encoder.network.set_attn_implementation(way)
        read[way] = encoder.network(input_ids=ids, attention_mask=masks[name]).last_hidden_state[seen]
    encoder.network.set_attn_implementation(KERNELS)
    assert torch.allclose(read[KERNELS], read[FUSED], atol=1e-5)
    assert bool(calls.called) == (name in ("none", "behind"))


@torch.no_grad()
def test_a_row_is_read_by_kernels_or_not_at_all(encoder, calls):
    network, ids = encoder.network, torch.randint(5, 20, (1, 8))
    like = next(network.parameters())
    assert reads_rows(network, like) and not reads_rows(network, like.double())
    row = PackedRow(ids, torch.tensor([[0, 1, 2, 0, 1, 2, 3, 4]]), torch.tensor([0, 3, 8], dtype=torch.int32), 5)
    states = row.read(network)[-1]
    for window in (slice(0, 3), slice(3, 8)):
        alone = network(input_ids=ids[:, window]).last_hidden_state[0]
        assert torch.allclose(states[window], alone, atol=1e-5)
    with (
        mock.patch.object(search_kernels, "supports", return_value=False),
        pytest.raises(ValueError, match="windows in a row"),
    ):
        row.read(network)


@torch.no_grad()
def test_rows_without_a_word_and_batches_without_a_sentence(encoder, calls):
    nothing = [[] for _ in range(40)]
    alone = vectors(encoder, [["word"], ["an", "end"]])
    found = vectors(encoder, [*nothing, ["word"], *nothing, ["an", "end"], *nothing])
    assert torch.allclose(found[40], alone[0], atol=1e-5) and torch.allclose(found[81], alone[1], atol=1e-5)
    assert not torch.cat([*found[:40], *found[41:81], *found[82:]]).any() and calls.called
    assert not encoder.vectors(PieceIds(**encoder.read([[]])), 1).any()
    assert encoder.vectors(PieceIds(**encoder.read([])), 0).shape == (0, encoder.width)


@torch.no_grad()
@pytest.mark.parametrize("training", ["adapters", "whole"])
def test_an_encoder_in_training_has_dropout_without_gradients_too(tmp_path, training):
    encoder = words_of(make_encoder(tmp_path / "bert", width=WIDE, dropout=0.5), training=training)
    calm = torch.cat(vectors(encoder.eval(), SENTENCES))
    first, second = (torch.cat(vectors(encoder.train(), SENTENCES)) for _ in range(2))
    assert not torch.allclose(first, second, atol=0.01) and not torch.allclose(first, calm, atol=0.01)


@torch.no_grad()
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_autocast(encoder, dtype):
    wanted = torch.cat(vectors(encoder, SENTENCES))
    with torch.autocast("cpu", dtype):
        found = torch.cat(vectors(encoder, SENTENCES))
    assert torch.allclose(found.float(), wanted, atol=0.1)


def attended(**changed) -> tuple[dict, torch.Tensor]:
    """Arguments of attention as transformers calls it, and what comes of them."""
    torch.manual_seed(1)
    module = SimpleNamespace(is_causal=False, num_key_value_groups=1)
    made = {name: torch.randn(2, 3, 5, 32) for name in ("query", "key", "value")}
    arguments = {"module": module, **made, "attention_mask": None, "scaling": 32**-0.5, **changed}
    return arguments, ALL_ATTENTION_FUNCTIONS[KERNELS](**arguments)[0]


@torch.no_grad()
@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"scaling": None},
        {"scaling": 0.5},
        {"is_causal": True},
        {"position_bias": torch.randn(2, 3, 5, 5)},
        {"key": torch.randn(2, 3, 9, 32), "value": torch.randn(2, 3, 9, 32)},
        {
            "key": torch.randn(2, 1, 5, 32),
            "value": torch.randn(2, 1, 5, 32),
            "module": SimpleNamespace(is_causal=False, num_key_value_groups=3),
        },
        {name: torch.randn(2, 3, 5, 20) for name in ("query", "key", "value")},
        {name: torch.randn(2, 3, 5, 32).double() for name in ("query", "key", "value")},
    ],
)
def test_kernels_compute_what_torch_does_or_leave_it_to_torch(calls, changed):
    register()
    arguments, found = attended(**changed)
    assert bool(calls.called) == (changed in ({}, {"scaling": None}))
    assert torch.allclose(found, ALL_ATTENTION_FUNCTIONS[FUSED](**arguments)[0], atol=1e-5)


@torch.no_grad()
def test_queries_and_values_of_two_types_are_left_to_torch(calls):
    """Rotary positions have such under autocast, which casts what torch's own attention reads."""
    register()
    _, wanted = attended()
    with torch.autocast("cpu", torch.bfloat16):
        _, found = attended(value=attended()[0]["value"].bfloat16())
    assert found.dtype is torch.bfloat16 and torch.allclose(found.float(), wanted, atol=0.05)

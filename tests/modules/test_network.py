"""The network parts against references written out in full."""

import math

import pytest
import torch

from transition_parser.kernels import encoders, loader
from transition_parser.models.stack_transformer import StateHeads, StatePositions, mask_of
from transition_parser.modules.encoder import ReadingSettings, WordEncoder
from transition_parser.modules.layers import Attention, HeadMask


def reference_attention(attention: Attention, x, memory, visible):
    """(B, T, dim): one head, query and key at a time; a query that sees nothing gives zeros."""
    width = x.size(-1) // attention.heads
    query, (keys, values) = attention.query(x), attention.key_value(memory).chunk(2, -1)
    out = torch.zeros_like(query)
    for b in range(x.size(0)):
        for h in range(attention.heads):
            part = slice(h * width, (h + 1) * width)
            for t in range(x.size(1)):
                seen = visible[b, h, t].nonzero()[:, 0]
                if len(seen):
                    scores = keys[b, seen, part] @ query[b, t, part] / math.sqrt(width)
                    out[b, t, part] = scores.softmax(0) @ values[b, seen, part]
    return attention.out(out)


@pytest.mark.parametrize("grad", [True, False])
def test_attention_with_a_mask_per_head_and_query(grad):
    torch.manual_seed(1)
    attention = Attention(8, 2)
    x, memory = torch.randn(3, 4, 8), torch.randn(3, 5, 8)
    visible = torch.rand(3, 2, 4, 5) < 0.4
    visible[0, 0, 0] = False
    with torch.set_grad_enabled(grad):
        found = attention(x, memory, HeadMask.from_visible(visible))
    assert torch.allclose(found, reference_attention(attention, x, memory, visible), atol=1e-6)


@pytest.mark.parametrize("sinusoidal", [False, True])
def test_state_positions_score_q_times_p_wk(sinusoidal):
    """Against the formula of the paper with a (T, P, dim) tensor of position embeddings."""
    torch.manual_seed(1)
    heads, dim, width = StateHeads(1, 1), 8, 4
    positions, weight = StatePositions(dim, heads, 2, sinusoidal), torch.randn(dim, dim)
    assert bool(list(positions.parameters())) is not sinusoidal
    query = torch.randn(2, 2, 5, width)
    places = torch.randint(0, 6, (2, 2, 5, 7))
    attention = Attention(dim, 2)
    attention.key_value.weight.data[:dim] = weight
    found = positions(query, places.clamp_max(positions.largest).long(), attention)
    for role in range(2):
        embedded = positions.table[role][places[:, role].clamp_max(3)]  # (B, T, P, dim)
        keys = (embedded @ weight.t())[..., role * width : (role + 1) * width]
        expected = torch.einsum("btd,btpd->btp", query[:, role], keys) / math.sqrt(width)
        assert torch.allclose(found[:, role], expected, atol=1e-5)


def test_state_heads_see_what_they_are_for():
    stack = torch.tensor([[[3, 2, 1, 0, 0]]])
    buffer = torch.tensor([[[0, 0, 0, 1, 2]]])
    words = torch.ones(1, 5, dtype=torch.bool)
    mask = mask_of(StateHeads(1, 1, "top2").ranks(stack, buffer), words, 3)
    assert (mask.bias[0, :, 0] == 0).tolist() == [
        [False, True, True, False, False],
        [False, False, False, True, True],
        [True] * 5,
    ]
    everything = mask_of(StateHeads(2, 0).ranks(stack, buffer), words, 2)
    assert (everything.bias[0, :, 0] == 0).tolist() == [[True, True, True, False, False]] * 2


def make_encoder(layers: int = 2, local: int = 1, heads: int = 2) -> WordEncoder:
    """A small one, 64 wide, with random weights; every third of its pieces opens a word."""
    torch.manual_seed(1)
    opens = torch.arange(40) % 3 == 0
    opens[2] = True  # </s>
    return WordEncoder(
        ReadingSettings(opens, 1), dim=64, heads=heads, inner=96, layers=layers, local_layers=local, dropout=0.1,
        word_dropout=0.1, attention_dropout=0.1, activation_dropout=0.1,
    ).eval()  # fmt: skip


def some_pieces(encoder: WordEncoder, left: bool) -> torch.Tensor:
    """(B, S), each `</s>` at its end, padded on the left or the right; the first piece of the second opens no word."""
    rows = [torch.cat([torch.randint(4, 34, (length,)), torch.tensor([2])]) for length in (0, 9, 17, 5)]
    rows[1][0] = 4
    assert not encoder.opens[4]
    tokens = torch.nn.utils.rnn.pad_sequence([row.flip(0) if left else row for row in rows], True, encoder.padding)
    return tokens.flip(1) if left else tokens


@pytest.mark.skipif(loader.library() is None, reason="set up without a compiler for the kernels")
@pytest.mark.parametrize(("layers", "local", "heads"), [(2, 1, 2), (1, 2, 1), (0, 1, 2), (0, 0, 2), (2, 1, 4)])
@pytest.mark.parametrize("dtype", [torch.float, torch.bfloat16])
def test_search_encodes_as_training_does(monkeypatch, layers, local, heads, dtype):
    """The kernels and the masks find the same words; heads of 16 numbers are not for kernels."""
    encoder = make_encoder(layers, local, heads)
    called = []
    look = encoders.self_attention
    monkeypatch.setattr(encoders, "self_attention", lambda *a: called.append(1) or look(*a))
    for tokens in (some_pieces(encoder, left=False), some_pieces(encoder, left=False)[1:2], torch.tensor([[2]])):
        wanted = encoder.float()(tokens)  # with gradients
        assert not called
        with torch.no_grad():
            found = encoder.to(dtype)(tokens)
        assert len(called) == (layers if heads < 4 else 0)
        called.clear()
        assert torch.equal(found.mask, wanted.mask) and torch.equal(found.lengths, wanted.lengths)
        close = 1e-5 if dtype is torch.float else 0.1
        assert torch.allclose(found.words[found.mask].float(), wanted.words[wanted.mask], atol=close)

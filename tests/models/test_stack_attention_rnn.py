"""Stack-based multi-layer attention against the equations of Zhang et al. 2017."""

import math

import pytest
import torch

from tests.helpers.small_models import make_model, task_and_batch
from transition_parser.models.stack_attention_rnn import AttentionMemory, StackAttention

STATE, WORDS, WIDTH = 5, 6, 4


def in_loops(attention: StackAttention, z: list[float], h: list[list[float]], s: list[bool], r: list[bool]):
    """Eqs. 1 and 5 to 7 for one state of one sentence, number by number."""
    u, v = attention.of_words.weight.tolist(), attention.score[0].tolist()
    pushed = [0.0] * len(v) if attention.of_pushed is None else attention.of_pushed[:, 0].tolist()
    contexts: list[float] = []
    context: list[float] = []
    for layer in attention.of_state:
        query = [*z, *context]
        w = [sum(a * b for a, b in zip(row, query, strict=True)) for row in layer.weight.tolist()]
        w = [a + b for a, b in zip(w, layer.bias.tolist(), strict=True)]
        e = [
            sum(
                v[k] * math.tanh(w[k] + sum(map(lambda a, b: a * b, u[k], word)) + pushed[k] * s[t])
                for k in range(len(v))
            )
            for t, word in enumerate(h)
        ]
        weights = [math.exp(score) * (1 - r[t]) for t, score in enumerate(e)]
        context = [sum(weights[t] * h[t][d] for t in range(len(h))) / sum(weights) for d in range(len(h[0]))]
        contexts += context
    return contexts


def gru(cell: torch.nn.GRUCell, x: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
    """Gate by gate, for one state."""
    of_x, of_z = cell.weight_ih @ x + cell.bias_ih, cell.weight_hh @ z + cell.bias_hh
    (reset_x, update_x, new_x), (reset_z, update_z, new_z) = of_x.chunk(3), of_z.chunk(3)
    reset, update = (reset_x + reset_z).sigmoid(), (update_x + update_z).sigmoid()
    return (1 - update) * (new_x + reset * new_z).tanh() + update * z


@pytest.mark.parametrize("kind", ["stack attention", "seq2seq"])
@torch.no_grad()
def test_the_decoder_is_that_of_the_equations(kind, tmp_path_factory):
    """Eqs. 3 to 7 over gold derivations, some with SWAP, state by state; s and r come from the plain state machine."""
    task, batch = task_and_batch("arc-hybrid-swap", tmp_path_factory, range(5, 9), 64)
    plain, actions = make_model(kind, task.resources).plain.double().eval(), batch["net_input"]["prev_output_tokens"]
    decoder, system, table = plain.decoder, task.table.system, task.table
    encoder_out = plain.encode(batch["net_input"])
    found = decoder.scores(actions, encoder_out, decoder.states(actions, encoder_out))
    swapped_back = 0
    for b, target in enumerate(batch["target"].tolist()):
        words = task.resources.words(batch["net_input"]["src_tokens"][b].tolist())
        h = encoder_out.words[b, : len(words) + 1]
        state, pushed = system.initial(system.read(words)), set()
        z = torch.tanh(decoder.first(h[0].chunk(2)[1])).view(len(decoder.layers), -1)
        for t, token in enumerate(target):
            pushed |= set(state.stack)
            gone = pushed - set(state.stack) - set(state.buffer)
            swapped_back += bool(pushed & set(state.buffer))
            s, r = ([i in some for i in range(len(h))] for some in (pushed, gone if decoder.removed else ()))
            context = torch.tensor(in_loops(decoder.attention, z[-1].tolist(), h.tolist(), s, r), dtype=torch.double)
            embedded, below, states = decoder.embed.weight[actions[b, t]], None, []
            for layer, before in zip(decoder.layers, z, strict=True):
                below = gru(layer, torch.cat([embedded, context]) if below is None else below, before)
                states.append(below)
            z = torch.stack(states)
            g = torch.tanh(decoder.inner(torch.cat([embedded, z[-1], context])))
            assert torch.allclose(found[b, t], decoder.output(g), atol=1e-10, rtol=0)
            if token == table.end:
                break
            state = system.apply(state, table.actions[token])
    assert swapped_back > 3


def test_nothing_is_left_to_attend_to():
    attention = StackAttention(STATE, WORDS, WIDTH, 2)
    memory = AttentionMemory(torch.randn(1, 3, WORDS), torch.randn(1, 3, WIDTH), torch.ones(1, 3, dtype=torch.bool))
    nothing = torch.ones(1, 1, 3, dtype=torch.bool)
    assert bool(attention(torch.zeros(1, 1, STATE), memory, nothing, nothing).isfinite().all())

"""The network parts against references written out in full."""

import math
from argparse import Namespace

import pytest
import torch

from tests.conftest import SAMPLE
from tests.small_models import pairs_of
from transition_parser.data.dataset import TransitionDataset
from transition_parser.graphs.conllu import read_conllu
from transition_parser.kernels import encoders, loader
from transition_parser.models.stack_transformer.state_masks import StateHeads, StatePositions
from transition_parser.modules.contract import only_legal
from transition_parser.modules.encoder import ReadingSettings, WordEncoder
from transition_parser.modules.layers import Attention, Dropout, HeadMask, cheap_dropout
from transition_parser.states.states import RANKS, States
from transition_parser.storage.checkpoints import load_model
from transition_parser.text.pieces import normalise


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
    heads, dim, width = StateHeads(1, 1, positions=True), 8, 4
    positions, weight = StatePositions(dim, heads, 2, sinusoidal), torch.randn(dim, dim)
    assert bool(list(positions.parameters())) is not sinusoidal
    query = torch.randn(2, 2, 5, width)
    places = torch.randint(0, 6, (2, 2, 5, 7))
    attention = Attention(dim, 2)
    attention.key_value.weight.data[:dim] = weight
    found = positions(query, positions.index(places), attention)
    for role in range(2):
        embedded = positions.table[role][places[:, role].clamp_max(3)]  # (B, T, P, dim)
        keys = (embedded @ weight.t())[..., role * width : (role + 1) * width]
        expected = torch.einsum("btd,btpd->btp", query[:, role], keys) / math.sqrt(width)
        assert torch.allclose(found[:, role], expected, atol=1e-5)


def test_state_heads_see_what_they_are_for():
    stack = torch.tensor([[[3, 2, 1, 0, 0]]])
    buffer = torch.tensor([[[0, 0, 0, 1, 2]]])
    words = torch.ones(1, 5, dtype=torch.bool)
    mask = StateHeads(1, 1, "top2").mask(StateHeads(1, 1, "top2").ranks(stack, buffer), words, 3)
    assert (mask.bias[0, :, 0] == 0).tolist() == [
        [False, True, True, False, False],
        [False, False, False, True, True],
        [True] * 5,
    ]
    everything = StateHeads(2, 0).mask(StateHeads(2, 0).ranks(stack, buffer), words, 2)
    assert (everything.bias[0, :, 0] == 0).tolist() == [[True, True, True, False, False]] * 2


def test_dropout_keeps_the_mean_and_its_share():
    torch.manual_seed(1)
    x = torch.ones(1001, 103, requires_grad=True)
    dropped = cheap_dropout(x, 0.3, True)
    assert abs(float((dropped == 0).float().mean()) - 0.3) < 0.01
    assert abs(float(dropped.mean()) - 1.0) < 0.01
    dropped.sum().backward()
    assert torch.equal(x.grad, dropped.detach())
    assert cheap_dropout(x, 0.3, False) is x


def test_dropout_of_whole_vectors():
    torch.manual_seed(1)
    layer = Dropout(0.25, whole=True)
    x = layer(torch.ones(40, 50, 6))
    assert torch.equal(x.amin(-1), x.amax(-1))
    assert abs(float((x[..., 0] == 0).float().mean()) - 0.25) < 0.04
    assert torch.equal(layer.eval()(torch.ones(2, 3)), torch.ones(2, 3))


@pytest.fixture(scope="module")
def loaded(checkpoint):
    return load_model(checkpoint)


def scores_of(model, net_input: dict) -> torch.Tensor:
    """(B, T, V), −inf for illegal actions."""
    states = States(**net_input["states"]) if "states" in net_input else None
    scores, legal, _ = model(net_input["src_tokens"], net_input["prev_output_tokens"], states, net_input["features"])
    return only_legal(scores, legal)


def batch_of(resources, count: int = 12) -> dict:
    from transition_parser.oracles import oracle

    system, index = resources.parser.transition_system(), resources.target_dictionary.index
    sources, targets = [], []
    for sentence in list(read_conllu(SAMPLE))[:count]:
        actions = oracle(system, sentence.forms, sentence.tree())
        sources += resources.encode_all([[*map(normalise, sentence.forms)]])
        targets.append(torch.tensor([*(index(str(a)) for a in actions), resources.table.end]))
    dataset = TransitionDataset(resources, pairs_of(resources, sources, targets), needs=RANKS)
    return dataset.collater([dataset[i] for i in range(count)])


def test_illegal_actions_have_probability_zero(loaded):
    model, resources = loaded
    batch = batch_of(resources)
    scores = scores_of(model, batch["net_input"])
    probabilities = scores.softmax(-1)
    legal = model.decoder.legality(States(**batch["net_input"]["states"])) > 0
    assert legal.any(-1).all()
    assert (probabilities[~legal] == 0).all() and (probabilities[legal] > 0).all()
    gold = scores.log_softmax(-1).gather(2, batch["target"][..., None])[..., 0]
    assert gold[batch["target"] != resources.target_dictionary.pad()].isfinite().all()


def test_states_of_the_loader_are_those_of_the_decoder(loaded):
    """Without the loader's states the decoder runs the machine itself, with the same scores."""
    model, resources = loaded
    net_input = batch_of(resources)["net_input"]
    scores = scores_of(model, net_input)
    net_input.pop("states")
    assert torch.equal(scores_of(model, net_input), scores)


def test_search_steps_score_like_teacher_forcing(loaded):
    """Step by step with cached keys and values, and all steps at once: the same scores."""
    model, resources = loaded
    batch = batch_of(resources)
    net_input = batch["net_input"]
    with torch.no_grad():
        scores = scores_of(model, net_input)
        out = model.encode(net_input)
        search = model.decoder.start(out)
        tokens = net_input["prev_output_tokens"]
        for step in range(tokens.size(1)):
            if step:
                search.machine.apply(tokens[:, step])
            found = model.decoder.step(tokens[:, step], search).masked()
            real = batch["target"][:, step] != resources.target_dictionary.pad()
            found, wanted = (torch.log_softmax(x, -1) for x in (found[real], scores[real, step]))
            assert torch.allclose(found, wanted, atol=1e-4)


def test_words_do_not_depend_on_padding(loaded):
    model, resources = loaded
    short, long = ["Stop", "!"], ["We", "are", "much", "longer", "than", "that", "."]
    tokens = resources.encode_all([short, long])
    padded = torch.nn.utils.rnn.pad_sequence(tokens, True, resources.source_dictionary.pad())
    with torch.no_grad():
        together, alone = model.encoder(padded), model.encoder(tokens[0][None])
    assert together.lengths.tolist() == [2, 7] and together.mask.sum(1).tolist() == [3, 8]
    assert torch.allclose(together.words[0, :3], alone.words[0], atol=1e-5)


def test_the_loss_is_smoothed_over_legal_actions(loaded):
    from transition_parser.criterions.legal_cross_entropy import LegalCrossEntropyCriterion
    from transition_parser.tasks.wrappers import TrainingModel

    model, resources = loaded
    batch = batch_of(resources, 3)
    task = Namespace(target_dictionary=resources.target_dictionary)
    criterion = LegalCrossEntropyCriterion(task, sentence_avg=False, label_smoothing=0.2)
    loss, size, _ = criterion(TrainingModel(model), batch)
    log_probs = scores_of(model, batch["net_input"]).log_softmax(-1)
    expected = 0.0
    for row, target in enumerate(batch["target"]):
        for step, gold in enumerate(target.tolist()):
            if gold != resources.target_dictionary.pad():
                legal = log_probs[row, step][log_probs[row, step].isfinite()]
                expected -= 0.8 * log_probs[row, step, gold] + 0.2 * legal.mean()
    assert size == int((batch["target"] != resources.target_dictionary.pad()).sum())
    assert float(loss) == pytest.approx(float(expected), rel=1e-4)


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


@pytest.mark.parametrize("left", [True, False])
def test_a_word_is_the_mean_of_its_pieces(left):
    encoder = make_encoder()
    tokens = some_pieces(encoder, left)
    found, mask = encoder._pool(tokens)
    for sentence, row in enumerate(tokens.tolist()):
        words: list[list[int]] = []
        for piece in row:
            if piece != encoder.padding and encoder.opens[piece]:
                words.append([piece])
            elif piece != encoder.padding and words:
                words[-1].append(piece)
        assert mask[sentence].tolist() == [i < len(words) for i in range(mask.size(1))]
        for word, pieces in enumerate(words):
            wanted = encoder.embed.weight[pieces].mean(0) * encoder.scale
            assert torch.allclose(found[sentence, word], wanted, atol=1e-5)


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

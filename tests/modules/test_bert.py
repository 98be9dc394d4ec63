"""Our BERT gives the vectors and pieces of transformers, by kernels and without, alone and beside others."""

import json
import shutil
from unittest import mock

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModel, AutoTokenizer

from tests.helpers.tiny_encoder import make_encoder
from tests.modules.test_pretrained import SENTENCES, vectors, words_of
from transition_parser.base.errors import InputError
from transition_parser.kernels import encoders, loader
from transition_parser.modules.bert import Adapted, Bert, add_adapters
from transition_parser.modules.layers import replace_layers
from transition_parser.modules.pretrained import EncoderFiles, Tokenizer, WordPieces


def states_of(network, ids, mask):
    """The states of each layer, (W, L, width)."""
    states, places = network.states(ids, mask)
    return [rows[places] for rows in states]


WORDS = ["ab", "c", "", "a", "[SEP]", "\u200b", "☃", "abcdefgh" * 5]
WIDE = 64  # two heads that kernels compute


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_encoder(tmp_path_factory.mktemp("encoder") / "tiny", width=WIDE)


@pytest.fixture
def encoder(folder):
    return words_of(folder).eval()


@pytest.fixture
def calls():
    """How often the kernel was called."""
    if loader.library() is None:
        pytest.skip("there are no search kernels here")
    with mock.patch.object(encoders, "self_attention", wraps=encoders.self_attention) as called:
        yield called


@torch.no_grad()
def test_states_are_those_of_transformers(folder):
    ours, theirs = EncoderFiles(str(folder)).load()[0].eval(), AutoModel.from_pretrained(folder).eval()
    assert type(ours) is Bert
    ids, mask = torch.randint(5, 20, (3, 7)), torch.ones(3, 7, dtype=torch.bool)
    mask[0, 4:] = mask[2, 1:] = False
    wanted = theirs(input_ids=ids, attention_mask=mask.long(), output_hidden_states=True).hidden_states
    for one, other in zip(states_of(ours, ids, mask), wanted, strict=True):
        assert torch.allclose(one[mask], other[mask], atol=1e-5)


def test_gradients_are_those_of_transformers(tmp_path):
    folder = make_encoder(tmp_path / "calm", dropout=0.0)
    ours, theirs = EncoderFiles(str(folder)).load()[0].train(), AutoModel.from_pretrained(folder).train()
    ids, mask = torch.randint(5, 20, (3, 7)), torch.ones(3, 7, dtype=torch.bool)
    states_of(ours, ids, mask)[-1].square().sum().backward()
    theirs(input_ids=ids, attention_mask=mask.long()).last_hidden_state.square().sum().backward()
    grads = {name: weight.grad for name, weight in theirs.named_parameters() if weight.grad is not None}
    named = Bert(ours.config)
    named.load(grads)  # under our names
    for (name, weight), wanted in zip(ours.named_parameters(), named.parameters(), strict=True):
        assert torch.allclose(weight.grad, wanted, atol=1e-3), name


def test_files_with_other_names_and_other_families(folder, tmp_path):
    """Weights with a prefix and as TensorFlow called them; without tokenizer.json and for other kinds: transformers."""
    wanted = EncoderFiles(str(folder)).load()[0].state_dict()
    old = shutil.copytree(folder, tmp_path / "old")
    names = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
    values = {}
    for name, value in load_file(old / "model.safetensors").items():
        end = next((end for end in names if name.endswith(end)), None)
        values[f"bert.{name.removesuffix(end) + names[end] if end else name}"] = value
    save_file(values, old / "model.safetensors")
    found = EncoderFiles(str(old)).load()[0].state_dict()
    assert found.keys() == wanted.keys() and all(torch.equal(found[name], wanted[name]) for name in wanted)
    for change in ({"hidden_act": "relu"}, {"hidden_act": "gelu_new"}):
        config = json.loads((folder / "config.json").read_text())
        (old / "config.json").write_text(json.dumps({**config, **change}))
        assert type(EncoderFiles(str(old)).load()[0]) is not Bert
    (old / "config.json").write_text(json.dumps({**config, "num_attention_heads": 3}))
    with pytest.raises(InputError, match=r"config\.json has no valid num_attention_heads"):
        EncoderFiles(str(old)).load()


@pytest.mark.parametrize("most", [1, 4, 100])
@pytest.mark.parametrize("slow", [False, True], ids=["fast", "slow"])
def test_the_pieces_of_a_word_are_those_of_transformers(folder, slow, most):
    tokenizer = AutoTokenizer.from_pretrained(folder)
    alone = [tokenizer(word, add_special_tokens=False)["input_ids"] or [tokenizer.unk_token_id] for word in WORDS]
    ours = EncoderFiles(str(folder)).load()[1]
    theirs = Tokenizer.of_transformers(tokenizer)
    assert ours[1:] == theirs[1:]
    if slow:
        ours = ours._replace(encode=lambda words: tokenizer(words, add_special_tokens=False)["input_ids"])
    pieces = WordPieces(ours, most)
    for words in (WORDS[:3], WORDS, WORDS[::-1]):
        assert pieces.of(words) == {word: ids[:most] for word, ids in zip(WORDS, alone, strict=True) if word in words}


@torch.no_grad()
def test_words_are_read_alike_by_kernels_and_without_them(encoder, calls):
    """Also beside others: in more rows than one, and in windows."""
    found = vectors(encoder, SENTENCES)
    assert calls.called
    calls.reset_mock()
    with mock.patch.object(loader, "supports", return_value=False):
        wanted = vectors(encoder, SENTENCES)
    assert not calls.called
    for words, one, other in zip(SENTENCES, found, wanted, strict=True):
        assert torch.allclose(one, other, atol=1e-4)
        assert torch.allclose(one, vectors(encoder, [words])[0], atol=1e-4)


@torch.no_grad()
@pytest.mark.parametrize("kind", ["electra", "distilbert", "deberta-v2", "mpnet"])
def test_encoders_of_other_families_read_a_sentence_alike_beside_others(tmp_path, kind):
    encoder = words_of(make_encoder(tmp_path / kind, width=WIDE, kind=kind)).eval()
    for words, one in zip(SENTENCES, vectors(encoder, SENTENCES), strict=True):
        assert torch.allclose(one, vectors(encoder, [words])[0], atol=1e-4)


@torch.no_grad()
@pytest.mark.parametrize("training", ["adapters", "whole"])
def test_an_encoder_in_training_has_dropout_without_gradients_too(tmp_path, training):
    encoder = words_of(make_encoder(tmp_path / "bert", width=WIDE, dropout=0.5), training=training)
    calm = torch.cat(vectors(encoder.eval(), SENTENCES))
    first, second = (torch.cat(vectors(encoder.train(), SENTENCES)) for _ in range(2))
    assert not torch.allclose(first, second, atol=0.01) and not torch.allclose(first, calm, atol=0.01)


@torch.no_grad()
def test_merged_adapters_read_what_they_read_before(folder):
    network = EncoderFiles(str(folder)).load()[0].eval()
    ids, mask = torch.randint(5, 20, (3, 7)), torch.ones(3, 7, dtype=torch.bool)
    bare, names = states_of(network, ids, mask)[-1], {*network.state_dict()}
    add_adapters(network, 2)
    assert torch.equal(states_of(network, ids, mask)[-1], bare)
    for name, weight in network.named_parameters():
        if "lora_B" in name:
            weight.normal_(std=0.1)
    adapted = states_of(network, ids, mask)[-1]
    assert not torch.allclose(adapted, bare, atol=0.01)
    replace_layers(network, Adapted, Adapted.merged)
    assert {*network.state_dict()} == names and torch.allclose(states_of(network, ids, mask)[-1], adapted, atol=1e-5)

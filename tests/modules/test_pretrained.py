"""Pretrained encoders as an input of words."""

import shutil

import pytest
import torch

from tests.helpers.tiny_encoder import LAYERS, LONGEST, WIDTH, make_encoder
from transition_parser.base.errors import InputError
from transition_parser.modules.pretrained import EncoderFiles, PieceIds, PretrainedWords
from transition_parser.modules.words import WordOptions

SENTENCES = [["dogs", "bark", "."], ["an", "", "öß", "x" * 100], ["a", "long", "one", *["word"] * 60], []]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_encoder(tmp_path_factory.mktemp("encoder") / "tiny")


def words_of(folder, layers="last2", training="frozen", rank=16) -> PretrainedWords:
    torch.manual_seed(1)
    named = {"pretrained_layers": layers, "pretrained_training": training, "pretrained_rank": rank}
    return PretrainedWords(WordOptions(pretrained=str(folder), **named), 8, None)


def vectors(encoder: PretrainedWords, sentences: list[list[str]]) -> list[torch.Tensor]:
    """(words, width) of each sentence."""
    wide = max(map(len, sentences)) + 1
    found = encoder.vectors(PieceIds(**encoder.read(sentences)), len(sentences) * wide).unflatten(0, (-1, wide))
    return [row[: len(words)] for row, words in zip(found, sentences, strict=True)]


def test_a_word_is_the_mean_of_its_pieces(folder):
    encoder = words_of(folder).eval()
    first, second = encoder.pieces.tokenizer.encode(["ab", "c"])
    ids = torch.tensor([[2, *first, *second, 3]])
    states, places = encoder.network.states(ids, torch.ones(1, 5, dtype=torch.bool))
    for number, layer in enumerate((LAYERS - 1, LAYERS)):
        rows = states[layer][places[0]]
        wanted = torch.stack([rows[1:3].mean(0), rows[3]])
        wanted = torch.nn.functional.layer_norm(wanted, (WIDTH,))
        found = vectors(encoder, [["ab", "c"]])[0][:, number * WIDTH : (number + 1) * WIDTH]
        assert torch.allclose(found, wanted, atol=1e-4)


def test_positions_of_roberta_begin_behind_padding(tmp_path):
    """Windows are as long as they can be, and no longer; a word is the mean of its pieces, without the others."""
    encoder = words_of(make_encoder(tmp_path / "tiny", kind="roberta")).eval()
    positions = encoder.network.config.max_position_embeddings
    assert encoder.pieces.tokenizer.longest > positions == LONGEST + 2
    long = ["a"] * 40  # with a blank each
    read = encoder.read([long])
    assert read["ids"].size(1) == LONGEST and bool(read["mask"].all(1).any())
    seen = []
    encoder.network.embeddings.position_embeddings.register_forward_hook(lambda _, given, __: seen.append(given[0]))
    together = vectors(encoder, [long, ["ab", "c"]])
    assert max(int(places.max()) for places in seen) == positions - 1
    assert min(int(places[:, 0].min()) for places in seen) == encoder.pieces.tokenizer.padding + 1
    first, second = encoder.pieces.tokenizer.encode(["ab", "c"])
    ids = [0, *first, *second, 2]
    assert len(ids) == 7  # <s>, a blank with two letters, one with another, </s>
    states = encoder.network(torch.tensor([ids]), output_hidden_states=True).hidden_states[LAYERS]
    wanted = torch.stack([states[0, 1:4].mean(0), states[0, 4:6].mean(0)])
    wanted = torch.nn.functional.layer_norm(wanted, (WIDTH,))
    assert torch.allclose(together[1][:, WIDTH:], wanted, atol=1e-4)


@pytest.mark.parametrize(("training", "gradients"), [("frozen", 0), ("adapters", 1), ("layers", 2), ("whole", 2)])
def test_what_is_learned_and_stored(folder, training, gradients):
    encoder = words_of(folder, training=training, rank=2)
    learned = {name for name, parameter in encoder.named_parameters() if parameter.requires_grad}
    stored = encoder.state_dict()
    assert learned <= stored.keys() and {"project.weight", "project.bias"} <= learned
    inside = {name for name in stored if name.startswith("network.")}
    assert bool(inside) == (gradients > 0) and all((".lora_" in name) == (gradients == 1) for name in inside)
    assert ("network.embeddings.word_embeddings.weight" in inside) == (training == "whole")
    encoder.train()
    encoder(encoder.read(SENTENCES), torch.zeros(len(SENTENCES), 64, 8)).sum().backward()
    assert all(p.grad is not None for name, p in encoder.named_parameters() if name in learned and "lora_B" in name)
    other = words_of(folder, training=training, rank=2)
    for value in stored.values():
        value.copy_(torch.rand_like(value))
    other.load_state_dict(stored)
    assert all(torch.equal(value, stored[name]) for name, value in other.state_dict().items())
    assert other.train().network.training == (training != "frozen")
    incomplete = {name: value for name, value in stored.items() if name != "project.bias"}
    with pytest.raises(RuntimeError, match=r"project\.bias"):
        other.load_state_dict(incomplete)


def test_a_frozen_encoder_never_drops_anything(folder):
    """Neither as it is made, when its vectors are kept, nor while the rest is trained."""
    encoder = words_of(folder)
    new = torch.cat(vectors(encoder, SENTENCES))
    training = torch.cat(vectors(encoder.train(), SENTENCES))
    parsing = torch.cat(vectors(encoder.eval(), SENTENCES))
    assert torch.equal(new, parsing) and torch.equal(training, parsing)


@pytest.mark.parametrize("training", ["adapters", "layers", "whole"])
def test_training_goes_on_from_a_frozen_encoder(folder, training):
    frozen, learning = words_of(folder), words_of(folder, training=training)
    learning.load_state_dict(frozen.state_dict())
    inputs, x = frozen.read(SENTENCES), torch.zeros(len(SENTENCES), 64, 8)
    assert torch.allclose(learning.eval()(inputs, x), frozen.eval()(inputs, x), atol=1e-5)


# --- files ------------------------------------------------------------------------------------


def test_folders_that_hold_none(folder, tmp_path):
    with pytest.raises(InputError, match=r"no config\.json of a pretrained encoder"):
        EncoderFiles(str(tmp_path))
    for name, content, said in (
        ("config.json", "{}", "not an encoder that can be read"),
        ("model.safetensors", "x", "not an encoder that can be read"),
        ("model.safetensors", None, r"no \*\.safetensors file"),
    ):
        broken = tmp_path / "broken"
        shutil.copytree(folder, broken)
        (broken / name).unlink() if content is None else (broken / name).write_text(content)
        with pytest.raises(InputError, match=said):
            EncoderFiles(str(broken)).load()
        shutil.rmtree(broken)

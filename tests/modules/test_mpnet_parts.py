"""The encoder all-mpnet-base-v2, whose zip comes in five packages, and its copy in the user's cache."""

import shutil
import zipfile

import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from tests.helpers.tiny_encoder import make_encoder
from tests.modules.test_pretrained import vectors, words_of
from transition_parser.base.errors import InputError
from transition_parser.modules import mpnet_parts
from transition_parser.modules.mpnet_parts import NAME, PACKAGES
from transition_parser.modules.pretrained import EncoderFiles


@pytest.fixture
def parts(tmp_path, monkeypatch):
    """The packages, with a tiny encoder in them, and an empty cache."""
    folder, installed = make_encoder(tmp_path / NAME, kind="mpnet"), tmp_path / "site"
    with zipfile.ZipFile(tmp_path / "whole.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted(folder.iterdir()):
            packed.write(path, f"{NAME}/{path.name}")
    content = (tmp_path / "whole.zip").read_bytes()
    size = len(content) // 4
    for i, package in enumerate(PACKAGES):
        name, number = package[:-4].replace("-", "_"), f"{i + 1:03}"
        about = installed / f"{name}_{number}-0.0.1.dist-info"
        about.mkdir(parents=True)
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 0.0.1\n")
        part = installed / f"{NAME}-pypi-part_{number}" / "input" / f"{NAME}.zip.{number}"
        part.parent.mkdir(parents=True)
        part.write_bytes(content[i * size : (i + 1) * size])
    monkeypatch.syspath_prepend(installed)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return installed


def test_the_encoder_is_unpacked_once(parts, tmp_path):
    assert mpnet_parts.is_here() and not mpnet_parts.cache().exists()
    plain, ours = EncoderFiles(str(tmp_path / NAME)), EncoderFiles(NAME)
    assert ours.sha256 == plain.sha256 and ours.folder == tmp_path / "cache" / "transition-parser" / NAME
    wanted = plain.load()[0].state_dict()
    shutil.rmtree(parts)
    assert mpnet_parts.is_here()
    assert all(torch.equal(value, wanted[name]) for name, value in EncoderFiles(NAME).load()[0].state_dict().items())


@pytest.mark.parametrize("missing", ["dist-info", "zip"])
def test_all_packages_are_named_where_one_is_missing(parts, missing):
    shutil.rmtree(next(path for path in parts.glob("*004*") if ("info" in path.name) == (missing == "dist-info")))
    assert not mpnet_parts.is_here()
    with pytest.raises(InputError, match=rf"{PACKAGES[3]} is not installed: pip .*{' '.join(PACKAGES)}"):
        EncoderFiles(NAME)


def test_damaged_packages_leave_nothing(parts):
    part = next(parts.glob("*002/input/*"))
    part.write_bytes(bytes(len(part.read_bytes())))
    with pytest.raises(InputError, match=r"damaged .*: install them again"):
        EncoderFiles(NAME)
    assert not mpnet_parts.cache().exists()


@pytest.mark.skipif(not mpnet_parts.is_here(), reason=f"the packages of {NAME} are not installed")
@torch.no_grad()
def test_vectors_and_pieces_are_those_of_transformers():
    files = EncoderFiles(NAME)
    theirs, tokenizer = AutoModel.from_pretrained(files.folder).eval(), AutoTokenizer.from_pretrained(files.folder)
    encoder = words_of(NAME, "0-12").eval()
    sentences = [["The", "cat", "sat"], "Naïve people ’s antidisestablishmentarianism 学习 ☃".split(), ["word"] * 400]
    found = vectors(encoder, sentences)
    for words, ours in zip(sentences, found, strict=True):
        read = tokenizer(words, is_split_into_words=True, return_tensors="pt")
        states = torch.stack(theirs(**read, output_hidden_states=True).hidden_states)[:, 0]
        of_word = [[i for i, word in enumerate(read.word_ids()) if word == number] for number in range(len(words))]
        wanted = torch.stack([states[:, pieces].sum(1) for pieces in of_word])
        wanted = torch.nn.functional.layer_norm(wanted, wanted.shape[-1:]).flatten(1)
        assert torch.allclose(ours, wanted, atol=1e-3)
        assert torch.allclose(ours, vectors(encoder, [words])[0], atol=1e-3)

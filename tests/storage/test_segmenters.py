"""Segmenters in model folders: used where they are, refused where they are damaged."""

import json
import pickle
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from tests.conftest import run_here
from tests.helpers.tiny_encoder import make_four_bits
from tests.helpers.tiny_segmenter import tiny_segmenter
from transition_parser import Parser
from transition_parser.base.errors import InputError
from transition_parser.data.resources import SEGMENTER_FILES
from transition_parser.modules.four_bits import FILE_NAME
from transition_parser.storage.cards import PRETRAINED
from transition_parser.storage.checkpoints import load_model
from transition_parser.storage.exports import load_segmenter, read_config, save_segmenter, write_config
from transition_parser.text.learned_segmentation import LearnedSegmenter
from transition_parser.text.segmentation import ENGLISH

TEXT = "le chat du roi;; il a 20 000 chats;;"
FORMS = [["le", "chat", "de", "le", "roi", ";;"], ["il", "a", "20 000", "chats", ";;"]]


@pytest.fixture(scope="module")
def segmenter(tmp_path_factory) -> LearnedSegmenter:
    return tiny_segmenter(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="module")
def model(segmenter, tmp_path_factory) -> Path:
    """An exported model with the segmenter."""
    folder = tmp_path_factory.mktemp("model") / "tiny"
    shutil.copytree(PRETRAINED / "en-ewt", folder)
    save_segmenter(segmenter, folder)
    write_config(folder, read_config(PRETRAINED / "en-ewt"))
    return folder


def test_a_stored_segmenter_finds_the_same(segmenter, tmp_path):
    save_segmenter(segmenter, tmp_path)
    assert list(load_segmenter(tmp_path).sentences([TEXT])) == list(segmenter.sentences([TEXT]))
    assert load_segmenter(tmp_path / "nowhere") is None


def test_a_segmenter_of_a_language_without_blanks_reads_pieces_of_an_encoder_in_four_bits(tmp_path, monkeypatch):
    packed, plain = make_four_bits(tmp_path)
    segmenter = tiny_segmenter(tmp_path, str(packed), blanks=False)
    with torch.no_grad():
        segmenter.labeler.network.characters.weight.zero_()  # pieces and categories are enough
    save_segmenter(segmenter, tmp_path / "s")
    assert not any("blocks" in name for name in load_file(tmp_path / "s" / SEGMENTER_FILES[1]))
    again = load_segmenter(tmp_path / "s")
    text = "lechatduroi;;" * 60
    found = list(again.sentences([text]))
    monkeypatch.setattr(LearnedSegmenter, "stretch", 50)
    assert found == list(segmenter.sentences([text])) == list(again.sentences([text]))
    with torch.no_grad():
        again.labeler.network.pieces.weight.neg_()
    assert found != list(again.sentences([text]))
    assert tiny_segmenter(tmp_path, str(packed)).labeler.pieces is None
    assert tiny_segmenter(tmp_path, str(plain), blanks=False).labeler.pieces is None  # `plain` is not in four bits
    shutil.copy(make_four_bits(tmp_path / "other", 2)[0] / FILE_NAME, packed)
    with pytest.raises(InputError, match="not the one that the model was trained with"):
        load_segmenter(tmp_path / "s")


def test_raw_text_is_divided_by_the_segmenter_of_the_model(model, tmp_path):
    parser = Parser.load(model, threads=1)
    (tmp_path / "t.txt").write_text(TEXT, encoding="utf-8")
    (texts,) = parser.stream([TEXT])
    for parses in (parser.parse(TEXT), texts, parser.parse(tmp_path / "t.txt"), parser.parse([TEXT])):
        assert [parse.sentence.forms for parse in parses] == FORMS
        assert parses[0].sentence.spans[2:4] == ((8, 10), (8, 10))
    assert "3-4\tdu\t" in parser.parse_sents([TEXT])[0]
    again = pickle.loads(pickle.dumps(parser))
    assert [parse.sentence.forms for parse in again.parse(TEXT)] == FORMS
    given = run_here("parse", model, "-", "--raw", stdin=TEXT).stdout
    assert "3-4\tdu\t" in given and "\t20 000\t" in given and "# sent_id = 2\n" in given
    assert "3-4\tdu\t" in run_here("parse", model, "-", "--tokenize", stdin=TEXT).stdout


def test_a_model_without_segmenter_has_the_rules_for_english():
    assert load_model(PRETRAINED / "en-ewt")[1].segmenter is ENGLISH


def test_the_fingerprint_of_a_model_does_not_depend_on_its_segmenter(model):
    assert load_model(model)[1].fingerprint == load_model(PRETRAINED / "en-ewt")[1].fingerprint


def test_a_changed_or_missing_file_of_a_model_is_refused(model, tmp_path):
    for name in SEGMENTER_FILES:
        for change in (lambda path: path.unlink(), lambda path: path.write_bytes(path.read_bytes() + b" ")):
            shutil.copytree(model, tmp_path / "m", dirs_exist_ok=True)
            change(tmp_path / "m" / name)
            with pytest.raises(InputError, match=name):
                load_model(tmp_path / "m")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("characters", ["ab"]),
        ("characters", ["a"]),  # another number of weights
        ("size", 10**15),
        ("layers", 13),
        ("layers", 1),
        ("forms", {"du": "de"}),
        ("suffixes", {"u": [1, "e"]}),
        ("more", 1),
    ],
)
def test_a_damaged_description_is_refused(key, value, segmenter, tmp_path):
    save_segmenter(segmenter, tmp_path)
    path = tmp_path / SEGMENTER_FILES[0]
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), key: value}), encoding="utf-8")
    with pytest.raises(InputError) as error:
        load_segmenter(tmp_path)
    assert "segmenter." in str(error.value) and len(str(error.value).splitlines()) == 1

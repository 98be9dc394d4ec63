"""Training of segmenters: what is in the treebank is learned, and the same again from the same files."""

import pytest
import torch

from tests.helpers.tiny_segmenter import tiny_segmenter, write_treebank
from transition_parser.graphs.conllu import read_conllu
from transition_parser.storage.segmenters import save_segmenter
from transition_parser.training.segmenter import (
    SegmentationScores,
    SegmenterOptions,
    segmentation_scores,
    train_segmenter,
    written_sentences,
)


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_treebank_is_learned_and_training_is_repeatable(tmp_path):
    state = torch.random.get_rng_state()
    segmenter = tiny_segmenter(tmp_path)
    assert torch.equal(torch.random.get_rng_state(), state)
    known = written_sentences([tmp_path / "tiny.conllu"])
    assert segmentation_scores(segmenter, known) == SegmentationScores(100.0, 100.0, 100.0)
    found = list(segmenter.sentences(["le chat du roi;; il a", "20 000 chats;;"]))
    assert [sentence.text for sentence in found] == ["le chat du roi;;", "il a\n20 000 chats;;"]
    assert found[0].tokens[2].words == ("de", "le") and found[0].tokens[2].spans == [(8, 10), (8, 10)]
    assert found[1].tokens[2].words == ("20 000",)
    save_segmenter(segmenter, tmp_path / "first")
    save_segmenter(tiny_segmenter(tmp_path), tmp_path / "second")
    assert contents(tmp_path / "first") == contents(tmp_path / "second")


def test_the_dropout_and_the_epoch_that_are_best_on_dev_are_kept(tmp_path):
    path, reports = write_treebank(tmp_path / "t.conllu"), []
    options = SegmenterOptions(epochs=4, size=4, layers=1, rate=0.1, dropouts=(0.9, 0.0))
    known = written_sentences([path])
    segmenter = train_segmenter(known, known, options, lambda *told: reports.append(told))
    assert [told[:3] for told in reports] == [(dropout, epoch, 4) for dropout in (0.9, 0.0) for epoch in (1, 2, 3, 4)]
    kept = segmentation_scores(segmenter, known)
    best = {dropout: max(sum(scores) for told, *_, scores in reports if told == dropout) for dropout in (0.9, 0.0)}
    assert best[0.0] > best[0.9] + 10
    assert sum(kept) == pytest.approx(best[0.0], abs=5)  # half precision may move a few


def test_written_sentences_are_those_of_the_file(tmp_path):
    path = write_treebank(tmp_path / "t.conllu", 1)
    path.write_text("# newdoc id = x\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    found = written_sentences([path])
    assert [sentence.opens_paragraph for sentence in found] == [True, False, False]
    assert [token.form for token in found[0].tokens] == ["le", "chat", "du", "roi", ";;"]
    texts = ["".join(token.form + " " * token.space_after for token in sentence.tokens) for sentence in found]
    assert [text.strip() for text in texts] == [sentence.text for sentence in read_conllu(path)]

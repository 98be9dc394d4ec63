"""The real fairseq programs: preprocess, train, resume, generate."""

import pytest
import torch

from tests.conftest import SAMPLE, logged, train, weights
from transition_parser.graphs.conllu import read_conllu
from transition_parser.transitions.config import ParserConfig


def test_preprocess_writes_what_the_design_says(data_folder):
    names = {path.name for path in data_folder.iterdir()}
    for split in ("train", "valid", "test"):
        assert {f"{split}.src", f"{split}.act", f"{split}.upos", f"{split}.src-act.src.bin"} <= names
    assert {"spm.model", "parser.json", "dict.src.txt", "dict.act.txt"} <= names
    source = (data_folder / "train.src").read_text(encoding="utf-8").splitlines()
    forms = [sentence.forms for sentence in read_conllu(SAMPLE)]
    assert [sum(piece.startswith("▁") for piece in line.split()) for line in source] == [*map(len, forms)]
    upos = (data_folder / "train.upos").read_text(encoding="utf-8").splitlines()
    assert [len(line.split()) for line in upos] == [*map(len, forms)]
    symbols = [line.split()[0] for line in (data_folder / "dict.act.txt").read_text().splitlines()]
    assert {str(action) for action in ParserConfig.load(data_folder).actions()} <= set(symbols)


def test_training_resumes_where_it_stopped(data_folder, tmp_path):
    each_epoch = ("--validate-interval", "1", "--save-interval", "1")
    first = train(data_folder, tmp_path, *each_epoch, updates=4)
    scores = logged(first, "valid_las")
    assert scores and all(0 <= float(entry["valid_las"]) <= float(entry["valid_uas"]) for entry in scores)
    second = train(data_folder, tmp_path, *each_epoch, updates=8)
    assert "Loaded checkpoint" in second.stdout + second.stderr
    updates = [int(entry["valid_num_updates"]) for entry in logged(second, "valid_las")]
    assert updates and min(updates) > 4 and max(updates) == 8
    assert (tmp_path / "checkpoint_best.pt").is_file()
    train(data_folder, tmp_path / "whole", "--disable-validation", updates=8)
    resumed, whole = weights(tmp_path), weights(tmp_path / "whole")
    assert all(torch.equal(resumed[name], whole[name]) for name in whole)


def test_sentences_longer_than_a_batch_are_batches_of_their_own(data_folder, tmp_path):
    """None is left out of training or validation."""
    sizes = [len(line.split()) + 1 for line in (data_folder / "train.act").read_text(encoding="utf-8").splitlines()]
    assert sum(size > 10 for size in sizes) > 10
    options = ("--max-tokens", "10", "--max-epoch", "1", "--validate-interval", "1", "--no-save")
    done = train(data_folder, tmp_path, *options, updates=10**6)
    (epoch,) = logged(done, "train_wpb")
    assert float(epoch["train_wpb"]) * float(epoch["train_num_updates"]) == pytest.approx(sum(sizes), rel=0.01)
    assert logged(done, "valid_las") and "skipped" not in done.stdout + done.stderr

"""The real fairseq programs: preprocess, train, resume."""

import pytest

from tests.conftest import SAMPLE, logged, train
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


def test_sentences_longer_than_a_batch_are_batches_of_their_own(data_folder, tmp_path):
    """None is left out of training or validation."""
    sizes = [len(line.split()) + 1 for line in (data_folder / "train.act").read_text(encoding="utf-8").splitlines()]
    assert sum(size > 10 for size in sizes) > 10
    options = ("--max-tokens", "10", "--max-epoch", "1", "--validate-interval", "1", "--no-save")
    done = train(data_folder, tmp_path, *options, updates=10**6)
    (epoch,) = logged(done, "train_wpb")
    assert float(epoch["train_wpb"]) * float(epoch["train_num_updates"]) == pytest.approx(sum(sizes), rel=0.01)
    assert logged(done, "valid_las") and "skipped" not in done.stdout + done.stderr

"""Training of segmenters: what is in the treebank is learned, and the same again from the same files."""

import torch

from tests.helpers.tiny_segmenter import tiny_segmenter, write_treebank
from transition_parser.graphs.conllu import raw_text, read_conllu
from transition_parser.storage.exports import save_segmenter
from transition_parser.training.segmenter import written_sentences


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_treebank_is_learned_and_training_is_repeatable(tmp_path):
    state = torch.random.get_rng_state()
    segmenter = tiny_segmenter(tmp_path)
    assert torch.equal(torch.random.get_rng_state(), state)
    known = list(read_conllu(tmp_path / "tiny.conllu"))
    found = segmenter.sentences(raw_text(known).split("\n"))
    assert [[word for token in one.tokens for word in token.words] for one in found] == [one.forms for one in known]
    found = list(segmenter.sentences(["le chat du roi;; il a", "20 000 chats;;"]))
    assert [sentence.text for sentence in found] == ["le chat du roi;;", "il a\n20 000 chats;;"]
    assert found[0].tokens[2].words == ("de", "le") and found[0].tokens[2].spans == [(8, 10), (8, 10)]
    assert found[1].tokens[2].words == ("20 000",)
    save_segmenter(segmenter, tmp_path / "first")
    save_segmenter(tiny_segmenter(tmp_path), tmp_path / "second")
    assert contents(tmp_path / "first") == contents(tmp_path / "second")


def test_written_sentences_are_those_of_the_file(tmp_path):
    path = write_treebank(tmp_path / "t.conllu", 1)
    path.write_text("# newdoc id = x\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    found = written_sentences([path])
    assert [sentence.opens_paragraph for sentence in found] == [True, False, False]
    assert [token.form for token in found[0].tokens] == ["le", "chat", "du", "roi", ";;"]
    texts = ["".join(token.form + " " * token.space_after for token in sentence.tokens) for sentence in found]
    assert [text.strip() for text in texts] == [sentence.text for sentence in read_conllu(path)]

"""Silver trees: whose tree is chosen, and which sentences are parsed."""

from dataclasses import replace
from pathlib import Path

import pytest
from shared import NewTexts
from silver_trees import consensus_of_trees, sentences_of, silver_trees, with_id, written

from transition_parser.graphs.conllu import Sentence, parse_conllu
from transition_parser.graphs.dependency import DependencyTree
from transition_parser.parsing.parses import Parse
from transition_parser.parsing.search import ranked

CHAIN = DependencyTree((0, 1, 2), ("root", "obj", "nmod"))
FLAT = DependencyTree((0, 1, 1), ("root", "obj", "nmod"))
OTHER = DependencyTree((2, 0, 2), ("nsubj", "root", "obj"))


class FakeParser:
    """Gives each sentence the same trees."""

    def __init__(self, *trees: DependencyTree) -> None:
        self.trees, self.nbest = trees, len(trees)

    def parse_stream(self, sentences):
        for sentence in sentences:
            parses = [Parse(sentence, tree, (1.0,) * 3, probability=0.1) for tree in self.trees]
            yield ranked(parses, len(parses)) if len(parses) > 1 else parses[0]


@pytest.mark.parametrize(
    ("candidates", "best", "agreement"),
    [
        ([CHAIN], 0, 1.0),
        ([CHAIN, CHAIN], 0, 1.0),
        ([CHAIN, FLAT], 0, 2 / 3),
        ([OTHER, CHAIN, FLAT], 1, (2 / 3 + 0) / 2),
        ([OTHER, FLAT, CHAIN, CHAIN], 2, (1 + 2 / 3 + 0) / 3),
    ],
)
def test_the_tree_that_agrees_most_is_chosen(candidates, best, agreement):
    assert consensus_of_trees(candidates) == (best, pytest.approx(agreement))


def test_trees_of_several_models_and_of_a_beam_are_compared():
    sentence = with_id(("a", "b", "c"), "one")
    ((parse, agreement),) = silver_trees([FakeParser(OTHER, FLAT), FakeParser(FLAT)], [sentence])
    assert parse.tree == FLAT and agreement == pytest.approx(0.5)


def test_columns_that_a_model_does_not_predict_are_those_of_the_first_model_that_does():
    class Tagger(FakeParser):
        def __init__(self, tag: str, tree: DependencyTree) -> None:
            super().__init__(tree)
            self.tag = tag

        def parse_stream(self, sentences):
            for parse in super().parse_stream(sentences):
                yield replace(parse, sentence=parse.sentence.with_tags((self.tag,) * 3, ("x",) * 3))

    sentence = with_id(("a", "b", "c"), "one")
    ((parse, agreement),) = silver_trees(
        [FakeParser(FLAT), Tagger("NOUN", CHAIN), Tagger("VERB", OTHER), FakeParser(FLAT)], [sentence]
    )
    assert parse.tree == FLAT
    (read,) = parse_conllu(written(parse, agreement).encode().splitlines(True))
    assert [(row.upos, row.lemma, row.xpos, row.feats) for row in read.rows] == [("NOUN", "x", "_", "_")] * 3
    ((parse, agreement),) = silver_trees([Tagger("NOUN", CHAIN), Tagger("VERB", FLAT), FakeParser(FLAT)], [sentence])
    assert parse.tree == FLAT and parse.upos == ["VERB"] * 3


def test_sentences_come_from_treebanks_and_amr_banks(tmp_path: Path):
    treebank, bank = tmp_path / "t.conllu", tmp_path / "b.amr"
    words = ("10 000", "dogs", "bark", ".")
    treebank.write_text("# sent_id = x 1\n" + str(Sentence.from_words(words)) + str(Sentence.from_words(("No", "!"))))
    bank.write_text("# ::id q.1\n# ::snt He didn't bark.\n(b / bark-01)\n\n# ::id q.2\n# ::snt No.\n(n / no)\n")
    found = [*filter(NewTexts(3, 9).let_pass, [*sentences_of(treebank), *sentences_of(bank)])]
    assert [one.id for one in found] == ["t.x1", "b.q.1"]
    assert [one.forms for one in found] == [["10000", "dogs", "bark", "."], ["He", "did", "n't", "bark", "."]]


def test_each_text_is_parsed_once_and_excluded_texts_never():
    sentences = [with_id(words.split(), words) for words in ("a b", "a c", "a b", "a d")]
    texts = NewTexts(1, 9, {"a d"})
    assert [one.id for one in filter(texts.let_pass, sentences)] == ["a b", "a c"]
    assert texts.left_out == {"sentence that came before": 1, "sentence of an excluded text": 1}

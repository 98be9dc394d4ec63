"""The CoNLL 2018 definition on cases computed by hand."""

import pytest

from transition_parser.errors import InputError
from transition_parser.graphs.conllu import parse_conllu
from transition_parser.graphs.dependency_score import Comparison


def sentences(*blocks: str):
    text = ""
    for block in blocks:
        for row in block.split(" / "):
            cells = row.split()
            if len(cells) == 2:  # a range: its number and its form
                text += f"{cells[0]}\t{cells[1]}" + "\t_" * 8 + "\n"
            else:
                number, form, head, relation, *xpos = cells
                tag = xpos[0] if xpos else "_"
                text += f"{number}\t{form}\t_\t_\t{tag}\t_\t{head}\t{relation}\t_\t_\n"
        text += "\n"
    return list(parse_conllu(line.encode() for line in text.split("\n")))


def f1(gold, system, **options) -> dict[str, float]:
    scores = Comparison(sentences(*gold), sentences(*system), **options).scores()
    return {name: round(score.f1, 2) for name, score in scores.items()}


GOLD = ["1 She 2 nsubj / 2 ran 0 root / 3 home 2 advmod / 4 . 2 punct ."]


def test_one_wrong_head_and_one_wrong_label_of_four():
    system = ["1 She 2 obj / 2 ran 0 root / 3 home 1 advmod / 4 . 2 punct ."]
    # heads: 3 of 4; head and label: 2 of 4; labels: 3 of 4; content words: 1 of She, ran, home
    assert f1(GOLD, system) == {"uas": 75.0, "las": 50.0, "clas": 33.33, "label_accuracy": 75.0}


def test_clas_counts_content_words_of_each_file():
    system = ["1 She 2 nsubj / 2 ran 0 root / 3 home 2 case / 4 . 2 punct ."]
    # gold has 3 content words, the system 2, and 2 are right: P 100, R 66.67, F1 80
    assert f1(GOLD, system)["clas"] == 80.0


def test_subtypes_count_on_request_only():
    gold = ["1 He 2 nsubj:pass / 2 ran 0 root"]
    system = ["1 He 2 nsubj / 2 ran 0 root"]
    assert f1(gold, system)["las"] == 100.0
    assert f1(gold, system, full_labels=True)["las"] == 50.0


def test_penn_punctuation_can_be_left_out():
    system = ["1 She 2 nsubj / 2 ran 0 root / 3 home 2 advmod / 4 . 1 punct ."]
    assert f1(GOLD, system)["uas"] == 75.0
    assert f1(GOLD, system, skip_punctuation=True)["uas"] == 100.0


def test_words_are_aligned_by_characters():
    """gold: ab | c; the system: a | b | c. Only c is aligned: gold 2 words, system 3, right 1."""
    gold = ["1 ab 2 nsubj / 2 c 0 root"]
    system = ["1 a 3 nsubj / 2 b 1 dep / 3 c 0 root"]
    assert f1(gold, system)["uas"] == 40.0  # 2 * 1 / (2 + 3)


def test_words_inside_ranges_are_aligned_by_form():
    """The range covers du in both files; its words are de le and de LE: forms are compared without case."""
    gold = ["1-2 du / 1 de 2 case / 2 le 0 root / 3 x 2 dep"]
    system = ["1-2 du / 1 de 2 case / 2 LE 0 root / 3 x 1 dep"]
    assert f1(gold, system)["uas"] == 66.67
    system = ["1 du 0 root / 2 x 1 dep"]
    # du is no word of the range; x is aligned, but its head is not: gold 3, system 2, right 0
    assert f1(gold, system)["uas"] == 0.0
    assert f1(gold, system)["label_accuracy"] == 40.0


def test_a_head_that_is_not_aligned_is_wrong():
    gold = ["1 ab 0 root / 2 c 1 obj"]
    system = ["1 a 0 root / 2 b 1 flat / 3 c 1 obj"]
    assert f1(gold, system)["uas"] == 0.0
    assert f1(gold, system)["label_accuracy"] == 40.0


def test_sentences_may_be_split_elsewhere():
    gold = ["1 a 0 root / 2 b 1 obj"]
    system = ["1 a 0 root", "1 b 0 root"]
    assert f1(gold, system) == {"uas": 50.0, "las": 50.0, "clas": 50.0, "label_accuracy": 50.0}


def test_other_text_is_an_error():
    with pytest.raises(InputError, match=r"differ from character 1 on .* 'b'.* 'c'"):
        Comparison(sentences("1 ab 0 root"), sentences("1 ac 0 root"))


def test_tables():
    system = ["1 She 2 obj / 2 ran 0 root / 3 home 1 advmod / 4 . 2 punct ."]
    comparison = Comparison(sentences(*GOLD), sentences(*system))
    assert comparison.by_relation()["nsubj"].f1 == 0.0
    assert comparison.by_relation()["punct"].f1 == 100.0
    assert comparison.by_length() == {"1-10": comparison.scores()["las"]}

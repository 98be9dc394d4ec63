"""The 13 official scores on small files; `conll18_ud_eval.py` printed the expected table."""

import pytest

from transition_parser.graphs.conllu import Sentence, parse_conllu
from transition_parser.graphs.dependency_score import Comparison, conll18, conll18_data, conll18_table

GOLD = """
1-2 Don't _ _ _ _ _ _
1 Do do AUX VBP Mood=Imp|VerbForm=Fin 3 aux
2 n't not PART RB Polarity=Neg 3 advmod
3 touch touch VERB VB Mood=Imp|VerbForm=Fin 0 root
4 the the DET DT Definite=Def|PronType=Art 5 det
5 dogs dog NOUN NNS Number=Plur|Style=Coll 3 obj
6 of of ADP IN _ 7 case
7 mine _ PRON PRP Person=1 5 nmod:poss

1 Go go VERB VB _ 0 root
2 ! ! PUNCT . _ 1 punct
"""
SYSTEM = """
1-2 Don't _ _ _ _ _ _
1 do do AUX VB Mood=Imp|VerbForm=Fin 3 aux:pass
2 not not PART RB Polarity=Neg 3 advmod
3 touch touch VERB VB VerbForm=Fin|Mood=Imp 0 root
4 the the PRON DT Definite=Def|PronType=Art 5 det
5 dogs dogs NOUN NNS Number=Plur 3 obj
6 of of ADP IN Case=Gen 7 case
7 mine my PRON PRP Person=1 5 nmod
8 Go go VERB VB _ 3 parataxis

1 ! ! PUNCT . _ 0 root
"""
TABLE = """\
Metric     | Precision |    Recall |  F1 Score | AligndAcc
-----------+-----------+-----------+-----------+-----------
Tokens     |    100.00 |    100.00 |    100.00 |
Sentences  |      0.00 |      0.00 |      0.00 |
Words      |     88.89 |     88.89 |     88.89 |
UPOS       |     77.78 |     77.78 |     77.78 |     87.50
XPOS       |     77.78 |     77.78 |     77.78 |     87.50
UFeats     |     77.78 |     77.78 |     77.78 |     87.50
AllTags    |     55.56 |     55.56 |     55.56 |     62.50
Lemmas     |     77.78 |     77.78 |     77.78 |     87.50
UAS        |     66.67 |     66.67 |     66.67 |     75.00
LAS        |     66.67 |     66.67 |     66.67 |     75.00
CLAS       |     50.00 |     60.00 |     54.55 |     75.00
MLAS       |     16.67 |     20.00 |     18.18 |     25.00
BLEX       |     33.33 |     40.00 |     36.36 |     50.00"""


def read(text: str) -> list[Sentence]:
    lines = []
    for line in text.strip("\n").split("\n"):
        cells = line.split(" ") if line else []
        lines.append("\t".join([*cells, "_", "_"]) if cells else "")
    return list(parse_conllu(line.encode() for line in lines))


def scores(gold: str, system: str, **options):
    return conll18(Comparison(read(gold), read(system), **options))


def test_the_table_of_the_official_script():
    assert conll18_table(scores(GOLD, SYSTEM)) == TABLE


def test_a_perfect_parse_has_all_of_everything():
    assert {(s.precision, s.recall, s.f1, s.aligned_accuracy or 100.0) for s in scores(GOLD, GOLD).values()} == {
        (100.0, 100.0, 100.0, 100.0)
    }


def test_options_of_the_comparison_change_nothing():
    assert scores(GOLD, SYSTEM, full_labels=True, skip_punctuation=True) == scores(GOLD, SYSTEM)


WORDS = "1 The the DET DT Definite=Def 2 det\n2 dog dog NOUN NN Number=Sing 0 root\n"


@pytest.mark.parametrize(
    ("changed", "lower"),
    [
        (WORDS.replace("DET", "PRON"), {"UPOS", "AllTags", "MLAS"}),  # a function word counts with its head
        (WORDS.replace("Definite=Def", "Definite=Ind"), {"UFeats", "AllTags", "MLAS"}),
        (WORDS.replace("Number=Sing", "Style=Arch|Number=Sing"), set()),  # not universal
        (WORDS.replace("NN ", "NNS "), {"XPOS", "AllTags"}),
        (WORDS.replace("dog NOUN", "dogs NOUN"), {"Lemmas", "BLEX"}),
        (WORDS.replace("the DET", "a DET"), {"Lemmas"}),  # no content word
        (WORDS.replace("2 det", "2 det:poss"), set()),
        (WORDS.replace("2 det", "2 amod"), {"LAS", "CLAS", "MLAS", "BLEX"}),
        (WORDS.replace("0 root", "1 dep").replace("2 det", "0 root"), {"UAS", "LAS", "CLAS", "MLAS", "BLEX"}),
    ],
)
def test_what_each_score_counts(changed, lower):
    assert {name for name, score in scores(WORDS, changed).items() if score.f1 < 100.0} == lower


def test_plain_data():
    found = conll18_data(scores(GOLD, SYSTEM))
    assert found["UPOS"]["aligned_accuracy"] == round(scores(GOLD, SYSTEM)["UPOS"].aligned_accuracy, 2)
    assert found["Tokens"]["aligned_accuracy"] is None and list(found)[-1] == "BLEX"

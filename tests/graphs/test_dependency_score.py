"""The CoNLL 2018 definition on cases computed by hand; `conll18_ud_eval.py` printed the expected table."""

from pathlib import Path

import pytest

from transition_parser.base.errors import InputError
from transition_parser.graphs.conllu import Row, Sentence, parse_conllu
from transition_parser.graphs.dependency_score import Comparison, Score, score, table


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
    return {name: score.as_data()["f1"] for name, score in scores.items()}


GOLD = ["1 She 2 nsubj / 2 ran 0 root / 3 home 2 advmod / 4 . 2 punct ."]


RANGE = ["1-2 du / 1 de 2 case / 2 le 0 root / 3 x 2 dep"]


@pytest.mark.parametrize(
    ("gold", "system", "expected"),
    [
        # heads: 3 of 4; head and label: 2 of 4; labels: 3 of 4; content words: 1 of She, ran, home
        (GOLD, ["1 She 2 obj / 2 ran 0 root / 3 home 1 advmod / 4 . 2 punct ."],
         {"UAS": 75.0, "LAS": 50.0, "CLAS": 33.33, "XPOS": 100.0}),
        # gold has 3 content words, the system 2, and 2 are right: P 100, R 66.67, F1 80
        (GOLD, ["1 She 2 nsubj / 2 ran 0 root / 3 home 2 case / 4 . 2 punct ."], {"CLAS": 80.0}),
        # words are aligned by characters; c alone is aligned: gold 2 words, system 3, right 1
        (["1 ab 2 nsubj / 2 c 0 root"], ["1 a 3 nsubj / 2 b 1 dep / 3 c 0 root"], {"UAS": 40.0}),
        # a head that is not aligned is wrong
        (["1 ab 0 root / 2 c 1 obj"], ["1 a 0 root / 2 b 1 flat / 3 c 1 obj"], {"UAS": 0.0}),
        # words in a range are aligned by their forms, which are compared without case
        (RANGE, ["1-2 du / 1 de 2 case / 2 LE 0 root / 3 x 1 dep"], {"UAS": 66.67}),
        # du is no word of the range; x is aligned, but its head is not: gold 3, system 2, right 0
        (RANGE, ["1 du 0 root / 2 x 1 dep"], {"UAS": 0.0}),
        # sentences may be split elsewhere
        (["1 a 0 root / 2 b 1 obj"], ["1 a 0 root", "1 b 0 root"],
         {"UAS": 50.0, "LAS": 50.0, "CLAS": 50.0}),
    ],
)  # fmt: skip
def test_scores_by_hand(gold, system, expected):
    found = f1(gold, system)
    assert {name: found[name] for name in expected} == expected


def test_subtypes_count_on_request_only():
    gold = ["1 He 2 nsubj:pass / 2 ran 0 root"]
    system = ["1 He 2 nsubj / 2 ran 0 root"]
    assert f1(gold, system)["LAS"] == 100.0
    assert f1(gold, system, full_labels=True)["LAS"] == 50.0


def test_penn_punctuation_can_be_left_out():
    system = ["1 She 2 nsubj / 2 ran 0 root / 3 home 2 advmod / 4 . 1 punct ."]
    assert f1(GOLD, system)["UAS"] == 75.0
    assert f1(GOLD, system, skip_punctuation=True)["UAS"] == 100.0


def test_aligned_words_are_punctuation_by_gold_and_others_by_their_own_tag():
    gold = ["1 ran 0 root : / 2 ... 1 punct : / 3 ! 1 punct ."]
    system = ["1 ran 0 root / 2 . 1 punct : / 3 .. 1 punct / 4 ! 1 punct"]
    assert Comparison(sentences(*gold), sentences(*system), False, True).scores()["UAS"] == Score(0, 1, 0)


GOLD_ROWS = [("1", "Hi", "INTJ", "UH", "0", "root"), ("2", ".", "PUNCT", ".", "1", "punct")]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (GOLD_ROWS, None),
        ([(*row[:3], "_", *row[4:]) for row in GOLD_ROWS], "no word has an XPOS by which --punct skip"),
        ([(*row[:3], f"${row[3]}", *row[4:]) for row in GOLD_ROWS], "no word has an XPOS by which --punct skip"),
    ],
)
def test_punctuation_can_not_be_left_out_where_gold_does_not_say_what_it_is(rows, said, tmp_path):
    path = tmp_path / "gold.conllu"
    lines = ("\t".join([*row[:2], "_", *row[2:4], "_", *row[4:], "_", "_"]) for row in rows)
    path.write_text("\n".join(lines) + "\n\n")
    score(path, path)
    if said is None:
        score(path, path, punct="skip")
    else:
        with pytest.raises(InputError, match=said) as caught:
            score(path, path, punct="skip")
        assert str(caught.value).startswith(f"{path}: ")


def test_a_range_is_one_token_and_its_words_are_aligned_by_their_forms():
    """gold: don't = do + n't, go; the system: do | n't | go. Tokens: go alone, of 2 and 3. Words: all three."""
    gold = ["1-2 don't / 1 do 3 aux / 2 n't 3 advmod / 3 go 0 root"]
    system = ["1 do 3 aux / 2 n't 3 advmod / 3 go 0 root"]
    comparison = Comparison(sentences(*gold), sentences(*system))
    assert not comparison.same_segmentation
    found = f1(gold, system)
    assert [found[name] for name in ("Tokens", "Sentences", "Words", "LAS")] == [40.0, 100.0, 100.0, 100.0]


def test_a_mark_that_does_not_show_may_be_outside_tokens():
    gold, system = ["1 \u200fgo\u200e 0 root / 2 on 1 obl"], ["1 go 0 root / 2 on 1 obl"]
    assert Comparison(sentences(*gold), sentences(*system)).same_segmentation


def test_other_characters_are_refused_with_their_place():
    gold = "# sent_id = g\n1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n2\tbc\t_\t_\t_\t_\t1\tobj\t_\t_\n\n"
    system = "# sent_id = s\n1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n\n# sent_id = t\n1\tbd\t_\t_\t_\t_\t0\troot\t_\t_\n\n"

    def read(text, path):
        return list(parse_conllu((line.encode() for line in text.split("\n")), path))

    with pytest.raises(InputError) as caught:
        Comparison(read(gold, "g.conllu"), read(system, "s.conllu"))
    assert str(caught.value) == (
        "s.conllu:5: sentence t: the texts differ from character 2 on (spaces not counted): gold "
        "(g.conllu:3, sentence g) has 'c', the system has 'd'"
    )
    with pytest.raises(InputError, match=r"has '.u0301', the system has '.u0341'"):
        Comparison(read(gold.replace("c", "\u0301"), "g.conllu"), read(system.replace("d", "\u0341"), "s.conllu"))
    shorter = read(system.split("# sent_id = t")[0], "s.conllu")
    with pytest.raises(InputError, match=r"^s.conllu:2: sentence s: .* has 'bc', the system has ''"):
        Comparison(read(gold, "g.conllu"), shorter)


@pytest.mark.parametrize(
    ("gold", "system", "lacking"),
    [("NN _ NN", "NN NN VB", False), ("_ _ _", "NN NN VB", True), ("NN NN NN", "_ _ _", True)],
)
def test_a_column_is_lacking_where_a_file_has_it_for_no_word(gold, system, lacking):
    def tagged(tags):
        rows = (
            Row(str(i), "a", tag, tag, tag, tag, head=str(i - 1), deprel="x") for i, tag in enumerate(tags.split(), 1)
        )
        return [Sentence(tuple(rows))]

    found = Comparison(tagged(gold), tagged(system)).lacking()
    assert found == (["UPOS", "Lemmas", "XPOS", "UFeats"] if lacking else [])


def test_the_table_of_the_official_script():
    folder = Path(__file__).with_name("conll18")
    figures = score(folder / "gold.conllu", folder / "system.conllu", conll18=True)
    assert f"{table(figures)}\n" == (folder / "table.txt").read_text()


def read(rows: str) -> list[Sentence]:
    """Read the first eight columns, with blanks between them."""
    text = "".join("\t".join([*row.split(" "), "_", "_"]) + "\n" for row in rows.splitlines())
    return list(parse_conllu(text.encode().splitlines()))


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
    found = Comparison(read(WORDS), read(changed)).scores()
    assert {name for name, score in found.items() if score.as_data()["f1"] < 100.0} == lower

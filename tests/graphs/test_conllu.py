from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import SAMPLE
from transition_parser.base.errors import InputError
from transition_parser.graphs.conllu import Row, Sentence, parse_conllu, read_conllu

GOOD = (
    "# sent_id = s1\n"
    "1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "1\tdo\tdo\tAUX\t_\t_\t2\taux\t_\t_\n"
    "2\tn't\tnot\tPART\t_\t_\t0\troot\t_\tSpaceAfter=No\n"
    "2.1\tgo\tgo\tVERB\t_\t_\t_\t_\t2:conj\t_\n"
    "3\t10 000\t10 000\tNUM\t_\tNumType=Card\t2\tobj\t2:obj\t_\n"
    "\n"
)


def parse(text: str) -> list[Sentence]:
    return list(parse_conllu(text.encode().splitlines(keepends=True), "f.conllu"))


def test_sample_comes_back_byte_for_byte():
    text = "".join(map(str, read_conllu(SAMPLE)))
    assert text == SAMPLE.read_text(encoding="utf-8")
    assert parse(GOOD.rstrip("\n")) == parse(GOOD)  # the last blank line may be missing


def test_the_text_of_a_sentence_is_its_comment_or_is_put_together_from_its_tokens():
    (sentence,) = parse(GOOD)
    assert sentence.text == "don't 10 000"
    assert replace(sentence, comments=("# text = Don't  10 000!",)).text == "Don't  10 000!"
    attached = [Row("1", "a", misc="SpaceAfter=No"), Row("2", "b", misc="Gloss=x|SpaceAfter=No"), Row("3", "c")]
    assert Sentence((*attached, Row("4", "d"))).text == "abc d"
    token = Row("1-2", "du", misc="SpaceAfter=No")
    assert Sentence((token, Row("1", "de"), Row("2", "le"), Row("3", "!"))).text == "du!"


def test_ranges_and_empty_nodes_are_no_words():
    (sentence,) = parse(GOOD)
    assert sentence.forms == ["do", "n't", "10 000"]
    assert sentence.id == "s1"
    assert sentence.tree().heads == (2, 0, 2)
    assert str(sentence) == GOOD


def test_with_another_tree_the_enhanced_graph_and_values_of_the_old_one_go():
    (sentence,) = parse(GOOD)
    basic = sentence.with_tree(sentence.tree())
    assert str(basic) == GOOD.replace("2.1\tgo\tgo\tVERB\t_\t_\t_\t_\t2:conj\t_\n", "").replace("2:obj", "_")
    assert basic.with_tree(basic.tree()) == basic and basic.tree() == sentence.tree()
    scored = sentence.with_tree(sentence.tree(), "S", ["1", "2", "3"])
    assert [row.misc for row in scored.words] == ["S=1", "SpaceAfter=No|S=2", "S=3"]
    assert scored.with_tree(sentence.tree(), "S") == basic


cells = st.text(st.characters(exclude_characters="\t\n\r\0", exclude_categories=["Cs"]), min_size=1)

solid = cells.filter(lambda cell: cell.split() == [cell])  # without white space
columns = {"form": cells, "lemma": cells, "upos": solid, "xpos": solid, "feats": solid, "deps": solid, "misc": cells}


@given(st.lists(st.tuples(*columns.values()), min_size=1, max_size=6))
def test_any_text_in_any_column_round_trips(rows):
    sentence = Sentence(
        tuple(
            Row(str(i), form, lemma, upos, xpos, feats, "0" if i == 1 else "1", "dep", deps, misc)
            for i, (form, lemma, upos, xpos, feats, deps, misc) in enumerate(rows, 1)
        )
    )
    raw = [line.encode() + b"\n" for line in str(sentence).split("\n")]
    (back,) = parse_conllu(raw)
    assert back.rows == sentence.rows


def line(*changes: tuple[str, str]) -> str:
    text = GOOD
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        (line(("\tSpaceAfter=No", "")), "f.conllu:4", "9 columns"),
        (line(("\tn't\tnot", "\t\tnot")), "f.conllu:4", "FORM is empty"),
        (line(("3\t10", "4\t10")), "f.conllu:6", "the ID is 4, but word 3 is expected"),
        (line(("1-2", "1-9")), "f.conllu:6", "a range ends at word 9"),
        (line(("1-2", "2-3")), "f.conllu:2", "does not begin"),
        (line(("2.1", "2.2")), "f.conllu:5", "2.1 is expected"),
        (line(("3\t10", "x\t10")), "f.conllu:6", "ID 'x' is not a word number"),
        (line(("3\t10", "03\t10")), "f.conllu:6", "ID '03' is not a word number"),
        (line(("3\t10", "9" * 4301 + "\t10")), "f.conllu:6", "99...' is not a word number"),
        (line(("\tAUX", "\tAUX AUX")), "f.conllu:3", "column UPOS holds white space ('AUX AUX')"),
        (line(("\t2:conj", "\t2:conj\xa0")), "f.conllu:5", "column DEPS holds white space"),
        ("# only a comment\n\n", "f.conllu:1", "no words"),
    ],
)
def test_malformed_files_name_line_and_reason(text, place, reason):
    with pytest.raises(InputError) as error:
        parse(text)
    assert str(error.value).startswith(place)
    assert reason in str(error.value)


def test_binary_files_are_no_conllu():
    with pytest.raises(InputError, match="f:1: byte 1 of the line is not UTF-8"):
        list(parse_conllu([b"\xff\xfe\x00"], "f"))
    with pytest.raises(InputError, match="zero byte"):
        list(parse_conllu([b"\x00\x01"], "f"))


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("\t2\taux", "\t9\taux", "f.conllu:3: sentence s1: word 1 has head 9"),
        ("\t2\taux", "\t0\taux", "f.conllu:4: sentence s1: words 1 and 2 both have head 0"),
        ("\t0\troot", "\t1\troot", "f.conllu:3: sentence s1: word 1 is its own ancestor"),
        ("\t2\taux", "\t_\taux", "f.conllu:3: sentence s1: word 1 has HEAD '_'"),
        ("\t2\tobj", "\t-1\tobj", "word 3 has HEAD '-1'"),
        ("\t2\tobj", "\t02\tobj", "word 3 has HEAD '02', not a number"),
        ("\t2\tobj", f"\t{'9' * 4301}\tobj", "word 3 has HEAD '99"),
    ],
)
def test_what_is_no_tree_names_the_word(old, new, reason):
    (sentence,) = parse(line((old, new)))
    with pytest.raises(InputError, match=reason.replace("(", r"\(")):
        sentence.tree()


@pytest.mark.slow
def test_all_treebanks_come_back_byte_for_byte(corpora):
    files = sorted(corpora.glob("ud/*/*.conllu"))
    assert len(files) >= 18
    for path in files:
        text = "".join(map(str, read_conllu(path)))
        assert text == path.read_text(encoding="utf-8"), path

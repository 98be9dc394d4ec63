"""Lemmas from spaCy's tables, rules that make lemmas, and numbers in words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import ROOT, run
from tests.helpers.scripts import module
from transition_parser.text.characters import without_hidden
from transition_parser.text.columns import LEMMA, PAST, Columns
from transition_parser.text.lemmas import apply_rule, lemmatize, number_of, rule_of

_script = module("recipes/lemmas.py")


@pytest.mark.parametrize(
    ("words", "lemmas"),
    [
        ("was is are 'm been", "be be be be be"),
        ("found left felt lay said went", "find leave feel lie say go"),
        ("planets volcanoes children knives", "planet volcano child knife"),
        ("happier dropped", "happy drop"),
        ("crew thieves broker taxes first", "crew thief broker tax 1"),
        ("did n't wo ca 's", "do not will can 's"),
        ("Roses TEXAS Xyzzy", "rose texas xyzzy"),
        ("42 3.5 -- , 1922", "42 3.5 -- , 1922"),
        ("physics statistics weed opera criteria", "physics statistics weed opera criterion"),
        ("9 AM 5 pm I am I AM", "9 a.m. 5 p.m. i be i be"),
        ("audiobooks quesadillas neo-conservatives Starbucks", "audiobook quesadilla neo-conservative starbucks"),
        ("lithus pathosis vs themselves 's -s", "lithus pathosis vs themselves 's -s"),
        ("sooooo Veryyy hmmm AAA NGO's", "so very hm aaa ngo"),
    ],
)
def test_lemmas(words, lemmas):
    assert lemmatize(words.split()) == lemmas.split()


def test_the_usual_lemmas_of_a_treebank_that_the_tables_lack_are_learned(tmp_path):
    words = [
        *[("crew", "crew", "NOUN")] * 2, ("crew", "crow", "VERB"), *[("saw", "see", "VERB"), ("saw", "saw", "NOUN")],
        ("mine", "mine", "NOUN"), *[("mine", "my", "PRON")] * 2, ("dogs", "dog", "NOUN"), ("first", "first", "ADJ"),
        ("After", "afternoon", "NOUN"), ("left", "left", "ADJ"),
    ]  # fmt: skip
    rows = [f"{i}\t{form}\t{lemma}\t{upos}\t_\t_\t{i - 1}\t{'dep' if i > 1 else 'root'}\t_\t_"
            for i, (form, lemma, upos) in enumerate(words, 1)]  # fmt: skip
    bank, table = tmp_path / "train.conllu", tmp_path / "lemmas.tsv"
    bank.write_text("\n".join([*rows, "", ""]), encoding="utf-8")
    run(ROOT / "run" / "recipes" / "lemmas.py", bank, "-o", table)
    assert {*table.read_text(encoding="utf-8").splitlines()} == {
        "crew\tcrew",
        *("\t".join(mistake) for mistake in _script.MISTAKES.items()),
    }


def test_lemmas_of_silver_trees_that_are_no_words_are_mended(tmp_path):
    train = tmp_path / "train.conllu"
    words = ("blorfed", "blorf", "VERB"), ("'d", "have", "AUX"), ("'d", "would", "AUX"), ("axes", "ax", "NOUN")
    rows = (f"{i}\t{form}\t{lemma}\t{tag}\t_\t_\t{i - 1}\tdep\t_\t_\n" for i, (form, lemma, tag) in enumerate(words, 1))
    train.write_text("".join([*rows, "\n"]), encoding="utf-8")
    expected = {
        ("certified", "VERB"): ("certifie", "certify"), ("bit", "VERB"): ("bet", "bite"),
        ("frobbed", "VERB"): ("frobb", None), ("xyzzy", "NOUN"): ("xyzzy", "xyzzy"),
        ("blorfed", "VERB"): ("blorf", "blorf"), ("blorfing", "VERB"): ("blorf", "blorf"),
        ("Flieses", "PROPN"): ("Fliese", "Fliese"), ("dogs", "NOUN"): ("dog", "dog"),
        ("leaves", "NOUN"): ("leave", "leaf"), ("axes", "NOUN"): ("ax", "ax"), ("heftier", "ADJ"): ("good", "hefty"),
        ("scores", "NOUN"): ("score", "score"), ("kDa", "PROPN"): ("thousand", None),
        ("oxen", "NOUN"): ("oxen", "ox"), ("1,800", "NUM"): ("1000", None), ("1,000", "NUM"): ("1000", "1000"),
    }  # fmt: skip
    forms = {word: rule_of(word[0], lemma) for word, (lemma, _) in expected.items()}
    columns = _script.mended(Columns({LEMMA: tuple(forms.values())}, {LEMMA: forms}), train)
    found = columns.forms[LEMMA]
    assert {word: apply_rule(word[0], found[word]) for word in expected if word in found} == {
        word: lemma for word, (_, lemma) in expected.items() if lemma
    }
    added = {("bound", "VERB"): "bind", ("funnier", "ADJ"): "funny", ("phenomena", "NOUN"): "phenomenon",
             ("hoe", "VERB"): "hoe", ("sha", "AUX"): "shall", ("felled", "VERB"): "fell",
             ("prairie", "NOUN"): "prairie", ("bacteria", "NOUN"): "bacterium"}  # fmt: skip
    assert {word: apply_rule(word[0], found[word]) for word in added} == added
    past = columns.forms[PAST]
    assert apply_rule("lay", past["lay", "VERB"]) == "lie" and ("cut", "VERB") not in past
    assert found["'d", "AUX"] == " ".join(rule_of("'d", lemma) for lemma in ("have", "would"))


words = st.text(st.characters(codec="utf-8", exclude_categories=("Z", "C")), min_size=1, max_size=12)


@given(words, words)
def test_a_rule_makes_the_lemma_that_it_was_made_of(form, lemma):
    shown = without_hidden(lemma) or "_"
    assert shown == "_" or apply_rule(form, rule_of(form, lemma)) == shown


def test_lemmas_are_without_characters_that_do_not_show():
    rule = rule_of("exam\u00adples", "exam\u200bple")
    assert (rule, apply_rule("tem\u2060ples", rule)) == (rule_of("examples", "example"), "temple")
    assert rule_of("کتاب\u200cها", "\u200c") == "_" and apply_rule("\u200b", "l0+|0+") == "_"


@pytest.mark.parametrize(
    "form, lemma, other, wanted",
    [("dogs", "dog", "Cats", "cat"), ("Paris", "Paris", "Lima", "Lima"), ("USED", "use", "BAKED", "bake")],
)
def test_rules_carry_over(form, lemma, other, wanted):
    assert apply_rule(other, rule_of(form, lemma)) == wanted


@pytest.mark.parametrize("rule", ["_", "", "=", "x", "l9+|9+", "l1+a"])
def test_what_does_not_apply_leaves_the_form(rule):
    assert apply_rule("word", rule) == "word"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Thirteen", "13"),
        ("ninety-nine", "99"),
        ("eighty - six", "86"),
        ("nine hundred twelve thousand three hundred one", "912301"),
        ("one billion two million", "1002000000"),
        ("40 million", "40000000"),
        ("1.5 billion", "1500000000"),
        ("2,500", "2500"),
    ],
)
def test_numbers_in_words(text, number):
    assert number_of(text.split()) == number


@pytest.mark.parametrize(
    "text",
    ["", "-", "five -", "- five", "five six", "twenty ten", "two dogs", "m", "5 m", "hundreds", "1st", "five and six"],
)
def test_other_words_are_no_numbers(text):
    assert number_of(text.split()) is None

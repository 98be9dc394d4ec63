"""Columns of sentences: their values and files; a column that only this test knows, from a treebank to a model."""

import json
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import torch

from tests.conftest import SAMPLE, run_here
from tests.helpers.small_models import SIZES, make_batch, make_task, with_words
from transition_parser import Parser
from transition_parser.base.errors import InputError
from transition_parser.graphs.conllu import Row, Sentence, read_conllu
from transition_parser.models.registry import architecture_of
from transition_parser.models.stack_transformer import StackTransformerOptions
from transition_parser.modules import words
from transition_parser.modules.options import ModelOptions, option
from transition_parser.modules.word_inputs import ColumnInput
from transition_parser.parsing.formalisms import FORMALISMS
from transition_parser.tasks.transition_parsing import TrainingModel, TransitionParsingTask
from transition_parser.text.columns import (
    FILE_NAME,
    KNOWN,
    Column,
    Columns,
    read_annotations,
    seen_with_tags,
    values_of_forms,
)
from transition_parser.text.lemmas import Lemmatizer, rule_of

COLUMNS = Columns({"upos": ("NOUN", "VERB"), "domain": ("news",)})


def test_a_file_and_none(tmp_path):
    assert Columns.load(tmp_path).values == {}
    rules = {("dogs", "NOUN"): "l0+|1+", ("cats", "NOUN"): "l0+|1+", ("is", "_"): "=be"}
    for forms in ({}, {"lemma": rules}, {"lemma": rules, "feats": {("dogs", "NOUN"): "Number=Plur", ("to", "_"): "|"}}):
        Columns(COLUMNS.values, forms).save(tmp_path)
        found = Columns.load(tmp_path)
        assert found.values == COLUMNS.values and found.forms == forms


def test_forms_keep_all_that_they_have_with_a_tag():
    rows = (("VERB", "cut", "_"), ("NOUN", "cut", "Number=Sing"), ("NOUN", "cuts", "Number=Sing"))
    words = tuple(Row(str(i), "cut", lemma, upos, feats=feats) for i, (upos, lemma, feats) in enumerate(rows, 1))
    by_tag = values_of_forms([Sentence(words)], ("upos", "lemma", "feats"))
    assert by_tag["feats"] == {("cut", "VERB"): "|", ("cut", "NOUN"): "Number=Sing"}
    assert by_tag["lemma"] == {("cut", "VERB"): "l0+|0+", ("cut", "NOUN"): "l0+|0+ l0+|0+s"}
    assert values_of_forms([Sentence(words)], ("feats",)) == {"feats": {("cut", "_"): "Number=Sing |"}}


def test_a_form_of_training_has_the_best_of_its_sets_of_features():
    sets = {("Cut", "VERB"): "A=B C=D", ("cut", "NOUN"): "|", ("run", "VERB"): "E=F"}
    columns = Columns({"upos": ("NOUN", "VERB")}, {"feats": sets})
    ranked = ["E=F C=D A=B", "E=F", "A=B |", "E=F C=D"]
    found = columns.features(["Cut", "Cut", "CUT", "new"], ["VERB", "VERB", "NOUN", "VERB"], ranked)
    assert found == ["C=D", "A=B", "|", "E=F"]
    assert [[*tags] for tags in columns.tags_of(["Cut", "CUT", "new"])] == [["VERB"], ["VERB", "NOUN"], []]
    assert columns.sets_of_tags() == {"VERB": ["A=B", "C=D", "E=F"], "NOUN": ["|"]}


def test_a_model_that_left_out_ambiguous_forms_knows_those_of_the_same_letters_alone():
    columns = Columns({"upos": ("NOUN",)}, {"feats": {("run", "VERB"): "E=F", ("cut", "NOUN"): "|"}})
    assert columns.features(["run", "Run"], ["VERB", "VERB"], ["A=B", "A=B"]) == ["E=F", "A=B"]
    assert not columns.lists_sets and [[*tags] for tags in columns.tags_of(["run"])] == [[]]


def test_a_lemma_is_a_known_one_if_one_of_the_rules_gives_it():
    known = Columns(forms={"lemma": {("cut", "VERB"): "k0+|0+"}}).lemmatizer
    assert known.lemma("cutting", "VERB", "k0+|3+ k0+|4+") == "cut"
    assert known.lemma("cutting", "NOUN", "k0+|3+ k0+|4+") == "cutt"  # known with another tag
    assert known.lemma("cutting", "VERB", "k0+|0+") == "cutting" and known.lemma("a", "VERB", "") == "a"


def test_the_lemma_of_a_form_that_has_one_in_training_needs_no_rules():
    rules = {
        ("cut", "VERB"): "k0+|0+",
        ("saw", "VERB"): "k0+|2+ee",
        ("saw", "X"): "k0+|0+ k0+|2+ee",
        ("I", "PRON"): "k0+|0+",
    }
    known = Columns(forms={"lemma": rules, "past": {("saw", "VERB"): "k0+|2+ee"}}).lemmatizer
    of_one = [word for word, is_known in zip(rules, known.are_known(*zip(*rules)), strict=True) if is_known]
    assert of_one == [("cut", "VERB"), ("saw", "VERB"), ("I", "PRON")]
    assert known.are_known(["Cut", "new"], ["VERB", "VERB"]) == [False, False]
    for form, tag in of_one:
        for features in ("", "Tense=Past"):
            assert len({known.lemma(form, tag, given, features) for given in ("_", "", "k0+|1+ k0+|0+", "=x")}) == 1


def test_rules_of_the_same_ending_give_known_lemmas_where_the_predicted_rule_makes_an_unknown_word():
    verbs = {"carried": "l0+|3+y", "hurried": "l0+|3+y", "died": "l0+|1+", "tried": "l0+|3+y", "imply": "k0+|0+"}
    known = Columns(forms={"lemma": {(form, "VERB"): rule for form, rule in verbs.items()}}).lemmatizer
    assert known.lemma("implied", "VERB", "l0+|1+") == "imply"
    assert known.lemma("implied", "ADJ", "l0+|1+") == "implie"  # known with another tag
    assert known.lemma("spied", "VERB", "l0+|1+") == "spie"  # neither is known
    assert known.lemma("implied", "VERB", "k0+|0+") == "implied"  # the word itself stays
    assert known.lemma("died", "VERB", "l0+|1+") == "die"


def lemmas_of(**forms: str) -> Lemmatizer:
    """A lemmatizer that knows lemmas of forms with the tag X; a form may have several."""
    rules = {(form, "X"): " ".join(rule_of(form, one) for one in lemmas.split()) for form, lemmas in forms.items()}
    return Columns(forms={"lemma": rules}).lemmatizer


def test_rules_that_replace_most_of_a_form_are_for_forms_of_training():
    known = lemmas_of(k="thousand", best="good well", ll="will", dogs="dog", cats="cat")
    assert known.lemma("k", "X", "k0+|0+") == "thousand"
    assert known.lemma("best", "X", "=well =good") == "good" and known.lemma("best", "X", "k0+|0+") == "good"
    assert known.lemma("kDa", "X", "=thousand k0+|0+") == "kDa" and known.lemma("kDa", "X", "=thousand") == "kDa"
    assert known.lemma("best.", "X", rule_of("best", "well")) == "best."
    assert known.lemma("gonna", "X", rule_of("ll", "will")) == "gonna"
    assert known.lemma("8,000", "X", rule_of("2,000", "4000")) == "8,000"
    assert lemmas_of(am="am be").lemma("Aladdin", "X", "k0+|6+m") == "Aladdin"
    assert lemmas_of(k="thousand").lemma("kDa", "X", "=thousand") == "thousand"  # of a time without several lemmas
    assert known.lemma("hens", "X", "l0+|1+") == "hen" and known.lemma("hent", "X", "l0+|1+") == "hent"


def test_endings_that_rules_set_apart_fit_new_forms():
    known = lemmas_of(가고="가+고", 먹고="먹+고", 했다="하+았+다", 확인했다="확인+하+았+다", 점검했다="점검+하+았+다")
    assert known.lemma("들고", "X", "l0+|1++고") == "들+고"
    assert known.lemma("결정했다", "X", "l0+|2++하+았+다") == "결정+하+았+다"


def test_rules_fit_new_forms_if_two_forms_and_not_too_few_of_their_ending_have_them():
    known = lemmas_of(recieved="receive", bring="bre", fling="fle", zig="zig zag")
    assert known.lemma("deceived", "X", rule_of("recieved", "receive")) == "deceived"
    assert known.lemma("string", "X", "l0+|3+e") == "stre"
    many = {f"{letter}{vowel}ning": f"{letter}{vowel}ning" for letter in "bcdfghjklmpqrtv" for vowel in "aeiou"}
    assert lemmas_of(bring="bre", fling="fle", zig="zig zag", **many).lemma("string", "X", "l0+|3+e") == "string"


def test_numbers_lose_all_separators_of_thousands_or_none():
    known = lemmas_of(**{"2,000": "2000", "15,000": "15000", "1.500": "1.500"})
    assert known.lemma("7,100,000", "X", "l0+|0+") == "7100000" and known.lemma("1,2", "X", "l0+|0+") == "1,2"
    assert known.lemma("7.100.000", "X", "l0+|0+") == "7.100.000"


def test_rules_keep_the_capitals_that_those_of_training_keep():
    known = lemmas_of(Lima="Lima", Oslo="Oslo", Cats="cat", Dogs="dog", CDs="CD")
    assert known.lemma("Paris", "X", "l0+|0+") == "Paris" and known.lemma("Hens", "X", "l0+|1+") == "hen"
    assert known.lemma("USA", "X", "t0+|0+") == "Usa"


def test_a_past_tense_that_is_also_a_base_form_has_its_lemma_by_its_features():
    known = Columns(forms={"lemma": {("lay", "VERB"): "l0+|0+"}, "past": {("lay", "VERB"): "l0+|2+ie"}}).lemmatizer
    assert known.lemma("Lay", "VERB", "l0+|0+", "Tense=Past|VerbForm=Fin") == "lie"
    assert known.lemma("lay", "VERB", "l0+|0+", "VerbForm=Inf") == "lay" == known.lemma("lay", "VERB", "l0+|0+")


def test_the_lemma_of_a_form_is_that_of_the_form_in_lower_case_but_for_its_case():
    known = lemmas_of(leaves="leaf", us="we", bush="Bush")
    assert known.lemma("Leaves", "X", "k0+|1+") == "leaf" and known.lemma("Us", "X", "k0+|0+") == "we"
    assert known.lemma("BUSH", "X", "k0+|0+") == "BUSH" and known.lemma("BUSH", "X", "k0+|1+") == "Bush"


def test_a_lemma_that_no_rule_makes_a_known_one_is_the_form_less_a_regular_ending():
    known = {"tagging": "tag", "bagging": "bag", "begging": "beg", "baked": "bake", "used": "use", "dye": "dye"}
    known = lemmas_of(**known, zig="zig zag", played="play", stayed="stay")
    assert known.lemma("untagging", "X", "l0+|3+") == "untag"
    assert known.lemma("dyed", "X", "l0+|2+") == "dye"
    assert known.lemma("frayed", "X", "l0+|2+") == "fray"


def sentence(*words: tuple[str, str, str]) -> Sentence:
    """A sentence of words with UPOS, XPOS and FEATS."""
    return Sentence(tuple(Row(str(i), "a", upos=u, xpos=x, feats=f) for i, (u, x, f) in enumerate(words, 1)))


SENTENCES = [
    sentence(("NOUN", "NN", "Number=Sing|Case=Nom"), ("PUNCT", "_", "_")),
    sentence(("NOUN", "NN", "_"), ("VERB", "VB", "Number=Sing"), ("_", "X", "Typo=Yes")),
]


def test_beside_words_with_xpos_the_others_are_known_to_have_none():
    assert [KNOWN["xpos"].values(one) for one in SENTENCES] == [["NN", "|"], ["NN", "VB", "X"]]
    assert KNOWN["xpos"].values(sentence(("NOUN", "_", "_"), ("PUNCT", "_", "_"))) == ["_", "_"]  # perhaps left out


def test_labels_seen_with_tags():
    columns = {"upos": ("NOUN", "VERB", "PUNCT"), "xpos": ("NN", "VB", "|"), "feats": ("Number=Sing", "Case=Nom")}
    assert seen_with_tags(SENTENCES, columns) == {
        "xpos": {"NOUN": ["NN"], "VERB": ["VB"], "PUNCT": ["|"]},
        "feats": {"NOUN": ["Number=Sing", "Case=Nom"], "VERB": ["Number=Sing"], "PUNCT": []},
    }
    del columns["upos"]
    assert seen_with_tags(SENTENCES, columns) == {}


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"format_version": 1}, "format version 1, but this program reads 3"),
        ({"columns": []}, "'columns' must be a JSON object"),
        ({"columns": {"colour": ["red"]}}, "unknown column 'colour'"),
        ({"columns": {"upos": ["A", "A"]}}, "values of upos must be"),
        ({"columns": {"upos": "NOUN"}}, "values of upos must be"),
        ({"columns": {"feats": ["Case=Nom|Number=Sing"]}}, r"a label of feats holds \|"),
        ({"seen": {"feats": []}}, "the labels of 'feats' seen with UPOS tags must be"),
        ({"seen": {"feats": {"NOUN": ["B"]}}}, "seen with UPOS tags must be"),
        ({"of_domains": {"news": {"upos": ["NOUN"], "feats": ["A"]}}}, "'of_domains' must be domain → deprel, feats,"),
        ({"rules": []}, "'rules' must be a JSON object"),
        ({"features": {"NOUN": {"A=B": "ab"}}}, "'features' must be UPOS tag"),
        ({"rules": {"NOUN": {"=a": ["a", 1]}}}, "'rules' must be UPOS tag"),
    ],
)
def test_an_unfit_file(tmp_path, values, problem):
    fit = {"format_version": 3, "columns": {"upos": ["NOUN"], "feats": ["A"]}}
    (tmp_path / FILE_NAME).write_text(json.dumps({**fit, **values}))
    with pytest.raises(InputError, match=problem):
        Columns.load(tmp_path)


def test_marks_of_a_split(tmp_path):
    (tmp_path / "train.upos").write_text("NOUN VERB\nVERB\n")
    (tmp_path / "train.domain").write_text("news\nlaw\n")
    annotations = read_annotations(tmp_path, "train", ("upos", "domain"), [2, 1])
    assert annotations == {"upos": [["NOUN", "VERB"], ["VERB"]], "domain": [["news"], ["law"]]}
    for lengths, problem in (([2], "2 lines, but 1 sentences"), ([2, 3], "train.upos:2: 1 values, 3 expected")):
        with pytest.raises(InputError, match=problem):
            read_annotations(tmp_path, "train", ("upos",), lengths)
    with pytest.raises(InputError, match=r"valid.upos: can't be read"):
        read_annotations(tmp_path, "valid", ("upos",), [2])


DEPREL = Column(("trees",), lambda sentence: [row.deprel for row in sentence.words], "relations", ("--read-deprel",))


class DeprelInput(ColumnInput):
    """An embedding of the relation of each word."""

    name, switch, column = "own_relations", "read_deprel", "deprel"

    @dataclass(frozen=True)
    class Options(ModelOptions):
        read_deprel: bool = option(False, "words have embeddings of their relations, too")


@dataclass(frozen=True)
class Options(StackTransformerOptions, DeprelInput.Options):
    """The options of a model that may read this column."""


@pytest.fixture
def folder(monkeypatch, tmp_path) -> Iterator[Path]:
    """A data folder with the column."""
    monkeypatch.setitem(KNOWN, "deprel", DEPREL)
    monkeypatch.setattr(words, "INPUTS", (*words.INPUTS, DeprelInput))
    corpora = ("--train", SAMPLE, "--valid", SAMPLE, "--system", "arc-hybrid-swap", "--pieces", "400")
    run_here("preprocess", "dependency", *corpora, "--columns", "deprel", "--dest", tmp_path)
    for side in ("src", "act"):
        dictionary = TransitionParsingTask.build_dictionary([str(tmp_path / f"train.{side}")])
        dictionary.save(str(tmp_path / f"dict.{side}.txt"))
    yield tmp_path


def test_the_column_reaches_the_model(folder):
    task = make_task(folder)
    batch = make_batch(task, folder, range(4, 12), 4)
    architecture = architecture_of("stack_transformer_small")
    options = Options.of_namespace(Namespace(**SIZES, read_deprel=True), architecture.defaults)
    torch.manual_seed(1)
    model = TrainingModel(architecture.build(options, task.resources)).eval()
    assert model.plain.inputs.columns == ["deprel"] and model.plain.tags is None

    by_forms = {tuple(s.forms): [row.deprel for row in s.words] for s in read_conllu(SAMPLE)}
    net_input, known = with_words(model, task, batch)["net_input"], task.resources.columns
    ids = net_input["words"]["own_relations"]["ids"]
    for row, tokens in zip(ids.tolist(), net_input["src_tokens"].tolist(), strict=True):
        tags = by_forms[tuple(task.resources.words(tokens))]
        assert row[: len(tags)] == known.ids("deprel", tags) and not any(row[len(tags) :])
    with torch.no_grad():
        unread = {**net_input, "words": {"own_relations": {"ids": torch.zeros_like(ids)}}}
        assert not torch.equal(model.plain.encode(net_input).words, model.plain.encode(unread).words)

    parser = Parser(model.plain, task.resources)
    sentence = next(read_conllu(SAMPLE))
    without = replace(sentence, rows=tuple(row._replace(deprel="_") for row in sentence.rows))
    assert parser.parse([sentence])[0].mean_log_probability != parser.parse([without])[0].mean_log_probability


def test_graphs_of_columns_are_names_of_formalisms():
    names = {name for column in KNOWN.values() for name in column.graphs}
    assert names == {formalism.name for formalism in FORMALISMS}

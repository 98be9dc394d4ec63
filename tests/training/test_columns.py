"""Models that predict tags, lemmas and features, read tags, letters and domains, through the real programs."""

import shutil
from dataclasses import replace

import pytest

from tests.conftest import SAMPLE, SAMPLE_AMR, preprocess, run_here, train
from tests.helpers.crosses import mostly_slow
from tests.helpers.tiny_encoder import make_four_bits
from transition_parser import Parser
from transition_parser.base.errors import InputError
from transition_parser.graphs.conllu import Sentence, read_conllu

INPUTS = ("--character-width", "8")


def with_features(sentence):
    """The sentence with XPOS and features that follow from form and UPOS."""
    number = {True: "Number=Plur", False: "Number=Sing"}
    return replace(sentence, rows=tuple(
        row._replace(xpos=f"{row.upos}!", feats=number[row.form.endswith("s")] if row.upos == "NOUN" else "_")
        for row in sentence.rows
    ))  # fmt: skip


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tagged") / "data"
    treebank = folder.with_name("treebank.conllu")
    treebank.write_text("".join(map(str, map(with_features, read_conllu(SAMPLE)))), encoding="utf-8")
    return preprocess(folder, "--columns", "all", train=treebank)


OF_WORDS = ("--tags-read-words", "--affix-width", "8", "--affix-dropout", "0.3")


KINDS = ["pieces", "reads tags", "predicts from words", "over four bits"]


@pytest.fixture(scope="module", params=mostly_slow(KINDS, "reads tags"))
def exported(request, data, tmp_path_factory):
    """A model of some updates, without pieces where it reads tags."""
    folder = tmp_path_factory.mktemp("checkpoints")
    if request.param == "predicts from words":
        arch, options = "spa_dp_small", OF_WORDS
    elif request.param == "over four bits":
        encoder = make_four_bits(tmp_path_factory.mktemp("encoder"))[0]
        over = (
            "--pretrained",
            encoder,
            "--pretrained-training",
            "layers",
            "--tag-lr-scale",
            "4",
            "--optimizer",
            "adam_by_part",
        )
        arch, options = "recursive_g2g_small", (*OF_WORDS, *over)
    else:
        arch = "stack_transformer_small"
        options = ("--read-tags", "--tag-dropout", "0.5", "--no-pieces") if request.param == "reads tags" else ()
    done = train(data, folder, "--tag-loss", "0.5", *INPUTS, *options, arch=arch, updates=40)
    assert all(f'"valid_{name}"' in done.stdout + done.stderr for name in ("upos", "lemma", "xpos", "feats"))
    run_here("export", folder / "checkpoint_last.pt", "-o", folder / "exported")
    return folder / "exported"


@pytest.mark.parametrize(
    "arch",
    mostly_slow(["stack_transformer_small", "state_transformer_g2g_small", "use_parser_small"], "use_parser_small"),
)
def test_a_model_that_reads_given_tags_needs_them(data, tmp_path, arch):
    """It does not predict tags. Without tags, words would be read as in no sentence of the training data."""
    options = ("--history-width", "16", "--sampled-states", "2") if arch.startswith("state") else ()
    train(data, tmp_path, "--read-tags", *options, arch=arch, updates=2)
    model = tmp_path / "checkpoint_last.pt"
    tagged, plain = tmp_path / "tagged.conllu", tmp_path / "plain.conllu"
    first = next(read_conllu(SAMPLE))
    tagged.write_text(str(first))
    plain.write_text(str(first) + str(blank(first)))
    run_here("parse", model, tagged, "-o", tmp_path / "parsed.conllu")
    (parsed,) = read_conllu(tmp_path / "parsed.conllu")
    assert [row.upos for row in parsed.words] == [row.upos for row in first.words]
    for arguments, stdin in ((["parse", model, plain], ""), (["parse", model, "--tokenize", "-"], "The dog barks.")):
        done = run_here(*arguments, status=2, stdin=stdin)
        assert "word 1 has no UPOS, which the model reads and does not predict" in done.stderr
        assert "Traceback" not in done.stderr
    parser = Parser.load(model)
    assert parser.given_columns == ["upos"]
    with pytest.raises(InputError, match="sentence 1: word 1 has no UPOS"):
        parser.parse([["The", "dog"]])
    last = first.rows[-1]._replace(upos="_")  # a value of words that training has not seen
    with pytest.raises(InputError, match=f"word {len(first.words)} has no UPOS"):
        parser.parse([replace(first, rows=(*first.rows[:-1], last))])


@pytest.fixture(scope="module")
def amr_exported(tmp_path_factory):
    folder = tmp_path_factory.mktemp("domains")
    other = shutil.copy(SAMPLE_AMR, folder / "other one.amr")
    data = preprocess(
        folder / "data", "--columns", "domain", "--train", SAMPLE_AMR, other, train=SAMPLE_AMR, kind="amr"
    )
    assert set((data / "train.domain").read_text().split()) == {"sample", "other-one"}
    train(data, folder, "--read-domain", "--disable-validation", updates=8)
    run_here("export", folder / "checkpoint_last.pt", "-o", folder / "exported")
    return folder / "exported"


def blank(sentence):
    """The sentence without its tags and lemmas."""
    rows = tuple(row._replace(lemma="_", upos="_", xpos="_") if row.is_word else row for row in sentence.rows)
    return Sentence(rows, sentence.comments)


def test_what_is_missing_is_filled_in(exported):
    parser = Parser.load(exported, precision="fp32")
    sentences = list(read_conllu(SAMPLE))
    given, found = parser.parse(sentences), parser.parse([*map(blank, sentences)])
    right = 0
    for sentence, kept, filled in zip(sentences, given, found, strict=True):
        for gold, same, new in zip(sentence.words, kept.annotated().words, filled.annotated().words, strict=True):
            assert (same.upos, same.lemma) == (gold.upos, gold.lemma)
            assert same.xpos == (f"{gold.upos}!" if gold.xpos == "_" else gold.xpos)  # limited by the given tag
            assert new.xpos == f"{new.upos}!"
            assert new.feats in (("Number=Sing", "Number=Plur", "_") if new.upos == "NOUN" else ("_",))
            assert new.upos != "_" and (new.lemma != "_" or new.form == "_")
            right += new.upos == gold.upos
    assert right > 0.25 * sum(len(sentence.words) for sentence in sentences)
    (parse,) = parser.parse([["She", "sleeps", "."]])
    assert None not in (*parse.upos, *parse.lemmas)


def test_lemmas_of_known_forms_are_those_of_training(exported):
    sentences = list(read_conllu(SAMPLE))
    untold = [Sentence(tuple(row._replace(lemma="_") for row in s.rows), s.comments) for s in sentences]
    parses = Parser.load(exported, precision="fp32").parse(untold)
    pairs = [
        pair for s, parse in zip(sentences, parses, strict=True) for pair in zip(s.words, parse.lemmas, strict=True)
    ]
    # with its gold tag hardly any form has two
    assert sum(gold.lemma == (found or "_") for gold, found in pairs) > 0.99 * len(pairs)


def test_domains(amr_exported):
    text = [["The", "dog", "sleeps", "."]]
    scores = {
        Parser.load(amr_exported, domain=name).parse(text)[0].mean_log_probability
        for name in (None, "sample", "other-one")
    }
    assert len(scores) == 3
    done = run_here("parse", amr_exported, "-", "--domain", "news", stdin="Go !\n", status=2)
    assert "unknown domain 'news': give one of other-one, sample" in done.stderr
    assert "Go" in run_here("parse", amr_exported, "-", "--domain", "sample", stdin="Go !\n").stdout

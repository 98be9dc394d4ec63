"""Tables of words, inputs side by side and pretrained encoders: with every architecture, by the real programs."""

import json
import shutil
import sys
from argparse import Namespace
from dataclasses import replace

import pytest
import torch
from safetensors import safe_open

from tests.conftest import preprocess, run_here, train
from tests.helpers.crosses import mostly_slow
from tests.helpers.small_models import MODELS, SIZES, make_criterion, task_and_batch, with_words
from tests.helpers.tiny_encoder import make_encoder
from tests.training import test_models
from transition_parser import Parser
from transition_parser.base.errors import InputError
from transition_parser.data.resources import Resources
from transition_parser.models.registry import architecture_of
from transition_parser.storage.checkpoints import load_model
from transition_parser.storage.transfer import start_from
from transition_parser.tasks.transition_parsing import TrainingModel

TABLE = {"word_table": 60, "word_table_width": 24}
KINDS = (
    "state", "stack attention", "bot", "heads", "structures", "sentence", "sentence graph", "composed", "state graph",
    "refined",
)  # fmt: skip


def build(kind: str, resources, **flags) -> TrainingModel:
    name, options = MODELS[kind]
    architecture = architecture_of(name)
    torch.manual_seed(1)
    args = Namespace(**{**SIZES, **options, **TABLE, **flags}, dropout=0.0)
    return TrainingModel(architecture.build(architecture.options.of_namespace(args, architecture.defaults), resources))


@pytest.fixture(scope="module")
def trees(tmp_path_factory):
    return task_and_batch("arc-hybrid-swap", tmp_path_factory, range(1, 7), 4)


@pytest.mark.parametrize("join", mostly_slow(["add", "concat"], "concat"))
@pytest.mark.parametrize("kind", [*KINDS, "LSTM"])
def test_the_loss_of_every_architecture_reaches_the_table(trees, kind, join):
    task, batch = trees
    flags = {"no_pieces": True, "read_tags": True, "tag_width": 8, "join_inputs": join}
    if kind == "LSTM":
        kind, flags = "structures", {**flags, "lexical_encoder": "lstm", "encoder_layers": 1}
    model = build(kind, task.resources, **flags)
    known = {**batch["annotations"], "upos": [["NOUN"] * len(tags) for tags in batch["annotations"]["upos"]]}
    loss, *_ = make_criterion(task)(model, with_words(model, task, {**batch, "annotations": known}))
    loss.backward()
    table = model.plain.inputs["table"]
    assert table.embed.weight.shape == (61, 24) and (table.embed.weight.grad.abs().sum(1) > 0).sum() > 3
    read = model.plain.encoder.read_width
    recurrent = join == "concat" and (kind in ("stack attention", "bot", "heads") or flags.get("lexical_encoder"))
    assert read == 24 + 8 if recurrent else read in (SIZES["encoder_embed_dim"], SIZES["word_width"])


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return preprocess(tmp_path_factory.mktemp("words") / "data", "--columns", "upos")


SIDE_BY_SIDE = "--join-inputs concat --no-pieces --read-tags --tag-width 6 --word-table 50 --tag-loss 0.1"
WAYS = {
    "stack_transformer_small": "--word-table 50 --word-table-width 8",
    "stack_attention_rnn_small": f"{SIDE_BY_SIDE} --word-table-width 4",
    "spa_dp_small": f"{SIDE_BY_SIDE} --tags-read-words --character-width 4",
}


@pytest.fixture(scope="module", params=mostly_slow(WAYS, "stack_attention_rnn_small"))
def checkpoint(request, data, tmp_path_factory):
    """A model of some updates, stopped and resumed after the first half of them."""
    folder = tmp_path_factory.mktemp("model")
    return test_models.train_twice(data, folder, *WAYS[request.param].split(), arch=request.param, updates=(3, 6))


def test_exported_it_parses_alike(checkpoint, tmp_path):
    config = test_models.check_export(checkpoint, tmp_path)
    assert config["model"]["word_table"] == 50
    exported = tmp_path / "exported"
    assert (exported / "words.txt").exists()
    assert (exported / "columns.json").exists() == config["model"]["read_tags"]
    first, again = (load_model(path)[0].state_dict() for path in (checkpoint, exported))
    assert first.keys() == again.keys() and all(torch.equal(first[name], again[name]) for name in first)


def test_a_table_is_carried_over_word_by_word(checkpoint, data):
    """Where the words have other places, and one table has fewer than the other."""
    other, theirs = load_model(checkpoint)
    ours = replace(Resources.load(data), frequent_words=(*reversed(theirs.frequent_words[:40]), "new"))
    width = other.inputs["table"].embed.embedding_dim
    model = build("state", ours, word_table=30, word_table_width=width).plain
    done = start_from(model, ours, checkpoint)
    found, wanted = (m.inputs["table"].embed.weight for m in (model, other))
    assert "31 rows of encoder.inputs.table.embed.weight" in done
    assert torch.equal(found[0], wanted[0])
    for row, word in enumerate(ours.frequent_words[:30], 1):
        assert torch.equal(found[row], wanted[theirs.frequent_words.index(word) + 1]), word


TEXT = "The old dog sleeps .\nShe sees it .\n"


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return make_encoder(tmp_path_factory.mktemp("encoder") / "tiny")


def flags(encoder, how: str) -> tuple:
    options = ("--pretrained", encoder, "--pretrained-training", how, "--pretrained-rank", 4)
    return (*options, "--pretrained-layers", "0-2")


@pytest.fixture(scope="module", params=mostly_slow(["frozen", "adapters"], "frozen"))
def trained(request, data_folder, encoder, tmp_path_factory):
    """How the encoder was trained, the checkpoint and the export of a few updates."""
    folder = tmp_path_factory.mktemp(request.param)
    train(data_folder, folder, *flags(encoder, request.param))
    run_here("export", folder / "checkpoint_last.pt", "-o", folder / "exported")
    return request.param, folder / "checkpoint_last.pt", folder / "exported"


def parsed(model) -> str:
    return run_here("parse", model, "-", "--scores", "--precision", "fp32", stdin=TEXT).stdout


def test_the_export_has_what_was_learned_and_names_the_encoder(trained, encoder):
    how, checkpoint, exported = trained
    config = json.loads((exported / "config.json").read_text())["model"]
    assert config["pretrained"] == str(encoder) and len(config["pretrained_sha256"]) == 64
    with safe_open(exported / "model.safetensors", "pt") as file:
        inside = [name for name in file.keys() if ".network." in name]  # noqa: SIM118
    assert bool(inside) == (how != "frozen") and all((".lora_" in name) == (how == "adapters") for name in inside)
    assert parsed(checkpoint) == parsed(exported)


def test_it_resumes(trained, data_folder, encoder, tmp_path):
    how, checkpoint, _ = trained
    shutil.copy(checkpoint, tmp_path)
    done = train(data_folder, tmp_path, *flags(encoder, how), "--disable-validation", updates=8)
    assert "Loaded checkpoint" in done.stdout + done.stderr


def test_another_encoder_or_none(trained, encoder, tmp_path):
    _, _, exported = trained
    aside = encoder.rename(encoder.with_name("aside"))
    try:
        done = run_here("parse", exported, "-", stdin=TEXT, status=2)
        assert "is not on this machine: give the folder" in done.stderr and len(done.stderr.splitlines()) == 1
        make_encoder(encoder, seed=2)
        done = run_here("parse", exported, "-", stdin=TEXT, status=2)
        assert "is not the one that the model was trained with" in done.stderr and len(done.stderr.splitlines()) == 1
    finally:
        shutil.rmtree(encoder, ignore_errors=True)
        aside.rename(encoder)


def test_without_tokenizers(trained, monkeypatch):
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(InputError, match=r"pip install '\.\[pretrained\]'"):
        Parser.load(trained[2])

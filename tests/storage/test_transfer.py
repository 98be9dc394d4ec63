"""Models that start from the weights of others."""

import pytest
import torch

from tests.conftest import SAMPLE_AMR, fairseq_preprocess, preprocess, run_here, train
from tests.helpers.small_models import GRAPHS, make_model, task_and_batch, with_words
from transition_parser.base.errors import InputError
from transition_parser.data.resources import Resources
from transition_parser.storage import transfer
from transition_parser.storage.checkpoints import load_model
from transition_parser.storage.transfer import start_from
from transition_parser.text.pieces import FILE_NAME

WIDTH = ("--state-positions",)


@pytest.fixture(scope="module")
def further_data(amr_data_folder, amr_dev, tmp_path_factory):
    """The whole sample bank, with more actions than `amr_data_folder`, but the same pieces."""
    folder = tmp_path_factory.mktemp("further") / "data"
    run_here(
        "preprocess", "amr", "--train", SAMPLE_AMR, "--valid", amr_dev, "--test", amr_dev, "--dest", folder,
        "--pieces-from", amr_data_folder, "--labeled-shift", "1",
    )  # fmt: skip
    fairseq_preprocess(folder)
    return folder


def test_pieces_come_from_the_other_folder(amr_data_folder, further_data):
    assert (further_data / FILE_NAME).read_bytes() == (amr_data_folder / FILE_NAME).read_bytes()


def test_rows_follow_their_symbols(amr_checkpoint, further_data, tmp_path):
    """One update with a rate of nothing leaves the weights that training starts with."""
    done = train(further_data, tmp_path, *WIDTH, "--start-from", amr_checkpoint, "--lr", "0.0", updates=1)
    assert f"started from {amr_checkpoint}: " in done.stdout + done.stderr
    (old, old_words), (new, new_words) = (load_model(p) for p in (amr_checkpoint, tmp_path / "checkpoint_last.pt"))
    before, after = old.state_dict(), new.state_dict()
    assert before.keys() == after.keys()
    indexed = ("encoder.embed.weight", "decoder.embed.weight", "decoder.output.weight")
    for name in before.keys() - set(indexed):
        assert torch.equal(before[name], after[name]), name
    actions = (old_words.target_dictionary.symbols, new_words.target_dictionary.symbols)
    vocabularies = ((old_words.source_dictionary.symbols, new_words.source_dictionary.symbols), actions, actions)
    for name, (was, now) in zip(indexed, vocabularies, strict=True):
        shared = [symbol for symbol in now if symbol in set(was)]
        assert len(shared) > 100
        for symbol in shared:
            assert torch.equal(before[name][was.index(symbol)], after[name][now.index(symbol)]), symbol
    fresh = next(symbol for symbol in now if symbol.startswith("PRED(") and symbol not in was)
    kin = [was.index(symbol) for symbol in was if symbol.startswith("PRED(")]
    assert torch.allclose(before[name][kin].mean(0), after[name][now.index(fresh)], atol=1e-6)


def test_the_same_vocabularies_give_the_same_parses(amr_checkpoint, amr_data_folder, amr_dev, tmp_path):
    """Also of a model that reads the functions of roles, too: at first they add nothing."""
    flags = (*WIDTH, "--role-functions", "--start-from", amr_checkpoint, "--lr", "0.0")
    train(amr_data_folder, tmp_path, *flags, updates=1)
    one, other = (
        run_here("parse", model, amr_dev, "--precision", "fp32").stdout
        for model in (amr_checkpoint, tmp_path / "checkpoint_last.pt")
    )
    assert one == other != ""


def _start(data, model):
    resources = Resources.load(data)
    return start_from(make_model("state", resources).plain, resources, model)


def test_another_system_is_an_error(checkpoint, amr_data_folder):
    with pytest.raises(InputError, match=r"the model is for arc-.*, but the data is for amr"):
        _start(amr_data_folder, checkpoint)


@pytest.fixture(scope="module")
def few_relations(data_folder, tmp_path_factory):
    """A tree with fewer relations than `data_folder` has."""
    folder = tmp_path_factory.mktemp("few")
    sample = folder / "train.conllu"
    lines = ("1\tYou\tyou\tPRON\t_\t_\t2\tnsubj", "2\tgo\tgo\tVERB\t_\t_\t0\troot", "3\tup\tup\tADV\t_\t_\t2\tadvmod")
    sample.write_text("".join(f"{line}\t_\t_\n" for line in lines) + "\n", encoding="utf-8")
    return preprocess(folder / "data", "--pieces-from", data_folder, train=sample)


def test_trees_need_the_same_actions(checkpoint, few_relations):
    with pytest.raises(InputError, match="its actions are not those of the data"):
        _start(few_relations, checkpoint)


@pytest.mark.parametrize("kind", GRAPHS)
def test_relations_of_whole_trees_follow_their_names(kind, data_folder, few_relations, monkeypatch):
    theirs, ours = Resources.load(data_folder), Resources.load(few_relations)
    old, new = make_model(kind, theirs).plain, make_model(kind, ours).plain
    monkeypatch.setattr(transfer, "load_model", lambda _path: (old, theirs))
    assert "new: " not in start_from(new, ours, "old")
    torch.manual_seed(0)
    first = next(weight for weight in old.decoder.relations.parameters() if weight.dim() == 2)
    words, heads = torch.randn(1, 4, first.size(1)), torch.tensor([[1, 3, 1]])
    places = [theirs.table.relations.index(name) for name in ours.table.relations]
    assert 1 < len(places) < len(theirs.table.relations)
    found, wanted = (of.decoder.relations(words, heads) for of in (new, old))
    assert torch.allclose(found, wanted[..., places], atol=1e-5)  # sums may be ordered otherwise for fewer relations


def test_more_layers_and_a_larger_rank_begin_as_the_same_function(tmp_path_factory, monkeypatch):
    task, batch = task_and_batch("amr", tmp_path_factory, range(1, 7), 4)
    old = make_model("pretrained", task.resources)
    for name, weight in old.plain.named_parameters():
        if "lora_B" in name:  # new adapters add nothing
            torch.nn.init.normal_(weight)
    new = make_model("pretrained", task.resources, encoder_layers=4, decoder_layers=3, pretrained_rank=20, dropout=0.0)
    net_input = with_words(old, task, batch)["net_input"]
    scores = [model.eval()(**net_input)[0] for model in (old, new)]
    assert not torch.allclose(*scores, atol=1e-3)
    monkeypatch.setattr(transfer, "load_model", lambda _path: (old.plain, task.resources))
    start_from(new.plain, task.resources, "old")
    same = [model(**net_input)[0] for model in (old, new)]
    assert torch.allclose(*same, atol=1e-5)
    added = dict(new.plain.named_parameters())["decoder.layers.2.feed_forward.outer.weight"]
    new.train()(**net_input)[0][..., 0].sum().backward()
    assert added.grad.abs().max() > 0  # it learns

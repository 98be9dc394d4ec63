"""Models whose encoder also learns PropBank's frames (`--frame-loss`), through the real programs and one by one."""

from argparse import Namespace
from types import SimpleNamespace

import pytest
import torch

from tests.conftest import SAMPLE, SAMPLE_AMR, fairseq_preprocess, run_here, train
from tests.small_models import (
    MODELS,
    SIZES,
    make_batch,
    make_criterion,
    make_folder,
    make_model,
    make_task,
    runs_with,
    with_words,
)
from transition_parser.base.errors import InputError
from transition_parser.modules.frame_heads import FrameHeads
from transition_parser.storage.weights import stored_shapes
from transition_parser.text.columns import PROPBANK

AMR = ("--best-checkpoint-metric", "smatch")
LOSS = ("--frame-loss", "0.5")
ANNOTATION = (
    "# sent_id = sample-01\n3\tsleeps\tsleep.01\tARG0:1-2\tARGM-LOC:4-6\n\n"
    "# sent_id = sample-02\n2\tsells\tsell.01\tARG0:1-1\tARG1:3-4\n\n"
)
TEXT = "The old dog sleeps .\nShe sells shells .\n"


@pytest.fixture(scope="module")
def annotation(tmp_path_factory):
    path = tmp_path_factory.mktemp("propbank") / "annotation.tsv"
    path.write_text(ANNOTATION)
    return path


def preprocess(kind, sample, folder, *options):
    corpora = ("--train", sample, "--valid", sample, "--test", sample)
    run_here("preprocess", kind, *corpora, "--pieces", "400", "--dest", folder, *options)
    fairseq_preprocess(folder)
    return folder


@pytest.fixture(scope="module")
def data(annotation, tmp_path_factory):
    """AMRs, some of them with annotation."""
    folder = tmp_path_factory.mktemp("amrs") / "data"
    return preprocess("amr", SAMPLE_AMR, folder, "--propbank", annotation, "--propbank-trees", SAMPLE)


@pytest.fixture(scope="module")
def trained(data, tmp_path_factory):
    """A training that was stopped and resumed."""
    folder = tmp_path_factory.mktemp("checkpoints")
    for updates in (4, 8):
        done = train(data, folder, *AMR, *LOSS, updates=updates)
    said = done.stdout + done.stderr
    assert "Loaded checkpoint" in said and '"valid_senses"' in said and '"train_arguments"' in said
    return folder / "checkpoint_last.pt"


def names_of(checkpoint) -> dict[str, set[str]]:
    state = torch.load(checkpoint, weights_only=False)
    return {part: set(state[part] or ()) for part in ("model", "criterion")}


def parsed(model) -> str:
    return run_here("parse", model, "-", "--scores", "--precision", "fp32", stdin=TEXT).stdout


def test_no_exported_model_has_the_heads(trained, data, tmp_path):
    train(data, tmp_path / "plain", *AMR, updates=1)
    plain, with_heads = names_of(tmp_path / "plain" / "checkpoint_last.pt"), names_of(trained)
    assert plain == {"model": with_heads["model"], "criterion": set()}
    assert with_heads["criterion"] >= {"frames.senses.weight", "frames.arguments.form.weight"}
    run_here("average", trained, trained, "-o", tmp_path / "mean.pt")
    run_here("export", tmp_path / "mean.pt", "-o", tmp_path / "exported")
    run_here("export", tmp_path / "plain" / "checkpoint_last.pt", "-o", tmp_path / "other")
    shapes = [stored_shapes(tmp_path / name / "model.safetensors") for name in ("exported", "other")]
    assert shapes[0] == shapes[1]
    assert {path.name for path in (tmp_path / "exported").iterdir()} == {p.name for p in (tmp_path / "other").iterdir()}
    assert parsed(trained) == parsed(tmp_path / "mean.pt") == parsed(tmp_path / "exported") != ""


def test_a_training_without_heads_goes_on_with_them(data, trained, tmp_path):
    train(data, tmp_path / "plain", *AMR, updates=1)
    before = tmp_path / "plain" / "checkpoint_last.pt"
    train(data, tmp_path / "tuned", *AMR, *LOSS, "--finetune-from-model", before, updates=1)
    assert names_of(tmp_path / "tuned" / "checkpoint_last.pt") == names_of(trained)
    train(data, tmp_path / "back", *AMR, "--finetune-from-model", trained, updates=1)
    assert names_of(tmp_path / "back" / "checkpoint_last.pt") == names_of(before)


def test_only_the_second_corpus_is_annotated(amr_data_folder, annotation, tmp_path):
    trees = preprocess("dependency", SAMPLE, tmp_path / "data", "--system", "arc-hybrid-swap", "--propbank", annotation)
    done = train(amr_data_folder, tmp_path / "out", *AMR, *LOSS, "--auxiliary-data", trees, updates=8)
    assert '"train_senses"' in done.stdout + done.stderr
    assert names_of(tmp_path / "out" / "checkpoint_last.pt")["criterion"]


def test_data_without_the_column_are_refused(amr_data_folder):
    task, args = make_task(amr_data_folder, frame_loss=0.5), Namespace(arch="stack_transformer_small", **SIZES)
    with pytest.raises(InputError, match="the data has no column propbank: preprocess it"):
        task.build_model(args)


def test_an_unfit_weight_is_refused():
    model = SimpleNamespace(tagged_width=4)
    for weight in (-1.0, float("inf"), float("nan")):
        with pytest.raises(InputError, match="--frame-loss must be 0 or more, and a finite number"):
            FrameHeads.of_model(model, weight, "some model")


CASES = [(system, kind) for system in ("arc-hybrid-swap", "amr") for kind in MODELS if runs_with(kind, system)]


@pytest.mark.parametrize(("system", "kind"), CASES)
def test_each_encoder_learns_from_the_loss_and_the_scores_stay(system, kind, tmp_path_factory):
    task = make_task(folder := make_folder(system, tmp_path_factory))
    batch = make_batch(task, folder, range(4, 12), 4)
    model = make_model(kind, task.resources).eval()
    batch = with_words(model, task, batch)
    if model.plain.tagged_width is None:
        with pytest.raises(InputError, match="has no encoder"):
            FrameHeads.of_model(model.plain, 0.5, kind)
        return
    plain = make_criterion(task)(model, batch)[0]
    task.frame_heads = FrameHeads.of_model(model.plain, 0.5, kind)
    tokens = batch["net_input"]["src_tokens"].tolist()
    lengths = [len(task.resources.words(some)) for some in tokens]
    values = [["go.01|ARG1:2", *"-" * (length - 1)] for length in lengths]
    batch["frames"] = task.frame_heads.targets({PROPBANK: values}, max(lengths) + 1)
    loss, _, logged = make_criterion(task)(model, batch)
    assert torch.isclose(loss - plain, torch.tensor(logged["frame_loss"]), rtol=1e-3)
    assert logged["senses_words"] == logged["arguments_words"] == len(values)
    (loss - plain).backward()
    assert any(p.grad is not None and p.grad.any() for p in model.plain.encoder.parameters())

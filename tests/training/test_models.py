"""Each published model through the real programs: trained, averaged, exported, parsed."""

import json
import re
from itertools import islice
from pathlib import Path

import pytest

from tests.conftest import ROOT, SAMPLE, TASK, run, run_here, run_trainings, train, train_command
from tests.helpers.crosses import mostly_slow
from tests.helpers.tiny_encoder import WIDTH, make_encoder
from transition_parser.graphs.conllu import read_conllu
from transition_parser.training.flags import arguments_of, read_flags

USE = (
    "--encoder-embed-dim 64 --encoder-ffn-embed-dim 64 --use-width 64 --mlp-width 64 --action-width 16 "
    "--marker-width 16 --relation-width 16"
)
G2G = "--encoder-embed-dim 32 --encoder-ffn-embed-dim 64 --relation-width 32 --optimizer adam_by_part"
STATE = f"{G2G} --exist-width 32 --composition-width 16 --history-width 16"
# architecture → flags, and updates before and after an interruption; those of Graph2Graph start from an encoder
MODELS = {
    "use_parser_small": (USE, (10, 20)),
    "stack_transformer_small": ("", (10, 20)),
    "spa_dp_small": ("", (3, 6)),
    "spa_dp_graph_small": ("", (3, 6)),
    "stack_attention_rnn_small": ("", (20, 24)),
    "sentence_transformer_small": (f"{G2G} --exist-width 32 --pretrained-lr-scale 0.5 --fresh-layers 1", (10, 20)),
    "sentence_transformer_g2g_small": (f"{G2G} --exist-width 32 --sampled-states 3 --character-width 8", (10, 20)),
    "recursive_g2g_small": (f"{G2G} --arc-width 32 --refine 2 --tag-loss 0.1", (10, 20)),
    "state_transformer_small": (f"{STATE} --no-graph-output --sampled-states 3", (10, 20)),
}
USUAL = ("use_parser_small", "spa_dp_graph_small", "stack_attention_rnn_small", "sentence_transformer_g2g_small")


def train_twice(data: Path, checkpoints: Path, *options: str | Path, arch: str, updates: tuple[int, int]) -> Path:
    """A checkpoint of training that was stopped and resumed."""
    _, *arguments = train_command(data, checkpoints, *options, arch=arch)
    done = run_trainings(checkpoints, [(arguments, ".", some) for some in updates])
    said = done.stdout + done.stderr
    assert "Loaded checkpoint" in said and '"valid_las"' in said
    return checkpoints / "checkpoint_last.pt"


@pytest.fixture(scope="module")
def encoder(tmp_path_factory) -> Path:
    return make_encoder(tmp_path_factory.mktemp("encoder") / "tiny")


@pytest.fixture(scope="module", params=mostly_slow(MODELS, *USUAL))
def arch(request) -> str:
    return request.param


@pytest.fixture(scope="module")
def checkpoint(arch, data_folder, encoder, tmp_path_factory) -> Path:
    flags, updates = MODELS[arch]
    pretrained = ("--pretrained", encoder) if G2G in flags else ()
    folder, flags = tmp_path_factory.mktemp(arch), (*flags.split(), *pretrained)
    return train_twice(data_folder, folder, *flags, arch=arch, updates=updates)


def test_an_export_parses_alike(checkpoint, arch, tmp_path):
    config = check_export(checkpoint, tmp_path)
    assert config["architecture"] == arch
    if config["model"]["pretrained"]:
        assert len(config["model"]["pretrained_sha256"]) == 64
        assert config["model"]["encoder_embed_dim"] == WIDTH  # that of the encoder, whatever was asked for


def check_export(checkpoint: Path, folder: Path) -> dict:
    """A mean and exported, it parses alike. Returns the exported `config.json`."""
    run_here("export", checkpoint, checkpoint, "-o", folder / "exported")
    (folder / "some.conllu").write_text("".join(map(str, islice(read_conllu(SAMPLE), 20))), encoding="utf-8")
    one, other = (
        run_here("parse", model, folder / "some.conllu", "--beam", "2", "--precision", "fp32").stdout
        for model in (checkpoint, folder / "exported")
    )
    assert one == other and one.startswith("# ")
    return json.loads((folder / "exported" / "config.json").read_text())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arch", "options"),
    [
        ("use_parser_small", f"{USE} --read-tags --tag-loss 0.1 --character-width 8 --character-windows 1,2"),
        ("use_parser_small", f"{USE} --lexical-encoder lstm --tag-loss 0.1 --train-precision bf16"),
        ("use_parser_small", f"{USE} --stack-heads 1 --buffer-heads 1 --arc-heads 0 --relation-heads 0"),
        ("stack_transformer_small", "--stack-heads 0 --buffer-heads 0"),
        ("stack_transformer_small", "--state-window top2"),
        (
            "stack_transformer_small",
            "--train-precision bf16 --subword-regularization 0.1 --encoder-local-layers 1 "
            "--share-decoder-input-output-embed --predict-shift-words --valid-beam 2",
        ),
        ("spa_dp_small", "--spa none --train-precision bf16"),
        ("spa_dp_small", "--spa tob --word-dropout 0.1 --train-precision bf16"),
        ("spa_dp_graph_small", "--read-tags --tag-loss 0.5 --softmax-over all"),
        ("stack_attention_rnn_small", "--no-pushed --no-removed --attention-layers 1"),
        ("sentence_transformer_small", f"{G2G} --read-tags --tag-loss 0.1 --train-precision bf16"),
        ("state_transformer_g2g_small", f"{STATE} --no-graph-output --composition --history-layers 2"),
        ("recursive_g2g_small", f"{G2G} --refine 0 --read-tags --tag-loss 0.1 --train-precision bf16"),
        ("sentence_transformer_g2g_small", f"{G2G} --oracle dynamic --explore-after 0 --sampled-states 2"),
    ],
)
def test_variants_train(data_folder, tmp_path, arch, options):
    done = train(data_folder, tmp_path, *options.split(), "--no-save", arch=arch, updates=3)
    said = done.stdout + done.stderr
    losses = [float(loss) for loss in re.findall(r'"(?:train|valid)_loss": "([\d.]+)"', said)]
    assert '"valid_las"' in said and losses and max(losses) < 20


# --- recipes ----------------------------------------------------------------------------------


NAMES = "paper-stack paper-stack-all paper-stack-roberta stack-attention spa-dp spa-dp-graph use graph2graph".split()


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_recipes_of_the_papers_train(data_folder, tmp_path, name):
    """Ten updates at their sizes, with batches of two sentences. A RoBERTa is a tiny one, with random weights."""
    flags = arguments_of(read_flags(ROOT / "configs" / f"{name}.flags"))
    if "roberta-base" in flags:
        flags += ["--pretrained", str(make_encoder(tmp_path / "encoder", kind="roberta"))]
    done = run(
        "fairseq-train", data_folder, *TASK, *flags, "--batch-size", "2", "--required-batch-size-multiple", "1",
        "--max-update", "10", "--num-workers", "0", "--disable-validation", "--no-save", "--save-dir", tmp_path,
        "--log-format", "json", "--log-interval", "1",
    )  # fmt: skip
    losses = [float(loss) for loss in re.findall(r'"loss": "([\d.]+)"', done.stdout + done.stderr)]
    assert len(losses) >= 10 and min(losses) < losses[0] and max(losses) < 20  # SGD at 2 jumps with so small batches

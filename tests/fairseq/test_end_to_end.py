"""The real fairseq programs: preprocess, train, resume, generate."""

import json
import math
import re

import pytest
import torch

from tests.conftest import SAMPLE, actions_generated, fairseq_preprocess, run, run_here, train
from transition_parser import Parser
from transition_parser.graphs.conllu import read_conllu
from transition_parser.graphs.dependency import attachment_scores
from transition_parser.storage.checkpoints import load_checkpoint
from transition_parser.transitions import Action
from transition_parser.transitions.config import ParserConfig

TASK = ("--user-dir", "transition_parser", "--task", "transition_parsing")


def test_preprocess_writes_what_the_design_says(data_folder):
    names = {path.name for path in data_folder.iterdir()}
    for split in ("train", "valid", "test"):
        assert {f"{split}.src", f"{split}.act", f"{split}.upos", f"{split}.src-act.src.bin"} <= names
    assert {"spm.model", "parser.json", "dict.src.txt", "dict.act.txt"} <= names
    source = (data_folder / "train.src").read_text(encoding="utf-8").splitlines()
    forms = [sentence.forms for sentence in read_conllu(SAMPLE)]
    assert [sum(piece.startswith("▁") for piece in line.split()) for line in source] == [*map(len, forms)]
    upos = (data_folder / "train.upos").read_text(encoding="utf-8").splitlines()
    assert [len(line.split()) for line in upos] == [*map(len, forms)]
    symbols = [line.split()[0] for line in (data_folder / "dict.act.txt").read_text().splitlines()]
    assert {str(action) for action in ParserConfig.load(data_folder).actions()} <= set(symbols)


def logged(done, key: str) -> list[dict]:
    lines = re.findall(r'\{".*\}', done.stdout + done.stderr)
    return [entry for entry in map(json.loads, lines) if key in entry]


def test_training_resumes_where_it_stopped(data_folder, tmp_path):
    each_epoch = ("--validate-interval", "1", "--save-interval", "1")
    first = train(data_folder, tmp_path, *each_epoch, updates=4)
    scores = logged(first, "valid_las")
    assert scores and all(0 <= float(entry["valid_las"]) <= float(entry["valid_uas"]) for entry in scores)
    second = train(data_folder, tmp_path, *each_epoch, updates=8)
    assert "Loaded checkpoint" in second.stdout + second.stderr
    updates = [int(entry["valid_num_updates"]) for entry in logged(second, "valid_las")]
    assert updates and min(updates) > 4 and max(updates) == 8
    assert (tmp_path / "checkpoint_best.pt").is_file()
    train(data_folder, tmp_path / "whole", updates=8)
    resumed, whole = (
        load_checkpoint(folder / "checkpoint_last.pt")["model"] for folder in (tmp_path, tmp_path / "whole")
    )
    assert all(torch.equal(resumed[name], whole[name]) for name in whole)


def test_checkpoints_hold_nothing_but_plain_values(checkpoint):
    """`weights_only` loads them: no class but argparse.Namespace is needed."""
    state = load_checkpoint(checkpoint)
    assert isinstance(state["model"]["decoder.embed.weight"], torch.Tensor)


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("--stack-heads", "0", "--buffer-heads", "0"), ("--state-window", "top2")])
def test_architectures_and_options_train(data_folder, tmp_path, options):
    done = train(data_folder, tmp_path, *options, "--no-save", updates=2)
    assert logged(done, "valid_las")


def test_sentences_longer_than_a_batch_are_batches_of_their_own(data_folder, tmp_path):
    """None is left out of training or validation."""
    sizes = [len(line.split()) + 1 for line in (data_folder / "train.act").read_text(encoding="utf-8").splitlines()]
    assert sum(size > 10 for size in sizes) > 10
    options = ("--max-tokens", "10", "--max-epoch", "1", "--validate-interval", "1", "--no-save")
    done = train(data_folder, tmp_path, *options, updates=10**6)
    (epoch,) = logged(done, "train_wpb")
    assert float(epoch["train_wpb"]) * float(epoch["train_num_updates"]) == pytest.approx(sum(sizes), rel=0.01)
    assert logged(done, "valid_las") and "skipped" not in done.stdout + done.stderr


@pytest.mark.slow
def test_other_ways_to_train(data_folder, tmp_path):
    done = train(
        data_folder, tmp_path, "--no-save", "--train-precision", "bf16", "--subword-regularization", "0.1",
        "--encoder-local-layers", "1", "--share-decoder-input-output-embed", "--predict-shift-words",
        "--valid-beam", "2", updates=2,
    )  # fmt: skip
    assert logged(done, "valid_las")
    done = train(data_folder, tmp_path, "--no-save", "--valid-beam", "0", "--best-checkpoint-metric", "loss", updates=2)
    assert not logged(done, "valid_las") and logged(done, "valid_loss")


@pytest.fixture(scope="module")
def generated(data_folder, checkpoint) -> str:
    return run(
        "fairseq-generate", data_folder, *TASK, "--path", checkpoint, "--beam", "3", "--gen-subset", "valid",
        "--max-tokens", "400",
    ).stdout  # fmt: skip


def test_generate_finds_complete_legal_derivations(data_folder, generated):
    found = actions_generated(generated)
    sentences = list(read_conllu(SAMPLE))
    system = ParserConfig.load(data_folder).transition_system()
    assert sorted(found) == list(range(len(sentences)))
    for i, sentence in enumerate(sentences):
        tree = system.replay(sentence.forms, [Action.parse(token) for token in found[i]])
        assert tree.why_invalid() is None


def test_generate_logs_attachment_scores(data_folder, generated):
    found = actions_generated(generated)
    gold = list(read_conllu(SAMPLE))
    system = ParserConfig.load(data_folder).transition_system()
    trees = [system.replay(s.forms, [*map(Action.parse, found[i])]) for i, s in enumerate(gold)]
    words, heads, labelled = attachment_scores([sentence.tree() for sentence in gold], trees)
    uas, las = round(100 * heads / words, 2), round(100 * labelled / words, 2)
    assert 0 < las < uas
    assert generated.rstrip().endswith(f"Generate valid with beam=3: UAS {uas}, LAS {las}")


def test_generate_logs_what_it_is_asked_for(data_folder, checkpoint):
    command = ("fairseq-generate", data_folder, *TASK, "--path", checkpoint, "--gen-subset", "test", "--quiet")
    as_in_readme = run(*command, "--beam", "2").stdout
    assert re.search(r"Generate test with beam=2: UAS \d+\.\d+, LAS \d+\.\d+$", as_in_readme, re.M)
    assert "BLEU" not in as_in_readme
    assert re.search(r"Generate test with beam=1: BLEU4 = ", run(*command, "--beam", "1", "--scoring", "bleu").stdout)
    train = run(*command[:-3], "--gen-subset", "train", "--quiet", "--beam", "1").stdout
    assert "Generate train with beam=1: nothing was scored" in train  # its gold trees are not kept


def test_generate_finds_the_scores_of_parse(checkpoint, generated):
    scores = {int(n): float(s) for n, s in re.findall(r"^H-(\d+)\t(\S+)\t", generated, re.M)}
    parses = Parser.load(checkpoint, beam=3, precision="fp32").parse(SAMPLE)
    assert [scores[i] for i in range(len(parses))] == pytest.approx([p.score / math.log(2) for p in parses], abs=1e-3)


@pytest.mark.slow
def test_relations_that_only_validation_has(data_folder, tmp_path):
    """Such sentences are left out of validation scores; the others count."""
    text = SAMPLE.read_text(encoding="utf-8").replace("\tvocative\t", "\tnever:seen\t")
    (tmp_path / "dev.conllu").write_text(text, encoding="utf-8")
    data = tmp_path / "data"
    train_file = tmp_path / "train.conllu"
    kept = [s for s in read_conllu(SAMPLE) if all(row.deprel != "vocative" for row in s.words)]
    train_file.write_text("".join(map(str, kept)), encoding="utf-8")
    run_here(
        "preprocess", "dependency", "--train", train_file, "--valid", tmp_path / "dev.conllu", "--test", SAMPLE,
        "--system", "arc-hybrid-swap", "--pieces", "400", "--dest", data,
    )  # fmt: skip
    fairseq_preprocess(data, "--workers", "2")
    done = train(data, tmp_path / "checkpoints", "--no-save", updates=2)
    (words, *_) = [int(float(entry["valid__words"])) for entry in logged(done, "valid__words")] or [0]
    assert words == 0 or words == sum(len(s.words) for s in kept)
    assert all(float(entry["valid_loss"]) < 100 for entry in logged(done, "valid_las"))

"""AMR through the real fairseq programs and ours: preprocess, train, resume, export, parse."""

import json
import shutil
from pathlib import Path

import pytest

from tests.conftest import logged, run_here, train
from tests.helpers.crosses import mostly_slow
from transition_parser import Parser
from transition_parser.graphs.bank import AmrEntry, read_bank
from transition_parser.tasks.transition_parsing import TransitionParsingConfig, TransitionParsingTask
from transition_parser.transitions import Action

TEXT = "The dog wants to sleep .\nShe lives in New York !\nHi\n"


def read(path: Path) -> list[AmrEntry]:
    return list(read_bank(path))


def parsed(tmp_path: Path, *command) -> list[AmrEntry]:
    """What `parse` prints, read again."""
    path = tmp_path / "printed.amr"
    path.write_text(run_here("parse", *command, stdin=TEXT).stdout, encoding="utf-8")
    return read(path)


@pytest.fixture(scope="module")
def young(amr_data_folder, tmp_path_factory):
    """The checkpoints of one update, and what training said."""
    folder = tmp_path_factory.mktemp("young")
    return folder, train(amr_data_folder, folder, updates=1)


def test_training_resumes_where_it_stopped(young, amr_data_folder, tmp_path):
    folder, first = young
    scores = logged(first, "valid_smatch")
    assert scores and all(0 < float(entry["valid_smatch"]) < 1 for entry in scores)
    assert all(float(entry["valid_loss"]) < 20 for entry in scores)  # actions that training lacks have none
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    second = train(amr_data_folder, tmp_path, "--valid-beam", "2", updates=2)
    assert "Loaded checkpoint" in second.stdout + second.stderr
    assert [int(entry["valid_num_updates"]) for entry in logged(second, "valid_smatch")] == [2]
    assert (tmp_path / "checkpoint_best.pt").is_file()


@pytest.mark.parametrize("tokens", [300, 1000, 10**6])
def test_no_sentence_is_left_out_of_the_batches(amr_data_folder, tokens):
    """fairseq drops the last batch, of the longest sentences, where its size is no multiple of 8."""
    task = TransitionParsingTask.setup_task(
        TransitionParsingConfig(data=str(amr_data_folder), dataset_impl=None, seed=1)
    )
    task.load_dataset("valid")
    data = task.dataset("valid")
    batches = data.batch_by_size(data.ordered_indices(), max_tokens=tokens, required_batch_size_multiple=8)
    assert sorted(i for batch in batches for i in batch) == list(range(30))


@pytest.mark.parametrize("beam", mostly_slow(["1", "3"], "3"))
def test_parse_keeps_order_ids_and_sentences(amr_checkpoint, amr_dev, tmp_path, beam):
    out = tmp_path / "out.amr"
    done = run_here("parse", amr_checkpoint, amr_dev, "-o", out, "--beam", beam, "--batch-tokens", "300")
    assert done.stdout == done.stderr == ""
    for before, after in zip(read(amr_dev), read(out), strict=True):
        assert (after.id, after.text) == (before.id, before.text)
        assert before.tokens is None or after.tokens == before.tokens
        assert after.graph.is_connected()
        assert all(after.alignments) and all(token < len(after.forms) for node in after.alignments for token in node)
    scores = json.loads(run_here("score", amr_dev, out, "--json").stdout)
    assert scores["sentences"] == 30 and 0 < scores["smatch"]["f1"] < 1


def test_an_untrained_model_builds_graphs(young, amr_data_folder, tmp_path):
    """Whatever the network says, the machine lets it build one connected graph, within the bound."""
    parser = Parser.load(young[0] / "checkpoint_last.pt")
    rows = ['( " \\ /', "a", "New York", "1 , 2", "! ! !", "# ::snt x", "\u2581 \u00e9 \u5bff", "~e.1 :ARG0 ()"]
    sentences = [*(row.split() for row in rows), *(entry.forms for entry in read(amr_data_folder / "test.amr"))]
    system = parser.resources.table.system
    for words, parse in zip(sentences, parser.parse(sentences), strict=True):
        assert parse.graph.is_connected() and len(parse.actions) <= system.max_search_actions(len(words))
        (tmp_path / "one.amr").write_text(str(parse.annotated(True, True, True)), encoding="utf-8")
        (again,) = read(tmp_path / "one.amr")
        assert again.forms == words and len(again.graph) == len(parse.graph)


def test_what_parse_writes(amr_checkpoint, tmp_path):
    plain = run_here("parse", amr_checkpoint, "-", stdin=TEXT).stdout
    assert "~e." not in plain and plain.count("# ::alignments ") == 3 and "# ::node\t0\t" in plain
    assert "::parse_score" not in plain and "::actions" not in plain
    marked = parsed(tmp_path, amr_checkpoint, "-", "--alignments", "marks", "--scores", "--actions", "--no-edits")
    for entry, listed in zip(marked, parsed(tmp_path, amr_checkpoint, "-", "--no-edits"), strict=True):
        assert "~e." in entry.penman and entry.alignments == listed.alignments
        assert float(entry.metadata["parse_score"]) < 0
    system = Parser.load(amr_checkpoint).resources.parser.transition_system()
    for entry in marked:
        graph = system.replay(system.read(entry.forms), [*map(Action.parse, entry.metadata["actions"].split())])
        assert sorted(graph.labels) == sorted(entry.graph.labels)


def test_export(amr_checkpoint, tmp_path):
    run_here("export", amr_checkpoint, "-o", tmp_path / "model")
    names = {path.name for path in (tmp_path / "model").iterdir()}
    assert {"lexicon.json", "parser.json", "model.safetensors", "dict.act.txt"} <= names
    printed = run_here("parse", amr_checkpoint, "-", stdin=TEXT).stdout
    assert run_here("parse", tmp_path / "model", "-", stdin=TEXT).stdout == printed
    (tmp_path / "model" / "lexicon.json").unlink()
    said = run_here("parse", tmp_path / "model", "-", stdin=TEXT, status=2).stderr
    assert "lexicon.json: is not there, but was exported" in said and said.count("\n") == 1

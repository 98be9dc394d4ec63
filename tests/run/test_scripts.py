"""The scripts in run/: how they are called, from where, and what they set up."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, SAMPLE, SAMPLE_AMR, run
from tests.helpers.scripts import RUN, bash
from transition_parser.graphs.bank import read_bank
from transition_parser.graphs.conllu import read_conllu

SCRIPTS = sorted(str(path.relative_to(RUN)) for path in RUN.rglob("*.sh"))
for name in ("environment.sh", "setup.sh", "test.sh"):
    SCRIPTS.remove(name)


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("arguments", [["a"], ["no such", "file at all", "anywhere", "here"]])
def test_a_script_that_is_called_wrongly_says_how_to_call_it(script, arguments, tmp_path):
    done = bash(script, *arguments, cwd=tmp_path, status=2)
    assert done.stderr.startswith(f"usage: bash run/{script}") and done.stderr.count("\n") == 1
    assert not done.stdout and not list(tmp_path.iterdir())


def test_training_without_fairseq_sets_it_up(tmp_path):
    """With no program on the path but those of the system."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "train.src").touch()
    copied = tmp_path / "run"  # beside no environment
    shutil.copytree(RUN, copied)
    (copied / "setup.sh").write_text('echo "setting up $1"; exit 3', encoding="utf-8")
    for script, *arguments in (["binarise.sh", "data"], ["train.sh", ROOT / "configs" / "use.flags", "data", "out"]):
        command = ["bash", copied / script, *arguments]
        done = subprocess.run(command, cwd=tmp_path, env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True)
        assert (done.returncode, done.stdout, done.stderr) == (3, "setting up all\n", "")


def test_a_folder_that_fairseq_would_divide_is_not_binarised(tmp_path):
    (tmp_path / "a,b").mkdir()
    (tmp_path / "a,b" / "train.src").touch()
    done = bash("binarise.sh", "a,b", cwd=tmp_path, status=2)
    assert done.stderr.startswith("binarise.sh: a,b: fairseq divides a path") and done.stderr.count("\n") == 1


def test_folders_are_those_of_the_caller(tmp_path):
    """Also where the script is called from another folder than the project."""
    (tmp_path / "banks" / "some").mkdir(parents=True)
    (tmp_path / "banks" / "some" / "sample.conllu").symlink_to(SAMPLE)
    done = bash("check_corpora.sh", "banks", cwd=tmp_path)
    assert len(re.findall(r'some/sample\.conllu \{"sentences": 64,.*"las": 100\.0', done.stdout)) == 5


EVALUATE = RUN / "evaluate.py"


def test_tags_of_the_gold_file_are_not_scored_as_if_they_were_predicted(checkpoint):
    evaluated = run(EVALUATE, checkpoint, SAMPLE).stdout
    assert evaluated.count('"las"') == 4 and '"upos"' not in evaluated


def test_what_an_evaluation_cannot_do_is_said_in_one_line():
    done = run(EVALUATE, "no such model", SAMPLE, status=2)
    assert "no such model" in done.stderr and done.stderr.count("\n") == 1 and not done.stdout


def test_training_reads_a_config_and_lets_idle_threads_sleep(tmp_path, data_folder):
    (tmp_path / "data").symlink_to(data_folder)
    flags = ("--max-update", "1", "--max-tokens", "300", "--valid-beam", "0", "--best-checkpoint-metric", "loss")
    done = bash(
        "train.sh", ROOT / "configs" / "ewt-stack-small.flags", "data", "checkpoints", *flags,
        cwd=tmp_path, OMP_DISPLAY_ENV="true",
    )  # fmt: skip
    assert (tmp_path / "checkpoints" / "checkpoint_last.pt").is_file()
    policies = set(re.findall("OMP_WAIT_POLICY = '(.*)'", done.stderr))
    assert policies <= {"PASSIVE"} and (policies or sys.platform != "linux")


def silver(*arguments: str | Path, status: int = 0) -> subprocess.CompletedProcess:
    return run(RUN / "recipes" / "silver.py", *arguments, status=status, cwd=Path.cwd())


@pytest.fixture(scope="module")
def silver_bank(tmp_path_factory):
    """The sentences of the sample, given twice, parsed by the package's small model."""
    bank = tmp_path_factory.mktemp("silver") / "silver.amr"
    done = silver(SAMPLE, SAMPLE, "-o", bank, "--model", "en-amr", "--beam", "1")
    assert done.stderr.endswith(f" AMRs in {bank}\n") and not done.stdout
    return bank


def test_silver_data_are_the_sentences_of_a_treebank_each_once(silver_bank):
    entries = list(read_bank(silver_bank))
    sentences = {
        f"sample.{one.id}": " ".join(form.replace(" ", "") for form in one.forms) for one in read_conllu(SAMPLE)
    }
    texts = [entry.text for entry in entries]
    kept = {text for text in sentences.values() if 3 <= len(text.split()) <= 40}
    assert len(texts) == len({*texts}) > 30 and {*texts} <= kept  # those with odd graphs are left out
    assert all(sentences[entry.id] == entry.text and entry.graph is not None for entry in entries)
    assert ":wiki" not in silver_bank.read_text()


def silver_trees(*arguments: str | Path, status: int = 0) -> subprocess.CompletedProcess:
    return run(RUN / "recipes" / "silver_trees.py", *arguments, status=status, cwd=Path.cwd())


def test_silver_trees_are_the_sentences_of_files_each_once(tmp_path):
    """Of a treebank and of an AMR bank, without the sentences of an excluded file."""
    treebank, excluded = tmp_path / "silver.conllu", tmp_path / "excluded.conllu"
    first, *others = list(read_conllu(SAMPLE))
    excluded.write_text(str(first))
    done = silver_trees(
        SAMPLE, SAMPLE, SAMPLE_AMR, "-o", treebank, "--model", "en-ewt", "--beam", "1", "--exclude", excluded
    )
    assert "× sentence that came before" in done.stderr
    agreement = float(re.search(r"mean agreement: (.*)$", done.stderr, re.M)[1])
    assert 0.8 < agreement < 1.0  # of one model: its mean confidence
    made = list(read_conllu(treebank))
    texts = [" ".join(one.forms) for one in made]
    assert len(texts) == len({*texts}) and " ".join(first.forms) not in texts
    kept = {" ".join(form.replace(" ", "") for form in one.forms) for one in others if len(one.forms) > 3}
    assert kept < {*texts} and len(kept) > 30
    assert all(one.tree().why_invalid() is None and one.words[0].upos != "_" for one in made)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["-o", "out.conllu"], "no sentences: give files, or --frames FILE"),
        (["{sample}", "-o", "{sample}"], "is one of the inputs: write to another file"),
        (["{sample}", "-o", "out.conllu", "--exclude", "{sample}"], "no sentence of 4 to 60 words is left"),
        (["{sample}", "-o", "out.conllu", "--model", "en-amr"], "en-amr"),
    ],
)
def test_unfit_calls_of_silver_trees(tmp_path, monkeypatch, arguments, problem):
    monkeypatch.chdir(tmp_path)
    sample, other = (shutil.copy(SAMPLE, tmp_path / name) for name in ("sample.conllu", "other.conllu"))
    before = Path(sample).read_bytes()
    done = silver_trees(*(argument.format(sample=sample, other=other) for argument in arguments), status=2)
    assert problem in done.stderr and "Traceback" not in done.stderr
    assert Path(sample).read_bytes() == Path(other).read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == {"sample.conllu", "other.conllu"}


def annotated_treebank(folder: Path) -> tuple[Path, Path, Path]:
    """A treebank of one sentence, PropBank's annotation of it, and frames."""
    words = [("Boys", "NOUN", 2, "nsubj"), ("fathom", "VERB", 0, "root"), ("sounds", "NOUN", 2, "obj")]
    rows = [
        f"{i}\t{form}\t_\t{tag}\t_\t_\t{head}\t{relation}\t_\t_"
        for i, (form, tag, head, relation) in enumerate(words, 1)
    ]
    treebank, annotation, frames = (folder / name for name in ("t.conllu", "t.tsv", "frames.jsonl"))
    treebank.write_text("# sent_id = s1\n" + "\n".join(rows) + "\n\n")
    annotation.write_text("# sent_id = s1\n2\tfathom\tfathom.01\tARG0:1-1\tARG1:3-3\n\n")
    example = {"text": "No child could sound these depths .", "rel": "3", "args": [["ARG0", "0", "1"]]}
    rolesets = [
        {"id": "fathom.01", "amr": ["2019"], "examples": []},
        {"id": "sound.07", "amr": [1], "examples": [example]},
    ]
    frames.write_text("".join(json.dumps(one) + "\n" for one in rolesets))
    return treebank, annotation, frames


def test_silver_data_keep_the_facts_of_propbank(tmp_path):
    treebank, annotation, frames = annotated_treebank(tmp_path)
    facts = ("--propbank", annotation, "--frames", frames, "--examples", "1")
    done = silver(treebank, "-o", tmp_path / "silver.amr", "--model", "en-amr", "en-amr-minilm", "--beam", "2", *facts)
    assert "facts: 3 × edge, 2 × node, 2 × sentence with facts\n" in done.stderr
    first, second = read_bank(tmp_path / "silver.amr")
    assert (first.id, second.id) == ("t.s1", "frames.sound.07.1")
    predicate = first.amr.labels.index("fathom-01")
    roles = {edge.role for edge in first.amr.edges if edge.source == predicate}
    assert {"ARG0", "ARG1"} <= roles and "sound-07" in second.amr.labels
    assert 0 < float(first.metadata["agreement"]) <= 1


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((SAMPLE, "--model", "en-ewt"), "is a model of trees"),
        (("--model", "en-amr"), "no sentences: give treebanks, or --examples N"),
        ((SAMPLE, "--model", "en-amr", "--propbank", "a.tsv"), "need --frames FILE"),
        (("no-such.conllu", "--model", "en-amr"), "No such file"),
        (("short.conllu", "--model", "en-amr"), "no sentence of 3 to 60 words"),
        ((SAMPLE, "--model", "en-amr", "-o", "short.conllu", "--exclude", "short.conllu"), "is one of the inputs"),
        ((SAMPLE, "--model", "en-amr", "--frames", "a.jsonl"), "--frames is for --propbank and --examples"),
        ((SAMPLE, "--model", "en-amr", "--nbest", "9", "--beam", "2"), "--nbest 9 is more than --beam 2"),
    ],
)
def test_bad_input_of_silver_data_is_one_line_and_leaves_nothing(arguments, problem, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    short = "1\tStop" + "\t_" * 8 + "\n\n"
    Path("short.conllu").write_text(short)
    done = silver("-o", "silver.amr", *arguments, status=2)
    assert done.stderr.count("\n") == 1 and done.stderr.startswith("silver.py: error: ") and problem in done.stderr
    assert not done.stdout and os.listdir() == ["short.conllu"] and Path("short.conllu").read_text() == short


RESULTS = ROOT / "results"
BAD_SCRIPTS = {
    "recipes/frames.py": [
        (("latin.jsonl", "-o", "x", "--functions", "y"), "latin.jsonl:1: not a roleset"),
        (("roles.jsonl", "-o", "x", "--functions", "y"), "roles.jsonl:1: not a roleset"),
        (("good.jsonl", "-o", "nowhere/x", "--functions", "y"), "nowhere"),
    ],
    "recipes/tables.py": [(("no such",), "no such")],
    "recipes/names.py": [
        ((RUN / "bench/names.tsv", "x", "x", "x", "-o", "x"), "no column 'languages'"),
        (("latin.jsonl", "x", "x", "x", "-o", "x"), "utf-8"),
        (("no such.tsv", "x", "x", "x", "-o", "x"), "no such.tsv"),
    ],
    "paper_table.py": [
        (("use.json", "--table", "7"), "no results of this table"),
        (("other.json",), "other.json: is not a file of results"),
        (("comparisons.json", "--claims"), "no paper of these results"),
        (("no such.json",), "no such.json"),
        (("unknown.json",), "unknown.toml"),
    ],
    "paper.py": [(("use", "no such", "out"), "no such")],
}


@pytest.mark.parametrize("script", BAD_SCRIPTS)
def test_bad_input_to_a_script_is_one_line(script, tmp_path, monkeypatch):
    (tmp_path / "latin.jsonl").write_bytes(b'{"id": "\xe9"}\n')
    rolesets = {"id": "go.01", "amr": ["2019"], "aliases": []}
    (tmp_path / "roles.jsonl").write_text(json.dumps({**rolesets, "roles": [0]}) + "\n")
    (tmp_path / "good.jsonl").write_text(json.dumps({**rolesets, "roles": {"0": ["PAG", "goer"]}}) + "\n")
    (tmp_path / "other.json").write_text('{"runs": [{"a": 1}]}')
    settings = {"paper": "unknown", "table": "1", "row": "a", "seed": 1, "system": "arc-hybrid"}
    settings["data"] = {"name": "c", "test": "d"}
    (tmp_path / "unknown.json").write_text(json.dumps({"runs": [{"settings": settings, "scores": {}}]}))
    for name in ("use.json", "comparisons.json"):
        (tmp_path / name).symlink_to(RESULTS / name)
    before = sorted(tmp_path.iterdir())
    for arguments, problem in BAD_SCRIPTS[script]:
        done = run(RUN / script, *arguments, status=2, cwd=tmp_path)
        assert problem in done.stderr.splitlines()[-1] and "Traceback" not in done.stderr and not done.stdout
    assert sorted(tmp_path.iterdir()) == before


def test_the_table_of_known_names_has_the_best_known_first_and_no_words(tmp_path):
    persons = [("Zia Xenos", 90), ("Zia Xenos (actor)", 30), ("Bo Xenos", 40), ("Yul Apple", 80), ("Zia II of Ulm", 99)]
    others = [("The Zyx Post", "newspaper"), ("Zyx, Inc.", "company"), ("Gap", "company"), ("Zyx Sea", "ocean")]
    others += [("Zyxland", "country"), ("Lost", "broadcast-program"), ("Xyz", "river"), ("Canadian", "river")]
    cities = [
        ("Zyxburg", "US", "OH", 100_000),
        ("Xenos", "US", "OH", 400_000),
        ("Zyx Town", "XX", "", 9),
        ("Ulm", "XX", "", 9),
    ]
    columns = ("name", "countrycode", "admin1code", "population")
    data = {
        "countries": {"XX": {"capital": "Zyx Town"}},
        "us_states": {"OH": {"name": "Ohio"}},
        "cities15000": {number: dict(zip(columns, city, strict=True)) for number, city in enumerate(cities)},
    }
    for name, values in data.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(values))
    rows = {"persons": [("name", "languages"), *persons], "others": [("name", "type"), *others]}
    for name, lines in rows.items():
        (tmp_path / f"{name}.tsv").write_text("".join(f"{one}\t{other}\n" for one, other in lines))
    (tmp_path / "words").write_text("apple\ngap\nlost\n")
    run(RUN / "recipes" / "names.py", "persons.tsv", "others.tsv", ".", "words", "-o", "names.tsv", cwd=tmp_path)
    lines = (tmp_path / "names.tsv").read_text(encoding="utf-8").splitlines()
    own = (RUN / "recipes" / "known_names.tsv").read_text(encoding="utf-8").count("\n")
    assert lines[own:] == [
        *("country\tZyxland", "city\tZyx Town", "person\tZia II of Ulm;Zia Xenos;Yul Apple;Bo Xenos;Xenos=Zia Xenos"),
        *("first-name\tZia", "city\tZyxburg=Zyxburg, Ohio", "company\tZyx", "newspaper\tZyx Post=The Zyx Post"),
        *("river\tXyz=-", "sea\tZyx Sea"),
    ]


def test_silver_data_of_words_with_white_space_of_all_kinds(tmp_path):
    treebank, bank = tmp_path / "t.conllu", tmp_path / "silver.amr"
    rows = [f"{i}\t{form}" + "\t_" * 8 for i, form in enumerate(["10\u00a0000", "people", "sang"], 1)]
    treebank.write_text("# sent_id = a ::snt b\n" + "\n".join(rows) + "\n\n", encoding="utf-8")
    silver(treebank, "-o", bank, "--model", "en-amr")
    (entry,) = read_bank(bank)
    assert entry.text == "10000 people sang" and entry.id == "t.a::sntb"


def test_excluded_sentences_are_no_silver_data(tmp_path):
    treebank, _, _ = annotated_treebank(tmp_path)
    (tmp_path / "test.amr").write_text("# ::id 1 ::snt boys fathom sounds!\n(f / fathom-01)\n\n")
    exclude = ("--exclude", SAMPLE, tmp_path / "test.amr")
    done = silver(treebank, "-o", tmp_path / "silver.amr", "--model", "en-amr", *exclude, status=2)
    assert "no sentence of 3 to 60 words" in done.stderr and not (tmp_path / "silver.amr").exists()


def test_the_code_that_a_sentence_runs_through_is_counted(tmp_path):
    (tmp_path / "one.txt").write_text("She sleeps .\n")
    said = run(RUN / "bench" / "hops.py", "en-fast", tmp_path / "one.txt").stdout.splitlines()
    files, hops, calls = map(int, re.findall(r"\d+", said[-1].replace(",", "")))
    assert files == len(said) - 1 and 10 < files < hops < calls
    assert any(line.endswith(" parsing/parser.py") for line in said)

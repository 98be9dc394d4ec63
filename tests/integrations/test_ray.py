"""Parsing by Ray Data: all sentences once and in order, whatever happens to the actors."""

import os
import signal
import time
from functools import partial
from pathlib import Path

import pytest

from tests.conftest import ROOT, SAMPLE, run, run_here
from transition_parser import Parser
from transition_parser.base.errors import InputError
from transition_parser.integrations import ray as engine
from transition_parser.parsing.bulk import Job
from transition_parser.parsing.sentences.files import Reading

TIMES = 5


@pytest.fixture(scope="module", autouse=True)
def running():
    """Ray for all tests here: starting it takes longest. Parts are small."""
    pytest.importorskip("ray.data")
    import ray

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        patch.setenv("OMP_NUM_THREADS", "1")
        patch.setattr(engine, "PART", 32)
        for name, value in engine._ENVIRONMENT.items():
            patch.setenv(name, value)
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, _node_ip_address="127.0.0.1")
        yield
        ray.shutdown()


def job_of(model="en-ewt", **reading) -> Job:
    parser = Parser.load(model, precision="fp32", threads=1)
    return Job(parser, Reading(added=parser.formalism.suffix[1:], **reading), {})


def expected(*paths, model="en-ewt") -> str:
    return run_here("parse", model, *paths, "--precision", "fp32").stdout


def files_of(dest: Path) -> list[Path]:
    return sorted(dest.iterdir())


def written(dest: Path) -> str:
    return "".join(file.read_text(encoding="utf-8") for file in files_of(dest))


@pytest.fixture(scope="module")
def many(tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("inputs") / "many.conllu"
    path.write_text(SAMPLE.read_text(encoding="utf-8") * TIMES, encoding="utf-8")
    return str(path)


def die_in_the_middle(mark: Path) -> None:
    """Lets the actor that comes first to its second part be killed when it has parsed it, and none after it."""
    whole, parsed = Job.parsed, []

    def write(job, chunks):
        yield from whole(job, chunks)
        parsed.append(job)
        if len(parsed) == 2:
            try:
                mark.touch(exist_ok=False)
            except FileExistsError:
                return
            os.kill(os.getpid(), signal.SIGKILL)

    Job.parsed = write


def sign(folder: Path) -> None:
    """Lets each actor that writes a part leave a file with its number, and wait for the other, which may start late."""
    whole, latest = Job.parsed, time.monotonic() + 60

    def write(job, chunks):
        (folder / str(os.getpid())).touch()
        while len([*folder.iterdir()]) < 2 and time.monotonic() < latest:
            time.sleep(0.05)
        return whole(job, chunks)

    Job.parsed = write


@pytest.mark.slow
def test_an_actor_that_dies_loses_nothing(many, tmp_path):
    out, mark = tmp_path / "out", tmp_path / "died"
    engine.parse_by_ray(job_of(), [many], str(out), 2, prepare=partial(die_in_the_middle, mark))
    assert mark.exists()
    left = [path for path in out.iterdir() if path.name.startswith(".")]
    assert left == []
    assert written(out) == expected(many)


def test_all_actors_parse_rows_of_parquet(tmp_path):
    (signed := tmp_path / "signed").mkdir()
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    path, out = tmp_path / "in.parquet", tmp_path / "out"
    texts = [None if n % 7 == 0 else f"Number {n} sleeps ." for n in range(300)]
    pq.write_table(pa.table({"n": range(300), "text": texts}), path, row_group_size=70)
    engine.parse_by_ray(job_of(column="text"), [str(path)], str(out), 2, prepare=partial(sign, signed))
    assert len([*signed.iterdir()]) == 2
    table = pa.concat_tables(pq.read_table(file) for file in files_of(out))
    assert table["n"].to_pylist() == [*range(300)] and len(files_of(out)) > 5
    assert [parse.count("\n\n") for parse in table["conllu"].to_pylist()] == [int(n % 7 != 0) for n in range(300)]


@pytest.mark.slow
def test_what_is_there_is_not_parsed_again(many, tmp_path):
    out = tmp_path / "out"
    engine.parse_by_ray(job_of(), [many], str(out), 1)
    whole, files = written(out), files_of(out)
    files[1].unlink()
    files[0].write_text("finished before\n")
    engine.parse_by_ray(job_of(), [many], str(out), 2, resume=True)  # of another number of actors
    first, rest = written(out).split("\n", 1)
    assert first == "finished before" and whole.endswith(rest) and len(files_of(out)) == len(files)
    with pytest.raises(InputError, match="is not empty: give another folder, or --resume"):
        engine.parse_by_ray(job_of(), [many], str(out), 2)


def test_bad_input_ends_it(tmp_path):
    path, out = tmp_path / "in.jsonl", tmp_path / "out"
    path.write_text('{"text": "Go now ."}\n' * 100 + '{"text": 7}\n')
    with pytest.raises(InputError, match=r"in\.jsonl:101: column 'text' holds 7: it must be a text"):
        engine.parse_by_ray(job_of(column="text"), [str(path)], str(out), 2)
    assert not [file for file in files_of(out) if file.name.startswith("in-00003")]


@pytest.mark.slow
def test_the_command_leaves_nothing_running(many, tmp_path):
    arguments = ("--precision", "fp32", "--engine", "ray", "--actors", "2", "-o", f"{tmp_path / 'out'}/")
    done = run("transition-parser", "parse", "en-ewt", many, *arguments)
    assert (done.stdout, done.stderr) == ("", "")
    assert written(tmp_path / "out") == expected(many)
    here = str(tmp_path / "out").encode()
    for status in Path("/proc").glob("[0-9]*/environ"):
        try:
            assert here not in status.with_name("cmdline").read_bytes()
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "--engine ray writes a folder: give -o DIR/"),
        (("-o", "x/", "--shard", "1/2"), "--shard and --engine ray both divide the work"),
    ],
)
def test_options_that_do_not_go_together(options, said):
    assert said in run_here("parse", "en-ewt", SAMPLE, "--engine", "ray", *options, status=2).stderr

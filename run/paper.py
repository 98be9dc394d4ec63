"""The tables of the papers, run on open data: each row is trained, parsed and scored once for each seed.

    bash run/paper.sh PAPER [TABLE] DATA OUT [option ...]

configs/papers/PAPER.toml lists the rows of each table. DATA is a folder with the files train, dev and test, either
.conllu or .amr. Each row and seed is one experiment of `transition-parser train` in a folder of OUT. It is scored with
its best epoch or the mean of its three best epochs, whichever is better on dev. A row may also be an ensemble: seeds of
another row that parse together. A row that the results already have, with the same flags and the same data, is not
repeated. An interrupted row goes on. A row that differs from a row of the results only in the names of paper,
table and row gets the result of that row. The results are OUT/PAPER.json: for each row and seed the flags, the data,
the versions, the machine, the hours (of the call that finished the row), the score after each epoch, and the scores of
dev and test.
`python run/paper_table.py OUT/PAPER.json` makes the table.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import itertools
import json
import os
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from importlib import metadata
from pathlib import Path
from threading import Lock
from typing import Any

from transition_parser.base.errors import InputError, input_error
from transition_parser.base.files import alone_in, replacing
from transition_parser.base.model_files import sha256_of
from transition_parser.cli.contexts import signals_as_exits
from transition_parser.graphs.dependency_score import marks_punctuation
from transition_parser.parsing.formalisms import AMR, TREES, Formalism, formalism_of
from transition_parser.training.evaluation import parse_and_score, prepared_gold
from transition_parser.training.flags import arguments_of, given_flags, merged, read_flags

ROOT = Path(__file__).resolve().parents[1]
PAPERS = ROOT / "configs" / "papers"
SPLITS = ("train", "dev", "test")
BEAMS = (1, 10)
AVERAGED = 3  # the number of best epochs whose weights are averaged
WARM_UP = 1 / 8  # share of the epochs in which the learning rate rises
COUNTED, SKIPPED, DIVIDED = "scores", "without punctuation", "las on test"  # keys of a result
PARTS = ("length", "distance", "depth", "tag")  # `Trees.score` gives the LAS for each value
VERSIONS = ("transition-parser", "torch", "fairseq-fixed")


class Programs:
    """Programs that several threads wait for, and that are ended together."""

    def __init__(self) -> None:
        self._running: set[subprocess.Popen[str]] = set()
        self._ended, self._lock = False, Lock()

    def run(self, command: Sequence[str], environment: Mapping[str, str]) -> tuple[int, str]:
        """Run a program to its end; return its exit status and messages. Raises `InputError` once `end` was called."""
        with self._lock:
            if self._ended:
                raise InputError("interrupted")
            program = subprocess.Popen(
                command, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment
            )
            self._running.add(program)
        with program:
            try:
                _, errors = program.communicate()
            except BaseException:  # a signal, in the main thread
                program.terminate()
                raise
            finally:
                with self._lock:
                    self._running.discard(program)
        return program.returncode, errors

    def end(self) -> None:
        """End all running programs, and start no others. A training that is ended keeps its last checkpoint."""
        with self._lock:
            self._ended = True
            for program in self._running:
                program.terminate()


@dataclass(frozen=True)
class Table:
    """A table of a paper, for one kind of graphs.

    config: the name of the file in configs/ with the flags of all rows
    figures: the name of the paper's figures, such as its score and corpus; empty if the paper has none
    rows: name, and the keys that configs/papers/README.md explains
    options: further options of `transition-parser train` for all rows
    flags: flags of all rows, beside those of their configs
    """

    paper: str
    name: str
    config: str
    system: str
    epochs: int
    figures: str
    rows: tuple[dict[str, Any], ...]
    options: str = ""
    flags: str = ""


def read_table(paper: str, name: str | None, formalism: Formalism) -> Table:
    """Return a table, by default the first one of the paper, with its rows for a kind of graphs.

    Raises `InputError` where there is no such table.
    """
    path = PAPERS / f"{paper}.toml"
    tables = tomllib.loads(path.read_text(encoding="utf-8"))["tables"]
    name = name or next(iter(tables))
    if name not in tables:
        raise input_error(f"has no table {name!r}: give one of {', '.join(tables)}", path)
    table = {**tables.get(tables[name].get("like"), {}), **tables[name]}
    if formalism.name not in table:
        raise input_error(f"table {name} is not of {formalism.name}", path)
    completed = (_completed(row, table["rows"]) for row in table["rows"])
    rows = tuple(row for row in completed if row.get("only") in (None, formalism.name))
    said = {key: table.get(key, "") for key in ("figures", "flags")}
    return Table(paper, name, **table[formalism.name], **said, rows=rows)


def _completed(row: dict[str, Any], rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return a row with all its keys: an ensemble has the keys of its members' row, except the paper's figure."""
    if "of" not in row:
        return row
    return {**_members_row(row, rows), "figure": "–", **row}


def _members_row(ensemble: dict[str, Any], rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the row of a table whose runs (one a seed) are the members of an ensemble."""
    (members,) = (row for row in rows if row["name"] == ensemble["of"])
    return members


def files_of(folder: Path) -> tuple[Formalism, dict[str, Path]]:
    """Return the kind of graphs of a folder, and its file of each split. Raises `InputError` for missing files."""
    for formalism in (TREES, AMR):
        files = {split: folder / f"{split}{formalism.suffix}" for split in SPLITS}
        if all(path.is_file() for path in files.values()):
            return formalism, files
    raise input_error("has no files train, dev and test, all .conllu or all .amr", folder)


def thin(formalism: Formalism, path: Path, every: int, out: Path) -> Path:
    """Write every Nth sentence of a file into a folder below `out`, named after the corpus and N. Return the new file.

    every: N
    """
    sentences = itertools.islice(formalism.read_graphs(path), every - 1, None, every)
    part = out / f"{path.parent.resolve().name}-every-{every}" / path.name
    part.parent.mkdir(exist_ok=True)
    with replacing(part) as temporary:
        temporary.write_text("".join(map(str, sentences)), encoding="utf-8")
    return part


def flags_of(table: Table, row: dict[str, Any]) -> str:
    """Return the text of a row's file of flags: the config, the flags to drop, and the flags of table and row."""
    dropped = [f"!{flag}" for flag in row.get("drop", "").split()]
    added = merged(given_flags(f"{table.flags} {row.get('flags', '')}".split()))
    config = ROOT / "configs" / f"{row.get('config', table.config)}.flags"
    lines = [f"@{config}", *dropped, *(" ".join(flag.arguments) for flag in added)]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Run:
    """A row of a table with a seed, or an ensemble.

    config: the row's file of flags
    members: the runs whose models parse together in an ensemble; the ensemble itself is not trained
    vectors: the file of pretrained vectors, for a row that needs them
    """

    config: Path
    table: Table
    row: dict[str, Any]
    seed: int
    epochs: int
    files: dict[str, Path]
    members: tuple[Run, ...] = ()
    vectors: Path | None = None

    @property
    def beams(self) -> tuple[int, ...]:
        return tuple(self.row.get("beams", BEAMS))

    @property
    def name(self) -> str:
        return f"{self.table.paper}.{self.table.name}.{_joined(self.row['name'])}.{self.seed}"

    @property
    def folder(self) -> str:
        """Return the name of the run's folder, which ends with a digest of the settings."""
        digest = hashlib.sha256(json.dumps(self.settings, sort_keys=True).encode()).hexdigest()
        return f"{self.name}.{digest[:8]}"

    @cached_property
    def settings(self) -> dict[str, Any]:
        """Return all that the scores depend on, as JSON can hold it."""
        digests = {split: sha256_of(path) for split, path in self.files.items()}
        return {
            "paper": self.table.paper,
            "table": self.table.name,
            "row": self.row["name"],
            "seed": self.seed,
            "epochs": self.epochs,
            "system": self.row.get("system", self.table.system),
            "flags": " ".join(arguments_of(read_flags(self.config))),
            "options": self.row.get("options", self.table.options),
            "data": {"name": self.files["train"].parent.resolve().name, **digests},
            **({"ensemble": len(self.members)} if self.members else {}),
            **({"vectors": sha256_of(self.vectors)} if self.vectors else {}),
            **({"beams": [*self.beams]} if self.beams != BEAMS else {}),
        }

    def has_model(self, out: Path) -> bool:
        """Return True where the folder of the run holds its model."""
        return (out / self.folder / "model" / "scores.json").is_file()

    def measure(self, out: Path, threads: int, device: str, programs: Programs) -> dict[str, Any]:
        """Train, parse and score, and return the scores. Raises `InputError` if one of these steps fails.

        The members of an ensemble must have been trained.

        device: the device that parses dev and test; fairseq trains on a GPU if there is one
        programs: runs the training
        """
        if not self.members:
            return self.train(out, threads, device, programs)
        try:
            return self._parsed_together(out, threads, device)
        except InputError as error:
            raise InputError(f"{self.name}: {error}") from None

    def _parsed_together(self, out: Path, threads: int, device: str) -> dict[str, Any]:
        """Parse with all members and score, and return the scores."""
        from transition_parser.parsing.parser import Parser  # imported late, because torch takes seconds

        folder, formalism = out / self.folder, formalism_of(self.settings["system"])
        folder.mkdir(exist_ok=True)
        first, *others = (out / member.folder for member in self.members)
        counted: dict[str, Any] = {}
        for split, beam in itertools.product(SPLITS[1:], self.beams):
            members = [other / "model" for other in others]
            parser = Parser.load(first / "model", beam, device=device, threads=threads, others=members)
            gold = prepared_gold(first / "data", split, formalism) or self.files[split]
            parsed = folder / f"{split}.beam-{beam}{formalism.suffix}"
            counted.setdefault(split, {})[f"beam {beam}"] = parse_and_score(parser, gold, parsed)
        return {COUNTED: counted, **self._scores_of_trees(folder), "history": []}

    def train(self, out: Path, threads: int, device: str, programs: Programs) -> dict[str, Any]:
        """Train, parse and score, and return the scores. Raises `InputError` where the program fails."""
        folder = out / self.folder
        files = [word for split in SPLITS for word in (f"--{split}", str(self.files[split]))]
        command = [
            sys.executable, "-m", "transition_parser", "train", str(self.config), *files, "-o", str(folder),
            "--system", self.settings["system"], "--beam", *map(str, self.beams), "--device", device,
            *self.settings["options"].split(),
            *(("--vectors", str(self.vectors)) if self.vectors else ()),
            "--", "--seed", str(self.seed), "--max-epoch", str(self.epochs),
            "--warmup-epochs", str(self.epochs * WARM_UP), "--keep-best-checkpoints", str(AVERAGED),
        ]  # fmt: skip
        status, errors = programs.run(command, {**os.environ, "OMP_NUM_THREADS": str(threads)})
        if status:
            raise InputError(f"{self.name}: {errors.strip().splitlines()[-1] if errors else 'failed'}")
        scores = json.loads((folder / "model" / "scores.json").read_text(encoding="utf-8"))
        return {
            COUNTED: {split: scores[split] for split in SPLITS[1:]},
            **self._scores_of_trees(folder),
            "averaged": scores["averaged"],
            "history": json.loads((folder / "history.json").read_text(encoding="utf-8")),
        }

    def _scores_of_trees(self, folder: Path) -> dict[str, Any]:
        """Return the scores without punctuation, and the LAS on test by `PARTS`, for each beam; nothing for AMRs.

        Treebanks that do not have the tags of the Penn Treebank have no scores without punctuation.
        """
        if formalism_of(self.settings["system"]) is not TREES:
            return {}
        marked = all(marks_punctuation(self.files[split]) for split in SPLITS[1:])
        skipped: dict[str, Any] = {}
        divided: dict[str, Any] = {}
        of_parts = [f"by_{part}" for part in PARTS]
        for split, beam in itertools.product(SPLITS[1:], self.beams):
            files = str(self.files[split]), str(folder / f"{split}.beam-{beam}{TREES.suffix}")
            if marked:
                found = TREES.score(*files, {"punct": "skip"}).figures
                skipped.setdefault(split, {})[f"beam {beam}"] = {name: found[name] for name in ("uas", "las")}
            if split == "test":
                found = TREES.score(*files, dict.fromkeys(of_parts, True)).figures
                divided[f"beam {beam}"] = {by: {key: of["f1"] for key, of in found[by].items()} for by in of_parts}
        return {**({SKIPPED: skipped} if marked else {}), DIVIDED: divided}


SAME = frozenset({"paper", "table", "row", "seed", "data"})  # a run replaces an earlier run with the same values


class Results:
    """The file of the results, which grows by a run at a time; other processes may add runs, too.

    Raises `InputError` for a file that does not hold results, and for a folder that does not exist.
    """

    def __init__(self, path: Path) -> None:
        if not path.parent.is_dir():
            raise input_error(f"the folder {path.parent} does not exist", path)
        self.path = path
        self.runs = self._read()

    def _read(self) -> list[dict[str, Any]]:
        try:
            runs = json.loads(self.path.read_text(encoding="utf-8"))["runs"] if self.path.exists() else []
            if any(not one["settings"].keys() >= SAME for one in runs):
                raise KeyError
            return runs
        except (ValueError, KeyError, TypeError, AttributeError):
            raise input_error("is not a file of results: give another --results FILE", self.path) from None

    def has(self, run: Run) -> bool:
        return any(one["settings"] == run.settings for one in self.runs)

    def add(self, run: Run, hours: float, found: dict[str, Any]) -> None:
        """Write the result of a run, in place of an earlier result of the same row, seed and data."""
        self._add({"settings": run.settings, **_circumstances(), "hours": round(hours, 3), **found})

    def add_from_twin(self, run: Run) -> bool:
        """Copy the result of a run that differs only in names (paper, table, row). Return False if there is none."""
        names = {key: run.settings[key] for key in ("paper", "table", "row")}
        twin = next((one for one in self._read() if {**one["settings"], **names} == run.settings), None)
        if twin:
            self._add({**twin, "settings": run.settings})
        return twin is not None

    def _add(self, result: dict[str, Any]) -> None:
        settings = result["settings"]
        with alone_in(self.path.parent):
            self.runs = [one for one in self._read() if any(one["settings"][key] != settings[key] for key in SAME)]
            self.runs.append(result)
            with replacing(self.path) as temporary:
                temporary.write_text(json.dumps({"runs": self.runs}, indent=1) + "\n", encoding="utf-8")


def _circumstances() -> dict[str, Any]:
    from transition_parser.base.machine import machine  # imported late, because torch takes seconds

    return {
        "date": datetime.date.today().isoformat(),
        "machine": machine(),
        "versions": {name: metadata.version(name) for name in VERSIONS},
    }


def runs_of(arguments: argparse.Namespace) -> Iterator[Run]:
    """Yield the runs, all rows with the first seed first, and ensembles last.

    Raises `InputError` for unknown rows and missing files.
    """
    formalism, files = files_of(arguments.data)
    table = read_table(arguments.paper, arguments.table, formalism)
    names = [row["name"] for row in table.rows]
    for name in arguments.rows or ():
        if name not in names:
            raise InputError(f"table {table.name} has no row {name!r}: give some of {', '.join(names)}")
    arguments.out.mkdir(parents=True, exist_ok=True)
    if arguments.every > 1:
        files["train"] = thin(formalism, files["train"], arguments.every, arguments.out)
    rows = [row for row in table.rows if _is_wanted(row, arguments)]
    of_table = f"{table.paper}.{table.name}"
    configs = [arguments.out / f"{of_table}.{_joined(row['name'])}.{formalism.name}.flags" for row in rows]
    for config, row in zip(configs, rows, strict=True):
        with replacing(config) as temporary:
            temporary.write_text(flags_of(table, row), encoding="utf-8")

    def run(config: Path, row: dict[str, Any], seed: int, members: tuple[Run, ...] = ()) -> Run:
        epochs = row.get("epochs", table.epochs) if arguments.epochs is None else arguments.epochs
        return Run(config, table, row, seed, epochs, files, members, arguments.vectors if row.get("vectors") else None)

    for seed in range(1, arguments.seeds + 1):
        yield from (run(config, row, seed) for config, row in zip(configs, rows, strict=True) if "of" not in row)
    for config, row in zip(configs, rows, strict=True):
        if "of" in row:  # its flags are those of its members
            of = _members_row(row, table.rows)
            yield run(config, row, 1, tuple(run(config, of, seed) for seed in range(1, row["ensemble"] + 1)))


def _is_wanted(row: dict[str, Any], arguments: argparse.Namespace) -> bool:
    """Return True for a row to run. Raises `InputError` for a row of --rows that needs --vectors but has none."""
    can_run = arguments.vectors or not row.get("vectors")
    if not arguments.rows:
        return bool(can_run)
    if row["name"] in arguments.rows and not can_run:
        raise InputError(f"row {row['name']!r} needs --vectors FILE")
    return row["name"] in arguments.rows


def _joined(name: str) -> str:
    """Return a row's name without spaces and commas, for file names. fairseq-preprocess divides paths at commas."""
    return name.replace(" ", "").replace(",", "-")


def run_all(arguments: argparse.Namespace) -> int:
    """Run the rows that the results lack, and return how many runs failed. Each failure prints one line."""
    if arguments.results is not None:
        Results(arguments.results)  # says what is wrong with the file before anything is written
    runs = list(runs_of(arguments))
    results = Results(arguments.results or arguments.out / f"{arguments.paper}.json")
    threads = max((os.cpu_count() or 1) // arguments.jobs, 1)

    def one(run: Run, is_member: bool = False) -> bool:
        if results.has(run) and not (is_member and not run.has_model(arguments.out)):
            return True
        if not is_member and results.add_from_twin(run):
            return True
        if not all(one(member, is_member=True) for member in run.members):
            return False
        start = time.monotonic()
        try:
            found = run.measure(arguments.out, threads, arguments.device, programs)
        except InputError as error:
            sys.stderr.write(f"paper.py: error: {error}\n")
            return False
        hours = (time.monotonic() - start) / 3600
        if not results.has(run):
            results.add(run, hours, found)
        sys.stderr.write(f"{run.name}: {hours * 60:.1f} minutes\n")
        return True

    pool, programs = ThreadPoolExecutor(arguments.jobs), Programs()
    try:
        rows, ensembles = ([run for run in runs if bool(run.members) is is_one] for is_one in (False, True))
        return [*pool.map(one, rows), *map(one, ensembles)].count(False)
    except BaseException:
        programs.end()
        raise
    finally:
        pool.shutdown(cancel_futures=True)  # an interruption starts no other run


def options() -> argparse.ArgumentParser:
    """Return the options of the command."""
    of = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    of.add_argument("paper", choices=sorted(path.stem for path in PAPERS.glob("*.toml")))
    of.add_argument("table", nargs="?", help="by default the first one of the paper")
    of.add_argument("data", type=Path, metavar="DATA", help="folder with train, dev and test")
    of.add_argument("out", type=Path, metavar="OUT", help="folder for experiments and results")
    of.add_argument("--seeds", type=int, default=3, metavar="N", help="seeds 1 to N (default: 3)")
    of.add_argument(
        "--every", type=int, default=1, metavar="N", help="train on every Nth sentence alone (default: 1, all)"
    )
    of.add_argument("--epochs", type=int, metavar="N", help="epochs of each run (default: those of the table)")
    of.add_argument(
        "--jobs", type=int, default=1, metavar="N", help="runs at a time, which share the cores (default: 1)"
    )
    of.add_argument(
        "--device", default="cpu", metavar="D", help="device that dev and test are parsed on: cpu (default), cuda, …"
    )
    of.add_argument("--rows", nargs="+", metavar="NAME", help="rows to run (default: all)")
    of.add_argument(
        "--vectors", type=Path, metavar="FILE", help="pretrained vectors (default: leave out rows that need some)"
    )
    of.add_argument("--results", type=Path, metavar="FILE", help="file of results (default: OUT/PAPER.json)")
    return of


def main() -> None:
    """Run the table. The exit status is 2 for bad input, 1 where a run failed."""
    arguments = options().parse_args()
    try:
        with signals_as_exits():
            failed = _run(arguments)
    except (InputError, OSError) as error:
        sys.stderr.write(f"paper.py: error: {error}\n")
        sys.exit(2)
    except (KeyboardInterrupt, SystemExit) as ended:
        sys.stderr.write("paper.py: interrupted: run it again to go on\n")
        sys.exit(ended.code if isinstance(ended, SystemExit) else 130)
    sys.exit(1 if failed else 0)


def _run(arguments: argparse.Namespace) -> int:
    """Check the options, run the table, and return how many runs failed."""
    epochs = 1 if arguments.epochs is None else arguments.epochs
    if min(arguments.seeds, arguments.jobs, epochs, arguments.every) < 1:
        raise InputError("--seeds, --jobs, --epochs and --every must be 1 or more")
    if arguments.vectors and not arguments.vectors.is_file():
        raise input_error("no such file", arguments.vectors)
    if arguments.device != "cpu":
        from transition_parser.parsing.preparation import checked_device  # imported late: torch takes seconds

        checked_device(arguments.device)
    return run_all(arguments)


if __name__ == "__main__":
    main()

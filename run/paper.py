"""The tables of the papers, run on open data: each row is trained, parsed and scored once for each seed.

    python run/paper.py PAPER [TABLE] DATA OUT [option ...]

configs/papers/PAPER.toml lists the rows of each table. DATA is a folder with the files train, dev and test, either
.conllu or .amr. Each row and seed is one experiment of `transition-parser train` in a folder of OUT. It is scored with
its best epoch or the mean of its three best epochs, whichever is better on dev. A row that the results already have,
with the same flags and the same data, is not repeated. An interrupted row goes on. Rows that are ensembles of other
rows or need pretrained vectors are not run. The results are OUT/PAPER.json: for each row and seed the flags, the data,
the versions, the machine, the hours (of the call that finished the row), the score after each epoch, and the scores of
dev and test.
`python run/paper_table.py OUT/PAPER.json` makes the table.
"""

import argparse
import datetime
import fcntl
import hashlib
import json
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import metadata
from itertools import product
from pathlib import Path
from typing import Any

from transition_parser.base.errors import InputError, input_error
from transition_parser.base.files import replacing
from transition_parser.base.model_files import sha256_of
from transition_parser.base.process import signals_as_exits
from transition_parser.graphs.dependency_score import marks_punctuation
from transition_parser.parsing.formalisms import AMR, OF_SYSTEM, TREES, Formalism
from transition_parser.training.flags import arguments_of, given_flags, merged, read_flags

ROOT = Path(__file__).resolve().parents[1]
PAPERS = ROOT / "configs" / "papers"
SPLITS = ("train", "dev", "test")
BEAMS = (1, 10)
AVERAGED = 3  # the number of best epochs whose weights are averaged
WARM_UP = 1 / 8  # share of the epochs in which the learning rate rises
COUNTED, SKIPPED = "scores", "without punctuation"  # keys of a result
VERSIONS = ("transition-parser", "torch", "fairseq-fixed")
SAME = frozenset({"paper", "table", "row", "seed", "data"})  # a run replaces an earlier run with the same values


def read_results(path: Path) -> list[dict[str, Any]]:
    """Return the runs of a file of results. Raises `InputError` for another file, and `OSError` for one not there."""
    try:
        runs = json.loads(path.read_text(encoding="utf-8"))["runs"]
        for run in runs:
            settings, _ = run["settings"], run[COUNTED]
            if not (SAME | {"system"} <= settings.keys() and {"name", "test"} <= settings["data"].keys()):
                raise KeyError
        return runs
    except (ValueError, KeyError, TypeError, AttributeError):
        raise input_error("is not a file of results of run/paper.py", path) from None


@dataclass(frozen=True)
class Table:
    """A table of a paper, for one kind of graphs, with the keys that configs/papers/README.md explains."""

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
    by_name = {row["name"]: row for row in table["rows"]}
    # an ensemble has the keys of its members' row, except the paper's figure
    rows = ({**by_name[row["of"]], "figure": "–", **row} if "of" in row else row for row in table["rows"])
    rows = tuple(row for row in rows if row.get("only") in (None, formalism.name))
    said = {key: table.get(key, "") for key in ("figures", "flags")}
    return Table(paper, name, **table[formalism.name], **said, rows=rows)


def files_of(folder: Path) -> tuple[Formalism, dict[str, Path]]:
    """Return the kind of graphs of a folder, and its file of each split. Raises `InputError` for missing files."""
    for formalism in (TREES, AMR):
        files = {split: folder / f"{split}{formalism.suffix}" for split in SPLITS}
        if all(path.is_file() for path in files.values()):
            return formalism, files
    raise input_error("has no files train, dev and test, all .conllu or all .amr", folder)


def flags_of(table: Table, row: dict[str, Any]) -> str:
    """Return the text of a row's file of flags: the config, the flags to drop, and the flags of table and row."""
    dropped = [f"!{flag}" for flag in row.get("drop", "").split()]
    added = merged(given_flags(f"{table.flags} {row.get('flags', '')}".split()))
    config = ROOT / "configs" / f"{row.get('config', table.config)}.flags"
    lines = [f"@{config}", *dropped, *(" ".join(arguments_of([flag])) for flag in added)]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Run:
    """A row of a table with a seed."""

    config: Path  # the row's file of flags
    table: Table
    row: dict[str, Any]
    seed: int
    epochs: int
    files: dict[str, Path]

    @property
    def beams(self) -> tuple[int, ...]:
        return tuple(self.row.get("beams", BEAMS))

    @property
    def name(self) -> str:
        return f"{self.table.paper}.{self.table.name}.{joined(self.row['name'])}.{self.seed}"

    @property
    def folder(self) -> str:
        """The name of the run's folder, which ends with a digest of the settings."""
        digest = hashlib.sha256(json.dumps(self.settings, sort_keys=True).encode()).hexdigest()
        return f"{self.name}.{digest[:8]}"

    @cached_property
    def settings(self) -> dict[str, Any]:
        """All that the scores depend on, as JSON can hold it."""
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
            **({"beams": [*self.beams]} if self.beams != BEAMS else {}),
        }

    def train(self, out: Path, device: str) -> dict[str, Any]:
        """Train, parse and score, and return the scores. Raises `InputError` where the program fails."""
        folder = out / self.folder
        files = [word for split in SPLITS for word in (f"--{split}", str(self.files[split]))]
        command = [
            sys.executable, "-m", "transition_parser", "train", str(self.config), *files, "-o", str(folder),
            "--system", self.settings["system"], "--beam", *map(str, self.beams), "--device", device,
            *self.settings["options"].split(),
            "--", "--seed", str(self.seed), "--max-epoch", str(self.epochs),
            "--warmup-epochs", str(self.epochs * WARM_UP), "--keep-best-checkpoints", str(AVERAGED),
        ]  # fmt: skip
        done = subprocess.run(command, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        if done.returncode:
            raise InputError(f"{self.name}: {done.stderr.strip().splitlines()[-1] if done.stderr else 'failed'}")
        scores = json.loads((folder / "model" / "scores.json").read_text(encoding="utf-8"))
        return {
            COUNTED: {split: scores[split] for split in SPLITS[1:]},
            **self.scores_of_trees(folder),
            "averaged": scores["averaged"],
            "history": json.loads((folder / "history.json").read_text(encoding="utf-8")),
        }

    def scores_of_trees(self, folder: Path) -> dict[str, Any]:
        """Return the scores without punctuation, for each beam; nothing for AMRs, or without the PTB's tags."""
        is_trees = OF_SYSTEM[self.settings["system"]] is TREES
        if not is_trees or not all(marks_punctuation(self.files[split]) for split in SPLITS[1:]):
            return {}
        skipped: dict[str, Any] = {}
        for split, beam in product(SPLITS[1:], self.beams):
            files = self.files[split], folder / f"{split}.beam-{beam}{TREES.suffix}"
            found = TREES.scoring.score(*files, punct="skip")
            skipped.setdefault(split, {})[f"beam {beam}"] = {name: found[name] for name in ("uas", "las")}
        return {SKIPPED: skipped}


class Results:
    """The file of the results, which grows by a run at a time; other processes may add runs, too."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.runs = self._read()

    def _read(self) -> list[dict[str, Any]]:
        return read_results(self.path) if self.path.exists() else []

    def has(self, run: Run) -> bool:
        return any(one["settings"] == run.settings for one in self.runs)

    def add(self, run: Run, found: dict[str, Any]) -> None:
        """Write the result of a run, in place of an earlier result of the same row, seed and data."""
        with open(self.path.with_suffix(".lock"), "a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            others = [one for one in self._read() if any(one["settings"][key] != run.settings[key] for key in SAME)]
            self.runs = [*others, {**found, "settings": run.settings}]
            with replacing(self.path) as temporary:
                temporary.write_text(json.dumps({"runs": self.runs}, indent=1) + "\n", encoding="utf-8")


def runs_of(arguments: argparse.Namespace) -> Iterator[Run]:
    """Yield the runs, all rows with the first seed first.

    Raises `InputError` for unknown rows and missing files.
    """
    formalism, files = files_of(arguments.data)
    table = read_table(arguments.paper, arguments.table, formalism)
    can_run = [row for row in table.rows if not row.get("of")]
    names = [row["name"] for row in can_run]
    for name in arguments.rows or ():
        if name not in names:
            raise InputError(f"table {table.name} has no row {name!r} to run: give some of {', '.join(names)}")
    arguments.out.mkdir(parents=True, exist_ok=True)
    rows = [row for row in can_run if row["name"] in (arguments.rows or names)]
    for seed, row in product(range(1, arguments.seeds + 1), rows):
        config = arguments.out / f"{table.paper}.{table.name}.{joined(row['name'])}.{formalism.name}.flags"
        with replacing(config) as temporary:
            temporary.write_text(flags_of(table, row), encoding="utf-8")
        epochs = row.get("epochs", table.epochs) if arguments.epochs is None else arguments.epochs
        yield Run(config, table, row, seed, epochs, files)


def joined(name: str) -> str:
    """Return a row's name without spaces and commas, for file names. fairseq-preprocess divides paths at commas."""
    return name.replace(" ", "").replace(",", "-")


def run_all(arguments: argparse.Namespace) -> int:
    """Run the rows that the results lack, and return how many runs failed. Each failure prints one line."""
    from transition_parser.kernels.encoders import machine  # imported late, because torch takes seconds

    results = Results(arguments.out / f"{arguments.paper}.json")
    versions = {name: metadata.version(name) for name in VERSIONS}

    def one(run: Run) -> bool:
        if results.has(run):
            return True
        start = time.monotonic()
        try:
            found = run.train(arguments.out, arguments.device)
        except InputError as error:
            named = f"{error}" if str(error).startswith(run.name) else f"{run.name}: {error}"
            sys.stderr.write(f"paper.py: error: {named}\n")
            return False
        hours = (time.monotonic() - start) / 3600
        about = {"date": datetime.date.today().isoformat(), "machine": machine(), "versions": versions}
        results.add(run, {**about, "hours": round(hours, 3), **found})
        sys.stderr.write(f"{run.name}: {hours * 60:.1f} minutes\n")
        return True

    return [one(run) for run in [*runs_of(arguments)]].count(False)


def options() -> argparse.ArgumentParser:
    of = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    of.add_argument("paper", choices=sorted(path.stem for path in PAPERS.glob("*.toml")))
    of.add_argument("table", nargs="?", help="by default the first one of the paper")
    of.add_argument("data", type=Path, metavar="DATA", help="folder with train, dev and test")
    of.add_argument("out", type=Path, metavar="OUT", help="folder for experiments and results")
    of.add_argument("--seeds", type=int, default=3, metavar="N", help="seeds 1 to N (default: 3)")
    of.add_argument("--epochs", type=int, metavar="N", help="epochs of each run (default: those of the table)")
    of.add_argument("--device", default="cpu", metavar="D", help="device that parses dev and test: cpu, cuda, …")
    of.add_argument("--rows", nargs="+", metavar="NAME", help="rows to run (default: all)")
    return of


def main() -> None:
    arguments = options().parse_args()
    try:
        with signals_as_exits():
            if min(arguments.seeds, 1 if arguments.epochs is None else arguments.epochs) < 1:
                raise InputError("--seeds and --epochs must be 1 or more")
            failed = run_all(arguments)
    except (InputError, OSError) as error:
        sys.stderr.write(f"paper.py: error: {error}\n")
        sys.exit(2)
    except (KeyboardInterrupt, SystemExit) as ended:
        sys.stderr.write("paper.py: interrupted: run it again to go on\n")
        sys.exit(ended.code if isinstance(ended, SystemExit) else 130)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

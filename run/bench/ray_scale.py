"""Ray beside one `transition-parser parse`, on the same Parquet file, with one of Ray's actors killed in the middle.

Ray has as many actors as the single process has threads, on a core each. The file repeats the sentences of a CoNLL-U
file, with a number in a column. Ends with an error where Ray's output lacks a row, or has a row twice or in another
place. Counts the parses that differ from the parses of the single process. Rates are sentences per second of the whole
program, start-up included, and of Ray from its first finished part of the output to its last.

    python run/bench/ray_scale.py MODEL TRAIN.conllu [--sentences 50000] [--threads 2]
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from itertools import cycle, islice
from pathlib import Path

import pyarrow
import pyarrow.parquet
from common import parser, report

from transition_parser.graphs.conllu import read_conllu

PROGRAM = str(Path(sys.executable).with_name("transition-parser"))


def write_input(source: str, count: int, path: Path) -> None:
    """Write the table of numbers and words."""
    words = islice(cycle([sentence.forms for sentence in read_conllu(source)]), count)
    pyarrow.parquet.write_table(pyarrow.table({"number": range(count), "words": list(words)}), path)


def actors_below(pid: int) -> list[int]:
    """Return the ids of the processes of Ray's actors among the descendants of a process."""
    parents, names = {}, {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            names[int(entry.name)] = (entry / "cmdline").read_bytes()
            parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue
    family = [pid]
    for member in family:
        family += [child for child, parent in parents.items() if parent == member]
    return [member for member in family if b"ParserActor" in names.get(member, b"")]


class Watch(threading.Thread):
    """A thread that notes when parts of Ray's output are finished, and kills an actor when half of them are."""

    def __init__(self, folder: Path, pid: int) -> None:
        super().__init__(daemon=True)
        self.folder, self.pid, self.killed = folder, pid, 0
        self.finished: list[float] = []

    def run(self) -> None:
        """Look for finished parts ten times a second until all parts of the manifest are finished."""
        while not (whole := self.parts()) or len(self.finished) < whole:
            done = len(list(self.folder.glob("part-*")))
            self.finished += [time.perf_counter()] * (done - len(self.finished))
            if whole and not self.killed and done * 2 >= whole:
                (self.killed, *_others) = actors_below(self.pid)
                os.kill(self.killed, signal.SIGKILL)
            time.sleep(0.1)

    def parts(self) -> int:
        """Return the number of parts in the manifest; 0 while there is no manifest."""
        path = self.folder / "manifest.json"
        return len(json.loads(path.read_text(encoding="utf-8"))["parts"]) if path.exists() else 0


def by_ray(arguments, table: Path, folder: Path) -> tuple[float, float]:
    """Run Ray, and return its seconds in all, and the sentences per second after the first part of the output."""
    start = time.perf_counter()
    options = ["--engine", "ray", "--actors", str(arguments.threads), "-o", f"{folder}/"]
    running = subprocess.Popen([*_command(arguments, table), *options])
    watch = Watch(folder, running.pid)
    watch.start()
    if running.wait():
        raise SystemExit("Ray failed")
    seconds = time.perf_counter() - start
    watch.join()
    if not watch.killed:
        raise SystemExit("no actor was killed: give more sentences")
    size = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["part_size"]
    between = watch.finished[-1] - watch.finished[0]
    return seconds, (arguments.sentences - size) / between


def by_one(arguments, table: Path, path: Path) -> float:
    """Run the single process, and return the seconds of the whole program."""
    start = time.perf_counter()
    environment = {**os.environ, "OMP_NUM_THREADS": str(arguments.threads)}
    subprocess.run([*_command(arguments, table), "-o", str(path)], check=True, env=environment)
    return time.perf_counter() - start


def _command(arguments, table: Path) -> list[str]:
    return [PROGRAM, "parse", arguments.model, str(table), "--column", "words"]


def check(folder: Path, whole: Path, count: int) -> int:
    """Return the number of parses that differ from the parses of the single process.

    In bf16 parses may differ, because the last bits depend on which sentences are computed together. Ends the program
    where the rows are not the rows of the input.
    """
    files = [folder / part["file"] for part in json.loads((folder / "manifest.json").read_text())["parts"]]
    found = pyarrow.concat_tables(pyarrow.parquet.read_table(file) for file in files)
    wanted = pyarrow.parquet.read_table(whole)
    if found["number"].to_pylist() != list(range(count)) or not found["words"].equals(wanted["words"]):
        raise SystemExit("the rows of Ray's output are not those of the input")
    pairs = zip(found["conllu"].to_pylist(), wanted["conllu"].to_pylist(), strict=True)
    return sum(one != other for one, other in pairs)


def main() -> None:
    """Measure the single process and Ray in turn, round by round."""
    options = parser(__doc__)
    options.add_argument("model", help="checkpoint, exported folder, or name")
    options.add_argument("file", help="CoNLL-U")
    options.add_argument("--sentences", type=int, default=50_000)
    options.set_defaults(rounds=1)
    arguments = options.parse_args()
    rates: dict[str, list[float]] = {"parse": [], "ray": [], "ray_after_its_first_part": []}
    differ = []
    with tempfile.TemporaryDirectory() as name:
        table = Path(name, "in.parquet")
        write_input(arguments.file, arguments.sentences, table)
        for number in range(arguments.rounds):
            folder, whole = Path(name, str(number)), Path(name, f"{number}.parquet")
            rates["parse"].append(arguments.sentences / by_one(arguments, table, whole))
            seconds, later = by_ray(arguments, table, folder)
            rates["ray"].append(arguments.sentences / seconds)
            rates["ray_after_its_first_part"].append(later)
            differ.append(check(folder, whole, arguments.sentences))
    report("Ray, an actor killed, sentences/s", arguments, rates, "parse", parses_that_differ=differ)


if __name__ == "__main__":
    main()

"""Memory over a long input: `transition-parser parse` on many sentences, drawn from FILE with a fixed seed.

The resident memory of the program (with its children) is read every second, with the number of finished sentences. The
report has the maximum and the median over the first fifth of the sentences, the next two fifths and the last two.
Growth is from the second of these spans to the third, which is as long. Parsed sentences come out in blocks of some
thousand, so a short input gives too few measurements. Ends with an error where the output lacks a sentence.

    python run/bench/stream.py MODEL FILE [--sentences 100000] [--beam 1]
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import tempfile
import time
from itertools import zip_longest
from pathlib import Path
from statistics import median
from typing import NamedTuple

from common import parser, report

from transition_parser import Parser
from transition_parser.parsing.formalisms import Formalism

SEED = 1
MARKS = (0.2, 0.6)  # the bounds between the three spans, as shares of the sentences


class Look(NamedTuple):
    """One measurement.

    seconds: seconds since the start
    finished: the number of finished sentences
    megabytes: MB in memory, of the program and its children
    high_water: the most MB that the program itself, without its children, ever had in memory
    """

    seconds: float
    finished: int
    megabytes: float
    high_water: float


def write_input(arguments, formalism: Formalism, folder: Path) -> Path:
    """Write a file of `--sentences` sentences, and return its path."""
    draw = random.Random(SEED)
    some = [str(sentence) for sentence in formalism.read(arguments.file)]
    path = folder / f"input{formalism.suffix}"
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(draw.choice(some) for _ in range(arguments.sentences))
    return path


def memory(pid: int) -> tuple[float, float]:
    """Return the MB that a process and its descendants have in memory, and the most that the process itself ever had.

    Both are 0 for a process that has ended.
    """
    status = {int(name): _status(name) for name in filter(str.isdigit, os.listdir("/proc"))}
    family, result = [pid], 0.0
    for member in family:
        result += status.get(member, {}).get("VmRSS", 0) / 1024
        family += [child for child, fields in status.items() if fields.get("PPid") == member]
    return result, status.get(pid, {}).get("VmHWM", 0) / 1024


def _status(pid: str) -> dict[str, int]:
    """Return `PPid`, and `VmRSS` and `VmHWM` in kB. For a process that has ended, the latter two or all are missing."""
    try:
        text = Path("/proc", pid, "status").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):  # the process has ended since the folder was listed
        return {}
    return {key: int(value) for key, value in re.findall(r"^(PPid|VmRSS|VmHWM):\s+(\d+)", text, re.MULTILINE)}


class GrowingFile:
    """The output file of the running program, which is the only file of its folder."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.read, self.finished = folder, 0, 0

    def look(self) -> int:
        """Return the number of complete sentences in the file. The program may rename the file between calls."""
        for path in self.folder.iterdir():
            with open(path, "rb") as file:
                file.seek(self.read)
                new = file.read()
            whole = new.rfind(b"\n\n") + 2 if b"\n\n" in new else 0
            self.finished += new.count(b"\n\n", 0, whole)
            self.read += whole
        return self.finished


def parse(source: Path, folder: Path, suffix: str, arguments) -> tuple[float, list[Look], Path]:
    """Run the program, and return its seconds, the measurements, and the path of its output."""
    folder.mkdir()
    result, output = folder / f"parsed{suffix}", GrowingFile(folder)
    command = [str(Path(sys.executable).with_name("transition-parser")), "parse", arguments.model, str(source)]
    command += ["--beam", str(arguments.beam), "-o", str(result)]
    looks: list[Look] = []
    with tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        environment = {**os.environ, "OMP_NUM_THREADS": str(arguments.threads)}
        running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors, env=environment)
        try:
            while True:
                held, most = memory(running.pid)
                if held:
                    looks.append(Look(time.perf_counter() - start, output.look(), held, most))
                try:
                    running.wait(arguments.interval)
                    break
                except subprocess.TimeoutExpired:
                    continue
        finally:
            running.kill()
            running.wait()
        seconds = time.perf_counter() - start
        if running.returncode:
            errors.seek(0)
            raise SystemExit(f"{' '.join(command)}\n{errors.read()[-2000:].decode(errors='replace')}")
    return seconds, looks, result


def check(source: Path, result: Path, formalism: Formalism, count: int) -> None:
    """End the program where the output does not hold the words of the input, sentence by sentence."""
    checked = 0
    for wanted, found in zip_longest(formalism.read(source), formalism.read(result)):
        if wanted is None or found is None or wanted.forms != found.forms:
            raise SystemExit(f"sentence {checked + 1} of the output is not that of the input")
        checked += 1
    if checked != count:
        raise SystemExit(f"{checked} sentences came out, not {count}")


def growth(looks: list[Look], count: int) -> dict[str, float | None]:
    """Return the memory in the three spans (`MARKS`) in MB, and its growth from the second to the third in percent.

    A figure is None for a span without a measurement, because all its sentences came out at once. Ends the program if
    there is no measurement at all.
    """
    if not looks:
        raise SystemExit("the run was over before its memory was measured")
    figures: dict[str, float | None] = {"memory_peak_mb": max(max(look.megabytes, look.high_water) for look in looks)}
    for name, of_span in (("most", max), ("median", median)):
        result = []
        for begin, end in zip((0.0, *MARKS), (*MARKS, 1.0), strict=True):
            within = [look.megabytes for look in looks if begin * count <= look.finished < end * count]
            result.append(of_span(within) if within else None)
            figures[f"{name}_from_{begin:.0%}_to_{end:.0%}_mb"] = result[-1]
        before, last = result[-2:]
        figures[f"{name}_growth_percent"] = None if before is None or last is None else 100 * (last / before - 1)
    return figures


def main() -> None:
    """Parse the same input in every round."""
    options = parser(__doc__)
    options.add_argument("model", help="checkpoint, exported folder, or name")
    options.add_argument("file", help="where the sentences come from: CoNLL-U, AMR bank or text")
    options.add_argument("--sentences", type=int, default=100_000)
    options.add_argument("--beam", type=int, default=1)
    options.add_argument("--interval", type=float, default=1.0, help="seconds between two measurements")
    options.set_defaults(rounds=1)
    arguments = options.parse_args()
    formalism = Parser.load(arguments.model).formalism
    rates: list[float] = []
    memories = []
    with tempfile.TemporaryDirectory() as name:
        source = write_input(arguments, formalism, Path(name))
        for number in range(arguments.rounds):
            seconds, looks, result = parse(source, Path(name, str(number)), formalism.suffix, arguments)
            check(source, result, formalism, arguments.sentences)
            result.unlink()
            rates.append(arguments.sentences / seconds)
            figures = growth(looks, arguments.sentences)
            memories.append({key: None if value is None else round(value, 1) for key, value in figures.items()})
    report("a long input, sentences/s", arguments, {"parse": rates}, "parse", seed=SEED, memory=memories)


if __name__ == "__main__":
    main()

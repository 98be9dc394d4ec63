"""The time of starting: `parse --help`, and `Parser.load` in a new process, beside `import torch` in the same round.

    python run/bench/startup.py [--rounds N] [--model NAME]

Prints the median wall-clock time and the median CPU time (`cpu`), in seconds. Other programs on the machine change the
CPU time less. Also prints the median over rounds of the ratio of the wall-clock times of loading and `import torch`.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from statistics import median

PROGRAMS = {
    "python": "pass",
    "parse --help": "from transition_parser.cli.main import main; main(['parse', '--help'])",
    "import torch": "import torch",
    "Parser.load": "from transition_parser import Parser; Parser.load({model!r})",
}


def seconds(code: str) -> tuple[float, float]:
    """Return the wall-clock time and the CPU time of running the code in a new Python process, in seconds."""
    began, used = time.perf_counter(), _used()
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began, _used() - used


def _used() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    """Measure the programs in turn, round by round."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7, metavar="N", help="default 7, after one that does not count")
    parser.add_argument("--model", default="en-ewt", metavar="NAME", help="default en-ewt")
    arguments = parser.parse_args()
    rounds = []
    for _ in range(arguments.rounds + 1):
        rounds.append({name: seconds(code.format(model=arguments.model)) for name, code in PROGRAMS.items()})
    counted = rounds[1:]  # the first round fills the cache of files
    figures = {
        f"{name}{suffix}": round(median(times[name][i] for times in counted), 3)
        for i, suffix in enumerate(("", ", cpu"))
        for name in PROGRAMS
    }
    ratio = median(times["Parser.load"][0] / times["import torch"][0] for times in counted)
    print(json.dumps({**figures, "Parser.load / import torch": round(ratio, 2)}))


if __name__ == "__main__":
    main()

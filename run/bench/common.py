"""Shared parts of the benchmarks: running fairseq's programs, and writing a report that names the machine."""

from __future__ import annotations

import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from transition_parser.base.machine import machine
from transition_parser.base.process import keep_few_kernels, keep_freed_memory

ROOT = Path(__file__).resolve().parents[2]
# the size of the small architectures: 2/2 layers, 256 wide, 4 heads, feed-forward 512
SIZE = [
    "--encoder-layers", "2", "--decoder-layers", "2", "--encoder-embed-dim", "256", "--decoder-embed-dim",
    "256", "--encoder-ffn-embed-dim", "512", "--decoder-ffn-embed-dim", "512", "--encoder-attention-heads",
    "4", "--decoder-attention-heads", "4",
]  # fmt: skip
LANGUAGES = ["--source-lang", "src", "--target-lang", "act"]
OURS = ["--user-dir", str(ROOT / "transition_parser"), "--task", "transition_parsing"]
FAIRSEQ = ["--task", "translation", *LANGUAGES, "--arch", "transformer", *SIZE]
OPTIMISER = ["--optimizer", "adam", "--lr", "0.0005", "--dropout", "0.3"]


def parser(description: str) -> argparse.ArgumentParser:
    """Return the options that all benchmarks have, and set the process up as `transition-parser parse` does."""
    keep_freed_memory()
    keep_few_kernels()
    options = argparse.ArgumentParser(description=description)
    options.add_argument("--rounds", type=int, default=3, help="interleaved rounds; medians are reported")
    options.add_argument("--threads", type=int, default=os.cpu_count(), help="threads of torch")
    options.add_argument("-o", "--output", help="write the JSON report there too")
    return options


def run(program: str, *arguments: str, threads: int) -> str:
    """Run a program of this environment and return its output. Raises `SystemExit` where the program fails."""
    command = [str(Path(sys.executable).with_name(program)), *arguments]
    done = subprocess.run(
        command,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "OMP_NUM_THREADS": str(threads)},
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stdout[-2000:]}")
    return done.stdout


def setting(name: str, options: argparse.Namespace) -> dict[str, Any]:
    """Return the name of the benchmark, the date, the machine, its load and the options, as JSON can hold them."""
    return {
        "benchmark": name,
        "date": datetime.date.today().isoformat(),
        "machine": machine(),
        "load_average": [round(x, 2) for x in os.getloadavg()],
        **{key: str(value) for key, value in vars(options).items() if key != "output"},
    }


def report(name: str, options: argparse.Namespace, rates: dict[str, list[float]], base: str, **more) -> None:
    """Print, and write to `--output`, the median of each rate and the median of its ratio to `base` in the same round.

    rates: name → the rate of each round
    base: the name of the rate that the others are divided by
    more: further figures of the report
    """
    figures = {
        **setting(name, options),
        **more,
        "median": {key: round(statistics.median(values), 2) for key, values in rates.items()},
        "all": {key: [round(value, 2) for value in values] for key, values in rates.items()},
        f"ratio_to_{base}": {
            key: round(statistics.median(a / b for a, b in zip(values, rates[base], strict=True)), 3)
            for key, values in rates.items()
        },
    }
    text = json.dumps(figures, indent=1)
    print(text)
    if options.output:
        Path(options.output).write_text(text + "\n", encoding="utf-8")

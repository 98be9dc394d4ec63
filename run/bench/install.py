"""The cost of a clean installation: its seconds, the megabytes that it adds to torch, and its packages.

python run/bench/install.py [--extras draw,train] [--cached] [-o REPORT.json]

The script works in a temporary folder. It builds the wheel, makes an environment with torch (not counted), installs the
wheel and its dependencies there, and parses a sentence. Downloads are counted, unless pip may take them from its cache
(--cached).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PARSE = "from transition_parser import Parser; print(*Parser.load('en-ewt').parse('She sleeps.')[0].tree.heads)"
SIZES = """
import json, os
from importlib import metadata
def size(package):
    paths = (package.locate_file(file) for file in package.files or ())
    return sum(os.path.getsize(path) for path in paths if os.path.isfile(path))
print(json.dumps({package.metadata["Name"]: size(package) for package in metadata.distributions()}))
"""


def run(*command: str | Path) -> str:
    """Return the standard output of a program that must not fail. The program does not see `PYTHONPATH`."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        list(map(str, command)), check=True, env=environment, stdout=subprocess.PIPE, text=True
    ).stdout


def megabytes(folder: Path) -> float:
    """Return the total size of the files of a folder."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir()) / 1e6


def cpu_seconds() -> float:
    """Return the processor time of the programs that `run` has run so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(work: Path, extras: str, torch: str, cached: bool) -> dict:
    """Return the figures of one installation in the folder `work`."""
    options = ("-q", "--disable-pip-version-check", *(() if cached else ("--no-cache-dir",)))
    # a build writes beside the sources, so it gets a copy
    shutil.copytree(ROOT, work / "sources", ignore=shutil.ignore_patterns(".*", "build", "*.egg-info", "*.so"))
    run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", work, work / "sources")
    (wheel,) = work.glob("*.whl")
    venv.create(work / "venv", with_pip=True)
    python = work / "venv" / "bin" / "python"
    run(python, "-m", "pip", "install", "-q", f"torch=={torch}")
    there = set(json.loads(run(python, "-c", SIZES)))
    before, start, cpu = megabytes(work / "venv"), time.perf_counter(), cpu_seconds()
    run(python, "-m", "pip", "install", *options, f"{wheel}[{extras}]" if extras else wheel)
    seconds, cpu = time.perf_counter() - start, cpu_seconds() - cpu
    after = megabytes(work / "venv")
    sizes = json.loads(run(python, "-c", SIZES))
    packages = {name: round(size / 1e6, 1) for name, size in sizes.items() if name not in there}
    return {
        "wheel": wheel.name,
        "wheel_megabytes": round(wheel.stat().st_size / 1e6, 1),
        "seconds": round(seconds, 1),
        "cpu_seconds": round(cpu, 1),
        "megabytes": round(after - before, 1),
        "heads": run(python, "-c", PARSE).split(),
        "packages": dict(sorted(packages.items(), key=lambda item: -item[1])),
    }


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--extras", default="", help="extras of the package, separated by commas (default: none)")
    parser.add_argument("--torch", default="2.13.0+cpu", help="version of torch to install (default: %(default)s)")
    parser.add_argument("--cached", action="store_true", help="let pip take packages from its cache")
    parser.add_argument("-o", "--output", type=Path, help="JSON file")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(Path(folder), arguments.extras, arguments.torch, arguments.cached)
    report = json.dumps(figures, indent=1)
    print(report)
    if arguments.output:
        arguments.output.write_text(report + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""What the packages for parsing and the page cost: megabytes on disk, and milliseconds of import while parsing.

    python run/bench/packages.py

A row is a package that pyproject.toml names, with what it alone brings along. The sizes are those in the packages' own
lists of files. The milliseconds are the fewest of three runs of `transition-parser parse en -` or `amr -`, whichever is
more, with `python -X importtime`; a dash stands where parsing does not import the package.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from importlib.metadata import distribution, packages_distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
MODELS, RUNS = ("en", "amr"), 3
_TIME = re.compile(r"import time: +(\d+) \| +\d+ \| +(\w+)")


def listed() -> set[str]:
    """Return the packages that `run/quickstart.sh` installs beside torch."""
    lines = (ROOT / "run" / "constraints.txt").read_text(encoding="utf-8").split("\n# all\n")[0].splitlines()
    return {canonicalize_name(line.partition("==")[0]) for line in lines if not line.startswith("#")}


def needed() -> dict[str, set[str]]:
    """Return package that pyproject.toml names for parsing or the page → itself and all that it needs and is listed."""
    about = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = about["optional-dependencies"]
    named = (Requirement(text).name for text in (*about["dependencies"], *extras["pretrained"], *extras["serve"]))
    there = listed() | {"torch"}
    return {name: _with_needs(name, there) for name in map(canonicalize_name, named)}


def _with_needs(package: str, there: set[str]) -> set[str]:
    found: set[str] = set()
    following = [package]
    while following:
        if (name := following.pop()) in there - found:
            found.add(name)
            needs = map(Requirement, distribution(name).requires or ())
            plain = (need for need in needs if need.marker is None or need.marker.evaluate({"extra": ""}))
            following += (canonicalize_name(need.name) for need in plain)
    return found


def megabytes(packages: Iterable[str]) -> float:
    return sum(file.size or 0 for package in packages for file in distribution(package).files or ()) / 1e6


def import_times(model: str, package_of: Mapping[str, str]) -> Counter[str]:
    """Return package → milliseconds of its imports while a sentence is parsed."""
    command = [sys.executable, "-X", "importtime", "-m", "transition_parser", "parse", model, "-"]
    said = subprocess.run(command, input="It rained.", capture_output=True, text=True, check=True).stderr
    spent: Counter[str] = Counter()
    for microseconds, module in _TIME.findall(said):
        spent[package_of.get(module, "")] += int(microseconds) / 1000
    return spent


def main() -> None:
    package_of = {module: canonicalize_name(names[0]) for module, names in packages_distributions().items()}
    runs = [[import_times(model, package_of) for _ in range(RUNS)] for model in MODELS]
    of_each = needed()
    users = Counter(name for group in of_each.values() for name in group)
    own = {name: {one for one in group if one == name or users[one] == 1} for name, group in of_each.items()}
    print("| package | brings | MB | ms |\n|---|---|---|---|")
    for name, group in sorted(own.items(), key=lambda item: -megabytes(item[1])):
        spent = max(min(run[name] for run in of_model) for of_model in runs)
        print(f"| {name} | {len(group) - 1} | {megabytes(group):.1f} | {f'{spent:.0f}' if spent else '–'} |")
    shared = users.keys() - set().union(*own.values())
    print(f"| of several | {len(shared)} | {megabytes(shared):.1f} | – |")


if __name__ == "__main__":
    main()

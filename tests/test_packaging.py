"""What is shipped: the source distribution can be built from, and an installation holds more than the Python files."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.conftest import ROOT

PACKAGES = ("transition_parser", "oracles", "preprocess")
C_SOURCES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "transition_parser").rglob("*.[ch]"))


def setup(folder: Path, *arguments: str | Path) -> None:
    """`setup.py` run in `folder`, which holds a copy of the sources."""
    command = [sys.executable, "setup.py", "-q", *map(str, arguments)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unpacked source distribution, which setuptools makes of a copy (it writes beside the sources)."""
    copy = tmp_path_factory.mktemp("packaging") / "copy"
    copy.mkdir()
    ignored = shutil.ignore_patterns("__pycache__", "*.so")
    for name in (*PACKAGES, "tests", "run", "configs"):
        shutil.copytree(ROOT / name, copy / name, ignore=ignored)
    for path in ROOT.iterdir():
        if path.is_file() and not path.name.startswith("."):
            shutil.copy(path, copy)
    setup(copy, "sdist", "--dist-dir", copy.parent)
    (archive,) = copy.parent.glob("*.tar.gz")
    with tarfile.open(archive) as file:
        file.extractall(copy.parent, filter="data")
    return copy.parent / archive.name.removesuffix(".tar.gz")


def test_the_source_distribution_holds_what_building_testing_and_training_need(sources):
    due = [
        *C_SOURCES,
        *(f"{package}/py.typed" for package in PACKAGES),
        *("LICENSE", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "pyproject.toml", "setup.py"),
        *(path.relative_to(ROOT).as_posix() for path in ROOT.glob("configs/*")),
        *("run/setup.sh", "run/constraints.txt", "run/bench/all.sh", "tests/conftest.py", "tests/data/sample.amr"),
    ]
    assert len(C_SOURCES) >= 3
    assert [name for name in due if not (sources / name).is_file()] == []


def test_an_installation_holds_models_and_configs_and_says_that_it_is_typed(sources):
    installed = sources.parent / "installed"
    setup(sources, "build_py", "--build-lib", installed)
    due = [f"{package}/py.typed" for package in PACKAGES]
    due += [f"transition_parser/{path.relative_to(ROOT).as_posix()}" for path in ROOT.glob("configs/*.flags")]
    due.append("transition_parser/reports/report.html")
    for path in (*ROOT.glob("transition_parser/pretrained/*/*"), *ROOT.glob("transition_parser/integrations/page/*.*")):
        due.append(path.relative_to(ROOT).as_posix())
    assert len(due) >= 17
    assert [name for name in due if not (installed / name).is_file()] == []
    assert not list(installed.rglob("*.c")) and not (installed / "tests").exists()

"""What is shipped: the source distribution can be built from and tested, one wheel serves every Python, and what it
installs parses without any extra."""

import os
import shutil
import tarfile
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.conftest import ROOT, python
from tests.test_extras import WITHOUT
from tests.test_types import MISTAKES, PROGRAM, checked
from transition_parser import __version__

C_SOURCES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "transition_parser").rglob("*.[ch]"))


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unpacked source distribution, which setuptools makes of a copy (it writes beside the sources)."""
    copy = tmp_path_factory.mktemp("packaging") / "copy"
    copy.mkdir()
    ignored = shutil.ignore_patterns("__pycache__", "*.so")
    for name in ("transition_parser", "oracles", "preprocess", "tests", "run", "configs", "corpora", "docs"):
        shutil.copytree(ROOT / name, copy / name, symlinks=True, ignore=ignored)
    for path in ROOT.iterdir():
        if path.is_file() and path.name != ".git":
            shutil.copy(path, copy)
    python(
        "setup.py", "-q", "sdist", "--formats", "tar", "--dist-dir", copy.parent, cwd=copy
    )  # compressing takes longest
    (archive,) = copy.parent.glob("*.tar")
    with tarfile.open(archive) as file:
        file.extractall(copy.parent, filter="data")
    return copy.parent / archive.name.removesuffix(".tar")


def test_the_source_distribution_holds_what_building_testing_and_training_need(sources):
    due = [
        *C_SOURCES,
        *("transition_parser/py.typed", "transition_parser/oracles/static.py"),
        *("LICENSE", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "pyproject.toml", "setup.py"),
        *(path.relative_to(ROOT).as_posix() for path in ROOT.glob("configs/**/*") if path.is_file()),
        *("CITATION.cff", "mkdocs.yml", "Dockerfile", ".dockerignore", "docs/architectures.md"),
        *("run/setup.sh", "run/constraints.txt", "run/bench/parsing.py", "tests/conftest.py", "tests/data/sample.amr"),
    ]
    assert len(C_SOURCES) >= 3
    assert [name for name in due if not (sources / name).is_file()] == []


def test_an_installation_holds_models_and_configs_and_says_that_it_is_typed(sources):
    installed = sources.parent / "installed"
    python("setup.py", "-q", "build_py", "--build-lib", installed, cwd=sources)
    due = [f"transition_parser/{name}" for name in ("py.typed", "oracles/static.py", "preprocess/aligner/rules.py")]
    due.append("transition_parser/preprocess/aligner/words.tsv")
    due += [f"transition_parser/{path.relative_to(ROOT).as_posix()}" for path in ROOT.glob("configs/*.flags")]
    due.append("transition_parser/drawing/pictures.css")
    for path in (*ROOT.glob("transition_parser/pretrained/*/*"), *ROOT.glob("transition_parser/integrations/page/*.*")):
        due.append(path.relative_to(ROOT).as_posix())
    assert len(due) >= 17
    assert [name for name in due if not (installed / name).is_file()] == []
    assert not list(installed.rglob("*.c")) and os.listdir(installed) == ["transition_parser"]


@pytest.fixture(scope="module")
def wheel(sources) -> Path:
    """The wheel that the source distribution becomes, but that its libraries are not optimised: that takes a minute."""
    compiler = sources.with_name("compiler")
    compiler.write_text(f'#!/bin/sh\nexec {os.environ.get("CC", "cc")} "$@" -O0\n')
    compiler.chmod(0o755)
    wheels = sources.parent / "wheels"
    python("setup.py", "-q", "bdist_wheel", "--dist-dir", wheels, cwd=sources, CC=str(compiler))
    (path,) = wheels.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def site(wheel) -> Path:
    """What the wheel installs."""
    folder = wheel.parent / "site"
    python("-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", folder, wheel)
    return folder


def outside(site: Path, *command: str | Path, stdin: str = "") -> str:
    """What Python prints, run in another folder than the sources, with `site` first on its path."""
    done = python(*command, cwd=site.parent, stdin=stdin, PYTHONPATH=str(site))
    assert "warning" not in done.stderr, done.stderr[-3000:]
    return done.stdout


@pytest.mark.slow
def test_one_wheel_serves_every_python_of_a_machine(wheel):
    version, python, abi, platform = wheel.stem.split("-")[1:]
    assert (python, abi) == ("py3", "none") and platform.startswith(("linux", "macosx"))
    assert version == __version__
    with zipfile.ZipFile(wheel) as archive:
        libraries = sorted(name for name in archive.namelist() if name.endswith(".so"))
        described = archive.read(f"transition_parser-{version}.dist-info/WHEEL").decode()
    assert libraries == ["transition_parser/kernels/_kernels.so"]
    assert f"Tag: py3-none-{platform}" in described and "Root-Is-Purelib: false" in described


def build(sources: Path, hook: str, folder: Path) -> Path:
    """The wheel that a hook of PEP 517 makes in a folder, as pip calls it; the library in C is left out."""
    call = "import sys; from setuptools import build_meta; getattr(build_meta, sys.argv[1])(sys.argv[2])"
    folder.mkdir()
    python("-c", call, hook, folder, cwd=sources, CC="false")
    (path,) = folder.glob("*.whl")
    return path


@pytest.mark.parametrize("hook", ["build_wheel", "build_editable"])
def test_an_installation_leaves_nothing_beside_the_sources(sources, hook, tmp_path):
    before = sorted(sources.rglob("*"))
    build(sources, hook, tmp_path / "wheels")
    assert sorted(sources.rglob("*")) == before


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["normal", "editable"])
def test_what_is_installed_has_types(mode, request, sources, tmp_path):
    """mypy takes types of installed packages from those alone that say that they are typed."""
    pytest.importorskip("mypy")
    environment = tmp_path / "environment"
    python("-m", "venv", "--without-pip", environment)
    (packages,) = environment.glob("lib/python*/site-packages")
    if mode == "normal":
        (packages / "site.pth").write_text(f"{request.getfixturevalue('site')}\n", encoding="utf-8")
    else:
        with zipfile.ZipFile(build(sources, "build_editable", tmp_path / "wheels")) as wheel:
            wheel.extractall(packages)
    python_there = ("--python-executable", environment / "bin" / "python")
    assert checked(PROGRAM, tmp_path, *python_there, MYPYPATH="", PYTHONPATH="") == []
    (mistake, said), *_ = MISTAKES.items()
    (error,) = checked(f"{PROGRAM}\n{mistake}\n", tmp_path, *python_there, MYPYPATH="", PYTHONPATH="")
    assert said in error


@pytest.mark.slow
@pytest.mark.parametrize("model", ["en-ewt", "en-amr"])
def test_what_is_installed_parses_without_any_extra(site, model):
    program = f"import transition_parser\nassert transition_parser.__path__ == [{str(site / 'transition_parser')!r}]"
    parsed = outside(site, "-c", program + WITHOUT, "parse", model, "-", "--raw", stdin="She sleeps.")
    assert "\troot\t" in parsed if model == "en-ewt" else "sleep-01" in parsed


@pytest.mark.slow
def test_base_needs_neither_fairseq_nor_typst(site):
    (installed,) = metadata.distributions(name="transition-parser", path=[str(site)])
    required = list(map(Requirement, installed.requires or ()))
    base = {requirement.name for requirement in required if requirement.marker is None}
    assert {"torch", "spacy-lookups-data", "safetensors"} <= base
    assert not {"fairseq-fixed", "typst", "spacy", "transformers", "peft", "pytest"} & base
    assert {"train", "draw", "spacy", "pretrained", "all", "test"} <= set(installed.metadata.get_all("Provides-Extra"))

"""Kernels are switched off by a variable, and what is missing is said once, in words."""

from __future__ import annotations

import subprocess
import sys
import warnings

import pytest
import torch

from tests.conftest import ENVIRONMENT, ROOT, SAMPLE, run_here
from transition_parser.base.errors import InputError, ParserWarning
from transition_parser.kernels import (
    amr_machine_kernels,
    amr_search_kernels,
    costs_kernels,
    legality_kernels,
    loader,
    machine_kernels,
    search_kernels,
)
from transition_parser.kernels.code_kernels import has_codes

KERNELS = (
    search_kernels,
    machine_kernels,
    amr_machine_kernels,
    legality_kernels,
    costs_kernels,
    amr_search_kernels,
)
_CACHED = (*(kernels.library for kernels in KERNELS), loader._warn_of_missing, loader._warn_of_broken)


@pytest.fixture
def fresh():
    """As in a process that has not loaded the libraries."""
    for function in _CACHED:
        function.cache_clear()
    yield
    for function in _CACHED:
        function.cache_clear()


@pytest.fixture
def missing(fresh, monkeypatch, tmp_path):
    """As where there was no compiler."""
    monkeypatch.setattr(loader, "FOLDER", tmp_path / "empty")


def loaded() -> list[bool]:
    return [kernels.library() is not None for kernels in KERNELS]


def test_the_variable_switches_kernels_off(fresh, monkeypatch, recwarn):
    monkeypatch.setenv("TRANSITION_PARSER_KERNELS", "0")
    assert loaded() == [False] * len(KERNELS) and not recwarn


@pytest.mark.skipif(not all(kernels.library() for kernels in KERNELS), reason="there are no kernels here")
def test_the_variable_switches_kernels_on(fresh, monkeypatch, recwarn):
    monkeypatch.setenv("TRANSITION_PARSER_KERNELS", "1")
    assert loaded() == [True] * len(KERNELS) and not recwarn


@pytest.mark.skipif(search_kernels.library() is None, reason="there are no kernels here")
def test_a_variable_leaves_newer_instructions_unused(fresh, monkeypatch):
    monkeypatch.setenv("TRANSITION_PARSER_CPU", "avx2")
    assert search_kernels.library().lanes() <= 8 and not has_codes()


def test_the_command_line_leaves_newer_instructions_unused():
    """Those of PyTorch and its libraries, too; settings that the user made stay."""
    code = """
import os
from transition_parser.cli.main import main
assert main(["models"]) == 0
import torch
assert torch.backends.cpu.get_cpu_capability() != "AVX512" and not torch.ops.mkldnn._is_mkldnn_bf16_supported()
assert os.environ["MKL_ENABLE_INSTRUCTIONS"] == "SSE4_2"
"""
    limits = {"TRANSITION_PARSER_CPU": "avx2", "MKL_ENABLE_INSTRUCTIONS": "SSE4_2"}
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT, env=ENVIRONMENT | limits, capture_output=True)


@pytest.mark.parametrize("value", ["", "off", "2", "true"])
def test_other_values_are_refused(fresh, monkeypatch, value):
    monkeypatch.setenv("TRANSITION_PARSER_KERNELS", value)
    for kernels in KERNELS:
        with pytest.raises(InputError, match=f"TRANSITION_PARSER_KERNELS is '{value}': set it to 0"):
            kernels.library()


def test_what_is_missing_is_said_once(missing, monkeypatch):
    monkeypatch.delenv("TRANSITION_PARSER_KERNELS", raising=False)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for _ in range(3):
            assert loaded() == [False] * len(KERNELS)
            for kernels in KERNELS:
                kernels.library.cache_clear()
    (warning,) = said
    assert warning.category is ParserWarning
    assert str(warning.message).startswith(
        "search, machine, amr machine, legality, costs and amr search kernels are not compiled (gcc 12 or clang was not"
    )


def test_what_cannot_be_loaded_is_said(fresh, monkeypatch, tmp_path):
    monkeypatch.delenv("TRANSITION_PARSER_KERNELS", raising=False)
    (tmp_path / "_search_kernels.so").write_bytes(b"no library")
    monkeypatch.setattr(loader, "FOLDER", tmp_path)
    with pytest.warns(ParserWarning, match=r"search kernels cannot be loaded .*_search_kernels.so"):
        assert not search_kernels.supports(torch.zeros(1, 32))


def test_a_library_of_other_sources_is_not_used(fresh, monkeypatch):
    monkeypatch.delenv("TRANSITION_PARSER_KERNELS", raising=False)
    monkeypatch.setitem(search_kernels._FUNCTIONS, "of_another_version", (None, ()))
    with pytest.warns(ParserWarning, match="search kernels"):
        assert search_kernels.library() is None


def test_the_command_line_says_it_in_one_line(missing, monkeypatch, tmp_path):
    monkeypatch.delenv("TRANSITION_PARSER_KERNELS", raising=False)
    text = tmp_path / "text"
    text.write_text("Dogs bark .\n")
    said = run_here("parse", "en-ewt", text, "--precision", "fp32").stderr
    assert [line for line in said.splitlines() if "kernels" in line] == [
        "transition-parser: warning: search, machine, amr machine, legality, costs and amr search kernels are "
        "not compiled (gcc 12 or clang was not found at installation): parsing is slower. Install gcc 12 or newer, or "
        "clang, and then this package again (pip install --force-reinstall --no-deps .); TRANSITION_PARSER_KERNELS=0 "
        "does without"
    ]


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("variable", ["TRANSITION_PARSER_KERNELS", "TRANSITION_PARSER_CPU"])
def test_the_command_line_refuses_other_values(monkeypatch, tmp_path, variable):
    monkeypatch.setenv(variable, "no")
    done = run_here("parse", "en-ewt", SAMPLE, "-o", tmp_path / "parsed", status=2)
    assert done.stderr.count("\n") == 1 and f"{variable} is 'no'" in done.stderr
    assert not list(tmp_path.iterdir())


def test_importing_loads_no_library():
    code = "import transition_parser.kernels.search_kernels as k; assert k.library.cache_info().currsize == 0"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)

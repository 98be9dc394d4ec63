"""Kernels are switched off by a variable, what is missing is said once, in words, and each variant is compiled for what
the processor is asked for."""

import ctypes
import re
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from tests.conftest import python
from transition_parser.base.errors import InputError, ParserWarning
from transition_parser.base.process import at_most_avx2, has_vnni
from transition_parser.kernels import loader

SOURCE = loader.PATH.with_name("kernels.c")
OTHER_NAMES = {"bmi": "bmi1"}  # in /proc/cpuinfo
needs_kernels = pytest.mark.skipif(loader.library() is None, reason="there are no kernels here")


@pytest.fixture
def fresh():
    """As in a process that has not loaded the library."""
    loader.library.cache_clear()
    yield
    loader.library.cache_clear()


@pytest.fixture
def missing(fresh, monkeypatch, tmp_path):
    """As where there was no compiler."""
    monkeypatch.setattr(loader, "PATH", tmp_path / "none.so")


@pytest.mark.parametrize("value", ["0", pytest.param("1", marks=needs_kernels)])
def test_a_variable_switches_kernels_off_and_on(fresh, monkeypatch, recwarn, value):
    monkeypatch.setenv("TRANSITION_PARSER_KERNELS", value)
    assert (loader.library() is not None) == (value == "1") and not recwarn


@needs_kernels
def test_a_variable_leaves_newer_instructions_unused(fresh, monkeypatch):
    monkeypatch.setenv("TRANSITION_PARSER_CPU", "avx2")
    assert loader.library().lanes() <= 8 and not has_vnni()


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
    python("-c", code, **limits)


@pytest.mark.parametrize("value", ["", "off", "2", "true"])
def test_other_values_are_refused(fresh, monkeypatch, value):
    monkeypatch.setenv("TRANSITION_PARSER_KERNELS", value)
    with pytest.raises(InputError, match=f"TRANSITION_PARSER_KERNELS is '{value}': set it to 0"):
        loader.library()


def test_what_is_missing_is_said_once(missing, monkeypatch):
    monkeypatch.delenv("TRANSITION_PARSER_KERNELS", raising=False)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert loader.library() is None and loader.library() is None
    (warning,) = said
    assert warning.category is ParserWarning
    assert str(warning.message).startswith("kernels are not compiled (gcc 12 or clang was not found at installation)")


@needs_kernels
def test_a_library_is_not_used_beside_changed_sources(fresh, monkeypatch, tmp_path):
    monkeypatch.delenv("TRANSITION_PARSER_KERNELS", raising=False)
    for path in (loader.PATH, *SOURCE.parent.glob("*.[ch]")):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.setattr(loader, "PATH", tmp_path / loader.PATH.name)
    assert loader.library() is not None
    loader.library.cache_clear()
    with open(tmp_path / "common.h", "a", encoding="utf-8") as file:
        file.write("\n")
    with pytest.warns(ParserWarning, match="kernels were compiled from other sources"):
        assert loader.library() is None


@pytest.mark.skipif(not loader.switched_on(), reason="kernels are switched off")
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there may be no compiler")
def test_the_kernels_are_there():
    """Else every other test would pass without them."""
    assert loader.library() is not None


@pytest.mark.skipif(not Path("/proc/cpuinfo").exists(), reason="the system does not say what its processor has")
@needs_kernels
def test_the_widest_variant_runs_whose_features_the_processor_has():
    library, has = loader.library(), set(Path("/proc/cpuinfo").read_text().split())
    wanted = 4
    for lanes in (8,) if at_most_avx2() else (8, 16):
        features = ctypes.c_char_p.in_dll(library, f"features_of_{lanes}").value.decode().split()
        assert len(features) >= 4 and "fma" in features
        if {OTHER_NAMES.get(feature, feature) for feature in features} <= has:
            wanted = lanes
    assert library.lanes() == wanted


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc")
def test_what_is_compiled_for_is_what_is_checked():
    """As the compiler reads it: the targets of the variants, and the features that the choice asks for."""
    done = subprocess.run(["gcc", "-E", "-P", str(SOURCE)], capture_output=True, text=True, check=True)
    if "GCC target" not in done.stdout:
        pytest.skip("on this kind of processor there is one variant")
    targets = [re.findall(r'"(\w+)"', line) for line in re.findall(r"#pragma GCC target(.*)", done.stdout)]
    ours = [target for target in targets if len(target) > 1]  # headers of the compiler have one string, or other names
    variant, integers = (
        re.search(rf"int {name}\(void\) {{(.*?)}}", done.stdout, re.DOTALL)[1] for name in ("lanes", "has_int8")
    )
    choices = [*variant.split("?")[:-1], re.match(r'.*"avx512vnni"\)', integers, re.DOTALL)[0]]
    widest, avx2, with_vnni = (re.findall(r'__builtin_cpu_supports\("(\w+)"\)', choice) for choice in choices)
    assert '__builtin_cpu_supports("avxvnni") ? panels_avxvnni : panels_avx2' in done.stdout
    assert sorted(ours) == sorted([widest, avx2, [*avx2, "avxvnni"], with_vnni])

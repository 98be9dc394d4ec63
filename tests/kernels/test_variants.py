"""What the variants of the search kernels are compiled for is what the processor is asked for."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from transition_parser.base.process import avx2_alone
from transition_parser.kernels import loader, machine_kernels, search_kernels

SOURCE = Path(search_kernels.__file__).with_suffix(".c")
OTHER_NAMES = {"bmi": "bmi1"}  # in /proc/cpuinfo


@pytest.mark.skipif(not loader.switched_on(), reason="kernels are switched off")
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there may be no compiler")
@pytest.mark.parametrize("kernels", [search_kernels, machine_kernels])
def test_the_kernels_are_there(kernels):
    """Else every other test would pass without them."""
    assert kernels.library() is not None


@pytest.mark.skipif(not Path("/proc/cpuinfo").exists(), reason="the system does not say what its processor has")
@pytest.mark.skipif(search_kernels.library() is None, reason="there are no search kernels here")
def test_the_widest_variant_runs_whose_features_the_processor_has():
    library, has = search_kernels.library(), set(Path("/proc/cpuinfo").read_text().split())
    wanted = 4
    for lanes in (8,) if avx2_alone() else (8, 16):
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
    variant, codes = (
        re.search(rf"int {name}\(void\) {{(.*?)}}", done.stdout, re.DOTALL)[1] for name in ("lanes", "has_codes")
    )
    choices = [*variant.split("?")[:-1], codes]
    checked = [re.findall(r'__builtin_cpu_supports\("(\w+)"\)', choice) for choice in choices]
    assert len(ours) == 3 and sorted(ours) == sorted(checked)

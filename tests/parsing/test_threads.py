"""Threads that wait for work sleep, so that other programs have the cores."""

import os
import re
import subprocess
import sys

import pytest
import torch

from tests.conftest import ROOT, SAMPLE, run_here
from tests.helpers.crosses import mostly_slow

GNU = (
    "libgomp"
    in subprocess.run(
        ["ldd", os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cpu.so")], capture_output=True, text=True
    ).stdout
    if sys.platform == "linux"
    else False
)
NAMES = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")
linux = pytest.mark.skipif(not GNU, reason="torch comes with another OpenMP than GNU's")


def python(code: str, **environment: str) -> subprocess.CompletedProcess:
    """Runs code in a process of its own, without settings of how threads wait but for those given."""
    clean = {name: value for name, value in os.environ.items() if name not in NAMES}
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env={**clean, "OMP_NUM_THREADS": "2", **environment},
    )


PARSE = "from transition_parser.cli.main import main; main(['parse', 'en-ewt', '/dev/null'])"


@linux
@pytest.mark.parametrize(("given", "spins"), mostly_slow([({}, "0"), ({"GOMP_SPINCOUNT": "7"}, "7")], ({}, "0")))
def test_the_command_line_says_so_before_torch_is_there(given, spins):
    """What OpenMP itself prints of how often threads look for work before they sleep."""
    shown = python(PARSE, OMP_DISPLAY_ENV="verbose", **given).stderr
    counts = set(re.findall(r"GOMP_SPINCOUNT = '(\d+)'", shown))  # of each copy of OpenMP that some package has
    assert counts == {spins}


def test_a_setting_of_the_user_stays(monkeypatch):
    monkeypatch.setenv("OMP_WAIT_POLICY", "active")
    run_here("oracle", SAMPLE, "--system", "arc-eager")
    assert os.environ["OMP_WAIT_POLICY"] == "active"

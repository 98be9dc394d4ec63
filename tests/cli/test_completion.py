"""Completion in a real bash, and `python -m transition_parser`."""

import shutil
import subprocess
import sys

import pytest

from tests.conftest import ROOT, run_here
from transition_parser.cli.main import COMMANDS

pytest.importorskip("shtab")


def completed(*words: str) -> list[str]:
    """What bash offers for the last of some words."""
    script = run_here("completion", "bash").stdout
    line = " ".join(f"'{word}'" for word in ("transition-parser", *words))
    ask = (
        f"COMP_WORDS=({line}); COMP_CWORD={len(words)}; _shtab_transition_parser; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    )
    done = subprocess.run(["bash", "-c", f"{script}\n{ask}"], capture_output=True, text=True, cwd=ROOT)
    assert not done.stderr, done.stderr
    return done.stdout.split()


def test_commands_options_systems_models_and_configs_are_completed():
    assert completed("calib") == ["calibrate"]
    assert set(COMMANDS) <= set(completed(""))
    assert "en-ewt-minilm" in completed("parse", "en-")
    assert {"arc-eager", "arc-hybrid-swap"} <= set(completed("oracle", "--system", "arc-"))
    assert "--precision" in completed("parse", "--prec") and "int8" in completed("parse", "--precision", "i")
    assert "ud-spa-dp-small" in completed("train", "ud-")
    assert "README.md" in completed("parse", "en", "READ")


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_scripts_are_printed_and_well_formed(shell):
    script = run_here("completion", shell).stdout
    assert "en-ewt-minilm" in script and "arc-hybrid-swap" in script
    if shell != "tcsh" and shutil.which(shell):
        subprocess.run([shell, "-n"], input=script, text=True, check=True)


def test_the_package_can_be_run():
    done = subprocess.run(
        [sys.executable, "-m", "transition_parser", "--version"], capture_output=True, text=True, cwd=ROOT
    )
    assert done.stdout == run_here("--version").stdout != ""

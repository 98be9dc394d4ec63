"""The scripts of run/, called with the programs of the environment that runs the tests."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

from tests.conftest import OF_PROGRAMS, PROGRAMS, ROOT

RUN = ROOT / "run"
_FORKED = ("transition-parser", "fairseq-preprocess")  # what the scripts call by name


def module(path: str) -> ModuleType:
    """A Python script below run/ as a module, with the modules beside it; its name is not that of another module."""
    script = RUN / path
    sys.path.insert(0, str(script.parent))
    spec = importlib.util.spec_from_file_location("script_" + path.replace("/", "_").removesuffix(".py"), script)
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = loaded  # dataclasses look their module up there
    spec.loader.exec_module(loaded)
    return loaded


def bash(script: str, *arguments: str | Path, cwd: Path, status: int = 0, **environment: str):
    """Runs a script with the programs of this environment, which need not be the one that run/setup.sh makes."""
    clean = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", str(RUN / script), *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**clean, **OF_PROGRAMS, **PROGRAMS.in_bash(*_FORKED), "PATH": path, **environment},
    )
    assert done.returncode == status, f"{done.stdout[-2000:]}\n{done.stderr[-3000:]}"
    return done

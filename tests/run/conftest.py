"""The folders of scripts, whose modules the tests import."""

import sys

from tests.conftest import ROOT

sys.path += [str(ROOT / "run"), str(ROOT / "run" / "recipes"), str(ROOT / "run" / "bench")]

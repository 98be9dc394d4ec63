"""What is installed with an extra alone is asked for where it is used, in one line, and nowhere else."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ENVIRONMENT, ROOT, SAMPLE, SAMPLE_AMR
from tests.helpers.programs import PARSING, Programs
from transition_parser.base.errors import InputError, needs_extra
from transition_parser.graphs.conllu import read_conllu
from transition_parser.parsing.parses import Parse

PROGRAMS = Programs(ENVIRONMENT, PARSING)
OF_EXTRAS = ("fairseq", "omegaconf", "hydra", "typst", "spacy")
WITHOUT = f"""
import sys
from importlib.abc import MetaPathFinder
assert not sys.modules.keys() & set({OF_EXTRAS})
class Hidden(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {OF_EXTRAS}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Hidden())
from transition_parser.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


def without_extras(*arguments: str | Path, status: int = 0, stdin: str = "") -> subprocess.CompletedProcess:
    """`transition-parser ARGUMENTS` as where the package is installed without its extras."""
    done = PROGRAMS.run(["-c", WITHOUT, *map(str, arguments)], stdin, ROOT, ENVIRONMENT)
    assert done.returncode == status, done.stderr[-3000:]
    return done


@pytest.mark.parametrize(
    ("model", "file", "start"), [("en-ewt", SAMPLE, "# newpar\n# sent_id"), ("en-amr", SAMPLE_AMR, "# ::id")]
)
def test_parsing_and_scoring_need_no_extra(model, file, start, tmp_path):
    parsed = without_extras("parse", model, "-", "--raw", stdin="The old keeper waved. Nobody saw her.").stdout
    assert parsed.startswith(start) and parsed.count("\n\n") == 2
    without_extras("parse", model, file, "-o", tmp_path / "parsed")
    figures = without_extras("score", file, tmp_path / "parsed", "--json").stdout
    assert '"las"' in figures or '"smatch"' in figures


@pytest.mark.parametrize(
    "command",
    [
        ("preprocess", "dependency", "--system", "arc-hybrid", "--train", SAMPLE, "--valid", SAMPLE, "--dest"),
        ("align", SAMPLE_AMR),
    ],
)
def test_other_commands_need_no_extra(command, tmp_path):
    without_extras(*command, tmp_path / "output")
    assert (tmp_path / "output").exists()


@pytest.mark.parametrize("file", [SAMPLE, SAMPLE_AMR], ids=["tree", "amr"])
def test_png_and_pdf_say_which_extra_they_need_and_svg_needs_none(file, tmp_path):
    for suffix in (".png", ".pdf"):
        said = without_extras("draw", file, "-o", tmp_path / f"picture{suffix}", status=2).stderr
        assert said == (
            "transition-parser: error: pictures in PNG and PDF, unlike SVG, need the extra `draw` (No module named "
            "'typst'): pip install '.[draw]' in the clone, or 'WHEEL.whl[draw]'\n"
        )
    assert not list(tmp_path.iterdir())
    without_extras("draw", file, "-o", tmp_path / "picture.svg")
    assert (tmp_path / "picture.svg").read_text(encoding="utf-8").count("</svg>") == 1


def test_documents_of_spacy_say_which_extra_they_need(monkeypatch):
    monkeypatch.setitem(sys.modules, "spacy.tokens", None)
    monkeypatch.delitem(sys.modules, "transition_parser.parsing.documents", raising=False)
    sentence = next(iter(read_conllu(SAMPLE)))
    parse = Parse(sentence, sentence.tree())
    with pytest.raises(InputError, match=r"need the extra `spacy` .*: pip install '\.\[spacy\]' in the clone"):
        parse.to_spacy(None)


def test_models_of_ones_own_that_train_say_which_extra_they_need(tmp_path):
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "__init__.py").write_text("import transition_parser.tasks.transition_parsing\n")
    said = without_extras("parse", "en-ewt", SAMPLE, "--user-dir", tmp_path / "own", status=2).stderr
    assert said.count("\n") == 1 and said.endswith(" in the clone, or 'WHEEL.whl[train]'\n")
    assert f"the models of {tmp_path / 'own'} need the extra `train` (No module named 'fairseq" in said


def test_a_package_that_cannot_be_loaded_counts_as_missing(tmp_path, monkeypatch):
    (tmp_path / "half_installed.py").write_text("import no_such_library_at_all\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with (
        pytest.raises(InputError, match=r"^tests need the extra `some` \(No module named 'no_such_library_at_all'\)"),
        needs_extra("some", "tests"),
    ):
        import half_installed  # noqa: F401

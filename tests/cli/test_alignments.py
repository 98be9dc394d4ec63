"""The forms of alignments that `parse` writes, and what reads them."""

import pytest

from tests.conftest import SAMPLE_AMR, run_here
from transition_parser.graphs.bank import read_bank

FORMS = {
    "default": (),
    "alone": ("--alignments",),
    "metadata": ("--alignments", "metadata"),
    "marks": ("--alignments", "marks"),
}


@pytest.fixture(scope="module")
def parsed(tmp_path_factory):
    """The parses of a few AMRs in each form."""
    folder = tmp_path_factory.mktemp("parsed")
    gold = folder / "gold.amr"
    gold.write_text("".join(str(entry) for entry, _ in zip(read_bank(SAMPLE_AMR), range(10), strict=False)))
    paths = {"gold": gold}
    for name, options in FORMS.items():
        paths[name] = folder / f"{name}.amr"
        run_here("parse", "en-amr", gold, *options, "--precision", "fp32", "-o", paths[name])
    return paths


def test_metadata_is_what_is_written_unless_marks_are_asked_for(parsed):
    default = parsed["default"].read_bytes()
    assert default == parsed["alone"].read_bytes() == parsed["metadata"].read_bytes()
    assert b"~e." not in default and default.count(b"# ::alignments ") == 10
    assert b"~e." in parsed["marks"].read_bytes()


def test_json_has_alignments_of_its_own():
    said = run_here("parse", "en-amr", "-", "--json", "--alignments", "marks", status=2).stderr
    assert said.count("\n") == 1 and "--alignments and --no-wiki are for AMRs as text" in said


def test_both_forms_are_read_back(parsed):
    for listed, marked in zip(read_bank(parsed["metadata"]), read_bank(parsed["marks"]), strict=True):
        assert any(listed.alignments) and listed.alignments == marked.alignments
        assert listed.graph == marked.graph and "~" not in listed.penman


def test_score_and_draw_read_both_forms(parsed, tmp_path):
    scores = {run_here("score", parsed["gold"], parsed[form]).stdout for form in ("metadata", "marks")}
    assert len(scores) == 1
    pictures = set()
    for form in ("metadata", "marks"):
        run_here("draw", parsed[form], "-o", tmp_path / f"{form}.svg")
        pictures.add((tmp_path / f"{form}.svg").read_bytes())
    assert len(pictures) == 1

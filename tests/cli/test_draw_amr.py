"""`transition-parser draw` with AMRs."""

import pytest

from tests.conftest import run_here
from tests.drawing.pictures import of_kind

BANK = """# ::id first
# ::snt Rain !
(r / rain-01~e.0)

# ::id second
# ::tok The $ boy isn't named Ann .
(n / name-01~e.4 :polarity -~e.3
      :ARG0 (b / boy~e.2 :ARG1-of n :ARG0-of (t / talk-01 :ARG2 b))
      :ARG2 (p / person :wiki "Ann_B" :name (n2 / name :op1 "Ann"~e.5)))

# ::id third
(s / see-01~e.3 :ARG0 s)
"""


@pytest.fixture
def bank(tmp_path):
    path = tmp_path / "bank.amr"
    path.write_text(BANK, encoding="utf-8")
    return path


def test_svg(bank, tmp_path):
    out = tmp_path / "second.svg"
    done = run_here("draw", bank, "--id", "second", "-o", out)
    assert done.stdout == done.stderr == ""
    svg = out.read_text(encoding="utf-8")
    shown = of_kind(svg, "word", "concept", "constant", "role")
    assert sorted(shown) == sorted(
        'The $ boy isn\'t named Ann . name-01 boy talk-01 person name - "Ann" "Ann_B" '
        "polarity ARG0 ARG0 ARG1 ARG2 ARG2 name wiki op1".split()
    )
    assert svg.count('"line again"') == 2  # edges to nodes that have one already
    run_here("draw", bank, "--id", "second", "-o", tmp_path / "again.svg")
    assert (tmp_path / "again.svg").read_text(encoding="utf-8") == svg


@pytest.mark.parametrize(("suffix", "start"), [(".png", b"\x89PNG"), (".pdf", b"%PDF")])
def test_other_formats_and_the_first_sentence(bank, tmp_path, suffix, start):
    pytest.importorskip("typst", reason="pip install '.[draw]'")
    out = tmp_path / f"first{suffix}"
    run_here("draw", bank, "-o", out)
    assert out.read_bytes().startswith(start)

"""`transition-parser align`: the graphs and comments of a bank, with alignments."""

import penman
import pytest

from tests.conftest import run_here
from transition_parser.graphs.bank import read_bank

BANK = """# a header of the file

# ::id a ::date 2012-06-07
# ::snt He lives in New York, doesn't he?
# ::save-date Thu Jun 7, 2012
(l / live-01
  :ARG0 (h / he)
  :location (c / city :wiki "New_York_City"
      :name (n / name :op1 "New" :op2 "York"))
      :ARG1-of (r / request-confirmation-91))


# ::id b
# ::tok Dogs do n't bark
(b / bark-01~e.3 :polarity~e.2 -
\t:ARG0~e.1 (d / dog))
"""


@pytest.fixture
def bank(tmp_path):
    path = tmp_path / "in.amr"
    path.write_text(BANK, encoding="utf-8")
    return path


def aligned(bank, *options, name="out.amr") -> str:
    out = bank.with_name(name)
    run_here("align", bank, out, *options)
    return out.read_text(encoding="utf-8")


def test_comments_graphs_and_variables_stay(bank):
    text = aligned(bank)
    assert (
        text
        == """# ::id a ::date 2012-06-07
# ::snt He lives in New York, doesn't he?
# ::save-date Thu Jun 7, 2012
# ::tok He lives in New York , does n't he ?
(l / live-01~e.1
      :ARG0 (h / he~e.0)
      :location (c / city~e.3,4
            :wiki "New_York_City"
            :name (n / name~e.3,4
                  :op1 "New"~e.3
                  :op2 "York"~e.4))
      :ARG1-of (r / request-confirmation-91~e.9))

# ::id b
# ::tok Dogs do n't bark
(b / bark-01~e.3
      :polarity -~e.2
      :ARG0 (d / dog~e.0))

"""
    )
    assert [entry.variables for entry in read_bank(bank.with_name("out.amr"))] == [
        entry.variables for entry in read_bank(bank)
    ]


def test_again_changes_nothing(bank):
    first = aligned(bank)
    assert aligned(bank.with_name("out.amr"), name="again.amr") == first
    assert aligned(bank.with_name("out.amr"), name="out.amr") == first  # onto itself


@pytest.mark.parametrize("style", ["isi", "jamr"])
def test_comments_inside_a_graph_go_before_it(bank, style):
    """penman reads no comment inside a graph."""
    bank.write_text("# ::id c\n# ::tok Dogs bark\n(b / bark-01\n# a (remark\n  :ARG0 (d / dog))\n  # the last\n")
    text = aligned(bank, "--style", style)
    (graph,) = penman.loads(text)
    assert graph.triples == [("b", ":instance", "bark-01"), ("b", ":ARG0", "d"), ("d", ":instance", "dog")]
    assert text.startswith("# ::id c\n# ::tok Dogs bark\n# a (remark\n  # the last\n")
    (entry,) = read_bank(bank.with_name("out.amr"))
    assert entry.alignments == ((1,), (0,))


def test_styles_say_the_same(bank):
    found = {}
    for style in ("isi", "jamr"):
        out = bank.with_name(f"{style}.amr")
        run_here("align", bank, out, "--style", style)
        found[style] = [(e.alignments, e.graph, e.wiki) for e in read_bank(out)]
        assert all(all(alignments) for alignments, _, _ in found[style])
    assert found["isi"] == found["jamr"]


def test_from_scratch(bank):
    bank.write_text(BANK.replace("bark-01~e.3", "bark-01~e.0"), encoding="utf-8")
    assert "bark-01~e.0\n" in aligned(bank)
    text = aligned(bank, "--from-scratch")
    assert "(b / bark-01~e.3\n      :polarity -~e.2\n      :ARG0 (d / dog~e.0))" in text


def test_figures_and_standard_output(bank):
    done = run_here("align", bank, bank.with_name("out.amr"), "--json")
    assert done.stdout == '{"entries": 2, "nodes": 10, "left_out": 0}\n' and done.stderr == ""
    text = bank.with_name("out.amr").read_text(encoding="utf-8")
    assert run_here("align", bank, "-").stdout == text
    assert "--json" in run_here("align", bank, "-", "--json", status=2).stderr

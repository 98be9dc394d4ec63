"""What search leaves out or misplaces is restored in AMRs; what gold AMRs have stays as it is."""

import pytest

from tests.conftest import ROOT
from tests.parsing.edits import on_one_line
from transition_parser.graphs.bank import parse_entry, read_bank
from transition_parser.parsing.restoring import restored
from transition_parser.text.columns import IMPERATIVE, OTHER, UNSURE
from transition_parser.transitions.amr import AmrSystem


def restore(text: str, graph: str, moods: list[str] | None = None) -> str:
    """The restored graph on one line. Marks `~N` align nodes to words."""
    entry = parse_entry([f"# ::tok {text}", graph])
    return on_one_line(restored(entry.graph, entry.alignments, AmrSystem().read(text.split()), moods or []))


YOU = ":mode imperative :ARG0 (y / you)"


@pytest.mark.parametrize(
    ("text", "graph", "expected"),
    [
        ("please call us", "(c / call-02~1 :ARG1 (w / we~2))", f"(c / call-02 :ARG1 (w / we) {YOU})"),
        ("Please call", "(c / call-02~1 :ARG0 (y / you~1))", "(c / call-02 :ARG0 (y / you) :mode imperative)"),
        ("can you please call ?", "(c / call-02~3 :ARG0 (y / you~1))", "the same"),
        ("do n't touch it", "(t / touch-01~2 :polarity -~1 :ARG1 (i / it~3))",
         f"(t / touch-01 :polarity - :ARG1 (i / it) {YOU})"),
        ("check the list", "(c / check-01~0 :ARG1 (l / list~2))", f"(c / check-01 :ARG1 (l / list) {YOU})"),
        ("love the place", "(l / love-01~0 :ARG1 (p / place~2))", "the same"),
        ("let 's see", "(l / let-01~0 :ARG1 (s / see-01~2))", "the same"),
        ("if it rains , leave", "(l / leave-11~4 :condition (r / rain-01~2))",
         f"(l / leave-11 :condition (r / rain-01) {YOU})"),
        ("mix and bake", "(a / and~1 :op1 (m / mix-01~0 :mode imperative~0 :ARG0 (y / you~0)) :op2 (b / bake-01~2))",
         "(a / and :op1 (m / mix-01 :mode imperative :ARG0 (y / you)) :op2 (b / bake-01 :mode imperative :ARG0 y))"),
        ("cats mix and bake", "(a / and~2 :op1 (m / mix-01~1) :op2 (b / bake-01~3))", "the same"),
        ("stop", "(s / stop-01~0 :mode imperative~0)", "(s / stop-01 :mode imperative :ARG0 (y / you))"),
        ("let us go", "(g / go-02~2 :mode imperative~0 :ARG0 (w / we~1))", "the same"),
        ("Took a bus", "(t / take-01~0 :mode imperative~0 :ARG1 (b / bus~2))", "the same"),
    ],
)  # fmt: skip
def test_commands_and_no_other_verbs_are_imperative(text, graph, expected):
    assert restore(text, graph) == expected


@pytest.mark.parametrize(
    ("text", "moods", "graph", "expected"),
    [
        ("Reply", "!", "(r / reply-01~0)", f"(r / reply-01 {YOU})"),
        ("go away", "?-", "(g / go-02~0 :direction (a / away~1))", "the same"),
        ("check the list", "?--", "(c / check-01~0 :ARG1 (l / list~2))", f"(c / check-01 :ARG1 (l / list) {YOU})"),
        ("check the list", "---", "(c / check-01~0 :ARG1 (l / list~2))", "the same"),
        ("I saw it , look", "----!", "(s / see-01~1 :ARG0 (i / i~0) :ARG1 (l / look-01~4 :ARG0 i))",
         f"(s / see-01 :ARG0 (i / i) :ARG1 (l / look-01 {YOU}))"),
        ("see file", "!-", "(s / see-01~0 :ARG0 (f / file~1))", "(s / see-01 :ARG0 (f / file) :mode imperative)"),
        ("let 's go", "!-?", "(l / let-01~0 :ARG0 (w / we~1) :ARG1 (g / go-02~2 :ARG0 w))", "the same"),
        ("Took a bus", "---", "(t / take-01~0 :mode imperative~0 :ARG1 (b / bus~2))", "(t / take-01 :ARG1 (b / bus))"),
        ("Take care", "!-", "(c / care-01~1 :mode imperative~1 :ARG0 (y / you~1))", "the same"),
        ("imperative matter", "--", "(m / matter~1 :mod (i / imperative~0))", "the same"),
        ("Care , take it", "--!-", "(c / care-01~0 :mode imperative~0 :ARG0 (y / you~0))",
         "(c / care-01 :ARG0 (y / you))"),
    ],
)  # fmt: skip
def test_moods_that_the_model_knows_tell_more_than_rules(text, moods, graph, expected):
    names = {"!": IMPERATIVE, "?": UNSURE, "-": OTHER}
    assert restore(text, graph, [names[mood] for mood in moods]) == expected


@pytest.mark.parametrize(
    ("text", "graph", "expected"),
    [
        ("he told him it", "(t / tell-01~1 :ARG0 (h / he~0) :ARG2 h :ARG1 (i / it~3))",
         "(t / tell-01 :ARG0 (h / he) :ARG1 (i / it) :ARG2 (h2 / he))"),
        ("he saw him", "(s / see-01~1 :ARG0 (h / he~0) :ARG1 h)", "(s / see-01 :ARG0 (h / he) :ARG1 (h2 / he))"),
        ("he saw himself", "(s / see-01~1 :ARG0 (h / he~0) :ARG1 h)", "the same"),
        ("we saw her .", "(s / see-01~1 :ARG0 (w / we~0))", "(s / see-01 :ARG0 (w / we) :ARG1 (s2 / she))"),
        ("we saw her cat", "(s / see-01~1 :ARG0 (w / we~0) :ARG1 (c / cat~3))", "the same"),
        ("he saw her and she saw him",
         "(a / and~3 :op1 (s / see-01~1 :ARG0 (h / he~0)) :op2 (s2 / see-01~5 :ARG0 (s3 / she~4)))",
         "(a / and :op1 (s / see-01 :ARG0 (h / he)) :op2 (s2 / see-01 :ARG0 (s3 / she) :ARG1 h))"),
        ("cups dry so wash them", "(d / dry-02~1 :ARG1 (c / cup~0) :ARG1-of (w / wash-01~3 :ARG1 c))", "the same"),
        ("it keeps me waiting", "(k / keep-02~1 :ARG0 (i / it~0) :ARG1 (w / wait-01~3))", "the same"),
        ("love you , I told", "(t / tell-01~4 :ARG1 (l / love-01~0 :ARG1 (y / you~1)))",
         "(t / tell-01 :ARG1 (l / love-01 :ARG1 (y / you)) :ARG0 (i / i))"),
        ("she will not fall", "(f / fall-01~3 :polarity -~2)", "(f / fall-01 :polarity - :ARG1 (s / she))"),
        ("she was seen", "(s / see-01~2 :mod (o / odd~2))", "the same"),
        ("US fell", "(f / fall-01~1 :mod (o / odd~1))", "the same"),
    ],
)  # fmt: skip
def test_pronouns_are_arguments_of_the_verbs_beside_them(text, graph, expected):
    assert restore(text, graph) == expected


@pytest.mark.parametrize(
    ("text", "graph", "expected"),
    [
        ("Who did the cat see ?", "(s / see-01~4 :ARG0 (a / amr-unknown~0) :ARG1 (c / cat~3))",
         "(s / see-01 :ARG0 (c / cat) :ARG1 (a / amr-unknown))"),
        ("Who do Tom and I like ?",
         "(l / like-01~5 :ARG0 (u / amr-unknown~0) :ARG1 (a / and~3 :op1 (t / tom~2) :op2 (i / i~4)))",
         "(l / like-01 :ARG0 (a2 / and :op1 (t / tom) :op2 (i / i)) :ARG1 (a / amr-unknown))"),
        ("Who saw the cat ?", "(s / see-01~1 :ARG0 (a / amr-unknown~0) :ARG1 (c / cat~3))", "the same"),
        ("Who did you say saw it ?", "(s / say-01~3 :ARG0 (y / you~2) :ARG1 (s2 / see-01~4 :ARG0 (a / amr-unknown~0)"
         " :ARG1 (i / it~5)))", "the same"),
        ("Tom fell and I ran , I think", "(a / and~2 :op1 (f / fall-01~1 :ARG1 (t / tom~0)) :op2 (r / run-02~4 :ARG0 t)"
         " :op3 (t2 / think-01~7 :ARG0 (i / i~3,6)))",
         "(a / and :op1 (f / fall-01 :ARG1 (t / tom)) :op2 (r / run-02 :ARG0 (i / i)) :op3 (t2 / think-01 :ARG0 i))"),
        ("Tom and I run as I like", "(r / run-02~3 :ARG0 (a / and~1 :op1 (t / tom~0) :op2 (i / i~2,5)) :manner"
         " (l / like-01~6 :ARG0 i))", "the same"),
        ("the cat we saw , we think", "(c / cat~1 :ARG0-of (s / see-01~3) :ARG1-of (t / think-01~6 :ARG0 (w / we~2)))",
         "the same"),
        ("I go unless it rains", "(g / go-02~1 :ARG0 (i / i~0) :polarity -~2 :condition (r / rain-01~4))",
         "(g / go-02 :ARG0 (i / i) :condition (r / rain-01 :polarity -))"),
    ],
)  # fmt: skip
def test_what_is_misplaced_gets_its_place(text, graph, expected):
    assert restore(text, graph) == expected


@pytest.mark.parametrize("bank", ["yardstick", "sample"])
def test_gold_graphs_stay(bank):
    for entry in read_bank(ROOT / "tests" / "data" / f"{bank}.amr"):
        if entry.tokens:
            assert restored(entry.graph, entry.alignments, AmrSystem().read(entry.tokens)) is None

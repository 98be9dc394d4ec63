"""Negative prefixes become `:polarity -`, in words that have them."""

import pytest

from tests.parsing.edits.helpers import after
from transition_parser.parsing.edits.negation import negate


@pytest.mark.parametrize(
    ("text", "graph", "expected"),
    [
        ("unpopular laws", "(l / law~1 :ARG1-of (p / popular-02~0))",
         "(l / law :ARG1-of (p / popular-02 :polarity -))"),
        ("Unpopular laws", "(l / law~1 :ARG1-of (p / popular-02~0 :polarity -))", "the same"),
        ("unfertilized eggs", "(e / egg~1 :ARG1-of (u / unfertilized-01~0))",
         "(e / egg :ARG1-of (f / fertilize-01 :polarity -))"),
        ("an unsafe place", "(p / place~2 :mod (u / unsafe~1))", "(p / place :mod (s / safe-01 :polarity -))"),
        ("an illegal copy", "(c / copy~2 :mod (i / illegal~1))", "(c / copy :mod (l / legal-02 :polarity -))"),
        ("undetectable changes", "(c / change-01~1 :ARG1-of (p / possible-01~0 :mod (d / detect-01~0)))",
         "(c / change-01 :ARG1-of (p / possible-01 :mod (d / detect-01) :polarity -))"),
        ("uncomfortable", "(u / uncomfortable~0)", "(c / comfortable-02 :polarity -)"),
        ("unlikely", "(l / likely-01~0)", "(l / likely-01 :polarity -)"),
        ("unprofessional staff", "(s / staff~1 :ARG1-of (p / profess-01~0))",
         "(s / staff :ARG1-of (u / unprofessional-01))"),
        ("undocking ships", "(d / dock-01~0 :ARG1 (s / ship~1))", "(u / undock-01 :ARG1 (s / ship))"),
        ("he is untagging it", "(t / tag-01~2 :ARG0 (h / he~0) :ARG1 (i / it~3))",
         "(u / untag-01 :ARG0 (h / he) :ARG1 (i / it))"),
        ("unpaid bills", "(b / bill~1 :ARG1-of (p / pay-01~0))", "(b / bill :ARG1-of (p / pay-01 :polarity -))"),
        ("unbroken rules", "(r / rule~1 :ARG1-of (b / break-02~0))", "(r / rule :ARG1-of (b / break-02 :polarity -))"),
        ("an unlawful act", "(a / act~2 :mod (u / unlawful~1))", "the same"),
        ("they unloaded it", "(u / unload-01~1 :ARG0 (t / they~0))", "the same"),
        ("unwilling", "(w / will-02~0)", "(w / will-02 :polarity -)"),
        ("unfairly", "(f / fair-01~0)", "(f / fair-01 :polarity -)"),
        ("inactive", "(a / activity-06~0)", "(a / activity-06 :polarity -)"),
        ("inpatient care", "(c / care-01~1 :mod (i / inpatient~0))", "the same"),
        ("impersonators", "(p / person~0 :ARG0-of (i / impersonate-01~0))", "the same"),
        ("imported goods", "(g / good~1 :ARG1-of (p / port-01~0))", "the same"),
        ("discovered", "(c / cover-01~0)", "the same"),
        ("nonsense", "(n / nonsense~0)", "the same"),
        ("unbelievable", "(u / unbelievable~0)", "the same"),  # `possible-01 :polarity -`, and more
        ("non-smokers", "(n / non-smoker~0)", "the same"),
        ("immediate help", "(h / help-01~1 :mod (i / immediate~0))", "the same"),
        ("they uncovered it", "(u / uncover-01~1 :ARG0 (t / they~0))", "the same"),
        ("they understand it", "(u / understand-01~1 :ARG0 (t / they~0))", "the same"),
        ("United Nations", '(o / organization~0,1 :name (n / name~0,1 :op1 "United"~0 :op2 "Nations"~1))', "the same"),
    ],
)  # fmt: skip
def test_negated_words(text, graph, expected):
    assert after(negate, text, graph) == expected


@pytest.mark.parametrize(
    ("text", "graph", "expected"),
    [
        ("he is unable to go", "(g / go-02~4 :polarity -~2 :ARG0 (h / he~0))",
         "(p / possible-01 :ARG1 (g / go-02 :ARG0 (h / he)) :polarity -)"),
        ("seem unable to go", "(s / seem-01~0 :polarity -~1 :ARG2 (g / go-02~3))",
         "(s / seem-01 :ARG2 (p / possible-01 :ARG1 (g / go-02) :polarity -))"),
        ("neither Ann nor the boys swam",
         "(s / swim-01~5 :polarity -~0 :ARG0 (n / nor~2 :op1 (p / person~1) :op2 (b / boy~4)))",
         "(s / swim-01 :polarity - :ARG0 (o / or :op1 (p / person) :op2 (b / boy)))"),
        ("she neither called nor wrote",
         "(a / and~3 :op1 (c / call-02~2 :polarity -~1 :ARG0 (s / she~0)) :op2 (w / write-01~4 :ARG0 s))",
         "(a / and :op1 (c / call-02 :polarity - :ARG0 (s / she)) :op2 (w / write-01 :ARG0 s :polarity -))"),
    ],
)  # fmt: skip
def test_unable_and_nor(text, graph, expected):
    assert after(negate, text, graph) == expected

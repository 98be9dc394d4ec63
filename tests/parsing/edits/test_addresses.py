"""Addresses and telephone numbers become entities."""

import pytest

from tests.parsing.edits.helpers import after
from transition_parser.parsing.edits.addresses import entity_of, mend_addresses


@pytest.mark.parametrize(
    ("text", "graph", "expected"),
    [
        ("http://a.org/b", "(d / date-entity~0)", '(u / url-entity :value "http://a.org/b")'),
        ("www.b.net", '(t / thing~0 :op1 "www.b.net"~0)', '(u / url-entity :value "www.b.net")'),
        ("www.b.net", "(t / thing~0)", '(u / url-entity :value "www.b.net")'),
        ("mail Ann@b.com", "(m / mail-01~0 :ARG2 (a / ann@b.com-02~1))",
         '(m / mail-01 :ARG2 (e / email-address-entity :value "Ann@b.com"))'),
        ("see www.b.net", '(s / see-01~0 :ARG1 (c / city~1 :name (n / name~1 :op1 "www.b.net"~1)))',
         '(s / see-01 :ARG1 (u / url-entity :value "www.b.net"))'),
        ("Cem c@b.com 713-532-3836",
         '(p / person~0 :name (n / name~0 :op1 "Cem"~0 :op2 "c@b.com"~1 :op3 "713-532-3836"~2))',
         '(p / person :name (n / name :op1 "Cem") :mod (e / email-address-entity :value "c@b.com") :mod'
         ' (p2 / phone-number-entity :value "713-532-3836"))'),
        ("Cem.com Books", '(c / company~0 :name (n / name~0 :op1 "Cem.com"~0 :op2 "Books"~1))', "the same"),
        ("A B.C.", '(c / city~0 :name (n / name~0 :op1 "A"~0 :op2 "B.C."~1))', "the same"),
        ("Visit www.b.net for help", "(v / visit-01~0 :ARG0 (y / you) :ARG1 (h / help-01~3))",
         '(v / visit-01 :ARG0 (y / you) :purpose (h / help-01) :ARG1 (u / url-entity :value "www.b.net"))'),
        ("buy it on www.b.net", "(b / buy-01~0 :ARG1 (i / it~1))",
         '(b / buy-01 :ARG1 (i / it) :location (u / url-entity :value "www.b.net"))'),
    ],
)  # fmt: skip
def test_addresses_become_entities(text, graph, expected):
    assert after(mend_addresses, text, graph) == expected


def test_addresses():
    assert entity_of("(713)853-7408") == entity_of("303-832-8160") == "phone-number-entity"
    assert entity_of("U.S.") is entity_of("3.5") is entity_of("and/or") is entity_of("beta@-@actin") is None
    assert entity_of("Ann@ACME") is None and entity_of("Ann@acme.com") == "email-address-entity"

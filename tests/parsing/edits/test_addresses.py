"""The entities of addresses and telephone numbers."""

from transition_parser.parsing.edits.addresses import entity_of


def test_addresses():
    assert entity_of("(713)853-7408") == entity_of("303-832-8160") == "phone-number-entity"
    assert entity_of("U.S.") is entity_of("3.5") is entity_of("and/or") is entity_of("beta@-@actin") is None
    assert entity_of("Ann@ACME") is None and entity_of("Ann@acme.com") == "email-address-entity"

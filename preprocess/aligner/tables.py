"""Closed-class knowledge of English and of the AMR guidelines, as data, in lower case; words.tsv has the longer tables.

Source: Banarescu et al., Abstract Meaning Representation (AMR) Specification 1.2.6.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources


def _read() -> dict[str, dict[str, str]]:
    """Return the name of each table of words.tsv → its rows."""
    tables: dict[str, dict[str, str]] = {}
    for line in resources.files(__package__).joinpath("words.tsv").read_text(encoding="utf-8").splitlines():
        if not line.startswith("# "):
            table, key, words = line.split("\t")
            tables.setdefault(table, {})[key] = words
    return tables


_TABLES = _read()
CONCEPT_WORDS, CONSTANT_WORDS, QUESTION_WORDS = (_TABLES[name] for name in ("concept", "constant", "question"))
NEIGHBORS, IRREGULAR_DERIVATIONS, DEMONYMS = (_TABLES[name] for name in ("neighbors", "derived", "demonym"))

# words that rarely express a node, for EM and for the choice of a token of last resort
FUNCTION_WORDS = frozenset(
    "the a an of to in on at by for with from as that which who is are was were be been being am 's 're 'm 've do does "
    "did has have had will would shall it its this these those there and or , . ; : ? ! -- - \" ' `` '' ( ) [ ] "
    "@-@ @/@ <i> </i> … ... “ ” ‘ ’ into than then so such".split()
)
PUNCTUATION = frozenset(
    ". , ; : ? ! -- - — – \" ' `` '' ( ) [ ] { } @-@ @/@ <i> </i> <xref> </xref> … ... “ ” ‘ ’ < >".split()
)
SENTENCE_END = frozenset(". ? ! ... … ; :".split())

# concepts that usually share a token with another node, so that they do not compete for the token
SHARING = frozenset(
    "name date-entity ordinal-entity percentage-entity have-degree-91 have-quant-91 have-org-role-91 have-rel-role-91 "
    "rate-entity-91 imperative expressive interrogative person thing amr-unknown ever more most be-located-at-91 "
    "relative-position multi-sentence product-of url-entity string-entity date-interval value-interval - +".split()
)

# types that one word names together with the action that they do or undergo: teacher, inhibitor, employee, result
NOMINALS = frozenset(
    "person thing human animal company organization government-organization criminal-organization small-molecule "
    "molecular-physical-entity enzyme protein protein-family protein-segment macro-molecular-complex product event "
    "facility country cell medical-condition".split()
)

# pronouns; a node with several mentions is aligned to the first mention
FIRST_MENTIONED = frozenset("i you he she we they one".split())

MONTHS = (
    "january february march april may june july august september october november december".split(),
    "jan feb mar apr may jun jul aug sep oct nov dec".split(),
)

NUMBER_WORDS: Mapping[str, float] = {
    "half": 0.5, "quarter": 0.25, "once": 1, "twice": 2, "thrice": 3, "a": 1, "an": 1, "single": 1, "first": 1,
    "both": 2, "couple": 2, "pair": 2, "double": 2, "triple": 3, "twofold": 2, "last": -1, "zero": 0, "no": 0,
    "dozen": 12, "hundred": 100, "thousand": 1000, "million": 1e6, "billion": 1e9, "trillion": 1e12, "final": -1,
    "sole": 1, "third": 1 / 3, "hundreds": 100, "thousands": 1000, "millions": 1e6, "billions": 1e9, "dozens": 12,
    "fourth": 4, "previous": -1, "next": 1,
}  # fmt: skip
ORDINALS: Mapping[str, int] = {
    word: value
    for value, word in enumerate(
        "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
        "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth".split()
    )
} | {word: 10 * (2 + i) for i, word in enumerate(
        "twentieth thirtieth fortieth fiftieth sixtieth seventieth eightieth ninetieth".split())}  # fmt: skip

NEGATIVE_PREFIXES = ("un", "in", "im", "ir", "il", "dis", "non", "mis", "anti")
AGENT_SUFFIXES = tuple(
    "er ers or ors ist ists ant ants ent ents ian ians ee ees man men eer eers ar ars ess ate ates al als yst "
    "ysts".split()
)

# suffixes of derivation, longest first; a stem is a word without a suffix and without a final e, y or i
SUFFIXES = tuple(
    sorted(
        (
            "ly ness ment ments ion ions ation ations ition itions ification ifications ance ances ence ences "
            "ancy ancies ency encies al ial ual ous eous ious uous ive ives ative itive able ible ably ibly er "
            "ers or ors ar ator ators ist ists ism ity ities ility ilities ful fully less ing ings ed y ic ical "
            "ically ant ants ent ents ship ships hood dom age ages ee ees ure ures th en ize ise ized izes izing "
            "ization isation ify ifies ified ate ates ated ating ary ory es s est ier iest ish like ward wards "
            "tion tions sion sions ty eer eers ess ian ians ability "
        ).split(),
        key=lambda suffix: (-len(suffix), suffix),
    )
)

"""The labels of AMR nodes: copied from the words of a span, or given by an action's label."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from transition_parser.graphs.amr import is_number, quoted
from transition_parser.text.numbers import number_of
from transition_parser.transitions.action import Action, Kind

JOINED = "+"  # ENTITY(t,+) joins the words of the span to one string
MODES = ("imperative", "expressive", "interrogative")
CONCEPTS = frozenset({Kind.PRED, Kind.COPY_LEMMA, Kind.COPY_SENSE01, Kind.FRAME})
NAMED_BY_RULE = CONCEPTS - {Kind.PRED}  # the kinds of actions that derive a concept from the words of the span
CONSTANTS = frozenset({Kind.VALUE, Kind.COPY_WORD})
ON_STACK = CONCEPTS | CONSTANTS | {Kind.ENTITY}  # the kinds of actions that put a node on the stack
MAKE_NODES = ON_STACK | {Kind.DEPENDENT}
# The kinds of actions that the lexicon lists
NAMING = frozenset({Kind.PRED, Kind.VALUE, Kind.ENTITY, Kind.DEPENDENT})

_SYMBOL = re.compile(r"""[^\s()/:~"\\#]+""")
_SENSE = re.compile(r"(?<=.)-\d\d+\Z")
_HYPHEN = re.compile(r"@(\S)@")
_SIGNS = frozenset("+-.,@")  # the characters besides digits in the words of a number; `@-@` stands for a hyphen
_GROUPED = re.compile(r"\d{1,3}(,\d{3})+")


class Word(NamedTuple):
    """A word of the sentence and its lemma."""

    form: str
    lemma: str

    @property
    def lemma_is_symbol(self) -> bool:
        """True where COPY_LEMMA makes a concept that PENMAN can hold."""
        return _SYMBOL.fullmatch(self.lemma) is not None

    @property
    def form_is_plain(self) -> bool:
        """True where COPY_WORD and ENTITY make a string without escapes. Not all readers of AMR understand escapes."""
        return not set(self.form) & set('"\\')

    @property
    def is_number(self) -> bool:
        """True where COPY_WORD makes a number if the span is this word alone."""
        return is_number(copied_value([self.form]))

    @property
    def is_part_of_number(self) -> bool:
        """True where COPY_WORD may make a number of a span of several words with this word."""
        return all(letter.isdigit() or letter in _SIGNS for letter in self.form)


def lemma_of(concept: str) -> str:
    """Return a concept without its sense number.

    >>> lemma_of("give-up-07"), lemma_of("amino-acid")
    ('give-up', 'amino-acid')
    """
    return _SENSE.sub("", concept)


def key(span: Sequence[Word]) -> str:
    """Return the key of a span in the lexicon: its lemmas, joined by spaces."""
    return " ".join([word.lemma for word in span])


def is_listed(action: Action) -> bool:
    """Return True for an action that is legal only with the spans for which the lexicon lists it."""
    if action.kind is Kind.ENTITY:
        return len(action.parts) > 1 and action.parts[1] != JOINED
    return action.kind in NAMING


def is_limited(action: Action) -> bool:
    """Return True for an action that is legal only with spans that have it in the lexicon or evoke its frame."""
    return action.kind is Kind.FRAME or is_listed(action)


def is_constant(label: str) -> bool:
    """Return True where the label of a DEPENDENT is a constant: a string, a number, a sign or a mode."""
    return label.startswith('"') or is_number(label) or label in ("-", "+", *MODES)


def copied_value(forms: Sequence[str]) -> str:
    """Return the constant that COPY_WORD makes: a number (`12000` for `12,000`, `13` for `thirteen`), or a string.

    The string joins the words without spaces.
    """
    text = _HYPHEN.sub(r"\1", "".join(forms))
    plain = text.replace(",", "") if _GROUPED.fullmatch(text) else text
    return plain if is_number(plain) else number_of(forms) or quoted(text)


def copied_concept(lemmas: Sequence[str], kind: Kind) -> str:
    """Return the concept that COPY_LEMMA or COPY_SENSE01 makes."""
    return "-".join(lemmas) + ("-01" if kind is Kind.COPY_SENSE01 else "")


def entity_strings(forms: Sequence[str], parts: Sequence[str]) -> list[str]:
    """Return the strings of the name that ENTITY makes."""
    if not parts:
        return [quoted(form) for form in forms]
    if parts[0] == JOINED:
        return [quoted(_HYPHEN.sub(r"\1", "".join(forms)))]
    return list(parts)

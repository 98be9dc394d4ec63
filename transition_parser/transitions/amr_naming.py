"""What the nodes of an AMR may be called: by the words of their span, or by a label."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from transition_parser.graphs.amr import is_number, quoted
from transition_parser.transitions.action import Action, Kind

JOINED = "+"  # ENTITY(t,+): the words of the span are one string
MODES = ("imperative", "expressive", "interrogative")
CONCEPTS = frozenset({Kind.PRED, Kind.COPY_LEMMA, Kind.COPY_SENSE01})
CONSTANTS = frozenset({Kind.VALUE, Kind.COPY_WORD})
# what the lexicon limits
NAMING = frozenset({Kind.PRED, Kind.VALUE, Kind.ENTITY, Kind.DEPENDENT})

_SYMBOL = re.compile(r"""[^\s()/:~"\\#]+""")
_HYPHEN = re.compile(r"@(\S)@")
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
        """True where COPY_WORD and ENTITY make a string without escapes, which not all readers of AMR understand."""
        return not set(self.form) & set('"\\')


def key(span: Sequence[Word]) -> str:
    """The name of a span in the lexicon: its lemmas."""
    return " ".join(word.lemma for word in span)


def is_listed(action: Action) -> bool:
    """True for the actions that the lexicon limits."""
    if action.kind is Kind.ENTITY:
        return len(action.parts) > 1 and action.parts[1] != JOINED
    return action.kind in NAMING


def is_constant(label: str) -> bool:
    """True where DEPENDENT's label is a constant: a string, a number, a sign or a mode."""
    return label.startswith('"') or is_number(label) or label in ("-", "+", *MODES)


def copied_value(forms: Sequence[str]) -> str:
    """The constant that COPY_WORD makes: `12000` of `12,000`, else the words as one string."""
    text = _HYPHEN.sub(r"\1", "".join(forms))
    plain = text.replace(",", "") if _GROUPED.fullmatch(text) else text
    return plain if is_number(plain) else quoted(text)


def copied_concept(lemmas: Sequence[str], kind: Kind) -> str:
    """The concept that COPY_LEMMA and COPY_SENSE01 make."""
    return "-".join(lemmas) + ("-01" if kind is Kind.COPY_SENSE01 else "")


def entity_strings(forms: Sequence[str], parts: Sequence[str]) -> list[str]:
    """The strings of the name that ENTITY makes; parts: those of its label behind the type."""
    if not parts:
        return [quoted(form) for form in forms]
    if parts[0] == JOINED:
        return [quoted(_HYPHEN.sub(r"\1", "".join(forms)))]
    return list(parts)

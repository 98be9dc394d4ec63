"""Actions of the state machines, and their names in the vocabulary."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from urllib.parse import quote, unquote


class Kind(Enum):
    """The kinds of actions. The label of an action adds the relation, word or concept."""

    SHIFT = "SHIFT"
    REDUCE = "REDUCE"
    LEFT_ARC = "LEFT-ARC"
    RIGHT_ARC = "RIGHT-ARC"
    SWAP = "SWAP"
    # AMR
    MERGE = "MERGE"
    PRED = "PRED"
    VALUE = "VALUE"
    COPY_LEMMA = "COPY_LEMMA"
    COPY_SENSE01 = "COPY_SENSE01"
    FRAME = "FRAME"
    COPY_WORD = "COPY_WORD"
    ENTITY = "ENTITY"
    DEPENDENT = "DEPENDENT"
    LA = "LA"
    RA = "RA"
    ROOT = "ROOT"
    CLOSE = "CLOSE"


_UNSAFE = re.compile(r"[\s%()\x00-\x1f\x7f-\x9f]")
_TOKEN = re.compile(r"([A-Z0-9_-]+)(?:\((.*)\))?")


@dataclass(frozen=True, slots=True)
class Action:
    """One action. `str(action)` is its vocabulary token, and `Action.parse` turns the token back into the action.

    Labels may hold any text. White space, `%`, parentheses and control characters are percent-encoded, so that a token
    never breaks a line of the files that fairseq reads.

    >>> str(Action(Kind.LEFT_ARC, "nsubj:pass"))
    'LEFT-ARC(nsubj:pass)'
    >>> str(Action(Kind.SHIFT, "1 %"))
    'SHIFT(1%20%25)'
    >>> Action.parse("SHIFT(1%20%25)").label
    '1 %'
    """

    kind: Kind
    label: str | None = None

    def __str__(self) -> str:
        if self.label is None:
            return self.kind.value
        return f"{self.kind.value}({_UNSAFE.sub(lambda m: quote(m[0], safe=''), self.label)})"

    @staticmethod
    @lru_cache(maxsize=65536)
    def parse(token: str) -> Action:
        """Return the action that `token` names. Raises `ValueError` for a text that names no action."""
        match = _TOKEN.fullmatch(token)
        if not match:
            raise ValueError(f"{token!r} is not an action")
        kind, label = match.groups()
        return Action(Kind(kind), None if label is None else unquote(label, errors="strict"))

    @property
    def parts(self) -> tuple[str, ...]:
        """The strings that `joined` joined into the label."""
        return tuple(map(unquote, (self.label or "").split(",")))


@lru_cache(maxsize=65536)
def labelled(kind: Kind, label: str) -> Action:
    """Return the action with a label, the same object each time."""
    return Action(kind, label)


def joined(*parts: str) -> str:
    """Return one label made of several parts, which may hold any text."""
    return ",".join(part.replace("%", "%25").replace(",", "%2C") for part in parts)

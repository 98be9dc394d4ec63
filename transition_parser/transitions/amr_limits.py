"""How far search goes where the AMR machine would let it go further.

A model that has not learned when to stop names one word again and again, or gives a verb two :ARG0. The machine itself
and the oracle have no such limits: every graph has its derivation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from transition_parser.graphs.amr import AmrGraph
from transition_parser.transitions.action import Action, Kind
from transition_parser.transitions.amr_naming import CONCEPTS, CONSTANTS, Word
from transition_parser.transitions.amr_roles import MOST_ROLES, ONCE, borne_once, is_borne, is_plain, role_given
from transition_parser.transitions.amr_state import AmrState, with_action

_SWAPS_PER_WORD = 2
_LABELLED = (Kind.PRED, Kind.VALUE, Kind.DEPENDENT)
_COPIES = (Kind.COPY_LEMMA, Kind.COPY_SENSE01, Kind.COPY_WORD)
MAKE_NODES = frozenset({*CONCEPTS, *CONSTANTS, Kind.ENTITY, Kind.DEPENDENT})
# A label may come twice from a span even if it never does in training: of 500 development graphs of Bio AMR, 30 have
# such a label twice, and one three times.
_REPEATS = 2
_ANY_WORD = Word("", "")  # roles do not depend on the words


@dataclass(frozen=True)
class SearchLimits:
    """nodes: how many more nodes than words a sentence may have. swaps: how many more SWAPs than two a word.
    span: how many nodes may come from one span. repeats: how often one action may make a node of the same span; an
    action without label stands for all of its kind that are not listed, what is not there at all may come once.
    once: the roles that a node may not get twice.

    Nodes inside ENTITY do not count. Where no word is left and there is no concept yet, there are no limits.
    """

    nodes: int
    swaps: int
    span: int
    repeats: Mapping[Action, int] = field(default_factory=dict)
    once: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if len(self.once) > MOST_ROLES:
            raise ValueError(f"{len(self.once)} roles that come once, at most {MOST_ROLES}")
        for role in sorted(self.once):
            if not is_plain(role):
                raise ValueError(f"{role} comes once, but it is the inverse of a role")

    def of_sentence(self, words: int) -> tuple[int, int]:
        """SWAPs and nodes that a sentence may have."""
        return _SWAPS_PER_WORD * words + self.swaps, words + self.nodes

    def most(self, action: Action) -> int:
        """How often the action may make a node of the same span."""
        return self.repeats.get(action, self.repeats.get(Action(action.kind), 1))

    def why_beyond(self, actions: Sequence[Action]) -> str | None:
        """None where search can find a derivation; else the first limit that it goes beyond, in words."""
        use = _Use.of(actions)
        swaps, nodes = self.of_sentence(use.words)
        what = f"in a sentence of {use.words} words"
        for count, limit, name in ((use.swaps, swaps, f"SWAPs {what}"), (use.nodes, nodes, f"nodes {what}")):
            if count > limit:
                return f"{count} {name}, at most {limit}"
        for span in use.spans:
            if span.total() > self.span:
                return f"{span.total()} nodes from one span, at most {self.span}"
            for action, count in span.items():
                if count > self.most(action):
                    return f"{action} {count} times from one span, at most {self.most(action)}"
        return self._why_doubled(use.words, actions)

    def doubles(self, state: AmrState, action: Action) -> bool:
        """True where the action, which is legal, gives a node a role that comes once, and that it has."""
        given = role_given(action)
        return given is not None and given[1] in self.once and is_borne(state, *given)

    def _why_doubled(self, words: int, actions: Sequence[Action]) -> str | None:
        state = AmrState.initial([_ANY_WORD] * words)
        for action in actions:
            if self.doubles(state, action):
                return f"{action} gives a node a role that it has"
            state = with_action(state, action)
        return None

    def to_json(self) -> dict[str, Any]:
        """The fields as JSON has them."""
        repeats = {str(action): count for action, count in self.repeats.items()}
        numbers = {"nodes": self.nodes, "swaps": self.swaps, "span": self.span}
        return {**numbers, "repeats": repeats, "once": sorted(self.once)}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> SearchLimits:
        """What `to_json` gave; older files do without `once`. Raises `ValueError` for what is no limit."""
        numbers = [values["nodes"], values["swaps"], values["span"] - 1, *values["repeats"].values()]
        if min(numbers) < 0:
            raise ValueError("a limit is below 0, or no node may come from a span")
        repeats = {Action.parse(token): count for token, count in values["repeats"].items()}
        for action in repeats:
            if action.kind not in MAKE_NODES:
                raise ValueError(f"{action} makes no node")
        once = frozenset(values["once"]) if "once" in values else ONCE
        return cls(values["nodes"], values["swaps"], values["span"], repeats, once)


# The most over the derivations of 7,628 graphs of nine open corpora, each bank aligned by `transition-parser align`'s
# aligner (`transition-parser oracle BANK --system amr --out-actions FILE`): for models that were exported before limits
# were learned.
DEFAULT_LIMITS = SearchLimits(
    nodes=30,
    swaps=33,
    span=31,
    repeats={
        Action(Kind.PRED): 15,
        Action(Kind.COPY_LEMMA): 16,
        Action(Kind.COPY_SENSE01): 4,
        Action(Kind.COPY_WORD): 3,
        Action(Kind.VALUE): 3,
        Action(Kind.DEPENDENT): 4,
    },
    once=ONCE,
)


def learned(derivations: Iterable[Sequence[Action]], graphs: Iterable[AmrGraph] = ()) -> SearchLimits:
    """The limits that let search find all derivations, and each label twice from one span; but for the roles that
    (almost) no node of the graphs bears twice."""
    nodes = swaps = 0
    span = 1
    repeats: Counter[Action] = Counter()
    for use in map(_Use.of, derivations):
        nodes = max(nodes, use.nodes - use.words)
        swaps = max(swaps, use.swaps - _SWAPS_PER_WORD * use.words)
        for made in use.spans:
            span = max(span, made.total())
            repeats |= made
    kinds = dict.fromkeys(map(Action, _LABELLED), _REPEATS)
    listed = {action: n for action, n in sorted(repeats.items(), key=str) if action.label is None or n > _REPEATS}
    return SearchLimits(nodes, swaps, span, kinds | listed, borne_once(graphs))


@dataclass(frozen=True)
class _Use:
    """What a derivation has: words, nodes, SWAPs, and the actions that made the nodes of each span."""

    words: int
    nodes: int
    swaps: int
    spans: list[Counter[Action]]

    @classmethod
    def of(cls, actions: Sequence[Action]) -> _Use:
        kinds = Counter(action.kind for action in actions)
        spans = list(_spans(actions))
        nodes = sum(span.total() for span in spans)
        return cls(kinds[Kind.SHIFT] + kinds[Kind.MERGE], nodes, kinds[Kind.SWAP], spans)


def _spans(actions: Sequence[Action]) -> Iterator[Counter[Action]]:
    made: Counter[Action] = Counter()
    for action in actions:
        if action.kind is Kind.SHIFT:
            yield made
            made = Counter()
        elif action.kind in MAKE_NODES:
            made[action] += 1
    yield made

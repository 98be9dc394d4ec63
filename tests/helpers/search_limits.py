"""The limits of search over AMR derivations, checked action by action."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from transition_parser.graphs.amr import LISTS, edge_of
from transition_parser.states.table import ActionTable
from transition_parser.transitions import Action, Kind, make_system
from transition_parser.transitions.amr import AmrSystem
from transition_parser.transitions.amr_limits import (
    CONCEPT_SORTS,
    REPEATS,
    SearchLimits,
    Sort,
    made_sort,
    role_given,
    sort_of,
)
from transition_parser.transitions.amr_state import (
    MAKE_NODES,
    AmrState,
    AmrWord,
    has_concept,
    with_action,
    words_left,
)

# What training banks of six open corpora teach
TARGETS: Mapping[str, frozenset[Sort]] = {
    **{role: CONCEPT_SORTS | {Sort.NUMBER} for role in ("ARG1", "ARG3", "ARG4", "frequency", "quant", "unit")},
    **{role: CONCEPT_SORTS | {Sort.NUMBER} for role in ("century", "decade", "quantity", "quarter", "year2")},
    **{role: CONCEPT_SORTS | {Sort.NUMBER, Sort.STRING} for role in ("li", "mod", "op")},
    "ARG2": CONCEPT_SORTS | {Sort.NUMBER, Sort.STRING, Sort.PLUS},
    "value": frozenset({Sort.CONCEPT, Sort.NUMBER, Sort.STRING}),
    "time": CONCEPT_SORTS | {Sort.STRING},
    "era": CONCEPT_SORTS | {Sort.STRING},
    "year": frozenset({Sort.CONCEPT, Sort.UNKNOWN, Sort.NUMBER}),
    "month": frozenset({Sort.CONCEPT, Sort.UNKNOWN, Sort.NUMBER}),
    "day": frozenset({Sort.CONCEPT, Sort.UNKNOWN, Sort.NUMBER}),
    "polarity": frozenset({Sort.CONCEPT, Sort.UNKNOWN, Sort.MINUS}),
    "polite": frozenset({Sort.PLUS}),
    "mode": frozenset({Sort.IMPERATIVE, Sort.EXPRESSIVE, Sort.INTERROGATIVE}),
}
_ANY_WORD = AmrWord("", "")
_CLOSE = Action(Kind.CLOSE)


def why_beyond(
    limits: SearchLimits,
    actions: Sequence[Action],
    words: Sequence[AmrWord] | None = None,
    last_arc: Action | None = None,
) -> str | None:
    """Return the first limit that the derivation exceeds, in words; None where search can find the derivation.

    Without words COPY_WORD is not checked.
    """
    kinds = Counter(action.kind for action in actions)
    spans = [Counter[Action]()]
    for action in actions:
        if action.kind is Kind.SHIFT:
            spans.append(Counter())
        elif action.kind in MAKE_NODES:
            spans[-1][action] += 1
    length = kinds[Kind.SHIFT] + kinds[Kind.MERGE]
    swaps, nodes = limits.of_sentence(length)
    made = sum(span.total() for span in spans)
    for count, limit, name in ((kinds[Kind.SWAP], swaps, "SWAPs"), (made, nodes, "nodes")):
        if count > limit:
            return f"{count} {name} in a sentence of {length} words, at most {limit}"
    for span in spans:
        if span.total() > limits.span:
            return f"{span.total()} nodes from one span, at most {limits.span}"
        for action, count in span.items():
            if count > REPEATS:
                return f"{action} {count} times from one span, at most {REPEATS}"
    return _why_forbidden(limits, words or [_ANY_WORD] * length, actions, last_arc)


def doubles(
    limits: SearchLimits,
    state: AmrState,
    action: Action,
    last_arc: Action | None = None,
    lacked: Sequence[frozenset[str]] | None = None,
) -> bool:
    """Return True where the legal action gives a node a role of `once` that it already has, or that its frame lacks.

    lacked: for each node the roles that its frame lacks
    """
    given = role_given(action)
    if given is None or given[1] not in limits.once or action == last_arc:
        return False
    place, role = given
    node = state.stack[place]
    if lacked is not None and role in lacked[node]:
        return True
    return (state.stack[place], role) in _roles_of_nodes(state.edges)


@lru_cache(maxsize=64)
def _roles_of_nodes(edges: tuple) -> set[tuple[int, str]]:
    return {edge_of(*edge)[:2] for edge in edges}


def is_unfit(
    limits: SearchLimits, state: AmrState, sorts: Sequence[Sort | None], action: Action, last_arc: Action | None = None
) -> bool:
    """Return True where the sorts of nodes forbid the legal action.

    sorts: the sort of each node of the state
    last_arc: the action that is legal for any sorts where no word is left and the graph can't be closed
    """
    on_stack = [sorts[node] for node in state.stack]
    due = on_stack[-1:] == [Sort.SENTENCES] and state.top is None
    if due and action.kind not in (Kind.DEPENDENT, Kind.ROOT):
        return True
    if state.top is not None and made_sort(action) is Sort.SENTENCES:
        return True
    if action == last_arc and state.position == len(state.words) and make_system("amr").why_illegal(state, _CLOSE):
        return False
    top, second = limits.barred(action)
    return bool(set(on_stack[-1:]) & top or set(on_stack[-2:-1]) & second)


@cache
def last_arc(table: ActionTable) -> Action | None:
    """Return the RA that comes first in the vocabulary, if possible of those whose role may come twice."""
    arcs = (action for action in table.actions if action is not None and action.kind is Kind.RA)
    once = table.system.limits.once
    return min(arcs, key=lambda arc: (edge_of(0, str(arc.label), 1).role in once, arc.label in LISTS))


def new_sorts(state: AmrState, action: Action, before: int) -> list[Sort | None]:
    """Return the sorts of the nodes that the last action made."""
    sorts: list[Sort | None] = [sort_of(node.label, node.constant) for node in state.nodes[before:]]
    if action.kind is Kind.COPY_WORD and state.span[0] is _ANY_WORD:
        return [None]
    if action.kind is Kind.COPY_WORD and len(state.span) > 1:
        return [None if all(word.is_part_of_number for word in state.span) else Sort.STRING]
    return [made_sort(action) or sorts[0], *sorts[1:]] if sorts else []


def new_lacked(system: AmrSystem, state: AmrState, action: Action, before: int) -> list[frozenset[str]]:
    """Return the roles that the frames of the nodes lack which the last action made."""
    is_alone = state.position - state.first == 1  # the current span is one word
    named = action.kind is Kind.PRED or (action.kind is Kind.FRAME and is_alone)
    first = [system.frames.lacked(state.nodes[before].label)] if named else []
    return [*first, *[frozenset[str]()] * (len(state.nodes) - before - len(first))]


class Made(NamedTuple):
    """What made the nodes of the current span, the sorts of all nodes, and the roles that their frames lack."""

    span: list[Action]
    sorts: list[Sort | None]
    lacked: list[frozenset[str]]

    def then(self, system: AmrSystem, state: AmrState, action: Action) -> "Made":
        """state: after the action."""
        span = [] if action.kind is Kind.SHIFT else self.span
        before = len(self.sorts)
        return Made(
            [*span, *[action] * (action.kind in MAKE_NODES)],
            [*self.sorts, *new_sorts(state, action, before)],
            [*self.lacked, *new_lacked(system, state, action, before)],
        )


def expected_legality(table: ActionTable, state: AmrState, made: Made | None = None) -> list[int]:
    """The definition of `DeviceTable.legality`, token by token: 1, 0, or −1 for roles and sorts. made: in search."""
    system = table.system
    limits = system.limits

    def of(action: Action | None) -> int:
        if action is None or system.why_illegal(state, action) is not None:
            return 0
        if made is None:
            return 1
        spent = len(made.span) >= limits.span or made.span.count(action) >= REPEATS
        due = [made.sorts[node] for node in state.stack[-1:]] == [Sort.SENTENCES] and state.top is None
        if spent and action.kind in MAKE_NODES and (words_left(state) or has_concept(state)):
            return 0
        if due and action.kind not in (Kind.DEPENDENT, Kind.ROOT):
            return 0
        last = last_arc(table)
        doubled = doubles(limits, state, action, last, made.lacked)
        return -1 if doubled or is_unfit(limits, state, made.sorts, action, last) else 1

    legality = [of(action) for action in table.actions]
    legality[table.end] = int(system.is_final(state))
    return legality


def _why_forbidden(
    limits: SearchLimits, words: Sequence[AmrWord], actions: Sequence[Action], last_arc: Action | None
) -> str | None:
    state, sorts = AmrState.initial(words), []
    for action in actions:
        if doubles(limits, state, action, last_arc):
            return f"{action} gives a node a role that it has"
        if is_unfit(limits, state, sorts, action, last_arc):
            return f"{action} is not for nodes of these sorts"
        state = with_action(state, action)
        sorts += new_sorts(state, action, len(sorts))
    return None

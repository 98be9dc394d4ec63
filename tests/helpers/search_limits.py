"""The limits of search over AMR derivations, checked action by action."""

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from transition_parser.graphs.amr import LISTS, edge_of
from transition_parser.preprocess.limits import Use
from transition_parser.states.table import ActionTable
from transition_parser.transitions import Action, Kind, make_system
from transition_parser.transitions.amr import AmrSystem
from transition_parser.transitions.amr_limits import CONCEPT_SORTS, SearchLimits, Sort, made_sort, role_given, sort_of
from transition_parser.transitions.amr_state import (
    MAKE_NODES,
    ON_STACK,
    AmrState,
    AmrWord,
    has_concept,
    lemma_of,
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
BEARERS: Mapping[str, frozenset[Sort]] = {
    "ARG": frozenset({Sort.FRAME}),
    "op": frozenset({Sort.CONCEPT, Sort.NAME}),
    "snt": frozenset({Sort.SENTENCES}),
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
    use = Use.from_actions(actions)
    swaps, nodes = limits.of_sentence(use.words)
    what = f"in a sentence of {use.words} words"
    for count, limit, name in ((use.swaps, swaps, f"SWAPs {what}"), (use.nodes, nodes, f"nodes {what}")):
        if count > limit:
            return f"{count} {name}, at most {limit}"
    for span in use.spans:
        if span.total() > limits.span:
            return f"{span.total()} nodes from one span, at most {limits.span}"
        for action, count in span.items():
            if count > limits.most(action):
                return f"{action} {count} times from one span, at most {limits.most(action)}"
    return _why_forbidden(limits, words or [_ANY_WORD] * use.words, actions, last_arc)


def doubles(
    limits: SearchLimits,
    state: AmrState,
    action: Action,
    several: Sequence[frozenset[str]] | None = None,
    lacked: Sequence[frozenset[str]] | None = None,
) -> bool:
    """Return True where the legal action gives a node a role of `once` that it already has, or that its frame lacks.

    several, lacked: for each node the roles that it may have several times (None: its label tells), or that it lacks
    """
    given = role_given(action)
    if given is None or given[1] not in limits.once:
        return False
    place, role = given
    node = state.stack[place]
    if lacked is not None and role in lacked[node]:
        return True
    if role in (limits.several.get(lemma_of(state.nodes[node].label), ()) if several is None else several[node]):
        return False
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
    if limits.sentences_on_top:
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
    """Return the RA that comes first in the vocabulary of the RAs whose role may come twice."""
    arcs = (action for action in table.actions if action is not None and action.kind is Kind.RA)
    free = (arc for arc in arcs if edge_of(0, str(arc.label), 1).role not in table.once)
    return min(free, key=lambda arc: arc.label in LISTS, default=None)


def new_sorts(state: AmrState, action: Action, before: int) -> list[Sort | None]:
    """Return the sorts of the nodes that the last action made."""
    sorts: list[Sort | None] = [sort_of(node.label, node.constant) for node in state.nodes[before:]]
    if action.kind is Kind.COPY_WORD and state.span[0] is _ANY_WORD:
        return [None]
    if action.kind is Kind.COPY_WORD and len(state.span) > 1:
        return [None if all(word.is_part_of_number for word in state.span) else Sort.STRING]
    return [made_sort(action) or sorts[0], *sorts[1:]] if sorts else []


def new_several(
    system: AmrSystem, limits: SearchLimits, state: AmrState, action: Action, before: int
) -> list[frozenset[str]]:
    """Return the roles that the nodes which the last action made may have several times."""
    lemmas = system.lemmas_named(state.words, state.first) if _is_alone(state) else ()
    new = [limits.several_of(action, lemmas)] if action.kind in ON_STACK else []
    return _of_new_nodes(new, state, before)


def new_lacked(
    system: AmrSystem, limits: SearchLimits, state: AmrState, action: Action, before: int
) -> list[frozenset[str]]:
    """Return the roles that the frames of the nodes lack which the last action made."""
    named = action.kind is Kind.PRED or (action.kind is Kind.FRAME and _is_alone(state))
    new = [system.frames.lacked(state.nodes[before].label)] if limits.roles_of_frames and named else []
    return _of_new_nodes(new, state, before)


def _is_alone(state: AmrState) -> bool:
    """Return True if the current span is one word."""
    return state.position - state.first == 1


def _of_new_nodes(first: list[frozenset[str]], state: AmrState, before: int) -> list[frozenset[str]]:
    return [*first, *[frozenset[str]()] * (len(state.nodes) - before - len(first))]


class Made(NamedTuple):
    """What made the nodes of the current span, the sorts of all nodes, the roles that they may have again or lack."""

    span: list[Action]
    sorts: list[Sort | None]
    several: list[frozenset[str]]
    lacked: list[frozenset[str]]

    def then(self, system: AmrSystem, state: AmrState, action: Action) -> "Made":
        """state: after the action."""
        span = [] if action.kind is Kind.SHIFT else self.span
        before = len(self.sorts)
        return Made(
            [*span, *[action] * (action.kind in MAKE_NODES)],
            [*self.sorts, *new_sorts(state, action, before)],
            [*self.several, *new_several(system, system.limits, state, action, before)],
            [*self.lacked, *new_lacked(system, system.limits, state, action, before)],
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
        spent = len(made.span) >= limits.span or made.span.count(action) >= limits.most(action)
        due = [made.sorts[node] for node in state.stack[-1:]] == [Sort.SENTENCES] and state.top is None
        if spent and action.kind in MAKE_NODES and (words_left(state) or has_concept(state)):
            return 0
        if limits.sentences_on_top and due and action.kind not in (Kind.DEPENDENT, Kind.ROOT):
            return 0
        doubled = doubles(limits, state, action, made.several, made.lacked)
        return -1 if doubled or is_unfit(limits, state, made.sorts, action, last_arc(table)) else 1

    legality = [of(action) for action in table.actions]
    legality[table.end] = int(system.is_final(state))
    return legality


def _why_forbidden(
    limits: SearchLimits, words: Sequence[AmrWord], actions: Sequence[Action], last_arc: Action | None
) -> str | None:
    state, sorts = AmrState.initial(words), []
    for action in actions:
        if doubles(limits, state, action):
            return f"{action} gives a node a role that it has"
        if is_unfit(limits, state, sorts, action, last_arc):
            return f"{action} is not for nodes of these sorts"
        state = with_action(state, action)
        sorts += new_sorts(state, action, len(sorts))
    return None

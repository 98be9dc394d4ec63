"""The words, the nodes and the configuration of the AMR machine, and the functions that apply actions to it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from transition_parser.graphs.amr import Edge, is_number, quoted, with_numbers
from transition_parser.text.lemmas import number_of
from transition_parser.transitions.system import Action, Kind

COPULA = "be"
JOINED = "+"  # ENTITY(t,+) joins the words of the span to one string
MODES = ("imperative", "expressive", "interrogative")
CONSTANTS = frozenset({Kind.VALUE, Kind.COPY_WORD})
# The kinds of actions that put a node on the stack
ON_STACK = CONSTANTS | {Kind.PRED, Kind.COPY_LEMMA, Kind.FRAME, Kind.ENTITY}
MAKE_NODES = ON_STACK | {Kind.DEPENDENT}
# The kinds of actions that the lexicon lists
NAMING = frozenset({Kind.PRED, Kind.VALUE, Kind.ENTITY, Kind.DEPENDENT})

_SYMBOL = re.compile(r"""[^\s()/:~"\\#]+""")
_SENSE = re.compile(r"(?<=.)-\d\d+\Z")
_HYPHEN = re.compile(r"@(\S)@")
_SIGNS = frozenset("+-.,@")  # the characters besides digits in the words of a number; `@-@` stands for a hyphen
_GROUPED = re.compile(r"\d{1,3}(,\d{3})+")


class AmrWord(NamedTuple):
    """A word of the sentence and its lemma."""

    form: str
    lemma: str

    @property
    def lemma_is_symbol(self) -> bool:
        """True where COPY_LEMMA makes a concept that PENMAN can hold, and AMR has: copulas have none."""
        return self.lemma != COPULA and _SYMBOL.fullmatch(self.lemma) is not None

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
    """Return a concept without its sense number: `give-up` for `give-up-07`."""
    return _SENSE.sub("", concept)


def key(span: Sequence[AmrWord]) -> str:
    """Return the key of a span in the lexicon: its lemmas, joined by spaces."""
    return " ".join([word.lemma for word in span])


def is_listed(action: Action) -> bool:
    """Return True for an action that is legal only with the spans for which the lexicon lists it."""
    if action.kind is Kind.ENTITY:
        return len(action.parts) > 1 and action.parts[1] != JOINED
    return action.kind in NAMING


def is_constant(label: str) -> bool:
    """Return True where the label of a DEPENDENT is a constant: a string, a number, a sign or a mode."""
    return label.startswith('"') or is_number(label) or label in ("-", "+", *MODES)


def copied_value(forms: Sequence[str]) -> str:
    """Return the constant that COPY_WORD makes: a number (`12000` for `12,000`, `13` for `thirteen`), or a string."""
    text = _HYPHEN.sub(r"\1", "".join(forms))
    plain = text.replace(",", "") if _GROUPED.fullmatch(text) else text
    return plain if is_number(plain) else number_of(forms) or quoted(text)


def copied_concept(span: Sequence[AmrWord]) -> str:
    """Return the concept that COPY_LEMMA makes."""
    return "-".join(word.lemma for word in span)


def entity_strings(forms: Sequence[str], parts: Sequence[str]) -> list[str]:
    """Return the strings of the name that ENTITY makes."""
    if not parts:
        return [quoted(form) for form in forms]
    if parts[0] == JOINED:
        return [quoted(_HYPHEN.sub(r"\1", "".join(forms)))]
    return list(parts)


class Node(NamedTuple):
    """A node of the partial graph, and the first and last word that it came from."""

    label: str
    constant: bool
    first: int
    last: int


class AmrState(NamedTuple):
    """A configuration. Words and nodes are numbered from 0."""

    words: tuple[AmrWord, ...]
    position: int  # the number of the next word in the buffer
    first: int  # the number of the first word of the current span, which ends before `position`
    named: bool  # True where the current span has a node, and before the first SHIFT
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    groups: tuple[int, ...]  # the connected component of each node
    stack: tuple[int, ...]  # node numbers, the newest last
    aside: tuple[int, ...]  # the numbers of the nodes that SWAP set aside, in their former order on the stack
    top: int | None
    closed: bool  # True after CLOSE
    arcs: int  # the number of LA and RA since the last other action, or since a constant left the stack
    arcs_left: int  # how many more edges, SWAPs and nodes the sentence may have; see `limits_of`
    swaps_left: int
    nodes_left: int

    @classmethod
    def initial(cls, words: Sequence[AmrWord]) -> AmrState:
        """Return the configuration before the first action."""
        return cls(tuple(words), 0, 0, True, (), (), (), (), (), None, False, 0, *limits_of(len(words)))

    @property
    def span(self) -> tuple[AmrWord, ...]:
        """The words of the current span."""
        return self.words[self.first : self.position]

    def as_data(self) -> dict[str, Any]:
        """Return the configuration as plain data; each node is (number, label, is a constant, first and last word)."""
        return {
            "stack": list(self.stack),
            "aside": list(self.aside),
            "span": [self.first, self.position],
            "buffer": list(range(self.position, len(self.words))),
            "nodes": [(number, *node) for number, node in enumerate(self.nodes)],
            "edges": [tuple(edge) for edge in with_numbers(self.edges)],
            "top": self.top,
        }


def limits_of(n: int) -> tuple[int, int, int]:
    """Return how many edges inside of components, SWAPs and nodes a sentence of n words may have."""
    return 4 * n + 16, 8 * n + 32, 3 * n + 6


def words_left(state: AmrState) -> bool:
    return state.position < len(state.words)


def is_unbound(state: AmrState) -> bool:
    """Return True where the lexicon does not limit the actions, because without a concept there would be no graph."""
    return not (words_left(state) or has_concept(state) or all(word.lemma_is_symbol for word in state.span))


def has_concept(state: AmrState) -> bool:
    return any(not node.constant for node in state.nodes)


def kept(state: AmrState) -> list[int]:
    """Return the numbers of the nodes that belong to the graph: all nodes except constants without a head."""
    headed = {edge.target for edge in state.edges}
    return [i for i, node in enumerate(state.nodes) if not node.constant or i in headed]


def is_connected(state: AmrState) -> bool:
    alive = (*state.stack, *state.aside)
    return len({state.groups[i] for i in alive if not state.nodes[i].constant}) == 1


def returned(state: AmrState) -> AmrState:
    """Return the state with the nodes that were set aside back on the stack, below the newest node."""
    if not state.aside:
        return state
    return state._replace(stack=(*state.stack[:-1], *state.aside, state.stack[-1]), aside=())


def with_nodes(state: AmrState, labels: Sequence[str], constant: bool | None = None, **changes: Any) -> AmrState:
    """Return the state with new nodes of the current span. Together they count as one node in `nodes_left`."""
    new = tuple(
        Node(label, is_constant(label) if constant is None else constant, state.first, state.position - 1)
        for label in labels
    )
    count = len(state.nodes)
    changes = {"nodes_left": state.nodes_left - 1, **changes}
    return state._replace(
        nodes=(*state.nodes, *new), groups=(*state.groups, *range(count, count + len(new))), **changes
    )


def with_edges(state: AmrState, edges: Sequence[Edge], **changes: Any) -> AmrState:
    groups = state.groups
    for source, _role, target in edges:
        old, new = groups[target], groups[source]
        if old != new:
            groups = tuple(new if group == old else group for group in groups)
    new_edges = tuple(edge for edge in edges if edge not in state.edges)
    return state._replace(edges=(*state.edges, *new_edges), groups=groups, **changes)


def with_action(state: AmrState, action: Action) -> AmrState:
    """Return the state after a legal action, as `AmrSystem` describes it."""
    kind = action.kind
    if kind is Kind.LA or kind is Kind.RA:
        return with_arc(state, action)
    if kind is Kind.SHIFT:
        position = state.position
        return returned(state)._replace(first=position, position=position + 1, named=False, arcs=0)
    if kind is Kind.MERGE:
        return returned(state)._replace(position=state.position + 1, arcs=0)
    if kind is Kind.REDUCE:
        return state._replace(stack=(*state.stack[:-2], state.stack[-1]), arcs=0)
    if kind is Kind.SWAP:
        stack, aside = (*state.stack[:-2], state.stack[-1]), (state.stack[-2], *state.aside)
        return state._replace(stack=stack, aside=aside, swaps_left=max(state.swaps_left - 1, 0), arcs=0)
    if kind is Kind.ROOT:
        return state._replace(top=state.stack[-1], arcs=0)
    if kind is Kind.CLOSE:
        return state._replace(stack=(), aside=(), closed=True, arcs=0)
    if kind is Kind.DEPENDENT:
        role, label = action.parts
        state = with_nodes(state, [label], arcs=0)
        return with_edges(state, [Edge(state.stack[-1], role, len(state.nodes) - 1)])
    return with_new_node(state, action)


def with_new_node(state: AmrState, action: Action) -> AmrState:
    state = returned(state)
    number, kind = len(state.nodes), action.kind
    changes = {"stack": (*state.stack, number), "named": True, "arcs": 0}
    if kind is Kind.ENTITY:
        concept, *parts = action.parts
        strings = entity_strings([word.form for word in state.span], parts)
        nodes_left = state.nodes_left - 1
        state = with_nodes(state, [concept, "name"], False)
        state = with_nodes(state, strings, True, nodes_left=nodes_left)
        ops = [Edge(number + 1, f"op{i}", number + 1 + i) for i in range(1, len(strings) + 1)]
        return with_edges(state, [Edge(number, "name", number + 1), *ops], **changes)
    label = str(action.label)
    if kind is Kind.COPY_WORD:
        label = copied_value([word.form for word in state.span])
    elif kind is Kind.COPY_LEMMA:
        label = copied_concept(state.span)
    return with_nodes(state, [label], kind in CONSTANTS, **changes)


def with_arc(state: AmrState, action: Action) -> AmrState:
    second, top = state.stack[-2:]
    needed = state.groups[second] != state.groups[top]
    head, dependent = (top, second) if action.kind is Kind.LA else (second, top)
    changes: dict[str, Any] = {"arcs": state.arcs + 1, "arcs_left": state.arcs_left - (not needed)}
    if state.nodes[dependent].constant:
        is_left = action.kind is Kind.LA
        stack = (*state.stack[:-2], top) if is_left else (*state.stack[:-1], *state.aside)
        changes |= {"stack": stack, "aside": state.aside if is_left else (), "arcs": 0}
    return with_edges(state, [Edge(head, str(action.label), dependent)], **changes)

"""The oracle of the AMR machine, which turns an aligned graph into the actions that build it.

Source: Fernandez Astudillo et al. 2020, sec. 4. The oracle is lossless: it makes every node of a connected graph, and
builds every edge. It makes nodes from words that they are aligned to, except in names (ENTITY) and in `move_last`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from transition_parser.graphs.amr import LISTS, AmrGraph, Edge, named, with_numbers
from transition_parser.transitions import Action, Kind
from transition_parser.transitions.amr import ARCS_IN_A_ROW, AmrSystem
from transition_parser.transitions.amr_limits import family
from transition_parser.transitions.amr_state import (
    JOINED,
    ON_STACK,
    AmrWord,
    copied_concept,
    copied_value,
    entity_strings,
    is_constant,
    limits_of,
)
from transition_parser.transitions.system import joined, labeled

_MERGE, _REDUCE, _SWAP = Action(Kind.MERGE), Action(Kind.REDUCE), Action(Kind.SWAP)
_ROOT, _CLOSE = Action(Kind.ROOT), Action(Kind.CLOSE)

Span = tuple[int, int]  # first and last word


@dataclass(frozen=True)
class Derivation:
    """A derivation that builds a gold graph.

    actions: from the first SHIFT to CLOSE
    order: the nodes of the gold graph in the order in which the machine numbers them, so that `gold.renumbered(order)`
        equals `result(…).renumbered(range(…))`
    spans: for each action the whole current span, including the words that later MERGEs add
    """

    actions: list[Action]
    order: list[int]
    spans: list[Span]


def amr_oracle(
    system: AmrSystem, words: Sequence[AmrWord], graph: AmrGraph, alignments: Sequence[Sequence[int]]
) -> Derivation:
    """Return the derivation that builds `graph`.

    alignments: at least one word for each node

    Raises `ValueError` for a node without a word, for a graph that is not connected, and for a graph that the machine
    can't build. The machine can't build an edge from a node to itself, more than four edges between two nodes, and more
    nodes, edges or SWAPs than a sentence of its length may have (`AmrSystem`).

    >>> from transition_parser.transitions import make_system
    >>> graph = AmrGraph(("sleep-01", "she"), frozenset(), (Edge(0, "ARG0", 1),))
    >>> words = [AmrWord("She", "she"), AmrWord("sleeps", "sleep")]
    >>> done = amr_oracle(make_system("amr"), words, graph, [[1], [0]])
    >>> [str(action) for action in done.actions]
    ['SHIFT', 'COPY_LEMMA', 'SHIFT', 'FRAME(01)', 'ROOT', 'LA(ARG0)', 'REDUCE', 'CLOSE']
    """
    for node, tokens in enumerate(alignments):
        if not tokens:
            raise ValueError(f"the node {graph.labels[node]} is not aligned to any word: run `transition-parser align`")
    check_graph(graph)
    plan = _Plan(words, graph, alignments)
    try:
        derivation = _Writer(system, words, graph, plan).derivation()
    except _LastSpanError:
        plan.move_last()
        derivation = _Writer(system, words, graph, plan).derivation()
    kinds = Counter(action.kind for action in derivation.actions)
    on_stack = sum(kinds[kind] for kind in ON_STACK)
    more_edges = kinds[Kind.LA] + kinds[Kind.RA] - (on_stack - 1)  # beyond the edges that connectedness needs
    needed = (("further edges", more_edges), ("SWAPs", kinds[Kind.SWAP]), ("nodes", on_stack + kinds[Kind.DEPENDENT]))
    for (what, count), limit in zip(needed, limits_of(len(words)), strict=True):
        if count > limit:
            raise ValueError(f"the graph needs {count} {what}, but a sentence of {len(words)} words may have {limit}")
    return derivation


class _LastSpanError(Exception):
    """The error where no order of the last span's nodes lets the machine build all their edges."""


def check_graph(graph: AmrGraph) -> None:
    """Check that the machine can build the graph in some sentence."""
    for source, role, target in graph.edges:
        if source == target:
            raise ValueError(f"the edge :{role} goes from {graph.labels[source]} to itself")
    if not graph.is_connected():
        raise ValueError("the graph is not connected")
    pairs = Counter(frozenset((source, target)) for source, _role, target in graph.edges)
    for (one, other), count in pairs.items():
        if count > ARCS_IN_A_ROW:
            names = f"{graph.labels[one]} and {graph.labels[other]}"
            raise ValueError(f"{count} edges join {names}: at most {ARCS_IN_A_ROW} can be built")


@dataclass(frozen=True)
class _Entity:
    """A named node, the nodes of its name, and the ENTITY action that makes them all."""

    node: int
    hidden: tuple[int, ...]  # the node `name` and its strings, which the machine never puts on the stack
    action: Action


class _Plan:
    """The spans that words are merged into, and the nodes that each span makes, in order."""

    def __init__(self, words: Sequence[AmrWord], graph: AmrGraph, alignments: Sequence[Sequence[int]]) -> None:
        self.words, self.graph = words, graph
        self.alignments = [sorted(tokens) for tokens in alignments]
        self.degree = [0] * len(graph)
        self.parents: list[list[Edge]] = [[] for _ in graph.labels]
        for edge in graph.edges:
            self.degree[edge.source] += 1
            self.degree[edge.target] += 1
            self.parents[edge.target].append(edge)
        self.taken: dict[int, Span] = {}  # word → merged span
        self.entities: dict[int, _Entity] = {}
        self.span_of: list[Span | None] = [None] * len(graph)
        self._find_entities()
        self._find_merged()
        for node, (word, *_) in enumerate(self.alignments):
            self.span_of[node] = self.span_of[node] or self.taken.get(word, (word, word))
        self.dependents = self._find_dependents()
        self.nodes_of = self._order()

    def move_last(self) -> None:
        """Move the nodes of the last span to the span before it, where any order of nodes lets edges be built.

        An entity becomes ordinary nodes, because its words are not the words of the new span.
        """
        end = len(self.words) - 1
        last = self.taken.get(end, (end, end))
        if last[0] == 0:
            raise ValueError("all nodes belong to one span, and the system can build their edges in no order")
        before = self.taken.get(last[0] - 1, (last[0] - 1, last[0] - 1))
        moved = self.nodes_of.pop(last)
        hidden = [part for node in moved if node in self.entities for part in self.entities.pop(node).hidden]
        self.nodes_of.setdefault(before, []).extend([*moved, *hidden])

    def _find_entities(self) -> None:
        """Find the named nodes that ENTITY can make, and the spans of their names."""
        owners: set[int] = set()
        for node, name, ops in named(self.graph):
            if node in owners or node in self.graph.constants:
                continue
            strings = [self.graph.labels[op] for op in ops]
            near = sorted({t for op in (*ops, name, node) for t in self.alignments[op]})
            span, parts = self._name_span(strings, near)
            spans = {self.span_of[entity] for entity in self.entities}
            if any(self.taken.get(t, (t, t)) != (t, t) or (t, t) in spans for t in range(span[0], span[1] + 1)):
                continue
            owners.add(node)
            self._take(span)
            concept = self.graph.labels[node]
            self.entities[node] = _Entity(node, (name, *ops), Action(Kind.ENTITY, joined(concept, *parts)))
            for part in (node, name, *ops):
                self.span_of[part] = span

    def _name_span(self, strings: list[str], near: list[int]) -> tuple[Span, tuple[str, ...]]:
        """Return the span of a name and the parts of ENTITY's label after the entity type."""
        for length, parts in ((len(strings), ()), (3, (JOINED,)), (2, (JOINED,))):
            for first in (start for token in near for start in range(max(0, token - length + 1), token + 1)):
                words = self.words[first : first + length]
                plain = len(words) == length and all(word.form_is_plain for word in words)
                if plain and entity_strings([word.form for word in words], parts) == strings:
                    return (first, first + length - 1), parts
        return (near[0], near[0]), tuple(strings)

    def _take(self, span: Span) -> None:
        self.taken |= dict.fromkeys(range(span[0], span[1] + 1), span)

    def _find_merged(self) -> None:
        """Merge the words of nodes that come from several neighboring words, unless others share some."""
        for node, tokens in enumerate(self.alignments):
            span = (tokens[0], tokens[-1])
            if self.span_of[node] or len(tokens) < 2 or len(tokens) != span[1] - span[0] + 1:
                continue
            inside = range(span[0], span[1] + 1)
            alone = not any(
                other != node
                and not self.span_of[other]
                and self.alignments[other] != tokens
                and set(self.alignments[other]) & set(inside)
                for other in range(len(self.graph))
            )
            if alone and not any(word in self.taken for word in inside):
                self._take(span)
                self.span_of[node] = span
            elif self.taken.get(span[0]) == span:
                self.span_of[node] = span

    def _find_dependents(self) -> dict[int, list[tuple[Edge, Action]]]:
        """Return, for each head, the edges to constants (polarity, mode …) that DEPENDENT makes, with these actions."""
        dependents: dict[int, list[tuple[Edge, Action]]] = {}
        hidden = {part for entity in self.entities.values() for part in entity.hidden}
        for node in range(len(self.graph)):
            label = self.graph.labels[node]
            if node in hidden or node == self.graph.top or len(self.parents[node]) != 1 or self.degree[node] != 1:
                continue
            edge = self.parents[node][0]
            if self.span_of[node] != self.span_of[edge.source] or edge.source in hidden or edge.role in LISTS:
                continue
            first, last = self.span_of[node]  # type: ignore[misc]
            copied = copied_value([word.form for word in self.words[first : last + 1]])
            if node in self.graph.constants and is_constant(label) and copied != label:
                action = Action(Kind.DEPENDENT, joined(edge.role, label))
                dependents.setdefault(edge.source, []).append((edge, action))
        return dependents

    def _order(self) -> dict[Span, list[int]]:
        """Return the nodes that each span makes: an entity first, each constant after its head."""

        def rank(node: int) -> tuple[bool, int, bool]:
            constant = node in self.graph.constants
            return node not in self.entities, self.parents[node][0].source if constant else node, constant

        hidden = {part for entity in self.entities.values() for part in entity.hidden}
        hidden |= {edge.target for edges in self.dependents.values() for edge, _ in edges}
        by_span: dict[Span, list[int]] = {}
        for node in range(len(self.graph)):
            if node not in hidden:
                by_span.setdefault(self.span_of[node], []).append(node)  # type: ignore[arg-type]
        for nodes in by_span.values():
            nodes.sort(key=rank)
        return by_span


class _Writer:
    """A simulation of the machine, which records the actions of the derivation."""

    def __init__(self, system: AmrSystem, words: Sequence[AmrWord], graph: AmrGraph, plan: _Plan) -> None:
        self.system, self.words, self.graph, self.plan = system, words, graph, plan
        self.actions: list[Action] = []
        self.spans: list[Span] = []
        self.order: list[int] = []
        self.arcs: dict[int, Edge] = {}  # the number of each LA and RA → its edge
        self.stack: list[int] = []
        self.joined_to = list(range(len(graph)))  # connected components, as a forest; see `_group`
        self.ended = False  # True when no words are left
        self.open: list[dict[int, list[Edge]]] = [{} for _ in graph.labels]  # neighbor → edges that are not yet made
        for edge in graph.edges:
            self.open[edge.source].setdefault(edge.target, []).append(edge)
            self.open[edge.target].setdefault(edge.source, []).append(edge)

    def derivation(self) -> Derivation:
        word = 0
        while word < len(self.words):
            span = self.plan.taken.get(word, (word, word))
            self._say(self.system.shift(self.words[word].form), span)
            for _ in range(span[1] - span[0]):
                self._say(_MERGE, span)
            self.ended = span[1] == len(self.words) - 1
            left = list(self.plan.nodes_of.get(span, ()))
            while left:
                node = self._next(left) if self.ended else left[0]
                left.remove(node)
                self._make(node, span)
            word = span[1] + 1
        self._say(_CLOSE, span)
        self._leave_out_numbers()
        return Derivation(self.actions, self.order, self.spans)

    def _say(self, action: Action, span: Span) -> None:
        self.actions.append(action)
        self.spans.append(span)

    def _next(self, left: list[int]) -> int:
        """Return the node to make next when no words are left, or raise `_LastSpanError` where no node can be next.

        The order keeps REDUCE and SWAP from disconnecting a node. An entity can only be the first node of its span.
        """
        options = left[:1] if left[0] in self.plan.entities else left
        options = [node for node in options if self._can_meet(node)]
        if not options:
            raise _LastSpanError
        return next((node for node in options if any(other in self.open[node] for other in self.stack)), options[0])

    def _can_meet(self, node: int) -> bool:
        """Return True where the new node can get edges to all its neighbors on the stack after the last word."""
        wanted = [index for index, other in enumerate(self.stack) if other in self.open[node]]
        if not wanted or node in self.graph.constants:
            return True
        reached = set()
        for index in range(len(self.stack) - 1, wanted[0], -1):
            other = self.stack[index]
            group = self._group(other)
            if index in wanted:
                reached.add(group)
            elif other not in self.graph.constants and not self._stays(index, group, reached):
                return False
        return True

    def _stays(self, index: int, group: int, reached: set[int]) -> bool:
        return group in reached or any(self._group(other) == group for other in self.stack[:index])

    def _make(self, node: int, span: Span) -> None:
        entity = self.plan.entities.get(node)
        self.order.append(node)
        if entity:
            self._say(entity.action, span)
            self.order.extend(entity.hidden)
            self._close(node, entity.hidden[0])
        else:
            self._say(self._naming(node, span), span)
        for edge, action in self.plan.dependents.get(node, ()):
            self._say(action, span)
            self.order.append(edge.target)
            self._close(node, edge.target)
        if node == self.graph.top:
            self._say(_ROOT, span)
        self._meet(node, span)

    def _close(self, one: int, other: int) -> None:
        self.open[one].pop(other)
        self.open[other].pop(one)
        self.joined_to[self._group(one)] = self._group(other)

    def _group(self, node: int) -> int:
        """Return the node that represents the connected component of `node`."""
        joined_to = self.joined_to
        while joined_to[node] != node:
            joined_to[node] = node = joined_to[joined_to[node]]
        return node

    def _naming(self, node: int, span: Span) -> Action:
        words = self.words[span[0] : span[1] + 1]
        label = self.graph.labels[node]
        if node in self.graph.constants:
            copied = all(word.form_is_plain for word in words) and copied_value([word.form for word in words]) == label
            return Action(Kind.COPY_WORD) if copied else labeled(Kind.VALUE, label)
        if frame := self.system.frames.naming(label, words, self.words[span[1] + 1 :]):
            return frame
        if all(word.lemma_is_symbol for word in words) and copied_concept(words) == label:
            return Action(Kind.COPY_LEMMA)
        return labeled(Kind.PRED, label)

    def _meet(self, node: int, span: Span) -> None:
        """Record the actions that build the edges between the new node and its neighbors on the stack."""
        constants, stack = self.graph.constants, self.stack
        index = len(stack) - 1
        wanted = sum(other in self.open[node] for other in stack)
        while index >= 0:
            other = stack[index]
            edges = self.open[node].get(other)
            if edges:
                wanted -= 1
                for edge in edges:
                    self.arcs[len(self.actions)] = edge
                    role = edge.role + ":" * (edge.role in LISTS)
                    self._say(labeled(Kind.LA if edge.source == node else Kind.RA, role), span)
                self._close(node, other)
                if node in constants:
                    return
                if other in constants:
                    del stack[index]
                    index -= 1
                    continue
            stays = not self.ended or self._stays(index, self._group(other), {self._group(node)})
            if not self.open[other] and stays:
                self._say(_REDUCE, span)
                del stack[index]
            elif wanted:
                self._say(_SWAP, span)
            else:
                break
            index -= 1
        stack.append(node)

    def _leave_out_numbers(self) -> None:
        """Leave the numbers out of the arcs to the members of a list if `with_numbers` gives them the same numbers."""
        place = {node: number for number, node in enumerate(self.order)}
        lists: dict[tuple[int, str], list[int]] = {}
        for arc, (source, role, _) in self.arcs.items():
            name = family(role)
            if name in LISTS:
                lists.setdefault((source, name), []).append(arc)
        for (source, name), arcs in lists.items():
            edges = [self.arcs[arc] for arc in arcs]
            others = [edge for edge in self.graph.edges if edge.source == source and edge not in edges]
            whole = [Edge(source, role, place[target]) for _, role, target in (*edges, *others)]
            bare = [edge._replace(role=name) for edge in whole[: len(edges)]]
            if [*with_numbers([*bare, *whole[len(edges) :]])] == whole:
                for arc in arcs:
                    self.actions[arc] = Action(self.actions[arc].kind, name)

"""The AMR machine: words arrive one by one, become nodes, and each new node can get edges to all nodes before it.

Source: the actions come from Fernandez Astudillo et al. 2020, sec. 4 (after Ballesteros and Al-Onaizan 2017);
the order in which pairs of nodes are visited comes from Covington 2001 and makes every graph reachable.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from transition_parser.graphs.amr import AmrGraph, Edge, with_numbers
from transition_parser.text.frames import Frames, packaged
from transition_parser.text.lemmas import lemmatize
from transition_parser.transitions.amr_frames import frame_actions
from transition_parser.transitions.amr_limits import SearchLimits
from transition_parser.transitions.amr_state import (
    NAMING,
    AmrState,
    AmrWord,
    Node,
    has_concept,
    is_connected,
    is_listed,
    is_unbound,
    kept,
    key,
    limits_of,
    with_action,
    words_left,
)
from transition_parser.transitions.system import Action, Kind, TransitionSystem

ARCS_IN_A_ROW = 4


class Precondition(NamedTuple):
    """A condition of an action in a configuration, and the reason why the action is illegal where it does not hold."""

    holds: Callable[[AmrState, Action], bool]
    otherwise: str


def _second(state: AmrState) -> Node:
    return state.nodes[state.stack[-2]]


def _same_component(state: AmrState, nodes: Iterable[int]) -> bool:
    """Return True where one of the nodes is in the second node's connected component."""
    return any(state.groups[node] == state.groups[state.stack[-2]] for node in nodes)


def _stays_connected(state: AmrState) -> bool:
    return _same_component(state, (state.stack[-1], *state.stack[:-2]))


def _is_plain(state: AmrState) -> bool:
    return all(word.form_is_plain for word in state.span)


_WORD_LEFT = Precondition(lambda s, _: words_left(s), "no word is left in the buffer")
_NODES_LEFT = Precondition(lambda s, _: s.nodes_left > 0, "the sentence has as many nodes as it may")
_NODE = (Precondition(lambda s, _: s.position > 0, "there is no current span"), _NODES_LEFT)
_CONSTANT = (
    *_NODE,
    Precondition(lambda s, _: has_concept(s) or (s.nodes_left > 1 and words_left(s)), "a concept must come first"),
)
_QUOTES = "a word of the span holds quotation marks or backslashes"
_CONCEPT_ON_TOP = Precondition(
    lambda s, _: len(s.stack) > 0 and not s.nodes[s.stack[-1]].constant, "the top of the stack is not a concept"
)
_SECOND_NODE = Precondition(lambda s, _: len(s.stack) > 1, "there is no second node")
_ARC = (
    Precondition(lambda _, action: action.label is not None, "an arc needs a role"),
    _SECOND_NODE,
    Precondition(
        lambda s, action: not s.nodes[s.stack[-1 if action.kind is Kind.LA else -2]].constant, "the head is a constant"
    ),
    Precondition(lambda s, _: s.arcs < ARCS_IN_A_ROW, f"that would be more than {ARCS_IN_A_ROW} arcs in a row"),
    Precondition(
        lambda s, _: s.arcs_left > 0 or not _same_component(s, s.stack[-1:]), "the sentence has as many edges as it may"
    ),
)
# kind → the conditions of its actions, apart from the word that SHIFT names, the lexicon and the table of frames
CONDITIONS: Mapping[Kind, Sequence[Precondition]] = {
    Kind.SHIFT: (_WORD_LEFT,),
    Kind.MERGE: (Precondition(lambda s, _: not s.named, "the current span has a node, or there is none"), _WORD_LEFT),
    Kind.PRED: _NODE,
    Kind.FRAME: _NODE,
    Kind.COPY_LEMMA: (
        *_NODE,
        Precondition(
            lambda s, _: all(word.lemma_is_symbol for word in s.span), "the lemmas of the span are not a symbol"
        ),
    ),
    Kind.VALUE: _CONSTANT,
    Kind.COPY_WORD: (*_CONSTANT, Precondition(lambda s, _: _is_plain(s), _QUOTES)),
    Kind.ENTITY: (
        *_NODE,
        Precondition(lambda s, _: not s.named, "the current span has a node"),
        Precondition(lambda s, action: is_listed(action) or _is_plain(s), _QUOTES),
    ),
    Kind.DEPENDENT: (_CONCEPT_ON_TOP, _NODES_LEFT),
    Kind.LA: _ARC,
    Kind.RA: _ARC,
    Kind.REDUCE: (
        _SECOND_NODE,
        Precondition(
            lambda s, _: _second(s).constant or words_left(s) or _stays_connected(s),
            "no word is left, and the second node would be lost",
        ),
        Precondition(
            lambda s, _: _second(s).constant or _same_component(s, (*s.stack[:-2], s.stack[-1], *s.aside)),
            "the second node is not connected to another node on the stack",
        ),
    ),
    Kind.SWAP: (
        _SECOND_NODE,
        Precondition(lambda s, _: s.swaps_left > 0, "the sentence has as many SWAPs as it may"),
        Precondition(
            lambda s, _: (
                words_left(s)
                or _second(s).constant
                or not s.nodes[s.stack[-1]].constant
                or any(not s.nodes[i].constant for i in s.stack[:-2])
            ),
            "no word is left, and the constant has no other head",
        ),
        Precondition(
            lambda s, _: words_left(s) or _second(s).constant or s.nodes[s.stack[-1]].constant or _stays_connected(s),
            "no word is left, and the two nodes are not connected",
        ),
    ),
    Kind.ROOT: (Precondition(lambda s, _: s.top is None, "the graph has a top"), _CONCEPT_ON_TOP),
    Kind.CLOSE: (
        Precondition(lambda s, _: not words_left(s), "words are left in the buffer"),
        Precondition(lambda s, _: s.top is not None, "no top was chosen"),
        Precondition(lambda s, _: is_connected(s), "the graph is not connected"),
    ),
}


class AmrSystem(TransitionSystem[AmrWord, AmrState, AmrGraph]):
    """The transition system that builds AMR graphs. `CONDITIONS` says when its actions are legal.

    The newest node is the top of the stack. The *second node* is the node below the top. The *current span* is the word
    of the latest SHIFT together with the words that MERGE added to it. Nodes that SWAP set aside are not on the stack:
    they return with the next word or node (in the program of the paper, UNSHIFT puts them back into the buffer).

    SHIFT, SHIFT(w): the front of the buffer becomes the current span; a span without nodes adds nothing to the graph
    MERGE: the front of the buffer joins the current span
    PRED(n), COPY_LEMMA: a concept becomes the top: n, or the span's lemmas joined by hyphens
    FRAME(s), FRAME(s,particle), FRAME(s,alias), FRAME(s,alias2): likewise the concept of a frame (`amr_frames`)
    VALUE(v), COPY_WORD: likewise a constant, v or the span itself, as a number if it is one, otherwise as a string
    ENTITY(t), ENTITY(t,+), ENTITY(t,s…): likewise a concept t; it gets a `name`, with a string for each word of the
        span (+: one string of all words; s…: these strings)
    DEPENDENT(r,n): a node n that is not on the stack gets an edge r from the top
    LA(r), RA(r): an edge r from the top to the second node, or from the second node to the top. A constant leaves the
        stack when it gets its head. Roles op and snt get numbers in the order of their targets when the graph is
        finished.
    REDUCE: the second node leaves the stack; a constant without a head does not become part of the graph
    SWAP: the second node is set aside
    ROOT: the top of the stack becomes the top of the graph
    CLOSE: empties the stack; the state is final

    A sentence of n words has at most 3n + 6 nodes (without the nodes inside ENTITY), 8n + 32 SWAPs, and 4n + 16 edges
    besides the edges that connect two components. So the length of derivations is linear in n.

    lexicon: span (`amr_state.key`) → the actions that training has seen with the span; where given, only these PRED,
        VALUE, ENTITY with strings and DEPENDENT are legal (paper, sec. 4: "Node label predictions were limited to those
        seen during training")
    limits: the limits of search; they do not affect legality here
    frames: the table of frames, by default that of the package
    """

    name = "amr"
    confidences = ("node_scores", "edge_scores")
    kinds: tuple[Kind, ...] = (
        *(Kind.SHIFT, Kind.MERGE, Kind.PRED, Kind.VALUE, Kind.COPY_LEMMA, Kind.FRAME, Kind.COPY_WORD),
        *(Kind.ENTITY, Kind.DEPENDENT, Kind.LA, Kind.RA, Kind.REDUCE, Kind.SWAP, Kind.ROOT, Kind.CLOSE),
    )
    projective_only = False

    def __init__(
        self,
        shift_words: Sequence[str] = (),
        lexicon: Mapping[str, Collection[str]] | None = None,
        limits: SearchLimits | None = None,
        frames: Frames | None = None,
    ) -> None:
        super().__init__(shift_words)
        self.lexicon, self.limits = lexicon, limits or SearchLimits()
        self.frames = frame_actions(frames or packaged())

    def read(self, forms: Sequence[str]) -> list[AmrWord]:
        """Return the words with their lemmas."""
        return [AmrWord(form, lemma) for form, lemma in zip(forms, lemmatize(forms), strict=True)]

    def initial(self, sentence: Sequence[AmrWord]) -> AmrState:
        if not sentence:
            raise ValueError("a sentence needs at least one word")
        return AmrState.initial(sentence)

    def why_illegal(self, state: AmrState, action: Action) -> str | None:
        if action.kind not in self.kinds:
            return f"{self.name} has no {action.kind.value}"
        if state.closed:
            return "the graph is closed"
        for holds, otherwise in CONDITIONS[action.kind]:
            if not holds(state, action):
                return otherwise
        if action.kind is Kind.SHIFT:
            due = self.shift(state.words[state.position].form)
            return None if action == due else f"the word at the front of the buffer asks for {due}"
        if action.kind is Kind.FRAME:
            if action not in self.frames.known:
                return f"no frame of the table is named by {action}"
            if not is_unbound(state) and action not in self.frames.of_span(state.span, state.words[state.position :]):
                return f"{key(state.span)!r} evokes no frame that {action} names"
            return None
        if self.lexicon is None or not is_listed(action) or is_unbound(state):
            return None
        known = self.lexicon.get(key(state.span), ())
        return None if str(action) in known else f"training has not seen {action} with {key(state.span)!r}"

    def apply(self, state: AmrState, action: Action) -> AmrState:
        if action.kind is Kind.FRAME:
            action = Action(Kind.PRED, self.frames.concept(action, state.span, state.words[state.position :]))
        return with_action(state, action)

    def is_final(self, state: AmrState) -> bool:
        return state.closed

    def result(self, state: AmrState) -> AmrGraph:
        nodes = kept(state)
        place = {old: new for new, old in enumerate(nodes)}
        return AmrGraph(
            tuple(state.nodes[i].label for i in nodes),
            frozenset(place[i] for i in nodes if state.nodes[i].constant),
            with_numbers([Edge(place[source], role, place[target]) for source, role, target in state.edges]),
            place[int(state.top or 0)],
        )

    @staticmethod
    def alignments(state: AmrState) -> list[tuple[int, ...]]:
        """Return the words that each node of `result` came from."""
        return [tuple(range(state.nodes[i].first, state.nodes[i].last + 1)) for i in kept(state)]

    def max_actions(self, n: int) -> int:
        return _most_actions(n, *limits_of(n))

    def max_search_actions(self, n: int) -> int:
        """Return the most actions that a derivation within `limits` can take."""
        arcs, *most = limits_of(n)
        swaps, nodes = map(min, most, self.limits.of_sentence(n))
        return _most_actions(n, arcs, swaps, nodes)

    def actions(self, relations: Sequence[str]) -> Iterator[Action]:
        """Yield all actions except PRED, VALUE, ENTITY and DEPENDENT, which only training data can list."""
        for kind in self.kinds:
            if kind is Kind.SHIFT:
                yield Action(kind)
                yield from (Action(kind, word) for word in sorted(self.shift_words))
            elif kind in (Kind.LA, Kind.RA):
                yield from (Action(kind, role) for role in relations)
            elif kind is Kind.FRAME:
                yield from self.frames.all
            elif kind not in NAMING:
                yield Action(kind)


def _most_actions(words: int, arcs: int, swaps: int, nodes: int) -> int:
    return words + nodes + nodes + (arcs + nodes) + swaps + 2  # each node is made, reduced and connected at most once

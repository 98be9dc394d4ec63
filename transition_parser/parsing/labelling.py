"""Senses of frames, roles of their arguments, and arguments that search left out, by a semantic role labeller."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import permutations

import torch
from torch import Tensor

from transition_parser.graphs.amr import AmrGraph, Edge
from transition_parser.modules.semantic_roles import (
    FARTHEST,
    OTHER_ROLE,
    ROLES,
    Readings,
    RoleLabeller,
    core_role,
    distance_class,
)
from transition_parser.parsing.draft import Edited
from transition_parser.parsing.mending import SUBJECTS
from transition_parser.text.frames import WINDOW
from transition_parser.transitions.amr_limits import Sort, sort_of
from transition_parser.transitions.amr_state import Word, lemma_of

# Chosen on development data. In nats: another sense, or other roles, must be better by this for each label.
_SENSE_MARGIN, _ROLE_MARGIN = 0.3, 0.5
_SURE = math.log(0.3)  # the probability of the role of an argument that search left out
_DISTANCES = [distance_class(distance) for distance in (*range(FARTHEST + 1), *range(-FARTHEST, 0))]
_LOOSE = frozenset(  # roles that an argument may have been given
    "location time purpose direction destination source topic beneficiary manner accompanier instrument mod part cause "
    "medium poss".split()
)
_MOST = 4  # arguments of a frame whose roles are compared in all orders


class Candidates:
    """The frames of a graph, and the words that may be their arguments. A pronoun without a node is one, too."""

    def __init__(self, graph: AmrGraph, alignments: Sequence[Sequence[int]], words: Sequence[Word]) -> None:
        self.frames: dict[int, int] = {}  # node → its word
        self.others: list[tuple[int, int]] = []  # node, -1 for none; its word
        for node, places in enumerate(alignments):
            if not places or node in graph.constants or graph.labels[node] == "name":
                continue
            self.others.append((node, places[0]))
            if sort_of(graph.labels[node], constant=False) is Sort.FRAME:
                self.frames[node] = places[0]
        aligned = {place for places in alignments for place in places}
        for place, word in enumerate(words):
            is_pronoun = word.form.lower() in SUBJECTS and (word.form == "I" or not word.form.isupper())
            if place not in aligned and is_pronoun:  # `US` is none
                self.others.append((-1, place))

    def pairs(self, frames: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int, int]]:
        """Yield the place in `frames` (node, word), that in `others`, and the distance class of possible arguments."""
        for row, (_, word) in enumerate(frames):
            for column, (_, place) in enumerate(self.others):
                if 0 < abs(place - word) <= FARTHEST:
                    yield row, column, _DISTANCES[place - word]


def labelled(
    graph: AmrGraph, alignments: Sequence[tuple[int, ...]], words: Sequence[Word], readings: Readings
) -> Edited | None:
    """Return the graph with the senses, roles and arguments that the labeller is sure of; None for no change."""
    found = Candidates(graph, alignments, words)
    draft = _Draft(graph, words)
    draft.label(found, readings)
    return draft.result()


class _Draft:
    def __init__(self, graph: AmrGraph, words: Sequence[Word]) -> None:
        self.graph, self.words = graph, words
        self.labels, self.edges, self.origins = [*graph.labels], [*graph.edges], [*range(len(graph))]

    def label(self, found: Candidates, readings: Readings) -> None:
        """Give frames other senses, arguments other roles, and frames the arguments that they lack."""
        labeller, vectors, _ = readings
        known = [(node, word) for node, word in found.frames.items() if self.labels[node] in labeller.numbers]
        if not known:
            return
        heads = labeller.linear(vectors[[word for _, word in known]], "heads")
        self._choose_senses(labeller, known, heads, Counter(place for node, place in found.others if node >= 0))
        others = labeller.linear(vectors[[place for _, place in found.others]], "others")
        frames = [labeller.numbers[self.labels[node]] for node, _ in known]
        pairs = [(*pair, frames[pair[0]]) for pair in found.pairs(known)]
        if not pairs:
            return
        scores = labeller.roles(heads, others, torch.tensor(pairs).t())
        of_frames: dict[int, dict[tuple[int, int], list[float]]] = {node: {} for node, _ in known}
        for (row, column, *_), values in zip(pairs, scores.tolist(), strict=True):
            of_frames[known[row][0]][found.others[column]] = values
        for node, of_others in of_frames.items():
            self._relabel(labeller, node, {other: values for (other, _), values in of_others.items() if other >= 0})
            self._complete(node, of_others)

    def _choose_senses(
        self, labeller: RoleLabeller, known: Sequence[tuple[int, int]], heads: Tensor, nodes_of: Mapping[int, int]
    ) -> None:
        """Give frames the senses that are better by `_SENSE_MARGIN`. Particles with a node belong to no sense.

        A frame beside another node of its word (*driver*, a person who drives) keeps its sense, as PropBank has none.
        nodes_of: word → the number of its nodes
        """
        nodes, senses = [node for node, _ in known], []
        for row, (node, word) in enumerate(known):
            if nodes_of[word] > 1:
                continue
            following = range(word + 1, min(word + 1 + WINDOW, len(self.words)))
            particles = [self.words[place].form.lower() for place in following if place not in nodes_of]
            lemma = lemma_of(self.labels[node])
            senses += [(row, sense) for sense in labeller.rivals(lemma, particles)]
        if not senses:
            return
        rows, frames = torch.tensor(senses).t()
        best: dict[int, tuple[float, int]] = {}
        for (row, sense), score in zip(senses, labeller.senses(heads[rows], frames).tolist(), strict=True):
            is_present = labeller.frames[sense] == self.labels[nodes[row]]
            best[row] = max(best.get(row, (-math.inf, sense)), (score + _SENSE_MARGIN * is_present, sense))
        for row, (_, sense) in best.items():
            self.labels[nodes[row]] = labeller.frames[sense]

    def _relabel(self, labeller: RoleLabeller, node: int, scores: Mapping[int, Sequence[float]]) -> None:
        """Give the numbered edges of a frame, as far as their targets have scores, the best roles."""
        roles = ((n, core_role(edge.role)) for n, edge in enumerate(self.edges) if edge.source == node)
        numbered = {n: role for n, role in roles if role is not None}
        edges = [n for n in numbered if self.edges[n].target in scores][:_MOST]
        now = [numbered[n] for n in edges]
        of_edges = [scores[self.edges[n].target][:ROLES] for n in edges]
        if all(max(values) <= values[role] + _ROLE_MARGIN for values, role in zip(of_edges, now, strict=True)):
            return
        taken = {role for n, role in numbered.items() if n not in edges}
        has_role = (labeller.functions[labeller.numbers[self.labels[node]]] > 0).tolist()
        free = sorted({*now, *(role for role in range(ROLES) if has_role[role])} - taken)

        def score(roles: Iterable[int]) -> float:
            one_by_one = zip(of_edges, roles, now, strict=True)
            return sum(values[role] + _ROLE_MARGIN * (role == before) for values, role, before in one_by_one)

        choices: list[Sequence[int]] = [now, *permutations(free, len(edges))]
        for n, role in zip(edges, max(choices, key=score), strict=True):
            self.edges[n] = self.edges[n]._replace(role=f"ARG{role}")

    def _complete(self, node: int, scores: Mapping[tuple[int, int], Sequence[float]]) -> None:
        """Add the arguments of a frame that search left out, or gave a role of no frame; the surest first."""
        used = {edge.role for edge in self.edges if edge.source == node}
        loose = {edge.target: n for n, edge in enumerate(self.edges) if edge.source == node and edge.role in _LOOSE}
        near = {edge.source + edge.target - node for edge in self.edges if node in (edge.source, edge.target)}
        for (other, place), values in sorted(scores.items(), key=lambda one: max(one[1][:ROLES]), reverse=True):
            score, role = max(zip(values, range(ROLES)))
            if score <= _SURE or f"ARG{role}" in used:
                continue
            if other in loose:
                if score > values[OTHER_ROLE]:
                    used.add(f"ARG{role}")
                    self.edges[loose[other]] = Edge(node, f"ARG{role}", other)
            elif other not in near:
                target = other if other >= 0 else self._pronoun(place, node)
                if target is not None and target not in near:
                    used.add(f"ARG{role}")
                    near.add(target)
                    self.edges.append(Edge(node, f"ARG{role}", target))

    def _pronoun(self, place: int, frame: int) -> int | None:
        """Return the node of the pronoun that a word is, a new one if there is none, None if there are several."""
        label = SUBJECTS[self.words[place].form.lower()]
        same = [node for node, known in enumerate(self.labels) if known == label]
        if not same:
            same = [len(self.labels)]
            self.labels.append(label)
            self.origins.append(frame)
        return same[0] if len(same) == 1 else None

    def result(self) -> Edited | None:
        if self.edges == [*self.graph.edges] and self.labels == [*self.graph.labels]:
            return None
        whole = AmrGraph(tuple(self.labels), self.graph.constants, tuple(self.edges), self.graph.top)
        old = len(self.graph.edges)
        return Edited(whole, self.origins, [n if n < old else -1 for n in range(len(self.edges))])

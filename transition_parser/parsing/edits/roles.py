"""Senses of frames, roles of their arguments, and arguments that search left out, by a semantic role labeler."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import permutations

import torch
from torch import Tensor

from transition_parser.graphs.amr import AmrGraph, Edge, distances
from transition_parser.modules.semantic_roles import (
    FARTHEST,
    OTHER_ROLE,
    ROLES,
    Readings,
    RoleLabeler,
    core_role,
    distance_class,
    may_be_argument,
)
from transition_parser.parsing.edits.draft import Draft
from transition_parser.parsing.edits.pronouns import SUBJECTS, is_owner
from transition_parser.parsing.edits.tree_view import AGENTS, ROLE_FRAMES
from transition_parser.text.frames import WINDOW, role_functions
from transition_parser.transitions.amr_limits import Sort, sort_of
from transition_parser.transitions.amr_state import AmrWord, lemma_of

# Chosen on development data. In nats: another sense, or other roles, must be better by this for each label.
_SENSE_MARGIN, _ROLE_MARGIN = 0.3, 0.5
_SURE = math.log(0.3)  # the least log-probability of the role of an argument that search left out
_LIKELY = math.log(0.1)  # the same where another member of a list of frames has the argument
_LOOSE = frozenset(  # roles that an argument may have been given
    "location time duration purpose direction destination source topic beneficiary manner accompanier instrument mod "
    "part cause medium poss".split()
)
_OUTSIDE = ("time", "duration", "location")  # roles that no agent and no theme was given
_OBJECTS = ("obj", "obl", "nsubj:pass")  # relations to a verb of words that are no agents
_CLASSES = torch.tensor([distance_class(d) for d in (*range(FARTHEST + 1), *range(-FARTHEST, 0))])  # of distances
_PREPOSITIONS = frozenset("about at by for from in into of on onto to with".split())
# preposition → functions of roles that it never begins, and the role of no frame in their place
_WRONG = {
    "about": (("GOL", "LOC", "DIR"), "topic"),
    "from": (("GOL", "LOC"), "source"),
    "of": (("GOL", "LOC"), ""),
    "with": (("GOL", "DIR", "EXT", "LOC"), "accompanier"),
}
_FIRST_OF_MOTION = 3  # the first role that only verbs of motion have
_MOST = 4  # arguments of a frame whose roles are compared in all orders


class Candidates:
    """The frames of a graph, and the words that may be their arguments: those of nodes, and pronouns without a node."""

    def __init__(self, graph: AmrGraph, alignments: Sequence[Sequence[int]], words: Sequence[AmrWord]) -> None:
        self.frames: dict[int, int] = {}  # node → its word
        self.others: list[tuple[int, int]] = []  # node, -1 for none; its word
        for node, places in enumerate(alignments):
            if not places or node in graph.constants or graph.labels[node] == "name":
                continue
            if graph.labels[node] not in ROLE_FRAMES:
                self.others.append((node, places[0]))
            if sort_of(graph.labels[node], constant=False) is Sort.FRAME:
                self.frames[node] = places[0]
        aligned = {place for places in alignments for place in places}
        for place, word in enumerate(words):
            is_pronoun = word.form.lower() in SUBJECTS and (word.form == "I" or not word.form.isupper())
            if place not in aligned and is_pronoun:  # `US` is no pronoun
                self.others.append((-1, place))


def label_roles(drafts: Sequence[Draft]) -> None:
    """Give the graphs of a batch the senses, roles and arguments that the labeler is sure of.

    All sentences are labeled together, because a network computes with many words as fast as with a few.
    """
    read = [_Labeled(draft, draft.readings) for draft in drafts if draft.readings is not None]
    if busy := [one for one in read if one.frames]:
        labeler, vectors, *_ = busy[0].readings
        heads = [one.readings.start + word for one in busy for _, word in one.frames]
        others = [one.readings.start + word for one in busy for _, word in one.others]
        mapped = labeler.linear(vectors[heads], "heads"), labeler.linear(vectors[others], "others")
        _choose_senses(labeler, busy, mapped[0])
        scores = iter(_role_scores(labeler, busy, *mapped))
        for one in busy:
            for node, _ in one.frames:
                of_others = next(scores)
                one.exclude(node, of_others)
                one.relabel(labeler, node, {other: values for (other, _), values in of_others.items() if other >= 0})
                one.complete(node, of_others)
                one.remove_particle(node)


def _choose_senses(labeler: RoleLabeler, batch: Sequence[_Labeled], heads: Tensor) -> None:
    """Give frames the senses that are better by `_SENSE_MARGIN`."""
    frames = [(one, node, rivals) for one in batch for node, rivals in one.rivals(labeler)]
    choices = [(row, sense) for row, (*_, rivals) in enumerate(frames) for sense in rivals]
    if not choices:
        return
    rows, senses = torch.tensor(choices).t()
    best: dict[int, tuple[float, int]] = {}
    for (row, sense), score in zip(choices, labeler.senses(heads[rows], senses).tolist(), strict=True):
        one, node, _ = frames[row]
        is_present = labeler.frames[sense] == one.draft.labels[node]
        best[row] = max(best.get(row, (-math.inf, sense)), (score + _SENSE_MARGIN * is_present, sense))
    for row, (_, sense) in best.items():
        one, node, _ = frames[row]
        one.draft.labels[node] = labeler.frames[sense]


def _role_scores(
    labeler: RoleLabeler, batch: Sequence[_Labeled], heads: Tensor, others: Tensor
) -> list[dict[tuple[int, int], list[float]]]:
    """Return for each frame the scores of the roles of its present arguments, and of others that it surely has."""
    # for each pair of a frame and another word
    rows: list[int] = []  # the place in `heads`
    columns: list[int] = []  # the place in `others`
    distances: list[int] = []
    frames: list[int] = []
    with_edge: list[int] = []  # numbers of pairs
    row = column = 0
    for one in batch:
        places, numbers = [place for _, place in one.others], {node: n for n, (node, _) in enumerate(one.others)}
        for node, word in one.frames:
            near: Sequence[int] = range(len(places))
            if len(one.words) > FARTHEST:
                near = [n for n in near if abs(places[n] - word) <= FARTHEST]
            wanted_nodes = {edge.target for edge in one.draft.edges if edge.source == node} | one.shared(node)
            targets = {numbers.get(target) for target in wanted_nodes}
            with_edge += [len(rows) + i for i, n in enumerate(near) if n in targets]
            rows += [row] * len(near)
            columns += [column + n for n in near]
            distances += [places[n] - word for n in near]
            frames += [labeler.numbers[one.draft.labels[node]]] * len(near)
            row += 1
        column += len(places)
    classes = _CLASSES[torch.tensor(distances)]
    pairs = torch.stack([torch.tensor(rows), torch.tensor(columns), classes, torch.tensor(frames)])
    scores = labeler.roles(heads, others, pairs)
    wanted = scores[:, :ROLES].amax(1) > _SURE
    wanted[with_edge] = True
    all_others = [other for one in batch for other in one.others]
    found: list[dict[tuple[int, int], list[float]]] = [{} for _ in range(row)]
    for number, values in zip(wanted.nonzero()[:, 0].tolist(), scores[wanted].tolist(), strict=True):
        if may_be_argument(distances[number]):
            found[rows[number]][all_others[columns[number]]] = values
    return found


class _Labeled:
    """A draft with the frames that the labeler knows, and the words that may be their arguments."""

    def __init__(self, draft: Draft, readings: Readings) -> None:
        self.draft, self.words, self.readings = draft, draft.words, readings
        found, known = Candidates(draft.graph, draft.alignments, draft.words), readings.labeler.numbers
        self.frames = [(node, word) for node, word in found.frames.items() if draft.labels[node] in known]
        self.others = found.others

    def rivals(self, labeler: RoleLabeler) -> Iterator[tuple[int, Sequence[int]]]:
        """Yield the frames with their possible senses. Particles whose node has other neighbors belong to no sense.

        A frame beside another node of its word (*driver*, a person who drives) keeps its sense, as PropBank has none.
        """
        nodes_of = Counter(place for node, place in self.others if node >= 0)
        alone = {  # word → the frame whose particle it may be
            place: self.draft.neighbors(node)
            for node, place in self.others
            if node >= 0 and self.draft.labels[node] == self.draft.forms[place]
        }
        for node, word in self.frames:
            following = range(word + 1, min(word + 1 + WINDOW, len(self.words)))
            lemma = lemma_of(self.draft.labels[node])
            own = {node} if "-" not in lemma else set()
            free = [place for place in following if place not in nodes_of or alone.get(place, ()) == own]
            free = [place for place in free if self.draft.tree is None or self.draft.tree.relations[place] != "case"]
            particles = [form for place in free if (form := self.draft.forms[place]) not in SUBJECTS]  # *cut it*
            yield node, () if nodes_of[word] > 1 else labeler.rivals(lemma, particles)

    def exclude(self, node: int, scores: Mapping[tuple[int, int], list[float]]) -> None:
        """Make no agent of an object (*turned into a prince*), and no goal of a source (*the train from Oslo*)."""
        tree, verb = self.draft.tree, self.draft.place(node)
        for (other, place), values in scores.items():
            is_object = tree and tree.heads[place] == verb + 1 > 0 and tree.relations[place] in _OBJECTS
            if is_object and Edge(node, "ARG0", other) not in self.draft.edges:
                values[0] = -math.inf
            for role in self._impossible(node, self._preposition(place)):
                values[role] = -math.inf
            is_lower = tree and tree.relations[place] in ("obj", "iobj") and verb in self._above(tree.heads[place] - 1)
            if is_lower and not any(edge[::2] == (node, other) for edge in self.draft.edges):
                values[:ROLES] = [-math.inf] * ROLES  # *refused to help me*

    def relabel(self, labeler: RoleLabeler, node: int, scores: Mapping[int, Sequence[float]]) -> None:
        """Give the numbered edges of a frame, as far as their targets have scores, the best roles."""
        roles = ((n, core_role(edge.role)) for n, edge in enumerate(self.draft.edges) if edge.source == node)
        numbered = {n: role for n, role in roles if role is not None}
        for n, role in [*numbered.items()]:
            edge = self.draft.edges[n]
            values = scores.get(edge.target, ())
            others = [values[one] for one in range(ROLES) if one not in numbered.values()] if values else []
            _, loose = _WRONG.get(self._preposition(self.draft.place(edge.target)), ((), ""))
            if loose and values and values[role] == -math.inf and max(others, default=-math.inf) < _LIKELY:
                self.draft.edges[n] = edge._replace(role=loose)  # *go with me*
                del numbered[n]
        edges = [n for n in numbered if self.draft.edges[n].target in scores][:_MOST]
        now = [numbered[n] for n in edges]
        of_edges = [scores[self.draft.edges[n].target][:ROLES] for n in edges]
        if all(max(values) <= values[role] + _ROLE_MARGIN for values, role in zip(of_edges, now, strict=True)):
            return
        taken = {role for n, role in numbered.items() if n not in edges}
        has_role = (labeler.functions[labeler.numbers[self.draft.labels[node]]] > 0).tolist()
        free = sorted({*now, *(role for role in range(ROLES) if has_role[role])} - taken)

        def score(roles: Iterable[int]) -> float:
            one_by_one = zip(of_edges, roles, now, strict=True)
            return sum(values[role] + _ROLE_MARGIN * (role == before) for values, role, before in one_by_one)

        choices: list[Sequence[int]] = [now, *permutations(free, len(edges))]
        for n, role in zip(edges, max(choices, key=score), strict=True):
            self.draft.edges[n] = self.draft.edges[n]._replace(role=f"ARG{role}")

    def complete(self, node: int, scores: Mapping[tuple[int, int], Sequence[float]]) -> None:
        """Add the arguments of a frame that search left out, or gave a role of no frame; the surest first."""
        used = {edge.role for edge in self.draft.edges if edge.source == node}
        loose = {e.target: n for n, e in enumerate(self.draft.edges) if e.source == node and e.role in _LOOSE}
        outside = {target for target, n in loose.items() if self.draft.edges[n].role in _OUTSIDE}
        near, shared = self.draft.neighbors(node), self.shared(node)
        if any(self.draft.labels[one] in AGENTS and self.draft.place(one) == self.draft.place(node) for one in near):
            return  # *the teacher gave Ann a book*: nobody says whom she teaches
        near |= self._of_degrees(node) | self._below(node)  # *destroys the new dam*
        near |= {edge.target for edge in self.draft.edges if edge.role == "mod" and edge.source in near}
        for (other, place), values in sorted(scores.items(), key=lambda one: max(one[1][:ROLES]), reverse=True):
            score, role = max(zip(values, range(ROLES)))
            if score <= (_LIKELY if other in shared else _SURE) or f"ARG{role}" in used:
                continue
            if other in loose:
                if score > values[OTHER_ROLE] and (role > 1 or other not in outside):
                    used.add(f"ARG{role}")
                    self.draft.edges[loose[other]] = Edge(node, f"ARG{role}", other)
            elif other not in near:
                target = other if other >= 0 else self._pronoun(place, node)
                if target is not None and target not in near:
                    used.add(f"ARG{role}")
                    near.add(target)
                    self.draft.add_edge(node, f"ARG{role}", target)

    def _above(self, word: int) -> Iterator[int]:
        """Yield the words above a word in the tree."""
        heads = self.draft.tree.heads if self.draft.tree else ()
        while (word := heads[word] - 1) >= 0:
            yield word

    def _preposition(self, place: int) -> str:
        """Return the preposition before the node of a word: *from* in *from the old town*, an empty string for none."""
        if tree := self.draft.tree:
            of_word = self.draft.dependents(place, "case") if tree.relations[place] != "nmod" else []
            return self.draft.forms[of_word[-1]] if of_word else ""  # *asked all of us*: none of *us*
        before = place - 1
        while before >= 0 and before not in self.draft.aligned and self.draft.forms[before] not in _PREPOSITIONS:
            before -= 1
        return self.draft.forms[before] if before >= 0 else ""

    def _impossible(self, node: int, preposition: str) -> set[int]:
        """Return the roles that no argument after a preposition has."""
        functions, (wrong, _) = role_functions(), _WRONG.get(preposition, ((), ""))
        found = {role: functions.function(self.draft.labels[node], role) for role in range(ROLES)}
        hearers = range(_FIRST_OF_MOTION if preposition == "with" else 0)  # *talk with him*
        return {role for role, name in found.items() if name in wrong and not (name == "GOL" and role in hearers)}

    def _below(self, node: int) -> set[int]:
        """Return the nodes that no way leads to from the top but through a frame."""
        everything = {*range(len(self.draft.labels))}
        if self.draft.top == node:
            return everything
        edges = [edge for edge in self.draft.edges if node not in edge[::2]]
        return everything - distances(edges, self.draft.top).keys()

    def remove_particle(self, node: int) -> None:
        """Remove the node of a particle that is a part of a frame (`grow-up-04 :direction up`)."""
        particles = self.draft.labels[node].split("-")[1:-1]
        for role, other in self.draft.below(node).items():
            is_particle = role[:3] != "ARG" and self.draft.labels[other] in particles and other != self.draft.top
            if is_particle and self.draft.neighbors(other) == {node}:
                self.draft.removed.add(other)

    def shared(self, node: int) -> set[int]:
        """Return the arguments of other members of the lists that a frame is a member of."""
        lists = self.draft.lists_of(node)
        others = {edge.target for edge in self.draft.edges if edge.source in lists and edge.target != node}
        return {edge.target for edge in self.draft.edges if edge.source in others and core_role(edge.role) is not None}

    def _of_degrees(self, node: int) -> set[int]:
        """Return what follows from the degrees of a quality: *sleep* for *tired* in *too tired to sleep*."""
        degrees = [edge.source for edge in self.draft.edges if edge[1:] == ("ARG2", node)]
        degrees = [one for one in degrees if self.draft.labels[one] == "have-degree-91"]
        return {edge.target for edge in self.draft.edges if edge.source in degrees and edge.role == "ARG6"}

    def _pronoun(self, place: int, frame: int) -> int | None:
        """Return the node of the pronoun that a word is, a new one if there is none, None if there are several.

        A possessive pronoun after the frame belongs to another word.
        """
        head = self.draft.tree.heads[place] - 1 if self.draft.tree else -1
        if is_owner(self.draft, place) and (
            self.draft.place(frame) < place or head not in (-1, self.draft.place(frame))
        ):
            return None
        label = SUBJECTS[self.words[place].form.lower()]
        same = self.draft.nodes_of(label) or [self.draft.new_node(label, False, frame)]
        return same[0] if len(same) == 1 else None

"""What search leaves out of AMRs, or puts in a wrong place, although the words leave no doubt.

Left out are commands and pronouns. Misplaced are the subject of an object question (*Who did the police arrest?*),
*I* or *we* as a subject, and the polarity of *unless*.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from transition_parser.graphs.amr import CONJUNCTIONS, AmrGraph, Edge, distances
from transition_parser.parsing.draft import Draft, Edited
from transition_parser.text.columns import IMPERATIVE, OTHER, UNSURE
from transition_parser.text.frames import packaged
from transition_parser.transitions.amr_limits import Sort, sort_of
from transition_parser.transitions.amr_state import Word, is_constant, lemma_of

_SUBJECTS = frozenset("i he she they we you".split())
_SPEAKERS = frozenset(("i", "we"))
_OBJECTS = {"me": "i", "him": "he", "her": "she", "them": "they", "us": "we"}
BETWEEN = frozenset(  # words between a subject and its verb in the active voice
    "do does did will would can could may might must shall should 'll 'd not n't never also just always really".split()
)
# what is before the verb of a command: `please` or a condition, another command, the begin of a sentence
_ADVERBS = r"(just |also |always |never |simply |do not |do n't )*$"
_ASKED = re.compile(
    rf"(^|([-.!?:;(\"*),/]|and|or|so|but|then|also|attached|further) )(please|pls|plz) (, )?{_ADVERBS}"
    rf"|^((if|when|once|after|before) [^,]* , (then )?|if [^,]* then ){_ADVERBS}"
)
_JOINED = re.compile(rf"(\b(and|or|then)|[&,/]) {_ADVERBS}")
_BEGIN = re.compile(rf"(^|[(\":] )(so |then |now |also |and |, |- )*{_ADVERBS}")
_AFTER = frozenset("the a an my your his her its our these those it me us them him all some any attached".split())
_ASKING = frozenset("who whom what which".split())
_AUXILIARIES = frozenset("did do does will would can could should".split())  # behind `who` they leave it an object
_WISHES = frozenset("hope like love miss need regard thank want wish".split())  # `Hope you like it`: I hope


def restored(
    graph: AmrGraph, alignments: Sequence[tuple[int, ...]], words: Sequence[Word], moods: Sequence[str] = ()
) -> Edited | None:
    """Return the graph with what was left out or misplaced, None if nothing was.

    moods: those that the model predicts of the words; without them, rules find commands, and no mode is removed
    """
    draft = _Draft(graph, alignments, words, moods)
    for wrong, right in draft.misplaced():
        draft.replace_edge(wrong, right)
    for node, roles, label in (*draft.commands(), *draft.pronouns()):
        draft.add(node, roles, label)
    return draft.result()


class _Draft(Draft):
    def __init__(
        self, graph: AmrGraph, alignments: Sequence[tuple[int, ...]], words: Sequence[Word], moods: Sequence[str]
    ) -> None:
        super().__init__(graph)
        self.alignments, self.moods = alignments, moods or [UNSURE] * len(words)
        self.words, self.forms = words, [*(word.form.lower() for word in words), ""]
        self.frames: dict[int, int] = {}  # word → its node with a frame of its lemma
        for node, (place, *more) in ((node, places or (0, 0)) for node, places in enumerate(alignments)):
            is_frame = not more and sort_of(graph.labels[node], node in graph.constants) is Sort.FRAME
            if is_frame and lemma_of(graph.labels[node]).partition("-")[0] == words[place].lemma:
                self.frames[place] = node
        self.removed.update(self.false_modes())

    def below(self, node: int) -> dict[str, int]:
        return {edge.role: edge.target for edge in self.edges if edge.source == node}

    def around(self, node: int) -> dict[int, str]:
        """Return the neighbours of a node with their concepts."""
        return {other: self.labels[other] for other in self.neighbours(node)}

    def add(self, node: int, roles: Sequence[str], label: str) -> None:
        """Give a node the first free role that its frame has, to the only node of a pronoun or a new node."""
        below, (lemma, _, sense) = self.below(node), self.labels[node].rpartition("-")
        subject = below.pop("ARG0", -1) if "ARG0" not in roles else -1
        known = [f"ARG{number}" for number in packaged().roles(lemma, sense)] or ["mode", *roles]
        free = [role for role in roles if below.get(role, subject) == subject and role in ("mode", *known)]
        if free:
            same, constant = [one for one in self.nodes_of(label) if one != subject], is_constant(label)
            target = same[0] if len(same) == 1 and not constant else self.new_node(label, constant, node)
            for edge in [edge for edge in self.edges if edge[:2] == (node, free[0])]:
                self.replace_edge(edge)
            self.add_edge(node, free[0], target)

    def replace_edge(self, edge: Edge, *others: Edge) -> None:
        """Put other edges in the place of an edge."""
        number = self.edges.index(edge)
        self.edges[number : number + 1] = others
        self.edge_origins[number : number + 1] = [-1] * len(others)

    def place(self, node: int) -> int:
        """Return the first word of a node, -1 for none."""
        return min(self.alignments[node], default=-1)

    def misplaced(self) -> Iterator[tuple[Edge, Edge]]:
        """Yield edges that contradict the order of the words, each with the right one."""
        is_question = self.forms[0] in _ASKING and self.forms[1] in _AUXILIARIES
        for verb, node in self.frames.items():
            below = {edge.role: edge for edge in self.edges if edge.source == node}
            subject, other, before = below.get("ARG0"), below.get("ARG1"), verb - 1
            while self.forms[before] in BETWEEN:
                before -= 1
            if subject is None:
                continue
            is_asked = is_question and self.labels[subject.target] == "amr-unknown"
            if is_asked and other and 1 < self.place(other.target) < verb:
                yield subject, subject._replace(target=other.target)
                yield other, other._replace(target=subject.target)
                continue
            speakers = self.nodes_of(self.forms[before])
            near = {self.labels[subject.target], *self.around(subject.target).values(), *self.around(node).values()}
            is_relative = before - 1 in self.alignments[subject.target]  # `the cat we saw`
            is_speaker = self.forms[before] in _SPEAKERS - near and '"' not in self.forms
            if is_speaker and len(speakers) == 1 and not is_relative:
                yield subject, subject._replace(target=speakers[0])
        for edge in self.edges:
            if edge.role == "polarity" and self.forms[self.place(edge.target)] == "unless":
                condition = self.below(edge.source).get("condition")
                if condition is not None and "polarity" not in self.below(condition):
                    yield edge, edge._replace(source=condition)

    def false_modes(self) -> Iterator[int]:
        """Yield the modes of words that are no imperatives, and stand for none without a node (*take care*)."""
        aligned = {place for places in self.alignments for place in places}
        lone = (place for place, mood in enumerate(self.moods) if mood == IMPERATIVE and place not in aligned)
        end = next(lone, len(self.words))
        for source, role, target in self.edges:
            place, is_command = self.place(source), role == "mode" and self.labels[target] == "imperative"
            if is_command and 0 <= place < end and self.moods[place] == OTHER and target != self.top:
                yield target

    def commands(self) -> Iterator[tuple[int, Sequence[str], str]]:
        """Yield the mode of commands, and their subject."""
        modes = {*self.nodes_of("imperative")} - self.removed
        commands = {edge.source for edge in self.edges if edge.target in modes}
        for place, node in sorted(self.frames.items()):
            (form, following), mood = self.forms[place : place + 2], self.moods[place]
            if form != self.words[place].lemma:
                continue
            is_wish = form in _WISHES or (form == "let" and following in ("s", "'s", "us"))
            subject = self.below(node).get("ARG0", node)
            if mood == IMPERATIVE and not is_wish and subject != node and self.labels[subject] != "you":
                subject = self.without_subject(node, subject)
            may_be = mood == UNSURE and self.labels[subject] in (self.labels[node], "you")
            is_command = mood == IMPERATIVE or (may_be and self.is_command(place, node, commands))
            if is_command and not is_wish and node not in commands:
                commands.add(node)
                yield node, ("mode",), "imperative"
            if node in commands and subject == node and "you" not in self.around(node).values():
                yield node, ("ARG0", "ARG1"), "you"

    def without_subject(self, node: int, subject: int) -> int:
        """Take its subject from an imperative, and return the node itself, if the subject has another place."""
        edge = Edge(node, "ARG0", subject)
        if len(distances([other for other in self.edges if other != edge], self.top)) < len(self.labels):
            return subject
        self.replace_edge(edge)
        return node

    def is_command(self, place: int, node: int, commands: set[int]) -> bool:
        following, before = self.forms[place + 1], " ".join([*self.forms[:place], ""])
        lists = {s for s, _, t in self.edges if t in commands and self.labels[s] in CONJUNCTIONS}
        is_begin = _BEGIN.search(before) and (following in _AFTER or before.endswith(("do not ", "do n't ")))
        is_joined = not lists.isdisjoint(self.around(node)) and _JOINED.search(before)
        return bool(is_begin or is_joined or _ASKED.search(before))

    def pronouns(self) -> Iterator[tuple[int, Sequence[str], str]]:
        """Yield the role that a pronoun without a node may have at the verb beside it."""
        aligned = {place for places in self.alignments for place in places}
        for place, form in enumerate(self.forms[:-1]):
            if place in aligned or (form != "i" and self.words[place].form.isupper()):
                continue
            verb, following = place + 1, self.forms[place + 1]
            while self.forms[verb] in BETWEEN:
                verb += 1
            node = self.frames.get(place - 1 if form in _OBJECTS else verb)
            if node is None:
                continue
            below, around = self.below(node), self.around(node)
            if form in _SUBJECTS and "ARG0" not in below and form not in around.values():
                yield node, ("ARG0", "ARG1"), form
            elif form in _OBJECTS and not following.endswith("ing") and not (form == "her" and place + 1 in aligned):
                around.pop(below.get("ARG0", -1), None)  # the subject is no object, unless the pronoun is reflexive
                others = [one for role, one in below.items() if role[:3] == "ARG" and one in around]
                if _OBJECTS[form] not in around.values() and all(min(self.alignments[one]) > place for one in others):
                    yield node, ("ARG1", "ARG2"), _OBJECTS[form]
